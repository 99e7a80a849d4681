// SPDX-License-Identifier: GPL-2.0-only
//
// For how long traffic flowed, of which only the counters' readings are known, every 20 ms or so:
//
//          reading       reading       reading       reading       reading       reading
//             |   0 frames  |     xxxxxxx|xxxxxxxxxxxxx|xxxxxxxxxxxxx|xxx          |
//                                 ^ between the readings at the edges, nobody knows where        ^
//
// Between the first and the last reading that lie in the traffic, time and frames are known exactly. The frames of the
// two edges are taken to have come at the same rate.

#pragma once

#include "loader/counters.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace responder {

class BusyTime {
  public:
    struct Result {
        std::chrono::duration<double> time{0};
        bool at_most = false; // it flowed for so short a time that no two readings lie in it
    };

    // `frames` came between two readings; only where some did.
    void add(Clock::time_point from, Clock::time_point until, std::uint64_t frames) noexcept;
    Result result() const noexcept;

  private:
    struct Step {
        Clock::time_point from, until;
        std::uint64_t frames;
    };
    std::optional<Step> first_, last_;
    std::uint64_t frames_ = 0;
};

} // namespace responder
