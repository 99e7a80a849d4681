// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/verdict.h"

#include "loader/figures.h"
#include "loader/sink/clocks.h"

#include <fmt/format.h>

#include <algorithm>

namespace responder {

namespace {

// Times are known to about a thousandth: a rate that is exactly as wanted must not fail by the way it is measured.
constexpr double rate_tolerance = 0.001;

Condition rate_condition(const RateCondition& wanted, const Measured& port) {
    using Unit = RateCondition::Unit;
    const auto bits = [](double bps) { return fmt::format("{:.3f} Mb/s", bps / 1e6); };
    double measured = 0;
    std::string text;
    std::string_view layer;
    switch (wanted.unit) {
    case Unit::line_percent:
        measured = line_rate_percent(port.rates, port.speed_bps);
        text = measured < 0 ? "unknown: the port does not say how fast its line is" : fmt::format("{:.2f} %", measured);
        layer = " of line rate (L1)";
        break;
    case Unit::fps:
        measured = port.rates.fps;
        text = fmt::format("{:.1f} frames/s", measured);
        break;
    case Unit::l1_bps:
        measured = port.rates.l1_bps, text = bits(measured), layer = " at L1";
        break;
    case Unit::l2_bps:
        measured = port.rates.l2_bps, text = bits(measured), layer = " at L2 with FCS";
        break;
    case Unit::l3_bps:
        measured = port.rates.l3_bps, text = bits(measured), layer = " at L3";
        break;
    case Unit::payload_bps:
        measured = port.rates.payload_bps, text = bits(measured), layer = " of payload";
        break;
    }
    if (wanted.text.find('@') != wanted.text.npos)
        layer = ""; // it is said
    return {.wanted = fmt::format("{}: at least {}{} while traffic flowed", port.port, wanted.text, layer),
            .measured = port.rates_at_least && measured >= 0
                            ? fmt::format("at least {}, for too short a time to tell", text)
                            : text,
            .holds = measured >= wanted.value * (1 - rate_tolerance)};
}

Condition loss_condition(const LossLimit& wanted, const Measured& port) {
    Condition condition{.wanted = fmt::format("{}: at most {}{} lost of its streams", port.port, wanted.text,
                                              wanted.share ? "" : " frames"),
                        .measured = "no stream",
                        .holds = false};
    if (!port.streams)
        return condition;
    if (!port.streams->lost) {
        condition.measured = "unknown: of a stream that came by several queues";
        return condition;
    }
    if (port.no_room != 0) {
        condition.measured = fmt::format("{} frames are of streams that had no place: --streams", port.no_room);
        return condition;
    }
    StreamFigures all = *port.streams;
    // Those between two numbers of a stream are among the missing ones; behind its last, nothing but this tells of
    // them.
    all.lost = std::max(*all.lost, port.lost_here);
    const double lost = wanted.share ? all.loss_ratio() : static_cast<double>(*all.lost);
    condition.measured = fmt::format("{} frames of {} ({:.4g} %)", *all.lost, all.sent(), 100 * all.loss_ratio());
    if (all.lost != port.streams->lost)
        condition.measured += ", lost between the program and the sockets' readers; the streams show fewer";
    if (port.left_out != 0)
        condition.measured += fmt::format("; streams left out, because their numbers are none: {}", port.left_out);
    condition.holds = lost <= wanted.value;
    return condition;
}

// Nobody sees it in the streams: what a socket has no room for has come by the program.
Condition socket_loss_condition(const LossLimit& wanted, const MeasuredSockets& sockets) {
    // What came before the run, or from this machine itself, may be dropped as well.
    const std::uint64_t came = std::max(sockets.came, sockets.dropped);
    const double share = static_cast<double>(sockets.dropped) / static_cast<double>(came);
    return {.wanted = fmt::format("sockets on watched ports: at most {}{} dropped", wanted.text,
                                  wanted.share ? "" : " frames"),
            .measured = fmt::format("{} frames of {} ({:.4g} %)", sockets.dropped, came, 100 * share),
            .holds = (wanted.share ? share : static_cast<double>(sockets.dropped)) <= wanted.value};
}

// What is to be held against a limit on delays, if every stream has one; else why not.
std::optional<DelayFigures> measured_delay(const Measured& port, std::string& why_not) {
    if (!port.streams)
        why_not = "no stream";
    else if (port.no_room != 0)
        why_not = fmt::format("{} frames are of streams that had no place: --streams", port.no_room);
    else if (!port.delay_unknown.empty())
        why_not = fmt::format("unknown: {}", port.delay_unknown);
    else
        return port.streams->delay;
    return std::nullopt;
}

Condition jitter_condition(const DelayLimit& wanted, const Measured& port) {
    Condition condition{.wanted = fmt::format("{}: at most {} jitter of each stream", port.port, wanted.text),
                        .measured = {},
                        .holds = false};
    if (const auto delay = measured_delay(port, condition.measured)) {
        condition.measured = time_text(delay->jitter);
        condition.holds = delay->jitter <= static_cast<double>(wanted.most.count());
    }
    return condition;
}

Condition delay_condition(const DelayLimit& wanted, const Measured& port, std::chrono::nanoseconds clocks_within) {
    const auto error = static_cast<double>(clocks_within.count());
    Condition condition{.wanted = fmt::format("{}: at most {} one-way delay{}", port.port, wanted.text,
                                              error == 0 ? "" : ", the clocks' error included"),
                        .measured = {},
                        .holds = false};
    const auto figures = measured_delay(port, condition.measured);
    if (!figures)
        return condition;
    const OneWayDelay one_way = one_way_delay(*figures, clocks_within);
    if (!one_way.delay) {
        condition.measured = fmt::format("unknown: {}", one_way.unknown_because);
        return condition;
    }
    condition.measured = time_text(one_way.delay->most);
    if (error != 0)
        condition.measured += fmt::format(" and an error of up to {} (--clocks-within)", time_text(error));
    if (error != 0 && port.clock_is_unkept)
        condition.measured += ", which nothing keeps: this machine's clock is unsynchronised (adjtimex)";
    condition.holds = one_way.delay->most + error <= static_cast<double>(wanted.most.count());
    return condition;
}

} // namespace

bool Verdict::pass() const noexcept { return std::ranges::all_of(conditions, &Condition::holds); }

std::optional<Verdict> judge(const SinkOptions& options, const std::vector<Measured>& ports, std::string_view broken,
                             const std::optional<MeasuredSockets>& sockets) {
    if (!options.expect_rate && !options.expect_frames && !options.max_missed && !options.max_loss &&
        !options.max_jitter && !options.max_delay)
        return std::nullopt;
    Verdict verdict;
    if (!broken.empty())
        verdict.conditions.push_back({.wanted = "a whole run", .measured = std::string(broken), .holds = false});
    std::uint64_t frames = 0;
    for (const Measured& port : ports) {
        frames += port.test.frames;
        if (options.expect_rate)
            verdict.conditions.push_back(rate_condition(*options.expect_rate, port));
        if (options.max_loss)
            verdict.conditions.push_back(loss_condition(*options.max_loss, port));
        if (options.max_jitter)
            verdict.conditions.push_back(jitter_condition(*options.max_jitter, port));
        if (options.max_delay)
            verdict.conditions.push_back(delay_condition(*options.max_delay, port, options.clocks_within.value()));
        if (options.max_missed)
            verdict.conditions.push_back(
                {.wanted = fmt::format("{}: at most {} frames missed by the NIC", port.port, *options.max_missed),
                 .measured = port.missed ? fmt::format("{}", *port.missed) : "unknown",
                 .holds = port.missed && *port.missed <= *options.max_missed});
    }
    if (options.max_loss && sockets && (sockets->came != 0 || sockets->dropped != 0))
        verdict.conditions.push_back(socket_loss_condition(*options.max_loss, *sockets));
    if (options.expect_frames)
        verdict.conditions.push_back({.wanted = fmt::format("exactly {} test frames", *options.expect_frames),
                                      .measured = fmt::format("{}", frames),
                                      .holds = frames == *options.expect_frames});
    return verdict;
}

} // namespace responder
