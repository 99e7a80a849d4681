// SPDX-License-Identifier: GPL-2.0-only
//
// XskSocket owns an AF_XDP socket that receives what an XDP program redirects to it from one receive queue, with frame
// memory of its own. Two rings are shared with the kernel (Documentation/networking/af_xdp.rst):
//
//     fill ring     we write, the kernel reads     chunks that frames may be put into
//     receive ring  the kernel writes, we read     chunks with a frame in them, or a part of one
//
// One thread reads; any thread may ask for statistics().

#pragma once

#include "loader/fd.h"
#include "loader/netdev.h"
#include "loader/umem.h"

#include <linux/if_xdp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace responder {

// How a socket's frames get into its memory: by the NIC itself, or copied by the kernel.
enum class XskCopy { kernel_decides, copy, zero_copy };

class XskSocket {
  public:
    static constexpr unsigned ring_size = 4096;       // 1.1 ms of 64-byte frames at 2.5 Gb/s
    static constexpr unsigned chunks = 2 * ring_size; // what fills the ring, and as many for the NIC's own

    // `largest_frame`: that is expected, without FCS. Throws Error.
    XskSocket(const Netdev& netdev, unsigned queue, XskCopy copy, unsigned largest_frame);
    XskSocket(const XskSocket&) = delete;
    XskSocket& operator=(const XskSocket&) = delete;
    ~XskSocket();

    int fd() const noexcept { return socket_.get(); }
    bool zero_copy() const noexcept { return zero_copy_; }
    bool busy_polling() const noexcept { return busy_polling_; }
    unsigned largest_frame() const noexcept; // without FCS; the kernel drops what is longer

    // The packet loop: segments that have come, at most `most`. A frame is one, or several in a row.
    unsigned peek(unsigned most) noexcept;
    const xdp_desc& descriptor(unsigned index) const noexcept { return receive_[consumed_ + index]; } // of those peeked
    const std::uint8_t* data(const xdp_desc& segment) const noexcept { return umem_.at(segment.addr); }
    static bool continues(const xdp_desc& segment) noexcept { return (segment.options & pkt_contd) != 0; }
    void give_back() noexcept; // all that was peeked at
    // Where nothing was left to peek at: until there is something, or `other` can be read.
    void wait(int other) noexcept;

    xdp_statistics statistics() const noexcept;
    bool is_sound() const noexcept { return umem_.is_sound(chunks - peeked_); } // once the reading thread has ended

  private:
    static constexpr std::uint32_t pkt_contd = 1; // XDP_PKT_CONTD of Linux 6.6

    template <class Entry>
    class Ring {
      public:
        Ring(int socket, std::uint64_t page_offset, const xdp_ring_offset& offset, unsigned entries);
        Ring(const Ring&) = delete;
        Ring& operator=(const Ring&) = delete;
        ~Ring();

        std::uint32_t producer() const noexcept { return std::atomic_ref(*producer_).load(std::memory_order_acquire); }
        void set_producer(std::uint32_t to) noexcept {
            std::atomic_ref(*producer_).store(to, std::memory_order_release);
        }
        void set_consumer(std::uint32_t to) noexcept {
            std::atomic_ref(*consumer_).store(to, std::memory_order_release);
        }
        bool needs_wakeup() const noexcept {
            return (std::atomic_ref(*flags_).load(std::memory_order_relaxed) & XDP_RING_NEED_WAKEUP) != 0;
        }
        Entry& operator[](std::uint32_t index) const noexcept { return entries_[index & mask_]; }

      private:
        std::uint8_t* memory_;
        std::size_t size_;
        std::uint32_t *producer_, *consumer_, *flags_;
        Entry* entries_;
        std::uint32_t mask_;
    };

    void bind(const Netdev& netdev, unsigned queue, XskCopy copy, unsigned largest_frame);
    bool prefer_busy_polling() noexcept;

    Umem umem_;
    UniqueFd socket_;
    xdp_mmap_offsets offsets_;
    Ring<std::uint64_t> fill_;
    Ring<xdp_desc> receive_;
    bool multi_buffer_ = false;
    bool zero_copy_ = false;
    bool busy_polling_ = false;
    std::uint32_t filled_ = 0, consumed_ = 0, peeked_ = 0;
};

} // namespace responder
