// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/stamp_state.h"

#include "loader/clock.h"

#include <arpa/inet.h>

#include <algorithm>

namespace responder {

namespace {

constexpr std::int64_t ntp_epoch_s = 2'208'988'800; // from 1900 to 1970 (RFC 5905 figure 4)

} // namespace

std::uint16_t error_estimate(bool synchronised, stamp_format format, std::chrono::microseconds error) noexcept {
    constexpr std::uint64_t most_us = std::uint64_t{1} << 30; // far more than any kernel says: 16 s
    const std::uint64_t us = error.count() < 0 ? 0 : std::min(static_cast<std::uint64_t>(error.count()), most_us);
    std::uint64_t units = ((us << 32) + 999'999) / 1'000'000;
    unsigned scale = 0;
    for (; units > 0xff; ++scale)
        units = (units + 1) / 2;
    return static_cast<std::uint16_t>((synchronised ? 0x8000U : 0U) | (format == STAMP_PTP ? 0x4000U : 0U) |
                                      scale << 8 | std::max<std::uint64_t>(units, 1));
}

stamp_clock read_stamp_clock(stamp_format format) noexcept {
    const ClockState state = clock_state();
    return {.from_tai_s = format == STAMP_NTP ? ntp_epoch_s - state.tai_offset_s : 0,
            .error_estimate = htons(error_estimate(state.synchronised, format, state.maximum_error)),
            .format = static_cast<__u16>(format),
            .zero = 0};
}

} // namespace responder
