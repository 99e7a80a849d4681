// SPDX-License-Identifier: GPL-2.0-only
//
// A thread that reads one AF_XDP socket: follows the streams of the test frames that come, proves their payload, and
// gives their memory back. It counts; it never throws, logs, locks or allocates.

#pragma once

#include "loader/capture/frame_tap.h"
#include "loader/run/socket_thread.h"
#include "loader/sink/follow.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace responder {

class SocketReader {
  public:
    // `table.slots` 0: streams are not followed. `unstamped`: the program's, see bpf/port_sockets.h. All outlive it.
    // Throws Error. `tap`: of a capture that wants the frames, or nullptr.
    SocketReader(XskSocket& socket, const follow_table& table, const volatile std::uint32_t& unstamped, FrameTap* tap,
                 std::optional<unsigned> cpu);
    SocketReader(const SocketReader&) = delete;
    SocketReader& operator=(const SocketReader&) = delete;

    SocketStatistics statistics() const noexcept { return thread_.statistics(); }

  private:
    unsigned take(unsigned segments) noexcept;
    bool take(const xdp_desc& segment, bool stamped) noexcept; // it was the frame's last
    void take_frame(std::span<const std::uint8_t> frame, const socket_arrival* arrival) noexcept;
    void capture(std::span<const std::uint8_t> frame, const socket_arrival* arrival) noexcept;

    XskSocket& socket_;
    const follow_table table_;
    const volatile std::uint32_t& unstamped_;
    FrameTap* const tap_;
    // A frame that comes in several segments, as far as it has come.
    std::vector<std::uint8_t> assembled_;
    std::size_t assembled_size_ = 0;
    socket_arrival assembled_arrival_{};

    SocketThread thread_;
};

} // namespace responder
