// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-gen's command line.

#pragma once

#include "loader/generate/frame_spec.h"
#include "loader/generate/live_frame_sender.h"

#include <optional>
#include <string>

namespace responder::gen {

struct Options {
    std::string interface;
    FrameSpec frames; // but for the MAC addresses
    std::optional<MacAddress> source_mac;
    std::optional<MacAddress> destination_mac;
    SendPlan plan;
    bool json = false;
    bool quiet = false;
    bool verbose = false;
};

// Nullopt: it was --help or --version, and they are printed. Throws Error(usage).
std::optional<Options> parse_options(int argc, const char* const* argv);

} // namespace responder::gen
