// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/loop_watch.h"

#include <algorithm>
#include <utility>

namespace responder {

using namespace std::chrono_literals;

void LoopWatch::read(Clock::time_point now, std::uint64_t frames) noexcept {
    const bool came = frames != std::exchange(frames_, frames);
    if (flows_ && now - last_frame_ > pause)
        flows_ = false;
    if (!came)
        return;
    last_frame_ = now;
    if (!flows_) {
        flows_ = true;
        suspected_ = false;
        began_ = second_ = steady_since_ = now;
        second_frames_ = frames;
        lowest_ = highest_ = 0;
        return;
    }
    const std::chrono::duration<double> time = now - second_;
    if (time < 1s)
        return;
    const double rate = static_cast<double>(frames - std::exchange(second_frames_, frames)) / time.count();
    const Clock::time_point began = std::exchange(second_, now);
    lowest_ = lowest_ == 0 ? rate : std::min(lowest_, rate);
    highest_ = std::max(highest_, rate);
    if (highest_ > lowest_ * (1 + same_rate)) {
        lowest_ = highest_ = rate;
        steady_since_ = began;
    }
}

bool LoopWatch::take_suspicion() noexcept {
    if (suspected_ || steady() < longest_trial)
        return false;
    return suspected_ = true;
}

} // namespace responder
