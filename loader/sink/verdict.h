// SPDX-License-Identifier: GPL-2.0-only
//
// PASS or FAIL: each condition of the command line beside what was measured.

#pragma once

#include "loader/counters.h"
#include "loader/sink/options.h"
#include "loader/sink/streams.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace responder {

struct Condition {
    std::string wanted;   // "eth1: at least 95% (L1) while traffic flowed"
    std::string measured; // "97.2 %"
    bool holds = false;
};

struct Verdict {
    std::vector<Condition> conditions;
    bool pass() const noexcept;
};

// What a condition is held against, a port.
struct Measured {
    std::string port;
    Traffic test;
    Rates rates;                 // while traffic flowed
    bool rates_at_least = false; // it flowed too shortly to be timed
    std::uint64_t speed_bps = 0;
    std::optional<StreamFigures> streams; // the sum, where any is in it
    std::string delay_unknown;            // of which of them, and why; empty where all have one
    bool clock_is_unkept = false;         // this machine's, as the kernel says
    std::uint64_t no_room = 0;            // frames of streams that nobody followed
    std::size_t left_out = 0;             // streams that are not in the sum
    std::uint64_t lost_here = 0;          // test frames that the program saw and that nobody could follow
    std::optional<std::uint64_t> missed;  // unknown where the NIC's counters could not be read
};

// Of what went up the stack to watched ports, of all ports together.
struct MeasuredSockets {
    std::uint64_t came = 0;    // datagrams that were followed on their way
    std::uint64_t dropped = 0; // by the sockets on those ports, as far as it was seen
};

// nullopt where the options set no condition. Rates, missed and lost frames hold for each port, frames for all
// together. `broken`: why the run was none; empty where it was one. `sockets`: where ports are watched; what they drop
// is lost too.
std::optional<Verdict> judge(const SinkOptions& options, const std::vector<Measured>& ports,
                             std::string_view broken = {}, const std::optional<MeasuredSockets>& sockets = {});

} // namespace responder
