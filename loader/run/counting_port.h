// SPDX-License-Identifier: GPL-2.0-only
//
// A port whose program counts every frame in one slot of bpf/abi.h: the readings, and the books at the end.

#pragma once

#include "loader/counters.h"
#include "loader/run/busy_time.h"
#include "loader/run/port.h"
#include "loader/run/socket_statistics.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace responder {

// The books of a run.
struct Books : Balance {
    std::uint64_t after_the_end = 0; // of what the program saw: it came when the run was over and is in no figure
    bool settled = false;            // no test frame came while the last readings were taken
    bool so_far = false;             // the run goes on
    std::optional<SocketStatistics> sockets; // of a port that has some; of all of them
    // Test frames that the program handed over and that no socket tells of; so far: they may be on their way to one.
    std::int64_t not_delivered = 0;
};

// Since the last time that anybody asked.
struct CountedInterval {
    SlotCounts slots;
    std::chrono::duration<double> time;
    std::uint64_t missed; // by the NIC
};

class CountingPort : public Port {
  public:
    std::uint64_t poll() noexcept override;
    const Snapshot& now() const noexcept { return now_; }
    std::chrono::duration<double> elapsed() const noexcept { return now_.taken - started_; }
    BusyTime::Result busy() const noexcept { return busy_.result(); } // how long test frames came

    void restart_clock() noexcept override;

    // The run is over: what comes from now on is in no figure.
    void stop() noexcept;

    // Of all AF_XDP sockets, since the start; all 0 where there are none.
    virtual SocketStatistics socket_statistics() const noexcept = 0;

    Books books_so_far(); // at this moment: it waits for nothing

    // The flow watch (see flows.h).
    virtual void watch_flows(bool on) noexcept = 0;
    virtual int flows_map() const noexcept = 0;

  protected:
    using Port::Port;

    // From now on. `map_fd`: the program's rows of counters, twice as many as the port can have queues.
    void start_counting(int map_fd);

    // Later frames are counted from this row on.
    virtual void count_from_row(unsigned row) noexcept = 0;

    CountedInterval take_counted() noexcept;
    std::uint64_t test_frames() const noexcept { return test_frames_; }

    // Waits until no test frame arrives any more, or 200 ms, and reads everything for the last time. Unless it has been
    // stopped before, what comes meanwhile belongs to the figures.
    Books close_books();

  private:
    bool await_sockets() const noexcept;
    std::int64_t not_delivered(const SocketStatistics& sockets) const noexcept;

    std::optional<ProgramCounters> counters_, counters_after_the_end_;
    Snapshot now_;
    SlotCounts interval_slots_{};
    Clock::time_point interval_taken_;
    std::uint64_t interval_missed_ = 0;
    Clock::time_point started_;
    std::optional<Clock::time_point> stopped_;
    std::uint64_t test_frames_ = 0;
    BusyTime busy_;
};

} // namespace responder
