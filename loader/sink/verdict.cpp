// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/verdict.h"

#include "loader/sink/figures.h"

#include <fmt/format.h>

#include <algorithm>

namespace responder {

namespace {

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
        text = fmt::format("{:.0f} frames/s", measured);
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
    return {.wanted = fmt::format("{}: at least {}{} while traffic flowed", port.port, wanted.text, layer),
            .measured = text,
            .holds = measured >= wanted.value};
}

} // namespace

bool Verdict::pass() const noexcept { return std::ranges::all_of(conditions, &Condition::holds); }

double line_rate_percent(const Rates& rates, std::uint64_t speed_bps) noexcept {
    return speed_bps == 0 ? -1 : 100 * rates.l1_bps / static_cast<double>(speed_bps);
}

std::optional<Verdict> judge(const SinkOptions& options, const std::vector<Measured>& ports) {
    if (!options.expect_rate && !options.expect_frames && !options.max_missed)
        return std::nullopt;
    Verdict verdict;
    std::uint64_t frames = 0;
    for (const Measured& port : ports) {
        frames += port.test.frames;
        if (options.expect_rate)
            verdict.conditions.push_back(rate_condition(*options.expect_rate, port));
        if (options.max_missed)
            verdict.conditions.push_back(
                {.wanted = fmt::format("{}: at most {} frames missed by the NIC", port.port, *options.max_missed),
                 .measured = port.missed ? fmt::format("{}", *port.missed) : "unknown",
                 .holds = port.missed && *port.missed <= *options.max_missed});
    }
    if (options.expect_frames)
        verdict.conditions.push_back({.wanted = fmt::format("exactly {} test frames", *options.expect_frames),
                                      .measured = fmt::format("{}", frames),
                                      .holds = frames == *options.expect_frames});
    return verdict;
}

} // namespace responder
