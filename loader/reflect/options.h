// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-reflect's command line.

#pragma once

#include "bpf/reflect_abi.h"
#include "loader/run/run_options.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace responder {

struct ReflectOptions : RunOptions {
    // All that the program is told but what the port says: its addresses, and what the driver can.
    reflect_cfg program{};
    stamp_format format = STAMP_NTP;
    std::vector<std::uint8_t> stamp_key;                 // empty: STAMP is not authenticated
    bool may_loop = false;                               // what is test traffic, two reflectors can send to each other
    std::optional<std::chrono::milliseconds> expire;     // test traffic is answered for so long
    std::optional<std::chrono::milliseconds> loop_probe; // after so long without a pause
    bool show = false;                                   // what a run in another process has counted, and no run
    std::vector<std::string> testers, allowed;           // as given
    std::vector<std::string> signatures;                 // in words
    std::vector<std::string> caps;                       // in words
};

// All that is sent back as it is, in words. `match`: the port's.
std::string describe_test_traffic(const ReflectOptions& options, const match_cfg& match);

// "udp/3842@5:PROBEOT", also "udp/3842@0:0x52464332353434". Throws Error(usage).
reflect_signature parse_signature(const std::string& text);

// nullopt: --help or --version was answered on stdout. Throws Error(usage).
std::optional<ReflectOptions> parse_reflect_options(int argc, const char* const* argv);

} // namespace responder
