// SPDX-License-Identifier: GPL-2.0-only
//
// One run: looks at the interfaces, watches the ports on them until something ends it, says what happens to them. Each
// command derives its own, which owns the ports, counts and reports.

#pragma once

#include "loader/error.h"
#include "loader/event_loop.h"
#include "loader/netlink.h"
#include "loader/run/port.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace responder {

// What ended a run.
enum class Ending { duration, count, signal, interface_gone, program_gone };

class Session {
  public:
    virtual ~Session() = default;
    ExitCode run();

  protected:
    // From here on signals end the run, or the start. Throws Error.
    explicit Session(const RunOptions& options) : options_(options) {}

    // Refuses what can be refused before anything is changed. `takes_all`: the option by which an SSH session would be
    // test traffic too; empty where there is none. Throws Error.
    std::vector<Netdev> find_interfaces(std::string_view takes_all) const;

    // All ports have their programs: these are watched. They stay where they are.
    template <class CommandsPort>
    void watch(std::vector<CommandsPort>& ports, const std::vector<std::string>& notes) {
        for (Port& port : ports)
            ports_.push_back(&port);
        begin_watching(notes);
    }

    virtual void introduce() const;                                    // in words, to who started it
    virtual std::string what_becomes_of_frames(const Port&) const = 0; // a part of that
    virtual void report_start() = 0;
    virtual void report_interval(std::optional<std::chrono::duration<double>> left) = 0; // of --duration
    virtual void report_event(const Port& port, std::string_view text) = 0;
    virtual void tick(Clock::time_point now) = 0; // what else is to be done now and then
    virtual ExitCode finish() = 0;

    // More to be woken for, before the run. The descriptor stays its owner's.
    void on_readable(int fd, std::function<void()> call) { loop_.on_readable(fd, std::move(call)); }
    // A person, and whoever reads JSON.
    void tell(const Port& port, const std::string& text);

    void check_attachments();
    bool is_waiting() const noexcept { return waiting_; }
    Clock::time_point begun() const noexcept { return begin_; }
    std::chrono::system_clock::time_point started() const noexcept { return started_; }
    Ending ended_by() const noexcept { return *ended_by_; } // once it has ended
    bool ended_whole() const noexcept {
        return ended_by_ != Ending::interface_gone && ended_by_ != Ending::program_gone;
    }
    std::string_view why_broken() const noexcept; // empty where it was a run that a verdict can be on

  private:
    void begin_watching(const std::vector<std::string>& notes);
    void introduce_sockets(const Port& port) const;
    void begin() noexcept;
    bool awaits_carrier() const noexcept;
    void on_tick();
    void on_interval();
    void links_changed();
    void link_changed(const LinkState& link, bool removed);
    void end(Ending reason) noexcept;

    const RunOptions& options_;
    EventLoop loop_;
    LinkMonitor monitor_; // before the ports: what attaching does to a link is news already
    std::vector<Port*> ports_;
    std::chrono::system_clock::time_point started_;
    Clock::time_point attached_; // all ports
    Clock::time_point begin_;
    bool waiting_ = false; // --wait, and no port has a carrier yet: the run has not begun
    Clock::time_point next_interval_;
    std::optional<Ending> ended_by_;
};

} // namespace responder
