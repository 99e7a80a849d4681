// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/loop_watch.h"

#include <gtest/gtest.h>

namespace responder::test {
namespace {

using namespace std::chrono_literals;

// Readings every 20 ms, as a session takes them.
class Readings {
  public:
    // True if there was a suspicion in that time.
    bool flow(std::chrono::milliseconds time, std::uint64_t frames_a_reading) {
        bool suspected = false;
        for (std::chrono::milliseconds passed = 0ms; passed < time; passed += 20ms) {
            watch.read(now += 20ms, frames += frames_a_reading);
            suspected = watch.take_suspicion() || suspected;
        }
        return suspected;
    }

    LoopWatch watch;
    Clock::time_point now;
    std::uint64_t frames = 0;
};

TEST(LoopWatch, ATrialIsNone) {
    Readings readings;
    for (int trial = 0; trial < 10; ++trial) {
        EXPECT_FALSE(readings.flow(60s, 74'404));
        EXPECT_FALSE(readings.flow(2s, 0));
    }
}

TEST(LoopWatch, SuspectsWhatNeverEndsNorChangesOnce) {
    Readings readings;
    EXPECT_FALSE(readings.flow(89s, 1000));
    EXPECT_TRUE(readings.flow(3s, 1000));
    EXPECT_FALSE(readings.flow(300s, 1000));
    EXPECT_NEAR(readings.watch.flowing().count(), 392, 1);
    EXPECT_FALSE(readings.flow(1s, 0)); // another one
    EXPECT_TRUE(readings.flow(92s, 5));
}

TEST(LoopWatch, ATesterChangesItsRate) {
    Readings readings;
    for (int step = 0; step < 20; ++step)
        EXPECT_FALSE(readings.flow(30s, step % 2 == 0 ? 1000 : 800));
}

TEST(LoopWatch, OneOddSecondDoesNotHideALoop) {
    Readings readings;
    EXPECT_FALSE(readings.flow(60s, 1000));
    EXPECT_FALSE(readings.flow(2s, 2000));
    EXPECT_FALSE(readings.flow(88s, 1000));
    EXPECT_TRUE(readings.flow(5s, 1000));
}

// The readings of a busy machine: some come late, and then several frames more are in one.
TEST(LoopWatch, LateReadings) {
    Readings readings;
    bool suspected = false;
    for (int i = 0; i < 100; ++i) {
        readings.now += 60ms;
        readings.frames += 300;
        suspected = readings.flow(940ms, 100) || suspected;
    }
    EXPECT_TRUE(suspected);
}

TEST(LoopWatch, BeginsAnewWhenTold) {
    Readings readings;
    readings.flow(50s, 1000);
    EXPECT_NEAR(readings.watch.flowing().count(), 50, 1);
    readings.watch.begin_anew();
    EXPECT_EQ(readings.watch.flowing().count(), 0);
    readings.flow(10s, 0);
    EXPECT_EQ(readings.watch.flowing().count(), 0) << "a flow that is over is probed no more";
    readings.flow(1s, 1000);
    EXPECT_LT(readings.watch.flowing().count(), 2);
}

} // namespace
} // namespace responder::test
