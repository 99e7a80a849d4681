// SPDX-License-Identifier: GPL-2.0-only
//
// One run of the sink.

#pragma once

#include "loader/run/flows.h"
#include "loader/run/session.h"
#include "loader/sink/options.h"
#include "loader/sink/port.h"
#include "loader/sink/report.h"
#include "loader/sink/stack_losses.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace responder {

class SinkSession final : public Session {
  public:
    explicit SinkSession(const SinkOptions& options); // throws Error; then nothing is attached

  private:
    void introduce() const override;
    std::string what_becomes_of_frames(const Port& port) const override;
    void report_start() override;
    void report_interval(std::optional<std::chrono::duration<double>> left) override;
    void report_event(const Port& port, std::string_view text) override;
    void tick(Clock::time_point now) override;
    ExitCode finish() override;

    void introduce_capture() const;
    void tell_of_capture(std::string_view what_goes_on);
    void end_capture(std::span<const Books> books);
    FlowWatch::Following followed() const;

    const SinkOptions& options_;
    ClockFloor clock_ = measure_clock();
    std::unique_ptr<Capture> capture_; // the ports' readers write into it
    bool capture_end_told_ = false;
    std::vector<SinkPort> ports_;
    std::vector<std::unique_ptr<Reporter>> reporters_;
    std::vector<IntervalReport> interval_reports_;
    std::optional<StackWatch> stack_; // where ports are watched
    Clock::time_point next_stack_poll_;

    std::vector<CountingPort*> counting_ports_;
    FlowWatch flow_watch_;
};

} // namespace responder
