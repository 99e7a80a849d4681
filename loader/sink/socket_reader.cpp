// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/socket_reader.h"

#include "loader/clock.h"
#include "loader/command.h"
#include "loader/error.h"
#include "loader/sink/watch.h"
#include "loader/thread.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

namespace responder {

namespace {

constexpr unsigned batch = 64; // as many as the kernel's own loop takes at a time

void pin(std::thread& thread, unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_setaffinity_np(thread.native_handle(), sizeof(set), &set); // a CPU that has just gone away: then anywhere
}

// What a reader of the capture would look for; of a frame in order there is nothing to say.
std::string_view comment_on(const followed& frame, char (&room)[pcapng::longest_comment]) noexcept {
    if (frame.stream == nullptr || (frame.kind <= SEQUENCE_AHEAD && frame.skipped == 0 && frame.wrong_octets == 0))
        return {};
    fmt::format_to_n_result<char*> end{room, 0};
    const auto add = [&](auto text, auto... values) {
        end = fmt::format_to_n(end.out, room + sizeof(room) - end.out, text, values...);
    };
    if (frame.stream->key.format == STREAM_OURS)
        add(FMT_STRING("stream {}: "), frame.stream->key.stream);
    else
        add(FMT_STRING("{}: "), format_name(static_cast<stream_format>(frame.stream->key.format)));
    if (frame.kind == SEQUENCE_LATE)
        add(FMT_STRING("late"));
    else if (frame.kind == SEQUENCE_DUPLICATE)
        add(FMT_STRING("duplicate"));
    else if (frame.kind == SEQUENCE_STRAY)
        add(FMT_STRING("stray"));
    else if (frame.skipped != 0)
        add(FMT_STRING("{} frame{} missing before this one"), frame.skipped, frame.skipped == 1 ? "" : "s");
    if (frame.wrong_octets != 0)
        add(FMT_STRING("{}{} octet{} of the payload wrong"),
            frame.kind <= SEQUENCE_AHEAD && frame.skipped == 0 ? "" : ", ", frame.wrong_octets,
            frame.wrong_octets == 1 ? "" : "s");
    return {room, end.out};
}

} // namespace

SocketReader::SocketReader(XskSocket& socket, const follow_table& table, const volatile std::uint32_t& unstamped,
                           FrameTap* tap, std::optional<unsigned> cpu)
    : socket_(socket), table_(table), unstamped_(unstamped), tap_(tap), assembled_(socket.largest_frame()),
      stop_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!stop_event_)
        throw Error::from_errno(ExitCode::os, "make an eventfd", errno);
    thread_ = start_thread<std::thread>("the reader of an AF_XDP socket", [this] { read(); });
    if (cpu)
        pin(thread_, *cpu);
}

SocketReader::~SocketReader() {
    stop_.store(true, std::memory_order_relaxed);
    eventfd_write(stop_event_.get(), 1);
    thread_.join();
    if (!socket_.is_sound())
        say("an AF_XDP socket's memory was in two places at once: do not rely on what was said of payload");
}

void SocketReader::read() noexcept {
    while (!stop_.load(std::memory_order_relaxed)) {
        const unsigned segments = socket_.peek(batch);
        if (segments == 0) {
            socket_.wait(stop_event_.get());
            continue;
        }
        const bool stamped = unstamped_ == 0;
        for (unsigned i = 0; i < segments; ++i)
            take(socket_.descriptor(i), stamped);
        socket_.give_back();
        received_.store(frames_, std::memory_order_release);
    }
}

void SocketReader::take(const xdp_desc& segment, bool stamped) noexcept {
    const std::uint8_t* data = socket_.data(segment);
    const auto* arrival = reinterpret_cast<const socket_arrival*>(data) - 1;
    if (!XskSocket::continues(segment) && assembled_size_ == 0) {
        take_frame({data, segment.len}, stamped ? arrival : nullptr);
        return;
    }
    if (assembled_size_ == 0)
        assembled_arrival_ = *arrival;
    const std::size_t room = assembled_.size() - assembled_size_;
    const std::size_t length = std::min<std::size_t>(segment.len, room);
    std::memcpy(assembled_.data() + assembled_size_, data, length);
    assembled_size_ += length;
    if (XskSocket::continues(segment))
        return;
    take_frame({assembled_.data(), assembled_size_}, stamped ? &assembled_arrival_ : nullptr);
    assembled_size_ = 0;
}

void SocketReader::take_frame(std::span<const std::uint8_t> frame, const socket_arrival* arrival) noexcept {
    ++frames_;
    if (table_.slots != 0)
        follow_frame(&table_, frame.data(), static_cast<__u32>(frame.size()), arrival);
    if (tap_ != nullptr)
        capture(frame, arrival);
}

void SocketReader::capture(std::span<const std::uint8_t> frame, const socket_arrival* arrival) noexcept {
    char room[pcapng::longest_comment];
    const auto length = static_cast<std::uint32_t>(frame.size());
    tap_->frame(frame, length, arrival != nullptr ? arrival->ns : clock_now_ns(CLOCK_TAI),
                table_.slots != 0 ? comment_on(followed_last(), room) : std::string_view());
}

SocketStatistics SocketReader::statistics() const noexcept {
    const xdp_statistics kernels = socket_.statistics();
    return {.received = received_.load(std::memory_order_acquire),
            .rx_dropped = kernels.rx_dropped,
            .rx_ring_full = kernels.rx_ring_full,
            .rx_fill_ring_empty = kernels.rx_fill_ring_empty_descs,
            .rx_invalid_descs = kernels.rx_invalid_descs};
}

} // namespace responder
