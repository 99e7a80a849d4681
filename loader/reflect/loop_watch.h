// SPDX-License-Identifier: GPL-2.0-only
//
// Test frames that two reflectors, or a reflector and a bridge, send to each other look like a tester's. What gives
// them away is that nobody makes a pause or changes the rate. Knows no clock and no port.

#pragma once

#include "loader/counters.h"

#include <chrono>
#include <cstdint>

namespace responder {

class LoopWatch {
  public:
    // Longer than a trial of RFC 2544 section 24, which ends with a pause.
    static constexpr std::chrono::seconds longest_trial{90};
    static constexpr std::chrono::milliseconds pause{100}; // a reading may be late
    static constexpr double same_rate = 0.1;               // the highest over the lowest of a second, less 1

    // So many test frames have come so far. To be called more often than there can be a pause.
    void read(Clock::time_point now, std::uint64_t frames) noexcept;

    // For how long they have come without a pause.
    std::chrono::duration<double> flowing() const noexcept {
        return flows_ ? last_frame_ - began_ : Clock::duration::zero();
    }
    // And for how long at the same rate.
    std::chrono::duration<double> steady() const noexcept {
        return flows_ ? last_frame_ - steady_since_ : Clock::duration::zero();
    }
    // It may be a loop: once in a flow.
    bool take_suspicion() noexcept;
    // From now on it is another flow.
    void begin_anew() noexcept { flows_ = false; }

  private:
    bool flows_ = false, suspected_ = false;
    std::uint64_t frames_ = 0, second_frames_ = 0;
    Clock::time_point began_, last_frame_, second_, steady_since_;
    double lowest_ = 0, highest_ = 0; // frames a second
};

} // namespace responder
