// SPDX-License-Identifier: GPL-2.0-only
//
// What a run of xdp-gen comes to: computed once, written as text or as JSON.

#pragma once

#include "loader/generate/frame_spec.h"
#include "loader/generate/live_frame_sender.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace responder::gen {

struct Report {
    std::vector<std::string> argv;
    std::string interface;
    std::string driver;
    std::chrono::system_clock::time_point started;
    std::uint64_t frames_requested = 0; // 0: no limit
    double rate_requested_fps = 0;      // 0: as fast as can be
    Sent sent;
    std::vector<SizeCount> handed_over_by_size;

    // Of the frames that left. Which of them were refused is not known: of several sizes, all are taken to be in equal
    // parts among them.
    double mean_size() const;
    std::optional<double> rate_fps() const; // one frame has none
    std::optional<double> l2_bps() const;   // from the first octet behind the preamble to the end of the FCS
    std::optional<double> l1_bps() const;   // with preamble and interframe gap
};

std::string render_text(const Report& report);
std::string render_json(const Report& report);

} // namespace responder::gen
