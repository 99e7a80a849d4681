// SPDX-License-Identifier: GPL-2.0-only

#pragma once

#include "loader/generate/frame_spec.h"
#include "loader/generate/live_frame_sender.h"

#include <optional>
#include <string>

namespace responder::gen {

struct Options {
    std::string interface;
    FrameSpec frames; // source_mac is still to be set where has_source_mac is false
    bool has_source_mac = false;
    SendPlan plan;
    bool json = false;
    bool quiet = false;
    bool verbose = false;
};

// Nullopt: it was --help or --version, and they are printed. Throws Error(usage).
std::optional<Options> parse_options(int argc, const char* const* argv);

} // namespace responder::gen
