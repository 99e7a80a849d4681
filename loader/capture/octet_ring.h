// SPDX-License-Identifier: GPL-2.0-only
//
// OctetRing hands octets from one thread to another, neither of which ever waits for the other. Its memory is mapped
// twice, one behind the other, so that whatever lies across the end is in one piece all the same:
//
//     | .... BBBBBBBB | .... BBBBBBBB |        B: filled; the writer may append to it, the reader takes from its front
//       one memory      the same one
//
// The memory is there from the start: filling it for the first time costs no page faults.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace responder {

class OctetRing {
  public:
    explicit OctetRing(std::size_t size); // a power of two, and whole pages. Throws Error(os).
    OctetRing(const OctetRing&) = delete;
    OctetRing& operator=(const OctetRing&) = delete;
    ~OctetRing();

    std::size_t size() const noexcept { return size_; }

    // For the one that fills it. nullptr: it has no room for as much now.
    std::uint8_t* reserve(std::size_t octets) noexcept {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        if (head + octets - tail_seen_ > size_) {
            tail_seen_ = tail_.load(std::memory_order_acquire);
            if (head + octets - tail_seen_ > size_)
                return nullptr;
        }
        return memory_ + (head & (size_ - 1));
    }
    void commit(std::size_t octets) noexcept { // as many as were reserved, or less
        head_.store(head_.load(std::memory_order_relaxed) + octets, std::memory_order_release);
    }

    // For the one that empties it.
    std::span<const std::uint8_t> filled() const noexcept {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        return {memory_ + (tail & (size_ - 1)), head_.load(std::memory_order_acquire) - tail};
    }
    void release(std::size_t octets) noexcept {
        tail_.store(tail_.load(std::memory_order_relaxed) + octets, std::memory_order_release);
    }

  private:
    static constexpr std::size_t cache_line = 64; // what two threads write must not share one

    std::uint8_t* memory_ = nullptr;
    std::size_t size_;
    alignas(cache_line) std::atomic<std::size_t> head_{0}; // octets ever filled in
    std::size_t tail_seen_ = 0;                            // the filling side's last look at the other
    alignas(cache_line) std::atomic<std::size_t> tail_{0}; // octets ever taken out
};

} // namespace responder
