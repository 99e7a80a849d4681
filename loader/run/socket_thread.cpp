// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/socket_thread.h"

#include "loader/command.h"
#include "loader/error.h"
#include "loader/thread.h"

#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <utility>

namespace responder {

namespace {

constexpr unsigned batch = 64; // as many as the kernel's own loop takes at a time

void pin(std::thread& thread, unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(thread.native_handle(), sizeof(set), &set); // a CPU that has just gone away: then anywhere
}

} // namespace

SocketThread::SocketThread(XskSocket& socket, std::optional<unsigned> cpu, Take take)
    : socket_(socket), take_(std::move(take)), stop_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!stop_event_)
        throw Error::from_errno(ExitCode::os, "make an eventfd", errno);
    thread_ = start_thread<std::thread>("the reader of an AF_XDP socket", [this] { work(); });
    if (cpu)
        pin(thread_, *cpu);
}

SocketThread::~SocketThread() {
    stop_.store(true, std::memory_order_relaxed);
    eventfd_write(stop_event_.get(), 1);
    thread_.join();
    if (!socket_.is_sound())
        say("an AF_XDP socket's memory was in two places at once: do not rely on what was said of payload");
}

void SocketThread::work() noexcept {
    std::uint64_t frames = 0;
    while (!stop_.load(std::memory_order_relaxed)) {
        const unsigned segments = socket_.peek(batch);
        if (segments == 0) {
            socket_.wait(stop_event_.get());
            publish_sending();
            continue;
        }
        frames += take_(segments);
        publish_sending();
        received_.store(frames, std::memory_order_release);
    }
}

void SocketThread::publish_sending() noexcept {
    refused_.store(socket_.refused(), std::memory_order_relaxed);
    to_send_.store(socket_.to_send(), std::memory_order_relaxed);
}

SocketStatistics SocketThread::statistics() const noexcept {
    const xdp_statistics kernels = socket_.statistics();
    return {.received = received_.load(std::memory_order_acquire),
            .rx_dropped = kernels.rx_dropped,
            .rx_ring_full = kernels.rx_ring_full,
            .rx_fill_ring_empty = kernels.rx_fill_ring_empty_descs,
            .rx_invalid_descs = kernels.rx_invalid_descs,
            .refused = refused_.load(std::memory_order_relaxed) + kernels.tx_invalid_descs,
            .to_send = to_send_.load(std::memory_order_relaxed)};
}

} // namespace responder
