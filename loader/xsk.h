// SPDX-License-Identifier: GPL-2.0-only
//
// XskSocket owns an AF_XDP socket that receives what an XDP program redirects to it from one receive queue, with frame
// memory of its own. Rings are shared with the kernel (Documentation/networking/af_xdp.rst), the last two only where
// the socket also sends:
//
//     fill ring        we write, the kernel reads     chunks that frames may be put into
//     receive ring     the kernel writes, we read     chunks with a frame in them, or a part of one
//     send ring        we write, the kernel reads     the same chunks on their way back
//     completion ring  the kernel writes, we read     chunks that have been sent, or never will be
//
// Each ring but the receive ring has a place for every chunk, so that none is ever full.
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
#include <optional>
#include <utility>

namespace responder {

// How a socket's frames get into its memory: by the NIC itself, or copied by the kernel.
enum class XskCopy { kernel_decides, copy, zero_copy };

enum class XskUse { receive, send_back };

class XskSocket {
  public:
    static constexpr unsigned ring_size = 4096;       // 1.1 ms of 64-byte frames at 2.5 Gb/s
    static constexpr unsigned chunks = 2 * ring_size; // what fills the ring, and as many for the NIC's own

    // `largest_frame`: that is expected, without FCS. Throws Error.
    XskSocket(const Netdev& netdev, unsigned queue, XskUse use, XskCopy copy, unsigned largest_frame);
    XskSocket(const XskSocket&) = delete;
    XskSocket& operator=(const XskSocket&) = delete;
    ~XskSocket();

    int fd() const noexcept { return socket_.get(); }
    bool zero_copy() const noexcept { return zero_copy_; }
    bool busy_polling() const noexcept { return busy_polling_; }
    unsigned largest_frame() const noexcept; // without FCS; the kernel drops what is longer

    // The packet loop: segments that have come, at most `most`, whole frames only. A frame is one, or several in a row.
    unsigned peek(unsigned most) noexcept;
    const xdp_desc& descriptor(unsigned index) const noexcept { return receive_[consumed_ + index]; } // of those peeked
    std::uint8_t* data(const xdp_desc& segment) const noexcept { return umem_.at(segment.addr); }
    static bool continues(const xdp_desc& segment) noexcept { return (segment.options & pkt_contd) != 0; }
    // All that was peeked at: its memory back to the kernel, or its frames out of the port.
    void give_back() noexcept;
    void send_back() noexcept;
    std::uint64_t refused() const noexcept { return refused_; } // frames, by the driver
    std::uint64_t to_send() const noexcept;                     // frames that it has not taken yet

    // When the segment will have been sent, in ns of CLOCK_MONOTONIC: once; 0 as long as that is not known. Of the last
    // one that was asked for.
    void await(const xdp_desc& segment) noexcept { awaited_ = segment.addr; }
    std::uint64_t take_awaited() noexcept { return std::exchange(awaited_sent_ns_, 0); }
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

        std::uint32_t consumer() const noexcept { return std::atomic_ref(*consumer_).load(std::memory_order_acquire); }
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

    void fill(std::uint64_t address) noexcept;
    void publish_filled() noexcept;
    void take_completed() noexcept;
    void start_sending() noexcept;
    void bind(const Netdev& netdev, unsigned queue, XskCopy copy, unsigned largest_frame);
    bool prefer_busy_polling() noexcept;

    Umem umem_;
    UniqueFd socket_;
    xdp_mmap_offsets offsets_;
    Ring<std::uint64_t> fill_;
    Ring<xdp_desc> receive_;
    std::optional<Ring<xdp_desc>> send_;
    std::optional<Ring<std::uint64_t>> completion_;
    bool multi_buffer_ = false;
    bool zero_copy_ = false;
    bool busy_polling_ = false;
    std::uint32_t filled_ = 0, consumed_ = 0, peeked_ = 0, sent_ = 0, completed_ = 0;
    std::uint64_t refused_ = 0;
    static constexpr std::uint64_t nothing = ~std::uint64_t{0};
    std::uint64_t awaited_ = nothing, awaited_sent_ns_ = 0;
};

} // namespace responder
