// SPDX-License-Identifier: GPL-2.0-only
//
// bpf/delay.h against the formulas in floating point, and against what clocks do.

#include "bpf/delay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace responder::test {
namespace {

constexpr std::uint64_t start = 1'700'000'037'000'000'000; // of a CLOCK_TAI

// Frames that were sent every `gap` and took these times.
delay take_all(const std::vector<std::int64_t>& transits, std::uint64_t gap = 1'000'000, std::uint64_t offset = 0) {
    delay state{};
    for (std::size_t i = 0; i < transits.size(); ++i) {
        const std::uint64_t sent = start + i * gap;
        delay_take(&state, static_cast<std::uint32_t>(sent + static_cast<std::uint64_t>(transits[i]) + offset),
                   static_cast<std::uint32_t>(sent));
    }
    return state;
}

TEST(Delay, OfEvenTransitIsNoVariation) {
    const delay state = take_all(std::vector<std::int64_t>(1000, 123'456));
    EXPECT_EQ(state.frames, 1000U);
    EXPECT_EQ(state.jitter16, 0U);
    EXPECT_EQ(state.most - state.least, 0);
}

TEST(Delay, AgreesWithTheFormulas) {
    std::mt19937 random(7);
    std::vector<std::int64_t> transits;
    for (int i = 0; i < 5000; ++i)
        transits.push_back(200'000 + static_cast<std::int64_t>(random() % 1'000'000));
    double jitter = 0, sum = 0;
    for (std::size_t i = 0; i < transits.size(); ++i) {
        if (i != 0)
            jitter += (std::abs(static_cast<double>(transits[i] - transits[i - 1])) - jitter) / 16;
        sum += static_cast<double>(transits[i]);
    }
    const auto [least, most] = std::ranges::minmax(transits);
    const delay state = take_all(transits);
    EXPECT_NEAR(static_cast<double>(state.jitter16) / 16, jitter, 1);
    EXPECT_EQ(state.most - state.least, most - least);
    const double mean = static_cast<double>(state.sum) / 5000 - static_cast<double>(state.least);
    EXPECT_NEAR(mean, sum / 5000 - static_cast<double>(least), 1);
}

// Neither the clocks' distance nor the wrapping of 32 bits changes anything.
TEST(Delay, ClocksNeedNotAgree) {
    const std::vector<std::int64_t> transits{5, 9, 5, 1000, 7, 400, 3};
    const delay expected = take_all(transits);
    for (const std::uint64_t offset : {1ULL, 0x7fffffffULL, 0x80000000ULL, 0xfffffff0ULL, 123'456'789'012'345ULL}) {
        const delay state = take_all(transits, 700'000'000, offset); // the sender's 32 bits wrap as well
        EXPECT_EQ(state.jitter16, expected.jitter16);
        EXPECT_EQ(state.most - state.least, 997);
        EXPECT_EQ(state.steps, 0U);
    }
}

TEST(Delay, AClockThatIsSetIsNoDelay) {
    std::vector<std::int64_t> transits(1000, 50'000);
    for (std::size_t i = 500; i < transits.size(); ++i)
        transits[i] += 1'700'000'000; // 1.7 s
    const delay state = take_all(transits);
    EXPECT_EQ(state.steps, 1U);
    EXPECT_EQ(state.frames, 999U);
    EXPECT_EQ(state.jitter16, 0U);
    EXPECT_EQ(state.most - state.least, 0);
}

TEST(Delay, ClocksThatDriftApartForHoursAreFollowed) {
    std::vector<std::int64_t> transits;
    for (std::int64_t i = 0; i < 100'000; ++i)
        transits.push_back(i * 100'000); // 10 s in the end, beyond 32 bits
    const delay state = take_all(transits);
    EXPECT_EQ(state.steps, 0U);
    EXPECT_EQ(state.most - state.least, 99'999 * 100'000LL);
}

} // namespace
} // namespace responder::test
