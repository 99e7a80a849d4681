// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/verdict.h"

#include <gtest/gtest.h>

namespace responder::test {
namespace {

using Unit = RateCondition::Unit;

Measured measured() {
    return {.port = "eth1",
            .test = {{.frames = 1000}},
            .rates = {.fps = 100'000, .l1_bps = 1e9, .l2_bps = 0.9e9, .l3_bps = 0.8e9, .payload_bps = 0.7e9},
            .speed_bps = 2'500'000'000,
            .missed = 3};
}

bool holds(Unit unit, double value) {
    SinkOptions options;
    options.expect_rate = RateCondition{.unit = unit, .value = value, .text = "it"};
    return judge(options, {measured()})->pass();
}

TEST(Judge, NothingAskedIsNoVerdict) { EXPECT_FALSE(judge({}, {measured()})); }

TEST(Judge, EachLayerIsHeldAgainstItsOwnRate) {
    for (const auto& [unit, value] :
         {std::pair{Unit::line_percent, 40.0}, std::pair{Unit::fps, 1e5}, std::pair{Unit::l1_bps, 1e9},
          std::pair{Unit::l2_bps, 0.9e9}, std::pair{Unit::l3_bps, 0.8e9}, std::pair{Unit::payload_bps, 0.7e9}}) {
        EXPECT_TRUE(holds(unit, value));
        EXPECT_TRUE(holds(unit, value * 1.0009)) << "within what the time is known to";
        EXPECT_FALSE(holds(unit, value * 1.0011));
    }
}

TEST(Judge, ABrokenRunPassesNothing) {
    SinkOptions options;
    options.max_missed = 10;
    EXPECT_TRUE(judge(options, {measured()})->pass());
    const Verdict verdict = judge(options, {measured()}, "the interface went away").value();
    EXPECT_FALSE(verdict.pass());
    EXPECT_EQ(verdict.conditions[0].wanted, "a whole run");
    EXPECT_EQ(verdict.conditions[0].measured, "the interface went away");
}

TEST(Judge, OfABurstTooShortToTimeOnlyTheLowerBoundIsKnown) {
    Measured burst = measured();
    burst.rates_at_least = true;
    SinkOptions options;
    options.expect_rate = RateCondition::parse("200kfps");
    const Verdict verdict = judge(options, {burst}).value();
    EXPECT_FALSE(verdict.pass());
    EXPECT_EQ(verdict.conditions[0].measured, "at least 100000.0 frames/s, for too short a time to tell");
}

TEST(Judge, LossIsHeldAgainstAllStreamsOrNone) {
    SinkOptions options;
    options.max_loss = LossLimit::parse("1%");
    const auto measured_with = [](std::optional<std::uint64_t> lost, std::uint64_t no_room) {
        Measured port = measured();
        port.streams = StreamFigures{.frames = 990, .lost = lost};
        port.no_room = no_room;
        return port;
    };
    EXPECT_TRUE(judge(options, {measured_with(10, 0)})->pass());
    EXPECT_FALSE(judge(options, {measured_with(11, 0)})->pass());
    EXPECT_FALSE(judge(options, {measured_with(0, 1)})->pass());
    EXPECT_FALSE(judge(options, {measured_with(std::nullopt, 0)})->pass());
    EXPECT_FALSE(judge(options, {measured()})->pass());
}

// A stream whose last frames the sockets lost has no gap there.
TEST(Judge, WhatTheSocketsLostIsLostWithoutAGapToo) {
    SinkOptions options;
    Measured port = measured();
    port.streams = StreamFigures{.frames = 990, .lost = 0};
    port.lost_here = 10;
    options.max_loss = LossLimit::parse("9");
    const Verdict verdict = judge(options, {port}).value();
    EXPECT_FALSE(verdict.pass());
    EXPECT_TRUE(verdict.conditions[0].measured.starts_with("10 frames of 1000 (1 %), lost between"));
    options.max_loss = LossLimit::parse("0.9%");
    EXPECT_FALSE(judge(options, {port})->pass());
    options.max_loss = LossLimit::parse("1%");
    EXPECT_TRUE(judge(options, {port})->pass());
    port.streams->lost = 10; // the same ones
    EXPECT_TRUE(judge(options, {port})->pass());
}

// A socket's reader is too slow: the streams, followed before it, have no gap.
TEST(Judge, WhatTheSocketsOnWatchedPortsDropIsLostToo) {
    SinkOptions options;
    Measured port = measured();
    port.streams = StreamFigures{.frames = 1000, .lost = 0};
    const auto verdict = [&](const char* limit, const MeasuredSockets& sockets) {
        options.max_loss = LossLimit::parse(limit);
        return judge(options, {port}, {}, sockets).value();
    };
    const Verdict half = verdict("1%", {.came = 1000, .dropped = 500});
    EXPECT_FALSE(half.pass());
    EXPECT_TRUE(half.conditions[0].holds) << "of the wire";
    EXPECT_EQ(half.conditions[1].wanted, "sockets on watched ports: at most 1% dropped");
    EXPECT_EQ(half.conditions[1].measured, "500 frames of 1000 (50 %)");
    EXPECT_TRUE(verdict("1%", {.came = 1000, .dropped = 10}).pass());
    EXPECT_TRUE(verdict("10", {.came = 1000, .dropped = 10}).pass());
    EXPECT_FALSE(verdict("9", {.came = 1000, .dropped = 10}).pass());
    EXPECT_FALSE(verdict("99%", {.came = 0, .dropped = 10}).pass()) << "all of what is known of";
    EXPECT_EQ(verdict("0", {}).conditions.size(), 1U) << "nothing went to a watched port";
    options.max_loss.reset();
    options.max_missed = 3;
    EXPECT_TRUE(judge(options, {port}, {}, MeasuredSockets{.came = 1000, .dropped = 500})->pass());
}

// 1 to 5 us by the two clocks, jitter 3 us.
Measured measured_delay() {
    Measured port = measured();
    port.streams = StreamFigures{.frames = 1000};
    port.streams->delay = DelayFigures{.frames = 1000, .jitter = 3000, .transit = {1000, 2000, 5000}};
    return port;
}

TEST(Judge, JitterAndDelayAreHeldAgainstTheLargest) {
    SinkOptions options;
    options.clocks_within = std::chrono::nanoseconds(0);
    const auto holds = [&](std::optional<DelayLimit> jitter, std::optional<DelayLimit> delay) {
        options.max_jitter = jitter;
        options.max_delay = delay;
        return judge(options, {measured_delay()})->pass();
    };
    using std::chrono::nanoseconds;
    EXPECT_TRUE(holds(DelayLimit{nanoseconds(3000), "3us"}, {}));
    EXPECT_FALSE(holds(DelayLimit{nanoseconds(2999), "2999ns"}, {}));
    EXPECT_TRUE(holds({}, DelayLimit{nanoseconds(5000), "5us"}));
    EXPECT_FALSE(holds({}, DelayLimit{nanoseconds(4999), "4999ns"}));
}

// 5 us by two clocks that are up to 1 us apart may have been 6.
TEST(Judge, ADelayHoldsItsLimitWithTheErrorOfTheClocks) {
    SinkOptions options;
    options.clocks_within = std::chrono::nanoseconds(1000);
    const auto condition = [&](int most, bool clock_is_unkept = false) {
        options.max_delay = DelayLimit{std::chrono::nanoseconds(most), "it"};
        Measured port = measured_delay();
        port.clock_is_unkept = clock_is_unkept;
        return judge(options, {port}).value().conditions.at(0);
    };
    EXPECT_TRUE(condition(6000).holds);
    EXPECT_FALSE(condition(5999).holds);
    EXPECT_EQ(condition(6000).wanted, "eth1: at most it one-way delay, the clocks' error included");
    EXPECT_EQ(condition(6000).measured, "5.0 us and an error of up to 1.0 us (--clocks-within)");
    EXPECT_NE(condition(6000, true).measured.find("unsynchronised"), std::string::npos);
    options.clocks_within = std::chrono::nanoseconds(0);
    EXPECT_EQ(condition(5000, true).measured, "5.0 us") << "sender and sink are one machine";
}

TEST(Judge, ADelayThatIsNotKnownHoldsNoLimit) {
    SinkOptions options;
    options.max_delay = DelayLimit{std::chrono::seconds(1), "1s"};
    options.max_jitter = DelayLimit{std::chrono::seconds(1), "1s"};
    const auto delay_measured = [&](const Measured& port) {
        const Verdict verdict = judge(options, {port}).value();
        EXPECT_FALSE(verdict.conditions[1].holds);
        return verdict.conditions[1].measured;
    };
    options.clocks_within = std::chrono::nanoseconds(500);
    EXPECT_EQ(delay_measured(measured()), "no stream");
    Measured port = measured_delay();
    port.streams->delay->transit.least = -501;
    EXPECT_EQ(delay_measured(port), "unknown: the clocks are not in step: a frame came 501 ns before it was sent, and "
                                    "--clocks-within is 500 ns");
    port.streams->delay->transit.least = -500;
    EXPECT_TRUE(judge(options, {port})->pass());
    port.streams->delay->clock_steps = 1;
    EXPECT_EQ(delay_measured(port), "unknown: a clock was set during the run");
    port = measured_delay();
    port.delay_unknown = "stream 3 came by several queues";
    EXPECT_EQ(delay_measured(port), "unknown: stream 3 came by several queues");
    port = measured_delay();
    port.no_room = 7;
    EXPECT_EQ(delay_measured(port), "7 frames are of streams that had no place: --streams");
}

TEST(Judge, ConditionNamesPortLayerAndMeasured) {
    SinkOptions options;
    options.expect_rate = RateCondition::parse("2.3Gbps@payload");
    const Verdict verdict = judge(options, {measured()}).value();
    ASSERT_EQ(verdict.conditions.size(), 1U);
    EXPECT_EQ(verdict.conditions[0].wanted, "eth1: at least 2.3Gbps@payload while traffic flowed");
    EXPECT_EQ(verdict.conditions[0].measured, "700.000 Mb/s");
    EXPECT_FALSE(verdict.pass());
}

TEST(Judge, PercentOfAnUnknownSpeedFails) {
    SinkOptions options;
    options.expect_rate = RateCondition::parse("1%");
    Measured port = measured();
    port.speed_bps = 0;
    const Verdict verdict = judge(options, {port}).value();
    EXPECT_FALSE(verdict.pass());
    EXPECT_EQ(verdict.conditions[0].measured.substr(0, 7), "unknown");
}

TEST(Judge, FramesMustBeExactOverAllPorts) {
    SinkOptions options;
    for (const auto& [wanted, pass] :
         {std::pair{1999ULL, false}, std::pair{2000ULL, true}, std::pair{2001ULL, false}}) {
        options.expect_frames = wanted;
        EXPECT_EQ(judge(options, {measured(), measured()})->pass(), pass);
        EXPECT_EQ(judge(options, {measured(), measured()})->conditions.size(), 1U);
    }
}

TEST(Judge, MissedFramesAreJudgedPortByPort) {
    SinkOptions options;
    options.max_missed = 3;
    EXPECT_TRUE(judge(options, {measured(), measured()})->pass());
    options.max_missed = 2;
    EXPECT_FALSE(judge(options, {measured()})->pass());
    Measured gone = measured();
    gone.missed.reset();
    options.max_missed = 1000;
    EXPECT_FALSE(judge(options, {measured(), gone})->pass()) << "unknown is no pass";
}

TEST(Judge, OneConditionThatFailsFailsAll) {
    SinkOptions options;
    options.expect_frames = 1000;
    options.max_missed = 3;
    options.expect_rate = RateCondition::parse("1fps");
    const Verdict good = judge(options, {measured()}).value();
    EXPECT_TRUE(good.pass());
    EXPECT_EQ(good.conditions.size(), 3U);
    options.max_missed = 0;
    EXPECT_FALSE(judge(options, {measured()})->pass());
}

} // namespace
} // namespace responder::test
