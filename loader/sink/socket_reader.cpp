// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/socket_reader.h"

#include "loader/clock.h"
#include "loader/sink/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace responder {

namespace {

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
      thread_(socket, cpu, [this](unsigned segments) { return take(segments); }) {}

unsigned SocketReader::take(unsigned segments) noexcept {
    const bool stamped = unstamped_ == 0;
    unsigned frames = 0;
    for (unsigned i = 0; i < segments; ++i)
        frames += take(socket_.descriptor(i), stamped);
    socket_.give_back();
    return frames;
}

bool SocketReader::take(const xdp_desc& segment, bool stamped) noexcept {
    const std::uint8_t* data = socket_.data(segment);
    const auto* arrival = reinterpret_cast<const socket_arrival*>(data) - 1;
    if (!XskSocket::continues(segment) && assembled_size_ == 0) {
        take_frame({data, segment.len}, stamped ? arrival : nullptr);
        return true;
    }
    if (assembled_size_ == 0)
        assembled_arrival_ = *arrival;
    const std::size_t room = assembled_.size() - assembled_size_;
    const std::size_t length = std::min<std::size_t>(segment.len, room);
    std::memcpy(assembled_.data() + assembled_size_, data, length);
    assembled_size_ += length;
    if (XskSocket::continues(segment))
        return false;
    take_frame({assembled_.data(), assembled_size_}, stamped ? &assembled_arrival_ : nullptr);
    assembled_size_ = 0;
    return true;
}

void SocketReader::take_frame(std::span<const std::uint8_t> frame, const socket_arrival* arrival) noexcept {
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

} // namespace responder
