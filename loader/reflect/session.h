// SPDX-License-Identifier: GPL-2.0-only
//
// One run of the reflector.

#pragma once

#include "loader/reflect/loop_watch.h"
#include "loader/reflect/options.h"
#include "loader/reflect/port.h"
#include "loader/reflect/report.h"
#include "loader/reflect/stamp_socket.h"
#include "loader/run/flows.h"
#include "loader/run/session.h"
#include "loader/run/show.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace responder {

class ReflectSession final : public Session {
  public:
    explicit ReflectSession(const ReflectOptions& options); // throws Error; then nothing is attached

  private:
    void introduce() const override;
    std::string what_becomes_of_frames(const Port& port) const override;
    void report_start() override;
    void report_interval(std::optional<std::chrono::duration<double>> left) override;
    void report_event(const Port& port, std::string_view text) override;
    void tick(Clock::time_point now) override;
    ExitCode finish() override;

    void follow_addresses_and_clock();
    void expire();
    void look_for_loops(Clock::time_point now);
    void begin_probe(std::size_t port) noexcept;
    void end_probe() noexcept;
    void judge_probe();
    void listen(std::vector<std::string>& notes);
    void answer_show(Clock::time_point now);
    std::string so_far(std::size_t port, std::string (*render)(const ReflectRun&));
    std::vector<StampCounts> stamp_counts() const;
    void end_counting();

    const ReflectOptions& options_;
    std::vector<ReflectPort> ports_;
    std::optional<StampResponder> stamp_responder_; // uses the ports
    std::vector<CountingPort*> counting_ports_;
    std::unique_ptr<ReflectReporter> reporter_;
    FlowWatch flow_watch_;

    struct ShowForm {
        std::size_t port;
        std::string (*render)(const ReflectRun&);
        ShowListener listener;
    };
    std::vector<ShowForm> show_forms_;

    std::vector<LoopWatch> loop_watches_; // one a port
    // Replies of this port are withheld until the timer comes; then it is waited for what still comes.
    struct Probe {
        std::size_t port;
        std::optional<Clock::time_point> ended;
        std::uint64_t frames; // by then
    };
    std::optional<Probe> probe_;
    UniqueFd probe_timer_;

    Clock::time_point next_look_;
    std::vector<Prefix> left_out_; // prefixes of the ports', said already
    bool expired_ = false;
};

// --show: what the run on each interface has counted so far, to stdout. Throws Error.
void show_reflector(const ReflectOptions& options);

} // namespace responder
