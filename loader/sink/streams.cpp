// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/streams.h"

#include "loader/ip_address.h"
#include "loader/sink/watch.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace responder {

namespace {

std::string address_text(const stream_key& key, const __be32 (&octets)[4]) {
    IpAddress address{.family = key.ip == 6 ? AF_INET6 : AF_INET};
    std::memcpy(address.bytes.data(), octets, sizeof(octets));
    return address.v6() ? fmt::format("[{}]", address.address_text()) : address.address_text();
}

bool is_taken(const stream& place) { return place.key.format != STREAM_NONE; }

// The program goes on writing: a copy is one when the next is the same.
stream copy_of(const stream& place) {
    stream copy, next;
    std::memcpy(&copy, &place, sizeof(copy));
    for (int attempt = 0; attempt < 1000; ++attempt) {
        std::atomic_thread_fence(std::memory_order_acquire);
        std::memcpy(&next, &place, sizeof(next));
        if (std::memcmp(&copy, &next, sizeof(copy)) == 0)
            break;
        copy = next;
    }
    return copy;
}

// Each queue has seen a part of the numbers and taken the others for lost. Together they say how many came; unless the
// sender began anew, a number fits nowhere, or some came by two queues: then nobody knows which part of what is where.
std::optional<std::uint64_t> lost_of(std::span<const stream> on_queues) {
    const sequence& one = on_queues.front().sequence;
    if (on_queues.size() == 1)
        return one.lost_before + sequence_missing(&one);
    std::uint64_t first = ~std::uint64_t{0}, next = 0, arrived = 0;
    for (const stream& found : on_queues) {
        const sequence& other = found.sequence;
        if (other.restarts + other.stray != 0)
            return std::nullopt;
        // Of the two ways to count the wraps of 32 bits, the one that is nearer.
        const std::uint64_t wraps = (one.next - other.next + (SEQUENCE_BASE >> 1)) & ~std::uint64_t{SEQUENCE_WIRE};
        first = std::min<std::uint64_t>(first, other.first + wraps);
        next = std::max<std::uint64_t>(next, other.next + wraps);
        arrived += other.arrived;
    }
    if (next - first < arrived)
        return std::nullopt;
    return next - first - arrived;
}

int compare(const stream_key& a, const stream_key& b) { return std::memcmp(&a, &b, sizeof(a)); }

bool in_order_of_name(const StreamFigures& a, const StreamFigures& b) {
    const int sources = std::memcmp(a.key.source, b.key.source, sizeof(a.key.source));
    if (sources != 0)
        return sources < 0;
    return a.key.stream != b.key.stream ? a.key.stream < b.key.stream : compare(a.key, b.key) < 0;
}

void add(stream_payload& sum, const stream_payload& one) {
    sum.proved += one.proved;
    sum.wrong_frames += one.wrong_frames;
    sum.wrong_octets += one.wrong_octets;
}

void add(StreamFigures& sum, const StreamFigures& one) {
    sum.frames += one.frames;
    if (sum.lost && one.lost)
        *sum.lost += *one.lost;
    else
        sum.lost.reset();
    sum.duplicate += one.duplicate;
    sum.stray += one.stray;
    sum.restarts += one.restarts;
    add(sum.payload, one.payload);
    if (sum.late && one.late) {
        sum.late->count += one.late->count;
        sum.late->extent_known += one.late->extent_known;
        sum.late->extent_sum += one.late->extent_sum;
        sum.late->extent_max = std::max(sum.late->extent_max, one.late->extent_max);
    } else {
        sum.late.reset();
    }
    if (sum.periods && one.periods) {
        sum.periods->count += one.periods->count;
        sum.periods->longest = std::max(sum.periods->longest, one.periods->longest);
        for (std::size_t i = 0; i < SEQUENCE_BURSTS; ++i)
            sum.periods->by_length[i] += one.periods->by_length[i];
    } else {
        sum.periods.reset();
    }
    if (one.delay) { // the worst of them: variations of several streams have no sum
        if (!sum.delay)
            sum.delay.emplace();
        sum.delay->frames += one.delay->frames;
        sum.delay->jitter_ns = std::max(sum.delay->jitter_ns, one.delay->jitter_ns);
        sum.delay->mean_ns = std::max(sum.delay->mean_ns, one.delay->mean_ns);
        sum.delay->most_ns = std::max(sum.delay->most_ns, one.delay->most_ns);
        sum.delay->clock_steps = std::max(sum.delay->clock_steps, one.delay->clock_steps);
    }
}

std::optional<DelayVariation> delay_variation(const delay& found) {
    if (found.frames < 2)
        return std::nullopt;
    const auto frames = static_cast<double>(found.frames);
    return DelayVariation{.frames = found.frames,
                          .jitter_ns = static_cast<double>(found.jitter16) / 16,
                          .mean_ns = static_cast<double>(found.sum) / frames - static_cast<double>(found.least),
                          .most_ns = static_cast<double>(found.most - found.least),
                          .clock_steps = found.steps};
}

std::optional<IperfFigures> iperf_figures_of(const stream& found) {
    if (!stream_is_iperf(found.key.format))
        return std::nullopt;
    const iperf_figures& own = found.iperf.figures;
    std::uint64_t lost = own.lost;
    if (found.key.format == STREAM_IPERF2)
        lost -= std::min<std::uint64_t>(lost, own.out_of_order);
    return IperfFigures{.packets = own.highest,
                        .lost = lost,
                        .out_of_order = own.out_of_order,
                        .jitter_ms = static_cast<double>(own.jitter) / (1 << IPERF_JITTER_BITS) / 1e3};
}

StreamFigures figures_of_one_queue(const stream& found) {
    sequence settled = found.sequence;
    sequence_flush(&settled);
    StreamFigures figures{.key = found.key,
                          .frames = found.frames,
                          .lost = lost_of({&found, 1}),
                          .duplicate = settled.duplicate,
                          .stray = settled.stray,
                          .restarts = settled.restarts,
                          .late = LateFrames{.count = settled.late,
                                             .extent_known = settled.extent_known,
                                             .extent_sum = settled.extent_sum,
                                             .extent_max = settled.extent_max},
                          .periods = LossPeriods{.count = settled.period_count, .longest = settled.period_max},
                          .delay = delay_variation(found.delay),
                          .payload = found.payload,
                          .iperf = iperf_figures_of(found)};
    std::ranges::copy(settled.period, figures.periods->by_length.begin());
    return figures;
}

} // namespace

double StreamFigures::loss_ratio() const noexcept {
    return sent() == 0 ? 0 : static_cast<double>(*lost) / static_cast<double>(sent());
}

std::string stream_name(const stream_key& key) {
    if (key.format != STREAM_OURS)
        return fmt::format("{} {}:{} to {}:{}", format_name(static_cast<stream_format>(key.format)),
                           address_text(key, key.source), ntohs(key.source_port), address_text(key, key.destination),
                           ntohs(key.destination_port));
    return fmt::format("stream {} from {}", key.stream, address_text(key, key.source));
}

StreamFigures StreamReport::sum() const {
    StreamFigures all{
        .lost = 0, .late = LateFrames{}, .periods = LossPeriods{}, .delay = std::nullopt, .iperf = std::nullopt};
    for (const StreamFigures& one : streams)
        add(all, one);
    return all;
}

StreamFigures stream_figures(std::span<const stream> on_queues) {
    StreamFigures figures = figures_of_one_queue(on_queues.front());
    if (on_queues.size() == 1)
        return figures;
    figures.queues = static_cast<unsigned>(on_queues.size());
    figures.late.reset();
    figures.periods.reset();
    figures.delay.reset();
    figures.iperf.reset();
    figures.lost = lost_of(on_queues);
    figures.frames = figures.duplicate = figures.stray = figures.restarts = 0;
    figures.payload = {};
    for (const stream& found : on_queues) {
        figures.frames += found.frames;
        figures.duplicate += found.sequence.duplicate;
        figures.stray += found.sequence.stray;
        add(figures.payload, found.payload);
        figures.restarts = std::max<std::uint64_t>(figures.restarts, found.sequence.restarts);
    }
    return figures;
}

StreamTable::StreamTable(int streams_map, int unplaced_map, unsigned slots, unsigned tables)
    : streams_(streams_map, std::size_t{slots} * tables), unplaced_(unplaced_map, tables), slots_(slots) {
    found_.reserve(std::size_t{slots} * tables);
}

follow_table StreamTable::table(unsigned index) const noexcept {
    return {.streams = streams_.data() + std::size_t{slots_} * index,
            .slots = slots_,
            .unplaced = unplaced_.data() + index,
            .watch = nullptr,
            .watch_count = 0};
}

StreamReport StreamTable::read() const {
    StreamReport report;
    std::vector<stream> found;
    for (const stream& place : streams_.values())
        if (is_taken(place))
            found.push_back(copy_of(place));
    std::ranges::stable_sort(found, [](const stream& a, const stream& b) { return compare(a.key, b.key) < 0; });
    for (auto first = found.begin(); first != found.end();) {
        const auto end =
            std::find_if(first, found.end(), [&](const stream& s) { return compare(s.key, first->key) != 0; });
        report.streams.push_back(stream_figures({first, end}));
        first = end;
    }
    std::ranges::sort(report.streams, in_order_of_name);
    for (const stream_unplaced& unplaced : unplaced_.values()) {
        report.damaged += unplaced.damaged;
        report.no_room += unplaced.no_room;
    }
    return report;
}

bool StreamTable::empty() const noexcept { return std::ranges::none_of(streams_.values(), is_taken); }

std::uint64_t StreamTable::missing() noexcept {
    constexpr std::size_t most_queues = 64;
    std::array<stream, most_queues> on_queues;
    found_.clear();
    for (const stream& place : streams_.values())
        if (is_taken(place))
            found_.push_back(&place);
    std::ranges::sort(found_, [](const stream* a, const stream* b) { return compare(a->key, b->key) < 0; });
    std::uint64_t frames = 0;
    for (std::size_t i = 0; i < found_.size();) {
        std::size_t queues = 0;
        const stream_key& key = found_[i]->key;
        for (; i < found_.size() && compare(found_[i]->key, key) == 0; ++i)
            if (queues < most_queues)
                on_queues[queues++] = copy_of(*found_[i]);
        frames += lost_of(std::span(on_queues).first(queues)).value_or(0);
    }
    return frames;
}

} // namespace responder
