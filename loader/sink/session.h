// SPDX-License-Identifier: GPL-2.0-only
//
// One run of the sink: sets up the ports, watches them until something ends the run, reports.

#pragma once

#include "loader/error.h"
#include "loader/event_loop.h"
#include "loader/netlink.h"
#include "loader/sink/options.h"
#include "loader/sink/port.h"
#include "loader/sink/report.h"
#include "loader/sink/stack_losses.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace responder {

class Session {
  public:
    explicit Session(const SinkOptions& options); // throws Error; then nothing is attached
    ExitCode run();

  private:
    void introduce();
    void introduce_sockets(const Port& port) const;
    void introduce_capture() const;
    void end_capture(std::span<const Books> books);
    void begin() noexcept;
    bool awaits_carrier() const noexcept;
    void tick();
    void help_where_nothing_counts();
    void links_changed();
    void link_changed(const LinkState& link, bool removed);
    void report_event(const Port& port, const std::string& text);
    void check_attachments();
    std::string_view why_broken() const noexcept;
    void report_interval();
    void end(Ending reason) noexcept;
    ExitCode finish();

    const SinkOptions& options_;
    ClockFloor clock_ = measure_clock();
    EventLoop loop_;
    LinkMonitor monitor_;              // before the ports: what attaching does to a link is news already
    std::unique_ptr<Capture> capture_; // the ports' readers write into it
    std::vector<Port> ports_;
    std::vector<std::unique_ptr<Reporter>> reporters_;
    std::vector<IntervalReport> interval_reports_;
    std::optional<StackWatch> stack_; // where ports are watched
    Clock::time_point next_stack_poll_;
    std::chrono::system_clock::time_point started_;
    Clock::time_point attached_; // all ports
    Clock::time_point begin_;
    bool waiting_ = false; // --wait, and no port has a carrier yet: the run has not begun
    Clock::time_point next_interval_;
    std::optional<Ending> ended_by_;

    // The watch for flows on ports that count nothing.
    std::optional<Clock::time_point> watching_since_;
    Clock::time_point next_watch_;
    std::vector<ReceiveFilterMembership> promiscuous_for_the_watch_;
};

} // namespace responder
