// SPDX-License-Identifier: GPL-2.0-only
//
// One port of the sink: what its program counted, and what the readers of its sockets followed.

#pragma once

#include "bpf/abi.h"
#include "loader/capture/capture.h"
#include "loader/run/counting_port.h"
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

class SinkPort final : public CountingPort {
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

    // Since the last call.
    struct Interval : CountedInterval {
        std::optional<std::uint64_t> lost; // of the streams, since the start; some may still come
        std::uint64_t socket_lost;         // between the program and the readers
    };
    Interval take_interval() noexcept;

    bool follows_streams() const noexcept { return streams_.has_value(); }
    bool has_seen_a_stream() const noexcept { return streams_ && !streams_->empty(); }
    const StreamReport& streams() const noexcept { return stream_report_; } // as last read

    SocketStatistics socket_statistics() const noexcept override;

    // Copies of passed frames for which there was no room.
    std::uint64_t copies_lost() const noexcept;

    Books close_books();

    void watch_flows(bool on) noexcept override;
    int flows_map() const noexcept override;

  private:
    class Program;

    void mac_changed() noexcept override;
    void count_from_row(unsigned row) noexcept override;
    void start_readers(const SinkOptions& options, Capture* capture);

    Program* program_ = nullptr; // the port's own

    std::optional<StreamTable> streams_;
    std::vector<std::unique_ptr<SocketReader>> readers_;
    std::uint64_t interval_socket_lost_ = 0;
    StreamReport stream_report_;
};

} // namespace responder
