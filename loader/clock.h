// SPDX-License-Identifier: GPL-2.0-only

#pragma once

#include <sys/timex.h>

#include <chrono>
#include <cstdint>
#include <ctime>

namespace responder {

inline std::uint64_t clock_now_ns(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// How long a jiffy is: the coarse clocks step by it.
inline std::uint32_t kernel_tick_ns() noexcept {
    timespec tick{};
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    return static_cast<std::uint32_t>(tick.tv_nsec);
}

// What the kernel knows of this machine's clock, by adjtimex(2).
struct ClockState {
    bool synchronised = false;
    std::chrono::microseconds maximum_error{};
    int tai_offset_s = 0; // of TAI from UTC; 0: unknown, and then its CLOCK_TAI is UTC
};

inline ClockState clock_state() noexcept {
    timex state{};
    const bool synchronised = adjtimex(&state) != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
    return {.synchronised = synchronised,
            .maximum_error = std::chrono::microseconds(state.maxerror),
            .tai_offset_s = state.tai};
}

} // namespace responder
