// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/busy_time.h"

#include <algorithm>

namespace responder {

void BusyTime::add(Clock::time_point from, Clock::time_point until, std::uint64_t frames) noexcept {
    last_ = Step{from, until, frames};
    if (!first_)
        first_ = last_;
    frames_ += frames;
}

BusyTime::Result BusyTime::result() const noexcept {
    using Seconds = std::chrono::duration<double>;
    if (!first_)
        return {};
    const Seconds inner = last_->from - first_->until;
    if (inner.count() <= 0)
        return {.time = last_->until - first_->from, .at_most = true};
    const auto inner_frames = static_cast<double>(frames_ - first_->frames - last_->frames);
    const auto edge = [&](const Step& step) {
        const Seconds longest = step.until - step.from;
        return inner_frames == 0 ? longest : std::min(longest, static_cast<double>(step.frames) / inner_frames * inner);
    };
    return {.time = edge(*first_) + inner + edge(*last_), .at_most = false};
}

} // namespace responder
