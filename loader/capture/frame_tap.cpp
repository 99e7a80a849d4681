// SPDX-License-Identifier: GPL-2.0-only

#include "loader/capture/frame_tap.h"

#include <algorithm>

namespace responder {

namespace {

void add_one(std::atomic<std::uint64_t>& count) noexcept { // there is one writer
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

} // namespace

FrameTap::FrameTap(const CaptureState& state, std::uint32_t interface, std::uint32_t queue, std::uint32_t snaplen,
                   std::size_t ring_size)
    : state_(state), interface_(interface), queue_(queue), snaplen_(snaplen), ring_(ring_size) {}

void FrameTap::frame(std::span<const std::uint8_t> octets, std::uint32_t length, std::uint64_t tai_ns,
                     std::string_view comment) noexcept {
    if (state_.is_over.load(std::memory_order_relaxed)) {
        add_one(after_it_was_over_);
        return;
    }
    const std::uint64_t lost = lost_.load(std::memory_order_relaxed);
    const pcapng::Packet packet{.interface = interface_,
                                .queue = queue_,
                                .time_ns = tai_ns - state_.tai_ahead_ns.load(std::memory_order_relaxed),
                                .length = length,
                                .octets = octets.first(std::min<std::size_t>(octets.size(), snaplen_)),
                                .lost_before = lost - lost_said_,
                                .comment = comment};
    const std::size_t size = pcapng::packet_block_size(packet);
    std::uint8_t* room = ring_.reserve(size);
    if (room == nullptr) {
        add_one(lost_);
        return;
    }
    pcapng::write_packet_block(packet, room);
    ring_.commit(size);
    lost_said_ = lost;
}

} // namespace responder
