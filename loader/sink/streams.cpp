// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/streams.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace responder {

namespace {

std::string address_text(const __be32 (&address)[4]) {
    char text[INET6_ADDRSTRLEN];
    const bool v4 = address[1] == 0 && address[2] == 0 && address[3] == 0;
    inet_ntop(v4 ? AF_INET : AF_INET6, address, text, sizeof(text));
    return v4 ? text : fmt::format("[{}]", text);
}

bool is_taken(const stream& place) { return place.key.format != STREAM_NONE; }

int compare(const stream_key& a, const stream_key& b) { return std::memcmp(&a, &b, sizeof(a)); }

bool in_order_of_name(const StreamFigures& a, const StreamFigures& b) {
    const int sources = std::memcmp(a.key.source, b.key.source, sizeof(a.key.source));
    if (sources != 0)
        return sources < 0;
    return a.key.stream != b.key.stream ? a.key.stream < b.key.stream : compare(a.key, b.key) < 0;
}

void add(StreamFigures& sum, const StreamFigures& one) {
    sum.frames += one.frames;
    sum.lost += one.lost;
    sum.duplicate += one.duplicate;
    sum.stray += one.stray;
    sum.restarts += one.restarts;
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

StreamFigures figures_of_one_queue(const stream& found) {
    sequence settled = found.sequence;
    sequence_flush(&settled);
    StreamFigures figures{.key = found.key,
                          .frames = found.frames,
                          .lost = settled.lost_before + sequence_missing(&settled),
                          .duplicate = settled.duplicate,
                          .stray = settled.stray,
                          .restarts = settled.restarts,
                          .late = LateFrames{.count = settled.late,
                                             .extent_known = settled.extent_known,
                                             .extent_sum = settled.extent_sum,
                                             .extent_max = settled.extent_max},
                          .periods = LossPeriods{.count = settled.period_count, .longest = settled.period_max},
                          .delay = delay_variation(found.delay)};
    std::ranges::copy(settled.period, figures.periods->by_length.begin());
    return figures;
}

} // namespace

double StreamFigures::loss_ratio() const noexcept {
    return sent() == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(sent());
}

std::string stream_name(const stream_key& key) {
    if (key.format == STREAM_PKTGEN)
        return fmt::format("pktgen {}:{} to {}:{}", address_text(key.source), ntohs(key.source_port),
                           address_text(key.destination), ntohs(key.destination_port));
    return fmt::format("stream {} from {}", key.stream, address_text(key.source));
}

StreamFigures StreamReport::sum() const {
    StreamFigures all{.late = LateFrames{}, .periods = LossPeriods{}, .delay = std::nullopt};
    for (const StreamFigures& one : streams)
        add(all, one);
    return all;
}

StreamFigures stream_figures(const std::vector<stream>& on_queues) {
    StreamFigures figures = figures_of_one_queue(on_queues.front());
    if (on_queues.size() == 1)
        return figures;
    // Each queue has seen a part of the numbers and taken the others for lost. Together they say how many came.
    figures.queues = static_cast<unsigned>(on_queues.size());
    figures.late.reset();
    figures.periods.reset();
    figures.delay.reset();
    std::uint64_t first = ~std::uint64_t{0}, next = 0, arrived = 0;
    figures.frames = figures.duplicate = figures.stray = figures.restarts = 0;
    for (const stream& found : on_queues) {
        figures.frames += found.frames;
        figures.duplicate += found.sequence.duplicate;
        figures.stray += found.sequence.stray;
        figures.restarts = std::max<std::uint64_t>(figures.restarts, found.sequence.restarts);
        first = std::min<std::uint64_t>(first, found.sequence.first);
        next = std::max<std::uint64_t>(next, found.sequence.next);
        arrived += found.sequence.arrived;
    }
    figures.lost = next - first > arrived ? next - first - arrived : 0;
    return figures;
}

StreamReport StreamTable::read() const {
    StreamReport report;
    std::vector<stream> found;
    std::ranges::copy_if(streams_.values(), std::back_inserter(found), is_taken);
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

std::uint64_t StreamTable::missing() const noexcept {
    std::uint64_t frames = 0;
    for (const stream& one : streams_.values())
        if (is_taken(one))
            frames += one.sequence.lost_before + sequence_missing(&one.sequence);
    return frames;
}

} // namespace responder
