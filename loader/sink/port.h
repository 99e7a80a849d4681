// SPDX-License-Identifier: GPL-2.0-only
//
// One port of the sink: what its program counted, and what the readers of its sockets followed.

#pragma once

#include "bpf/abi.h"
#include "loader/capture/capture.h"
#include "loader/counters.h"
#include "loader/run/port.h"
#include "loader/sink/busy_time.h"
#include "loader/sink/options.h"
#include "loader/sink/socket_reader.h"
#include "loader/sink/streams.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace responder {

// The books of a run.
struct Books : Balance {
    std::uint64_t after_the_end = 0; // of what the program saw: it came when the run was over and is in no figure
    bool settled = false;            // no test frame came while the last readings were taken
    std::optional<SocketStatistics> sockets; // of a port that has some; of all of them
    std::int64_t not_delivered = 0;          // test frames that the program handed over and that no socket tells of
};

class SinkPort final : public Port {
  public:
    // Sets everything up, or throws and leaves the port as it was. `notes` gets what a person should know of it.
    // `first_reader`: so many readers of sockets have the ports before it.
    // `capture`: where its frames go as well, as the capture's next interface; or nullptr.
    SinkPort(const SinkOptions& options, Netdev netdev, unsigned first_reader, Capture* capture,
             std::vector<std::string>& notes);
    ~SinkPort() override;
    SinkPort(SinkPort&&) noexcept;
    SinkPort& operator=(SinkPort&&) = delete;

    bool stamped_by_reader() const noexcept; // the driver has no room for the time that the program takes

    std::uint64_t poll() noexcept override;
    const Snapshot& now() const noexcept { return now_; }
    std::chrono::duration<double> elapsed() const noexcept { return now_.taken - started_; }
    BusyTime::Result busy() const noexcept { return busy_.result(); } // how long test frames came

    // Since the last call.
    struct Interval {
        SlotCounts slots;
        std::chrono::duration<double> time;
        std::uint64_t missed;              // by the NIC
        std::optional<std::uint64_t> lost; // of the streams, since the start; some may still come
        std::uint64_t socket_lost;         // between the program and the readers
    };
    Interval take_interval() noexcept;

    bool follows_streams() const noexcept { return streams_.has_value(); }
    bool has_seen_a_stream() const noexcept { return streams_ && !streams_->empty(); }
    const StreamReport& streams() const noexcept { return stream_report_; } // as last read

    void restart_clock() noexcept override;

    // Of all sockets, since the start; all 0 where there are none.
    SocketStatistics socket_statistics() const noexcept;

    // The run is over: what comes from now on is in no figure.
    void stop() noexcept;

    // Copies of passed frames for which there was no room.
    std::uint64_t copies_lost() const noexcept;

    // Waits until no test frame arrives any more, or 200 ms, and reads everything for the last time. Unless it has been
    // stopped before, what comes meanwhile belongs to the figures.
    Books close_books();

    // The flow watch (see flows.h).
    void watch_flows(bool on) noexcept;
    int flows_map() const noexcept;

  private:
    class Program;

    void mac_changed() noexcept override;
    void start_readers(const SinkOptions& options, Capture* capture);
    bool await_readers() const noexcept;

    Program* program_ = nullptr; // the port's own

    std::optional<SinkCounters> counters_, counters_after_the_end_;
    std::optional<StreamTable> streams_;
    std::vector<std::unique_ptr<SocketReader>> readers_;
    std::uint64_t interval_socket_lost_ = 0;
    StreamReport stream_report_;
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
