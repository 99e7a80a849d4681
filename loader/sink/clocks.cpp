// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/clocks.h"

#include "loader/clock.h"
#include "loader/figures.h"

#include <algorithm>

namespace responder {

ClockFloor measure_clock() {
    using namespace std::chrono_literals;
    constexpr int readings = 1000;
    ClockFloor floor{.reading = 1s};
    auto before = clock_now_ns(CLOCK_TAI);
    for (int i = 0; i < readings; ++i) {
        const auto now = clock_now_ns(CLOCK_TAI);
        if (now > before)
            floor.reading = std::min(floor.reading, std::chrono::nanoseconds(now - before));
        before = now;
    }
    const ClockState state = clock_state();
    floor.synchronised = state.synchronised;
    floor.maximum_error = state.maximum_error;
    return floor;
}

OneWayDelay one_way_delay(const DelayFigures& figures, std::chrono::nanoseconds clocks_within) {
    if (!figures.of_tai)
        return {.delay = {}, .unknown_because = "its sender stamps by another clock"};
    if (figures.clock_steps != 0)
        return {.delay = {}, .unknown_because = "a clock was set during the run"};
    const auto error = static_cast<double>(clocks_within.count());
    if (figures.transit.least < -error)
        return {.delay = {},
                .unknown_because = fmt::format("the clocks are not in step: a frame came {} before it was sent, and "
                                               "--clocks-within is {}",
                                               time_text(-figures.transit.least), time_text(error))};
    return {.delay = figures.transit, .unknown_because = {}};
}

} // namespace responder
