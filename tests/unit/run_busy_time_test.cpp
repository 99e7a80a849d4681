// SPDX-License-Identifier: GPL-2.0-only
//
// For how long traffic flowed, from readings every 20 ms that know nothing of when it began.

#include "loader/run/busy_time.h"

#include <gtest/gtest.h>

namespace responder::test {
namespace {

using namespace std::chrono_literals;

Clock::time_point at(std::chrono::microseconds time) { return Clock::time_point{} + 100s + time; }

// Readings of a sender that sends a frame every `gap` from `begin` on.
BusyTime read_every_20ms(std::chrono::microseconds begin, std::chrono::microseconds gap, std::uint64_t frames) {
    BusyTime busy;
    std::uint64_t seen = 0;
    for (auto time = 0us; seen < frames; time += 20ms) {
        const auto sent = time + 20ms <= begin ? 0 : static_cast<std::uint64_t>((time + 20ms - begin) / gap);
        const std::uint64_t now = std::min(sent, frames);
        if (now != seen)
            busy.add(at(time), at(time + 20ms), now - seen);
        seen = now;
    }
    return busy;
}

TEST(BusyTime, OfAnEvenSenderIsExactWhereverItBegins) {
    for (const auto begin : {0us, 1us, 5'000us, 19'000us, 19'999us, 31'234us}) {
        const BusyTime::Result result = read_every_20ms(begin, 20us, 50'000).result();
        EXPECT_NEAR(result.time.count(), 1.0, 0.0001) << begin.count();
        EXPECT_FALSE(result.at_most);
    }
}

TEST(BusyTime, OfASecondIsExactToAThousandthAtLowRates) {
    EXPECT_NEAR(read_every_20ms(7'777us, 1000us, 1000).result().time.count(), 1.0, 0.001);
}

TEST(BusyTime, OfABurstIsAnUpperBound) {
    const BusyTime::Result result = read_every_20ms(18'000us, 1us, 5000).result(); // over one reading's time
    EXPECT_TRUE(result.at_most);
    EXPECT_NEAR(result.time.count(), 0.04, 1e-9);
    BusyTime one_reading;
    one_reading.add(at(0us), at(20ms), 1000);
    EXPECT_TRUE(one_reading.result().at_most);
    EXPECT_NEAR(one_reading.result().time.count(), 0.02, 1e-9);
}

TEST(BusyTime, OfNothingIsNone) {
    EXPECT_EQ(BusyTime{}.result().time.count(), 0);
    EXPECT_FALSE(BusyTime{}.result().at_most);
}

TEST(BusyTime, APauseCountsAsTime) {
    BusyTime busy;
    busy.add(at(0us), at(20ms), 100);
    busy.add(at(1s), at(1s + 20ms), 100);
    EXPECT_NEAR(busy.result().time.count(), 1.02, 1e-9);
}

// At the edges there may come more than in between, but not for longer than the edge is.
TEST(BusyTime, IsNeverLongerThanFromReadingToReading) {
    BusyTime busy;
    busy.add(at(0us), at(20ms), 1000);
    busy.add(at(20ms), at(40ms), 1);
    busy.add(at(40ms), at(60ms), 1000);
    EXPECT_NEAR(busy.result().time.count(), 0.06, 1e-9);
}

} // namespace
} // namespace responder::test
