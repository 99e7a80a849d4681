// SPDX-License-Identifier: GPL-2.0-only
//
// A thread that reads one AF_XDP socket: follows the streams of the test frames that come, proves their payload, and
// gives their memory back. It counts; it never throws, logs, locks or allocates.

#pragma once

#include "loader/capture/frame_tap.h"
#include "loader/fd.h"
#include "loader/sink/follow.h"
#include "loader/xsk.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace responder {

// In the words of linux/if_xdp.h. In copy mode a frame for which the fill ring was empty is in `rx_dropped` as well; in
// zero-copy mode an empty fill ring is the NIC's loss, if it becomes one.
struct SocketStatistics {
    std::uint64_t received = 0; // by the reader
    std::uint64_t rx_dropped = 0;
    std::uint64_t rx_ring_full = 0; // the reader is too slow
    std::uint64_t rx_fill_ring_empty = 0;
    std::uint64_t rx_invalid_descs = 0;

    std::uint64_t lost() const noexcept { return rx_dropped + rx_ring_full + rx_invalid_descs; }
};

class SocketReader {
  public:
    // `table.slots` 0: streams are not followed. `unstamped`: the program's, see bpf/steer.h. All outlive it. Throws
    // Error. `tap`: of a capture that wants the frames, or nullptr.
    SocketReader(XskSocket& socket, const follow_table& table, const volatile std::uint32_t& unstamped, FrameTap* tap,
                 std::optional<unsigned> cpu);
    SocketReader(const SocketReader&) = delete;
    SocketReader& operator=(const SocketReader&) = delete;
    ~SocketReader();

    SocketStatistics statistics() const noexcept;

  private:
    void read() noexcept;
    void take(const xdp_desc& segment, bool stamped) noexcept;
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

    std::uint64_t frames_ = 0;
    std::atomic<std::uint64_t> received_{0}; // frames_, for others to read
    std::atomic<bool> stop_{false};
    UniqueFd stop_event_;
    std::thread thread_;
};

} // namespace responder
