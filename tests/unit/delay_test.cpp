// SPDX-License-Identifier: GPL-2.0-only
//
// bpf/delay.h against the formulas in floating point, and against what clocks do.

#include "bpf/delay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace responder::test {
namespace {

constexpr std::uint64_t start = 1'700'000'037'000'000'000; // of a CLOCK_TAI

// Frames that were sent every `gap` and took these times, all in order.
delay take_all(const std::vector<std::int64_t>& transits, std::uint64_t gap = 1'000'000, std::uint64_t offset = 0) {
    delay state{};
    for (std::size_t i = 0; i < transits.size(); ++i) {
        const std::uint64_t sent = start + i * gap;
        delay_take(&state, static_cast<std::uint32_t>(sent + static_cast<std::uint64_t>(transits[i]) + offset),
                   static_cast<std::uint32_t>(sent), i != 0, 0);
    }
    return state;
}

void take(delay& state, std::int64_t transit, bool next, bool late = false) {
    constexpr std::uint32_t sent = 1'000'000;
    delay_take(&state, sent + static_cast<std::uint32_t>(transit), sent, next, late);
}

TEST(Delay, OfEvenTransitIsNoVariation) {
    const delay state = take_all(std::vector<std::int64_t>(1000, 123'456));
    EXPECT_EQ(state.frames, 1000U);
    EXPECT_EQ(state.jitter16, 0U);
    EXPECT_EQ(state.least, 123'456);
    EXPECT_EQ(state.most, 123'456);
    EXPECT_EQ(state.ipdv_least, 0);
    EXPECT_EQ(state.ipdv_most, 0);
}

TEST(Delay, AFrameWithoutATimeBreaksTwoPairs) {
    delay state{};
    delay_pass(&state); // before the first there is no pair to break
    for (const std::int64_t transit : {100, 200})
        take(state, transit, true);
    EXPECT_EQ(state.unpaired, 1U);
    delay_pass(&state);
    take(state, 900, true);
    EXPECT_EQ(state.unpaired, 2U);
    EXPECT_EQ(state.ipdv_most, 100);
    take(state, 950, true);
    EXPECT_EQ(state.unpaired, 2U);
}

// RFC 3550 appendix A.8 as it is printed there, in its 32 bits.
TEST(Delay, JitterIsThatOfRfc3550) {
    std::mt19937 random(3);
    std::uint32_t transit = 0, jitter = 0;
    delay state{};
    for (int i = 0; i < 10'000; ++i) {
        const auto received = static_cast<std::uint32_t>(random() % 100'000), sent = 0U;
        const auto d = static_cast<std::int32_t>(received - sent - transit);
        transit = received - sent;
        if (i != 0)
            jitter += static_cast<std::uint32_t>(std::abs(d)) - ((jitter + 8) >> 4);
        delay_take(&state, received, sent, 1, 0);
        ASSERT_EQ(state.jitter16, jitter);
    }
}

TEST(Delay, AgreesWithTheFormulas) {
    std::mt19937 random(7);
    std::vector<std::int64_t> transits;
    for (int i = 0; i < 5000; ++i)
        transits.push_back(200'000 + static_cast<std::int64_t>(random() % 1'000'000));
    double jitter = 0;
    std::int64_t sum = 0, ipdv_sum = 0;
    std::vector<std::int64_t> ipdv;
    for (std::size_t i = 0; i < transits.size(); ++i) {
        sum += transits[i];
        if (i == 0)
            continue;
        ipdv.push_back(transits[i] - transits[i - 1]);
        ipdv_sum += std::abs(ipdv.back());
        jitter += (std::abs(static_cast<double>(ipdv.back())) - jitter) / 16;
    }
    const auto [least, most] = std::ranges::minmax(transits);
    const auto [ipdv_least, ipdv_most] = std::ranges::minmax(ipdv);
    const delay state = take_all(transits);
    EXPECT_NEAR(static_cast<double>(state.jitter16) / 16, jitter, 1);
    EXPECT_EQ(state.least, least);
    EXPECT_EQ(state.most, most);
    EXPECT_EQ(static_cast<std::int64_t>(state.sum), sum);
    EXPECT_EQ(state.ipdv_least, ipdv_least);
    EXPECT_EQ(state.ipdv_most, ipdv_most);
    EXPECT_EQ(state.ipdv_sum, static_cast<std::uint64_t>(ipdv_sum));
    EXPECT_EQ(state.frames - state.unpaired, ipdv.size());
}

// RFC 5481 section 4.1: the smallest may be above zero, and the largest below.
TEST(Delay, IpdvOfRisingAndFallingTransit) {
    const delay rising = take_all({100, 103, 110, 112}), falling = take_all({112, 110, 103, 100});
    EXPECT_EQ(rising.ipdv_least, 2);
    EXPECT_EQ(rising.ipdv_most, 7);
    EXPECT_EQ(falling.ipdv_least, -7);
    EXPECT_EQ(falling.ipdv_most, -2);
}

// RFC 3393 and 5481: no pair with a lost frame, and none with a late one.
TEST(Delay, OnlySuccessiveFramesMakeAPair) {
    delay state{};
    take(state, 100, false);
    take(state, 110, true);
    take(state, 5000, false); // behind a gap
    take(state, 5001, true);
    take(state, 9000, false, true); // late
    take(state, 5003, true);        // the one before it came before the late one
    take(state, 5006, true);
    EXPECT_EQ(state.frames, 7U);
    EXPECT_EQ(state.unpaired, 4U);
    EXPECT_EQ(state.ipdv_least, 1);
    EXPECT_EQ(state.ipdv_most, 10);
    EXPECT_EQ(state.ipdv_sum, 10U + 1U + 3U);
    EXPECT_EQ(state.most, 9000);
}

// Neither the clocks' distance nor the wrapping of 32 bits changes any difference.
TEST(Delay, ClocksNeedNotAgree) {
    const std::vector<std::int64_t> transits{5, 9, 5, 1000, 7, 400, 3};
    const delay expected = take_all(transits);
    for (const std::uint64_t offset : {1ULL, 0x7fffffffULL, 0x80000000ULL, 0xfffffff0ULL, 123'456'789'012'345ULL}) {
        const delay state = take_all(transits, 700'000'000, offset); // the sender's 32 bits wrap as well
        EXPECT_EQ(state.jitter16, expected.jitter16);
        EXPECT_EQ(state.ipdv_sum, expected.ipdv_sum);
        EXPECT_EQ(state.most - state.least, 997);
        EXPECT_EQ(state.steps, 0U);
    }
}

TEST(Delay, AReceiverAheadMakesNegativeTransitTimes) {
    const delay state = take_all({-5000, -4000, -4500});
    EXPECT_EQ(state.least, -5000);
    EXPECT_EQ(state.most, -4000);
    EXPECT_EQ(static_cast<std::int64_t>(state.sum), -13'500);
}

TEST(Delay, AClockThatIsSetIsNoDelay) {
    for (const std::int64_t step : {1'700'000'000LL, -1'700'000'000LL}) {
        std::vector<std::int64_t> transits(1000, 50'000);
        for (std::size_t i = 500; i < transits.size(); ++i)
            transits[i] += step;
        transits[700] += 2000;
        const delay state = take_all(transits);
        EXPECT_EQ(state.steps, 1U);
        EXPECT_EQ(state.wild, 0U);
        EXPECT_EQ(state.frames, 999U) << "the one that told of the step is none";
        EXPECT_EQ(state.most - state.least, 2000);
        EXPECT_EQ(state.least, 50'000 + step) << "as the clocks stand now";
        EXPECT_EQ(static_cast<std::int64_t>(state.sum), 999 * (50'000 + step) + 2000);
        EXPECT_EQ(state.ipdv_most, 2000);
        EXPECT_EQ(state.ipdv_least, -2000);
    }
}

TEST(Delay, AWildTimeInOneFrameChangesNothingElse) {
    for (const std::int64_t wild : {900'000'000LL, -900'000'000LL, 2'100'000'000LL}) {
        std::vector<std::int64_t> transits(1000, 50'000);
        for (const std::size_t i : {100U, 300U, 302U, 999U})
            transits[i] += wild;
        const delay state = take_all(transits);
        EXPECT_EQ(state.wild, 4U);
        EXPECT_EQ(state.steps, 0U);
        EXPECT_EQ(state.frames, 996U);
        EXPECT_EQ(state.jitter16, 0U);
        EXPECT_EQ(state.least, 50'000);
        EXPECT_EQ(state.most, 50'000);
        EXPECT_EQ(state.ipdv_sum, 0U);
    }
}

TEST(Delay, ClocksThatDriftApartForHoursAreFollowed) {
    std::vector<std::int64_t> transits;
    for (std::int64_t i = 0; i < 100'000; ++i)
        transits.push_back(i * 100'000); // 10 s in the end, beyond 32 bits
    const delay state = take_all(transits);
    EXPECT_EQ(state.steps, 0U);
    EXPECT_EQ(state.most - state.least, 99'999 * 100'000LL);
}

// Frames at these times of an exact clock, or of a coarse one that counts from elsewhere.
struct Arrival {
    std::uint64_t now_ns;
    bool exact = true;
};
struct Gaps {
    gaps state{};
    std::uint64_t last_ns = 0;
    bool exact = false;
    std::vector<std::uint64_t> known;

    void take_all(const std::vector<Arrival>& arrivals) {
        for (const Arrival& arrival : arrivals) {
            const std::uint64_t gap = gaps_take(&state, last_ns, exact, arrival.now_ns, arrival.exact);
            if (gap != GAPS_NONE)
                known.push_back(gap);
            last_ns = arrival.now_ns;
            exact = arrival.exact;
        }
    }
    std::uint64_t sum() const { return exact ? last_ns - state.began_ns : state.began_ns; }
};

TEST(Gaps, AreFromOneFrameToTheNext) {
    Gaps gaps;
    gaps.take_all({{start}, {start + 10}, {start + 30}, {start + 35}});
    EXPECT_EQ(gaps.known, (std::vector<std::uint64_t>{10, 20, 5}));
    EXPECT_EQ(gaps.state.count, 3U);
    EXPECT_EQ(gaps.state.least, 5U);
    EXPECT_EQ(gaps.state.most, 20U);
    EXPECT_EQ(gaps.sum(), 35U);
}

TEST(Gaps, AClockThatIsSetBackMakesNone) {
    Gaps gaps;
    gaps.take_all({{start}, {start + 10}, {start - 1000}, {start - 980}});
    EXPECT_EQ(gaps.known, (std::vector<std::uint64_t>{10, 20}));
    EXPECT_EQ(gaps.sum(), 30U);
    EXPECT_EQ(gaps.state.most, 20U);
}

TEST(Gaps, NoneIsMadeOfTwoClocks) {
    Gaps gaps;
    gaps.take_all({{50, false}, {60, false}, {start}, {start + 7}, {70, false}});
    EXPECT_EQ(gaps.sum(), 7U);
    gaps.take_all({{80, false}, {start + 100}, {start + 111}});
    EXPECT_EQ(gaps.known, (std::vector<std::uint64_t>{7, 11}));
    EXPECT_EQ(gaps.sum(), 18U);
}

} // namespace
} // namespace responder::test
