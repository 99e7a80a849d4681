// SPDX-License-Identifier: GPL-2.0-only
//
// FrameTap is where the packet loop of one receive queue leaves a copy of each frame for the capture: as a block of the
// file already, in a ring that the capture's thread writes out. What the ring has no room for is counted, and the next
// frame that is kept says how many were lost before it. Nothing in here waits, allocates or calls the kernel.

#pragma once

#include "loader/capture/octet_ring.h"
#include "loader/capture/pcapng.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace responder {

// What the capture's thread tells all its taps.
struct CaptureState {
    std::atomic<bool> is_over{false};
    std::atomic<std::uint64_t> tai_ahead_ns{0}; // of UTC
};

class FrameTap {
  public:
    FrameTap(const CaptureState& state, std::uint32_t interface, std::uint32_t queue, std::uint32_t snaplen,
             std::size_t ring_size);

    // A frame of `length` octets, of which `octets` are at hand, that came at `tai_ns`, CLOCK_TAI.
    void frame(std::span<const std::uint8_t> octets, std::uint32_t length, std::uint64_t tai_ns,
               std::string_view comment = {}) noexcept;

    std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
    std::uint64_t after_it_was_over() const noexcept { return after_it_was_over_.load(std::memory_order_relaxed); }
    OctetRing& ring() noexcept { return ring_; }

  private:
    const CaptureState& state_;
    std::uint32_t interface_, queue_, snaplen_;
    OctetRing ring_;
    std::uint64_t lost_said_ = 0;
    std::atomic<std::uint64_t> lost_{0}, after_it_was_over_{0}; // this side's alone to write
};

} // namespace responder
