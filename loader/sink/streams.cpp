// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/streams.h"

#include "loader/ip_address.h"
#include "loader/sink/watch.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
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

// Each queue has seen a part of the numbers and taken the others for lost. Together they say how many came; unless the
// sender began anew, a number fits nowhere, or some came by two queues: then nobody knows which part of what is where.
std::optional<std::uint64_t> lost_of(std::span<const StreamAtPlace> on_queues) {
    const sequence& one = on_queues.front().numbers;
    if (on_queues.size() == 1)
        return one.lost_before + one.missing;
    std::uint64_t first = ~std::uint64_t{0}, next = 0, arrived = 0;
    for (const StreamAtPlace& found : on_queues) {
        const sequence& other = found.numbers;
        if (other.restarts + other.stray != 0)
            return std::nullopt;
        // Of the two ways to count the wraps of 32 bits, the one that is nearer.
        const std::uint64_t wraps = (one.next - other.next + (SEQUENCE_BASE >> 1)) & ~std::uint64_t{SEQUENCE_WIRE};
        first = std::min<std::uint64_t>(first, other.first + wraps);
        next = std::max<std::uint64_t>(next, other.next + wraps);
        arrived += sequence_arrived(&other);
    }
    if (next - first < arrived)
        return std::nullopt;
    return next - first - arrived;
}

// Octets that are no numbers make a stream of strays; and where two of them follow each other by chance, a jump. Those
// of iperf's other version hardly ever change: where nothing but the port says that they are numbers, so many
// duplicates mean that they are none. Elsewhere a loop in the network may have made them.
bool is_left_out(std::span<const StreamAtPlace> on_queues) {
    std::uint64_t frames = 0, fit_nowhere = 0, duplicate = 0;
    for (const StreamAtPlace& found : on_queues) {
        frames += sequence_packets(&found.numbers);
        fit_nowhere += found.numbers.stray + found.numbers.jumps;
        duplicate += found.numbers.duplicate;
    }
    if (stream_is_iperf(on_queues.front().head.key.format) && 10 * duplicate > 9 * frames)
        return true;
    return fit_nowhere > 1 && fit_nowhere > frames / 10;
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

double weighted(double a, std::uint64_t a_count, double b, std::uint64_t b_count) {
    return (a * static_cast<double>(a_count) + b * static_cast<double>(b_count)) /
           static_cast<double>(std::max<std::uint64_t>(a_count + b_count, 1));
}

void add(Spread& sum, std::uint64_t sum_count, const Spread& one, std::uint64_t one_count) {
    if (one_count == 0)
        return;
    sum.mean = weighted(sum.mean, sum_count, one.mean, one_count);
    sum.least = sum_count == 0 ? one.least : std::min(sum.least, one.least);
    sum.most = sum_count == 0 ? one.most : std::max(sum.most, one.most);
}

void add(std::optional<Histogram>& sum, const std::optional<Histogram>& one) {
    if (sum && one)
        *sum += *one;
    else
        sum.reset();
}

void add(std::optional<DelayFigures>& sum, const std::optional<DelayFigures>& one) {
    if (!one)
        return;
    if (!sum) {
        sum = one;
        return;
    }
    add(sum->transit, sum->frames, one->transit, one->frames);
    add(sum->ipdv, sum->pairs, one->ipdv, one->pairs);
    if (sum->histogram_is_of_transit != one->histogram_is_of_transit)
        sum->histogram.reset(); // one's delays and the other's variation
    add(sum->histogram, one->histogram);
    sum->frames += one->frames;
    sum->pairs += one->pairs;
    // The worst: these have no sum.
    sum->jitter = std::max(sum->jitter, one->jitter);
    sum->variation_mean = std::max(sum->variation_mean, one->variation_mean);
    sum->variation_most = std::max(sum->variation_most, one->variation_most);
    sum->clock_steps = std::max(sum->clock_steps, one->clock_steps);
    sum->wild += one->wild;
    sum->of_tai = sum->of_tai && one->of_tai;
}

void add(std::optional<GapFigures>& sum, const std::optional<GapFigures>& one) {
    if (!one)
        return;
    if (!sum) {
        sum = one;
        return;
    }
    add(sum->gap, sum->count, one->gap, one->count);
    add(sum->histogram, one->histogram);
    sum->count += one->count;
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
    add(sum.delay, one.delay);
    add(sum.gaps, one.gaps);
}

std::optional<DelayFigures> delay_figures(const StreamAtPlace& at) {
    const delay& found = at.head.delay;
    if (found.frames < 2)
        return std::nullopt;
    // The sum wraps; what it is above that many times the least does not.
    const std::uint64_t beyond_least = found.sum - static_cast<std::uint64_t>(found.least) * found.frames;
    DelayFigures figures{.frames = found.frames,
                         .jitter = static_cast<double>(found.jitter16) / 16,
                         .transit = {.least = static_cast<double>(found.least),
                                     .mean = static_cast<double>(found.least) +
                                             static_cast<double>(beyond_least) / static_cast<double>(found.frames),
                                     .most = static_cast<double>(found.most)},
                         .pairs = found.frames - found.unpaired,
                         .ipdv = {},
                         .clock_steps = found.steps,
                         .wild = found.wild};
    figures.of_tai = at.head.key.format == STREAM_OURS;
    figures.histogram_is_of_transit = figures.of_tai && at.clocks_in_step;
    figures.variation_mean = figures.transit.mean - figures.transit.least;
    figures.variation_most = figures.transit.most - figures.transit.least;
    if (figures.pairs != 0)
        figures.ipdv = {.least = static_cast<double>(found.ipdv_least),
                        .mean = static_cast<double>(found.ipdv_sum) / static_cast<double>(figures.pairs),
                        .most = static_cast<double>(found.ipdv_most)};
    if (at.histograms != nullptr)
        figures.histogram.emplace(at.histograms->delay);
    return figures;
}

std::optional<IperfFigures> iperf_figures_of(const StreamAtPlace& at) {
    const stream_key& key = at.head.key;
    if (!stream_is_iperf(key.format))
        return std::nullopt;
    const iperf_figures& own = *iperf_settled(&at.iperf);
    std::uint64_t lost = own.lost;
    if (key.format == STREAM_IPERF2)
        lost -= std::min<std::uint64_t>(lost, own.out_of_order);
    return IperfFigures{.packets = own.highest - own.before,
                        .lost = lost,
                        .out_of_order = own.out_of_order,
                        .jitter_ms = static_cast<double>(own.jitter) / (1 << IPERF_JITTER_BITS) / 1e3,
                        .fragmented = at.iperf.fragmented};
}

std::optional<GapFigures> gap_figures(const StreamAtPlace& at) {
    const gaps& found = at.head.gaps;
    if (found.count == 0)
        return std::nullopt;
    const std::uint64_t sum = at.head.exact ? at.head.head.last_ns - found.began_ns : found.began_ns;
    GapFigures figures{.count = found.count,
                       .gap = {.least = static_cast<double>(found.least),
                               .mean = static_cast<double>(sum) / static_cast<double>(found.count),
                               .most = static_cast<double>(found.most)}};
    if (at.histograms != nullptr)
        figures.histogram.emplace(at.histograms->gaps);
    return figures;
}

// What is known only where all frames of a stream came by one queue, in the order in which they came.
void add_order(StreamFigures& figures, const StreamAtPlace& found) {
    sequence settled = found.numbers;
    sequence_flush(&settled);
    figures.late = LateFrames{.count = settled.late,
                              .extent_known = settled.extent_known,
                              .extent_sum = settled.extent_sum,
                              .extent_max = settled.extent_max};
    figures.periods = LossPeriods{.count = settled.period_count, .longest = settled.period_max};
    std::ranges::copy(settled.period, figures.periods->by_length.begin());
    figures.delay = delay_figures(found);
    figures.gaps = gap_figures(found);
    figures.iperf = iperf_figures_of(found);
}

} // namespace

double StreamFigures::loss_ratio() const noexcept {
    return sent() == 0 ? 0 : static_cast<double>(*lost) / static_cast<double>(sent());
}

std::string stream_name(const stream_key& key) {
    if (key.format == STREAM_OURS)
        return fmt::format("stream {} from {}", key.stream, address_text(key, key.source));
    std::string name{format_name(static_cast<stream_format>(key.format))};
    if (stream_is_numbered(key.format))
        name += fmt::format(" stream {}", key.stream);
    if (key.format == STREAM_TREX)
        return name;
    return name + fmt::format(" {}:{} to {}:{}", address_text(key, key.source), ntohs(key.source_port),
                              address_text(key, key.destination), ntohs(key.destination_port));
}

std::string StreamReport::delay_unknown() const {
    for (const StreamFigures& one : streams)
        if (!one.delay && !one.left_out)
            return fmt::format("{} {}", stream_name(one.key),
                               one.queues > 1 ? "came by several queues"
                                              : "has no two frames that say when they were sent");
    return {};
}

std::size_t StreamReport::left_out() const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(streams, &StreamFigures::left_out));
}

StreamFigures StreamReport::sum() const {
    StreamFigures all{.lost = 0, .late = LateFrames{}, .periods = LossPeriods{}, .delay = {}, .gaps = {}, .iperf = {}};
    for (const StreamFigures& one : streams)
        if (!one.left_out)
            add(all, one);
    return all;
}

StreamFigures stream_figures(std::span<const StreamAtPlace> on_queues) {
    StreamFigures figures{.key = on_queues.front().head.key,
                          .queues = static_cast<unsigned>(on_queues.size()),
                          .left_out = is_left_out(on_queues),
                          .lost = {},
                          .late = {},
                          .periods = {},
                          .delay = {},
                          .gaps = {},
                          .iperf = {}};
    for (const StreamAtPlace& found : on_queues) {
        figures.frames += sequence_packets(&found.numbers);
        figures.duplicate += found.numbers.duplicate;
        figures.stray += found.numbers.stray;
        figures.restarts = std::max<std::uint64_t>(figures.restarts, found.numbers.restarts);
        add(figures.payload, found.payload);
    }
    if (figures.left_out)
        return figures;
    figures.lost = lost_of(on_queues);
    if (on_queues.size() == 1)
        add_order(figures, on_queues.front());
    return figures;
}

StreamTable::StreamTable(const Maps& maps, unsigned slots, unsigned tables)
    : streams_(maps.streams, std::size_t{slots} * tables), rests_(maps.rests, std::size_t{slots} * tables),
      unplaced_(maps.unplaced, tables), slots_(slots), clocks_in_step_(maps.clocks_in_step) {
    if (maps.histograms >= 0)
        histograms_.emplace(maps.histograms, std::size_t{slots} * tables);
    found_.reserve(std::size_t{slots} * tables);
    on_queues_.reserve(tables);
}

follow_table StreamTable::table(unsigned index) const noexcept {
    const std::size_t first = std::size_t{slots_} * index;
    return {.streams = streams_.data() + first,
            .rests = rests_.data() + first,
            .histograms = histograms_ ? histograms_->data() + first : nullptr,
            .slots = slots_,
            .clocks_in_step = clocks_in_step_,
            .unplaced = unplaced_.data() + index,
            .watch = nullptr,
            .watch_count = 0};
}

// The program goes on writing: a copy is one when the next is the same.
StreamAtPlace StreamTable::copy_of(const stream& place) const noexcept {
    const auto number = static_cast<std::size_t>(&place - streams_.values().data());
    const stream_rest& rest = rests_.values()[number];
    StreamAtPlace copy, next;
    const auto take = [&](StreamAtPlace& into) {
        std::memcpy(&into.head, &place, sizeof(into.head));
        std::memcpy(&into.numbers, &rest.sequence, sizeof(into.numbers));
    };
    take(copy);
    for (int attempt = 0; attempt < 1000; ++attempt) {
        std::atomic_thread_fence(std::memory_order_acquire);
        take(next);
        if (std::memcmp(&copy.head, &next.head, sizeof(copy.head)) == 0 &&
            std::memcmp(&copy.numbers, &next.numbers, sizeof(copy.numbers)) == 0)
            break;
        copy = next;
    }
    copy.payload = rest.payload;
    copy.iperf = rest.iperf;
    stream_settle(&copy.head, &copy.numbers);
    if (histograms_)
        copy.histograms = &histograms_->values()[number];
    copy.clocks_in_step = clocks_in_step_;
    return copy;
}

template <class Function>
void StreamTable::for_each_stream(Function function) {
    found_.clear();
    for (const stream& place : streams_.values())
        if (is_taken(place))
            found_.push_back({.key = place.key, .place = &place});
    std::ranges::sort(found_, [](const Found& a, const Found& b) {
        const int keys = compare(a.key, b.key);
        return keys != 0 ? keys < 0 : a.place < b.place;
    });
    for (std::size_t i = 0; i < found_.size();) {
        on_queues_.clear();
        const stream_key& key = found_[i].key;
        for (; i < found_.size() && compare(found_[i].key, key) == 0; ++i)
            on_queues_.push_back(copy_of(*found_[i].place));
        function(std::span<const StreamAtPlace>(on_queues_));
    }
}

StreamReport StreamTable::read() {
    StreamReport report;
    for_each_stream([&](auto on_queues) { report.streams.push_back(stream_figures(on_queues)); });
    std::ranges::sort(report.streams, in_order_of_name);
    for (const stream_unplaced& unplaced : unplaced_.values()) {
        report.damaged += unplaced.damaged;
        report.no_room += unplaced.no_room;
    }
    return report;
}

bool StreamTable::empty() const noexcept { return std::ranges::none_of(streams_.values(), is_taken); }

std::uint64_t StreamTable::missing() noexcept {
    std::uint64_t frames = 0;
    for_each_stream([&](auto on_queues) {
        if (!is_left_out(on_queues))
            frames += lost_of(on_queues).value_or(0);
    });
    return frames;
}

} // namespace responder
