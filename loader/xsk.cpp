// SPDX-License-Identifier: GPL-2.0-only

#include "loader/xsk.h"

#include "loader/clock.h"
#include "loader/error.h"

#include <fmt/format.h>
#include <linux/bpf.h> // XDP_PACKET_HEADROOM
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

namespace responder {

namespace {

constexpr unsigned small_chunk = 2048, large_chunk = 4096; // the kernel takes none that is longer than a page
constexpr unsigned headroom = XDP_PACKET_HEADROOM;         // of each chunk, kept free by the kernel
constexpr std::uint16_t use_sg = 1 << 4;                   // XDP_USE_SG of Linux 6.6: long frames in several chunks

unsigned chunk_size(unsigned largest_frame) {
    return largest_frame <= small_chunk - headroom ? small_chunk : large_chunk;
}

void set_option(int socket, int option, const void* value, std::size_t size, const std::string& what) {
    if (setsockopt(socket, SOL_XDP, option, value, static_cast<socklen_t>(size)) != 0)
        throw Error::from_errno(ExitCode::os, what, errno);
}

void register_memory(int socket, const Umem& umem, const std::string& where) {
    xdp_umem_reg memory{};
    memory.addr = reinterpret_cast<std::uintptr_t>(umem.memory());
    memory.len = umem.size();
    memory.chunk_size = umem.chunk_size();
    if (setsockopt(socket, SOL_XDP, XDP_UMEM_REG, &memory, sizeof(memory)) == 0)
        return;
    const int error = errno;
    rlimit limit{};
    if (error != ENOBUFS || getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
        throw Error::from_errno(ExitCode::os, where + ": register frame memory", error);
    throw Error(ExitCode::os, where + ": register frame memory",
                fmt::format("{} KiB of memory must be locked for each queue, and this process may lock {} KiB in all",
                            umem.size() / 1024, limit.rlim_cur / 1024),
                "raise `ulimit -l` (LimitMEMLOCK= in a systemd unit), or give it CAP_IPC_LOCK");
}

UniqueFd open_socket(const Umem& umem, XskUse use, const std::string& where) {
    UniqueFd socket(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
    if (!socket && errno == EAFNOSUPPORT)
        throw Error(ExitCode::os, where, "this kernel has no AF_XDP sockets (CONFIG_XDP_SOCKETS)",
                    "--engine xdp needs none");
    if (!socket)
        throw Error::from_errno(errno == EPERM ? ExitCode::no_permission : ExitCode::os, where, errno,
                                errno == EPERM ? "CAP_NET_RAW is missing" : "");
    register_memory(socket.get(), umem, where);
    const bool sends = use == XskUse::send_back;
    const unsigned completion_ring = sends ? XskSocket::chunks : 1; // the kernel wants one in any case
    set_option(socket.get(), XDP_UMEM_FILL_RING, &XskSocket::chunks, sizeof(unsigned), where + ": make the fill ring");
    set_option(socket.get(), XDP_UMEM_COMPLETION_RING, &completion_ring, sizeof(unsigned),
               where + ": make the completion ring");
    set_option(socket.get(), XDP_RX_RING, &XskSocket::ring_size, sizeof(unsigned), where + ": make the receive ring");
    if (sends) {
        set_option(socket.get(), XDP_TX_RING, &XskSocket::chunks, sizeof(unsigned), where + ": make the send ring");
        // In copy mode frames that are being sent count as the socket's; by default there would be room for some 270.
        constexpr int room = 64 << 20;
        setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
    }
    return socket;
}

xdp_mmap_offsets ring_offsets(int socket, const std::string& where) {
    xdp_mmap_offsets offsets{};
    socklen_t size = sizeof(offsets);
    if (getsockopt(socket, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &size) != 0)
        throw Error::from_errno(ExitCode::os, where + ": ask for its rings", errno);
    return offsets;
}

std::string name_of(const Netdev& netdev, unsigned queue) {
    return fmt::format("{}: AF_XDP socket on queue {}", netdev.name(), queue);
}

} // namespace

template <class Entry>
XskSocket::Ring<Entry>::Ring(int socket, std::uint64_t page_offset, const xdp_ring_offset& offset, unsigned entries)
    : size_(offset.desc + entries * sizeof(Entry)), mask_(entries - 1) {
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, socket,
                        static_cast<off_t>(page_offset));
    if (memory == MAP_FAILED)
        throw Error::from_errno(ExitCode::os, "map a ring of an AF_XDP socket", errno);
    memory_ = static_cast<std::uint8_t*>(memory);
    producer_ = reinterpret_cast<std::uint32_t*>(memory_ + offset.producer);
    consumer_ = reinterpret_cast<std::uint32_t*>(memory_ + offset.consumer);
    flags_ = reinterpret_cast<std::uint32_t*>(memory_ + offset.flags);
    entries_ = reinterpret_cast<Entry*>(memory_ + offset.desc);
}

template <class Entry>
XskSocket::Ring<Entry>::~Ring() {
    munmap(memory_, size_);
}

XskSocket::XskSocket(const Netdev& netdev, unsigned queue, XskUse use, XskCopy copy, unsigned largest_frame)
    : umem_(chunks, chunk_size(largest_frame)), socket_(open_socket(umem_, use, name_of(netdev, queue))),
      offsets_(ring_offsets(socket_.get(), name_of(netdev, queue))),
      fill_(socket_.get(), XDP_UMEM_PGOFF_FILL_RING, offsets_.fr, chunks),
      receive_(socket_.get(), XDP_PGOFF_RX_RING, offsets_.rx, ring_size) {
    if (use == XskUse::send_back) {
        send_.emplace(socket_.get(), XDP_PGOFF_TX_RING, offsets_.tx, chunks);
        completion_.emplace(socket_.get(), XDP_UMEM_PGOFF_COMPLETION_RING, offsets_.cr, chunks);
    }
    while (filled_ < chunks)
        fill(std::uint64_t{filled_} * umem_.chunk_size());
    fill_.set_producer(filled_);
    bind(netdev, queue, copy, largest_frame);
    busy_polling_ = prefer_busy_polling();
}

XskSocket::~XskSocket() = default;

void XskSocket::bind(const Netdev& netdev, unsigned queue, XskCopy copy, unsigned largest_frame) {
    sockaddr_xdp address{};
    address.sxdp_family = AF_XDP;
    address.sxdp_ifindex = static_cast<std::uint32_t>(netdev.index());
    address.sxdp_queue_id = queue;
    address.sxdp_flags = XDP_USE_NEED_WAKEUP;
    if (copy != XskCopy::kernel_decides)
        address.sxdp_flags |= copy == XskCopy::copy ? XDP_COPY : XDP_ZEROCOPY;
    // The kernel lets go of a queue some time after the socket that had it was closed.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    const auto bound = [&](std::uint16_t more_flags) {
        sockaddr_xdp with_flags = address;
        with_flags.sxdp_flags |= more_flags;
        while (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&with_flags), sizeof(with_flags)) != 0) {
            if (errno != EBUSY || std::chrono::steady_clock::now() > deadline)
                return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return true;
    };
    multi_buffer_ = largest_frame > large_chunk - headroom && bound(use_sg);
    if (!multi_buffer_ && !bound(0)) {
        const int error = errno;
        if (error == EBUSY)
            throw Error(ExitCode::unavailable, name_of(netdev, queue), "another AF_XDP socket holds this queue",
                        "end the process that has it (`ss --xdp --processes` lists them)");
        if (copy == XskCopy::zero_copy && (error == EOPNOTSUPP || error == EINVAL))
            throw Error(ExitCode::os, name_of(netdev, queue), "the driver has no zero-copy for it",
                        "without --require-zerocopy the kernel copies");
        throw Error::from_errno(ExitCode::os, name_of(netdev, queue), error);
    }
    xdp_options options{};
    socklen_t size = sizeof(options);
    if (getsockopt(socket_.get(), SOL_XDP, XDP_OPTIONS, &options, &size) != 0)
        throw Error::from_errno(ExitCode::os, name_of(netdev, queue) + ": ask how it copies", errno);
    zero_copy_ = (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
}

// Then the reader itself drives the NIC's queue where it would otherwise wait for an interrupt (Linux 5.11).
bool XskSocket::prefer_busy_polling() noexcept {
    const auto set = [&](int option, int value) {
        return setsockopt(socket_.get(), SOL_SOCKET, option, &value, sizeof(value)) == 0;
    };
    constexpr int microseconds = 20, frames = 64;
    return set(SO_PREFER_BUSY_POLL, 1) && set(SO_BUSY_POLL, microseconds) && set(SO_BUSY_POLL_BUDGET, frames);
}

unsigned XskSocket::largest_frame() const noexcept {
    constexpr unsigned any = 1U << 16;
    return multi_buffer_ ? any : umem_.chunk_size() - headroom;
}

unsigned XskSocket::peek(unsigned most) noexcept {
    peeked_ = std::min(receive_.producer() - consumed_, most);
    while (peeked_ != 0 && continues(descriptor(peeked_ - 1)))
        --peeked_; // a frame whose end has not come, or is beyond `most`
    for (unsigned i = 0; i < peeked_; ++i) {
        const std::uint64_t address = receive_[consumed_ + i].addr;
        umem_.take(address);
        __builtin_prefetch(umem_.at(address));
    }
    return peeked_;
}

void XskSocket::fill(std::uint64_t address) noexcept {
    fill_[filled_++] = address;
    umem_.give(address);
}

void XskSocket::give_back() noexcept {
    for (unsigned i = 0; i < peeked_; ++i)
        fill(descriptor(i).addr);
    receive_.set_consumer(consumed_ += peeked_);
    peeked_ = 0;
    publish_filled();
}

void XskSocket::publish_filled() noexcept {
    fill_.set_producer(filled_);
    if (fill_.needs_wakeup()) // zero-copy: the NIC has run out of chunks
        recvfrom(socket_.get(), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
}

void XskSocket::send_back() noexcept {
    for (unsigned i = 0; i < peeked_; ++i) {
        (*send_)[sent_ + i] = descriptor(i);
        umem_.give(descriptor(i).addr);
    }
    receive_.set_consumer(consumed_ += peeked_);
    send_->set_producer(sent_ += peeked_);
    peeked_ = 0;
    start_sending();
    take_completed();
}

// A call sends some 32 frames in copy mode, or as many as the driver takes; it ends early at one that was refused. What
// the driver has no room for goes with the next.
void XskSocket::start_sending() noexcept {
    constexpr unsigned patience = 16; // calls in a row that move nothing
    for (unsigned idle = 0; idle < patience && send_->needs_wakeup(); ++idle) {
        const std::uint32_t before = send_->consumer();
        if (before == sent_)
            return;
        if (sendto(socket_.get(), nullptr, 0, MSG_DONTWAIT, nullptr, 0) < 0 && errno == EBUSY && !zero_copy_)
            ++refused_; // in zero-copy mode it only means: later
        if (send_->consumer() != before)
            idle = 0;
    }
}

void XskSocket::take_completed() noexcept {
    const std::uint32_t end = completion_->producer();
    if (end == completed_)
        return;
    for (; completed_ != end; ++completed_) {
        const std::uint64_t address = (*completion_)[completed_];
        if (address == awaited_) {
            awaited_ = nothing;
            awaited_sent_ns_ = clock_now_ns(CLOCK_MONOTONIC);
        }
        umem_.take(address);
        fill(address);
    }
    completion_->set_consumer(completed_);
    publish_filled();
}

std::uint64_t XskSocket::to_send() const noexcept {
    std::uint64_t frames = 0;
    for (std::uint32_t i = send_ ? send_->consumer() : sent_; i != sent_; ++i)
        frames += !continues((*send_)[i]);
    return frames;
}

void XskSocket::wait(int other) noexcept {
    if (busy_polling_) {
        recvfrom(socket_.get(), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
        if (receive_.producer() != consumed_)
            return;
    }
    pollfd either[] = {{.fd = socket_.get(), .events = POLLIN, .revents = 0},
                       {.fd = other, .events = POLLIN, .revents = 0}};
    // Nothing wakes us for a completion; without its chunk the kernel may have none for the next frame.
    const bool under_way = send_ && completed_ != sent_;
    if (under_way) {
        start_sending();
        take_completed();
    }
    poll(either, std::size(either), under_way ? 1 : -1); // also wakes a driver that needs it
}

xdp_statistics XskSocket::statistics() const noexcept {
    xdp_statistics statistics{};
    socklen_t size = sizeof(statistics);
    getsockopt(socket_.get(), SOL_XDP, XDP_STATISTICS, &statistics, &size);
    return statistics;
}

} // namespace responder
