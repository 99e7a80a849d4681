// SPDX-License-Identifier: GPL-2.0-only
//
// PASS or FAIL: each condition of the command line beside what was measured.

#pragma once

#include "loader/counters.h"
#include "loader/sink/options.h"

#include <cstdint>
#include <optional>
#include <string>
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
    Rates rates; // while traffic flowed
    std::uint64_t speed_bps = 0;
    std::optional<std::uint64_t> missed; // unknown where the NIC's counters could not be read
};

// nullopt where the options set no condition. Rates and missed frames hold for each port, frames for all together.
std::optional<Verdict> judge(const SinkOptions& options, const std::vector<Measured>& ports);

} // namespace responder
