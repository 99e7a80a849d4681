// SPDX-License-Identifier: GPL-2.0-only
//
// One port of the reflector: its program, and what that has to know of the port and of the clock.

#pragma once

#include "loader/reflect/options.h"
#include "loader/reflect/socket_turner.h"
#include "loader/run/counting_port.h"
#include "loader/run/histogram.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace responder {

class ReflectPort final : public CountingPort {
  public:
    // Sets everything up, or throws and leaves the port as it was. `notes` gets what a person should know of it.
    // `first_turner`: so many turners of sockets have the ports before it.
    ReflectPort(const ReflectOptions& options, Netdev netdev, unsigned first_turner, std::vector<std::string>& notes);
    ~ReflectPort() override;
    ReflectPort(ReflectPort&&) noexcept;
    ReflectPort& operator=(ReflectPort&&) = delete;

    // Sources in these are answered. Those for which there is no place are left out, and named in the return value.
    std::vector<Prefix> set_on_link(std::span<const Prefix> prefixes) noexcept;
    void set_clock(const stamp_clock& clock) noexcept;
    void refuse(std::optional<count_slot> reason) noexcept; // all test traffic, until told otherwise

    CountedInterval take_interval() noexcept { return take_counted(); }
    using CountingPort::close_books;
    SocketStatistics socket_statistics() const noexcept override;
    void time_next_frame() noexcept;
    // Of the frames that were timed, and went back, how long they were here: from the program's entry to its verdict,
    // or where sockets send test frames, of these alone, until they were seen to be sent. It leaves out the interrupt
    // and the driver's rings.
    Histogram residence() const;

    // What another thread may read while the program runs.
    const volatile reflect_live& live() const noexcept;
    ProgramCounters counters() const; // a reader of its own; throws Error
    int sessions_map() const noexcept;

    void watch_flows(bool on) noexcept override;
    int flows_map() const noexcept override;

  private:
    class Program;

    void mac_changed() noexcept override;
    void count_from_row(unsigned row) noexcept override;

    Program* program_ = nullptr; // the port's own
    std::vector<std::unique_ptr<SocketTurner>> turners_;
};

} // namespace responder
