// SPDX-License-Identifier: GPL-2.0-only

#include "loader/capture/capture.h"

#include "loader/clock.h"
#include "loader/thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>

namespace responder {

namespace {

using namespace std::chrono_literals;

// What the queues of a port have together, and each at least: 64 MiB is what 2.5 Gb/s bring in 200 ms, in which a disk
// may be busy with something else.
constexpr std::size_t rings_of_a_port = 64U << 20, smallest_ring = 4U << 20;

// How often the thread looks for frames. Shorter costs wake-ups and writes less at a time; longer needs more room.
constexpr auto pause = 5ms;

std::uint64_t tai_ahead_ns() {
    const std::uint64_t utc = clock_now_ns(CLOCK_REALTIME), tai = clock_now_ns(CLOCK_TAI);
    // Whole seconds: TAI was read a little later, and is never behind.
    return (tai - utc) / 1'000'000'000 * 1'000'000'000;
}

std::uint64_t packets_in(std::span<const std::uint8_t> blocks) {
    std::uint64_t packets = 0;
    while (!blocks.empty()) {
        ++packets;
        blocks = blocks.subspan(pcapng::first_block(blocks).length);
    }
    return packets;
}

} // namespace

Capture::Capture(const std::string& file, const CaptureLimits& limits, std::uint32_t snaplen)
    : file_(file, limits), snaplen_(snaplen) {
    state_.tai_ahead_ns = tai_ahead_ns();
}

std::uint32_t Capture::add_interface(pcapng::Interface description, unsigned queues) {
    const auto number = static_cast<std::uint32_t>(interfaces_.size());
    Interface interface;
    interface.description = std::move(description);
    interface.description.snaplen = snaplen_;
    const std::size_t ring_size = std::max(std::bit_floor(rings_of_a_port / queues), smallest_ring);
    for (unsigned queue = 0; queue < queues; ++queue)
        interface.taps.push_back(std::make_unique<FrameTap>(state_, number, queue, snaplen_, ring_size));
    interfaces_.push_back(std::move(interface));
    return number;
}

void Capture::add_passed(std::uint32_t number, int map_fd) {
    interfaces_[number].passed = std::make_unique<PassedFrames>(
        map_fd, [this, number](const passed_frame& about, std::span<const std::uint8_t> octets) {
            take_passed(number, about, octets);
        });
}

void Capture::take_passed(std::uint32_t number, const passed_frame& about, std::span<const std::uint8_t> octets) {
    Interface& interface = interfaces_[number];
    // The buffers of several CPUs are read one after the other: an older figure may come behind.
    const std::uint64_t lost = std::max(interface.passed_lost, std::uint64_t{about.lost});
    const pcapng::Packet packet{.interface = number,
                                .queue = about.queue,
                                .time_ns = about.time_ns - state_.tai_ahead_ns,
                                .length = about.length,
                                .octets = octets,
                                .lost_before = lost - interface.passed_lost,
                                .comment = {}};
    interface.passed_lost = lost;
    const std::size_t at = passed_.size();
    passed_.resize(at + pcapng::packet_block_size(packet));
    pcapng::write_packet_block(packet, passed_.data() + at);
}

void Capture::begin(const pcapng::Section& section) {
    pcapng::Octets header = pcapng::section_block(section);
    for (const Interface& interface : interfaces_) {
        const pcapng::Octets block = pcapng::interface_block(interface.description);
        header.insert(header.end(), block.begin(), block.end());
    }
    file_.begin(std::move(header), interfaces_.size());
    thread_ = start_thread<std::jthread>("the capture", [this](const std::stop_token& stop) { run(stop); });
}

void Capture::run(const std::stop_token& stop) {
    for (bool last = false; !last;) {
        last = stop.stop_requested();         // before looking: what had come by then is written
        state_.tai_ahead_ns = tai_ahead_ns(); // whoever keeps the clock may only now have learnt it
        const bool behind = write_what_there_is();
        if (file_.is_over())
            state_.is_over = true;
        std::unique_lock lock(mutex_);
        if (!behind && !last)
            wake_.wait_for(lock, stop, pause, [] { return false; });
    }
}

// True: there is so much that it is better not to pause.
bool Capture::write_what_there_is() {
    bool behind = false;
    for (std::size_t i = 0; i < interfaces_.size(); ++i) {
        Interface& interface = interfaces_[i];
        file_.statistics()[i].dropped_by_system = lost_in(interface);
        for (const auto& tap : interface.taps) {
            const std::span<const std::uint8_t> blocks = tap->ring().filled();
            behind = behind || blocks.size() > tap->ring().size() / 4;
            append(blocks);
            tap->ring().release(blocks.size());
        }
        if (!interface.passed)
            continue;
        passed_.clear();
        interface.passed->read();
        append(passed_);
    }
    return behind;
}

void Capture::append(std::span<const std::uint8_t> blocks) { unwritten_ += packets_in(file_.append(blocks)); }

std::uint64_t Capture::lost_in(const Interface& interface) const noexcept {
    std::uint64_t lost = interface.passed_lost;
    for (const auto& tap : interface.taps)
        lost += tap->lost();
    return lost;
}

void Capture::end(std::span<const Counted> counted) {
    file_.hurry();
    thread_.request_stop();
    thread_.join();
    state_.is_over = true;
    figures_.after_it_was_over = unwritten_;
    for (std::size_t i = 0; i < interfaces_.size(); ++i) {
        pcapng::Statistics& statistics = file_.statistics()[i];
        interfaces_[i].passed_lost = counted[i].passed_lost;
        const std::uint64_t lost = lost_in(interfaces_[i]);
        statistics.received = counted[i].received;
        statistics.dropped_by_interface = counted[i].dropped_by_interface;
        statistics.dropped_by_system = lost + counted[i].lost_on_the_way;
        figures_.lost += lost;
        for (const auto& tap : interfaces_[i].taps)
            figures_.after_it_was_over += tap->after_it_was_over() + packets_in(tap->ring().filled());
        figures_.written += statistics.delivered;
    }
    figures_.why_over = file_.why_over();
    file_.end();
    figures_.file = std::string(file_.name());
    figures_.files = file_.files();
    figures_.kept = file_.kept();
    figures_.octets = file_.octets();
}

} // namespace responder
