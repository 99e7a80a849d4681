// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-sink's command line.

#pragma once

#include "bpf/abi.h"
#include "loader/capture/capture_options.h"
#include "loader/run/run_options.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace responder {

// "At least this fast": one side of --expect-rate.
struct RateCondition {
    enum class Unit { line_percent, fps, l1_bps, l2_bps, l3_bps, payload_bps };
    Unit unit = Unit::fps;
    double value = 0;
    std::string text; // as given

    // "95%", "3.7Mfps", "2.4Gbps" (L2 with FCS) or with a layer: "2.3Gbps@payload". Throws Error(usage).
    static RateCondition parse(std::string_view text);
};

// --max-loss: of what was sent, or in frames.
struct LossLimit {
    bool share = false;
    double value = 0;
    std::string text; // as given

    // "0.1%", "10". Throws Error(usage).
    static LossLimit parse(std::string_view text);
};

// --max-jitter, --max-delay.
struct DelayLimit {
    std::chrono::nanoseconds most{};
    std::string text; // as given
};

struct SinkOptions : RunOptions {
    std::optional<unsigned> streams; // most streams that are told apart; 0: none
    std::vector<watch_port> watches; // with those that are watched anyway
    std::optional<std::chrono::nanoseconds> clocks_within;
    bool histogram = false;

    std::optional<CapturePlan> capture;

    std::optional<RateCondition> expect_rate;
    std::optional<std::uint64_t> expect_frames;
    std::optional<std::uint64_t> max_missed;
    std::optional<LossLimit> max_loss;
    std::optional<DelayLimit> max_jitter;
    std::optional<DelayLimit> max_delay;
};

// nullopt: --help or --version was answered on stdout. Throws Error(usage).
std::optional<SinkOptions> parse_sink_options(int argc, const char* const* argv);

} // namespace responder
