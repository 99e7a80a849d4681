// SPDX-License-Identifier: GPL-2.0-only
//
// From the program's table to what is said of a stream.

#include "loader/sink/streams.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>

namespace responder::test {
namespace {

void take(StreamAtPlace& one, std::uint32_t number, std::uint64_t now) {
    sequence_take(&one.numbers, &one.head.head, number, now);
    sequence_follow(&one.numbers, &one.head.head);
}

StreamAtPlace stream_of(std::initializer_list<std::uint32_t> numbers) {
    StreamAtPlace one;
    one.head.key.format = STREAM_OURS;
    one.head.key.stream = 7;
    one.head.key.ip = 4;
    inet_pton(AF_INET, "198.18.0.1", one.head.key.source);
    std::uint64_t now = 1'000'000'000;
    for (const std::uint32_t number : numbers)
        take(one, number, now += 1000);
    return one;
}

StreamFigures figures_of(const std::vector<StreamAtPlace>& on_queues) { return stream_figures(on_queues); }

TEST(StreamFigures, OfOneQueue) {
    const StreamFigures figures = figures_of({stream_of({0, 1, 4, 3, 4, 5, 9})});
    EXPECT_EQ(figures.frames, 7U);
    EXPECT_EQ(figures.lost, 1U + 3U);
    EXPECT_EQ(figures.duplicate, 1U);
    EXPECT_EQ(figures.late->count, 1U);
    EXPECT_EQ(figures.late->extent_max, 1U);
    EXPECT_EQ(figures.periods->count, 2U);
    EXPECT_EQ(figures.periods->longest, 3U);
    EXPECT_EQ(figures.sent(), 10U);
    EXPECT_DOUBLE_EQ(figures.loss_ratio(), 0.4);
    EXPECT_EQ(figures.queues, 1U);
}

// What each queue misses the other has: it is not lost, and nobody can say in which order it came.
TEST(StreamFigures, OfTwoQueuesSayOnlyWhatIsKnown) {
    const StreamFigures figures = figures_of({stream_of({0, 2, 4, 8}), stream_of({1, 3, 5, 7, 7})});
    EXPECT_EQ(figures.queues, 2U);
    EXPECT_EQ(figures.frames, 9U);
    EXPECT_EQ(figures.lost, 1U);
    EXPECT_EQ(figures.duplicate, 1U);
    EXPECT_EQ(figures.sent(), 9U);
    EXPECT_FALSE(figures.late);
    EXPECT_FALSE(figures.periods);
}

// Which part of which run a queue has seen nobody can tell.
TEST(StreamFigures, LossIsUnknownWhereASenderBeganAnewOnTwoQueues) {
    StreamAtPlace anew = stream_of({1000, 1001, 1002});
    for (const std::uint32_t number : {0U, 1U})
        take(anew, number, 1'100'000'000);
    ASSERT_EQ(anew.numbers.restarts, 1U);
    EXPECT_TRUE(figures_of({anew}).lost);
    EXPECT_FALSE(figures_of({anew, stream_of({2, 3})}).lost);
    StreamReport report;
    report.streams = {figures_of({anew, stream_of({2, 3})}), figures_of({stream_of({0})})};
    EXPECT_FALSE(report.sum().lost);
}

TEST(StreamFigures, LossIsUnknownWhereQueuesHaveTheSameNumbers) {
    EXPECT_FALSE(figures_of({stream_of({0, 1, 2, 5}), stream_of({0, 1, 3, 5})}).lost);
    EXPECT_EQ(figures_of({stream_of({0, 1, 9}), stream_of({2, 3})}).lost, 5U);
}

TEST(StreamFigures, QueuesMayBeginOnBothSidesOfTheWrap) {
    const StreamFigures figures =
        figures_of({stream_of({0xfffffffe, 0, 2}), stream_of({1, 3}), stream_of({0xffffffff})});
    EXPECT_EQ(figures.lost, 0U);
}

TEST(StreamReport, SumSaysOfAllWhatIsKnownOfAll) {
    StreamReport report;
    report.streams = {figures_of({stream_of({0, 2})}), figures_of({stream_of({0, 1, 5})})};
    EXPECT_EQ(report.sum().frames, 5U);
    EXPECT_EQ(report.sum().lost, 4U);
    EXPECT_EQ(report.sum().periods->count, 2U);
    EXPECT_EQ(report.sum().periods->longest, 3U);
    report.streams.push_back(figures_of({stream_of({0}), stream_of({1})}));
    EXPECT_EQ(report.sum().frames, 7U);
    EXPECT_FALSE(report.sum().periods);
    EXPECT_FALSE(report.sum().late);
}

StreamAtPlace stamped_stream(std::uint32_t base, std::initializer_list<std::uint32_t> transits) {
    StreamAtPlace one = stream_of({0});
    for (const std::uint32_t transit : transits)
        delay_take(&one.head.delay, base + transit, 0, one.head.delay.frames != 0, 0);
    return one;
}

// Two seconds between the clocks are more than 64 bits hold of some 2^32 frames.
TEST(StreamFigures, MeanDelayIsRightWhereTheSumOfTransitTimesHasWrapped) {
    for (const std::int64_t least : {2'100'000'000LL, -2'100'000'000LL}) {
        StreamAtPlace one = stamped_stream(static_cast<std::uint32_t>(least), {0, 1000});
        delay& found = one.head.delay;
        const std::uint64_t pairs = std::uint64_t{1} << 34; // of such frames
        found.sum *= pairs;
        found.frames *= pairs;
        const StreamFigures figures = figures_of({one});
        EXPECT_DOUBLE_EQ(figures.delay->transit.mean, static_cast<double>(least) + 500);
        EXPECT_DOUBLE_EQ(figures.delay->variation_mean, 500);
    }
}

// A whole delay and a variation are not to be added up: ours with clocks in step, beside iperf's.
TEST(StreamReport, HistogramsOfTwoKindsHaveNoSum) {
    stream_histograms histograms{};
    histogram_take(&histograms.delay, 1000);
    const auto with_histogram = [&](__u8 format, bool clocks_in_step) {
        StreamAtPlace one = stamped_stream(0, {1000, 2000});
        one.head.key.format = format;
        one.histograms = &histograms;
        one.clocks_in_step = clocks_in_step;
        return figures_of({one});
    };
    for (const bool clocks_in_step : {false, true}) {
        StreamReport report;
        report.streams = {with_histogram(STREAM_OURS, clocks_in_step), with_histogram(STREAM_OURS, clocks_in_step)};
        EXPECT_EQ(report.sum().delay->histogram_is_of_transit, clocks_in_step);
        EXPECT_EQ(report.sum().delay->histogram->total(), 2U);
        for (int i = 0; i < 2; ++i) // the second finds none any more
            report.streams.push_back(with_histogram(STREAM_IPERF3, clocks_in_step));
        EXPECT_EQ(report.sum().delay->histogram.has_value(), !clocks_in_step);
        EXPECT_EQ(report.sum().delay->frames, 8U);
    }
}

// Where two random numbers follow each other by chance, millions seem to be lost.
TEST(StreamReport, OctetsThatAreNoNumbersAreLeftOut) {
    StreamAtPlace noise = stream_of({0});
    std::mt19937 random(3);
    for (int i = 0; i < 100'000; ++i)
        take(noise, static_cast<std::uint32_t>(random()), 1'000'000'000U + 1000U * static_cast<unsigned>(i));
    ASSERT_GT(noise.numbers.missing + noise.numbers.lost_before, 1000U);
    StreamAtPlace few = stream_of({1000});
    take(few, 200'001'000, 11'000'000'000);
    take(few, 200'001'010, 11'000'001'000);
    take(few, 400'001'000, 21'000'000'000);
    take(few, 400'001'010, 21'000'001'000);
    ASSERT_EQ(few.numbers.stray, 0U);
    StreamReport report;
    report.streams = {figures_of({noise}), figures_of({few}), figures_of({noise, stream_of({1})}),
                      figures_of({stamped_stream(0, {0, 5})})};
    EXPECT_EQ(report.left_out(), 3U);
    EXPECT_FALSE(report.streams[0].lost);
    EXPECT_EQ(report.streams[0].frames, 100'001U);
    EXPECT_FALSE(report.streams[0].delay || report.streams[0].periods || report.streams[0].late);
    EXPECT_EQ(report.sum().lost, 0U);
    EXPECT_EQ(report.sum().frames, 1U);
    EXPECT_EQ(report.delay_unknown(), "");
}

// Only the port says that iperf's are numbers; a loop in the network may double everything a thousand times.
TEST(StreamFigures, NumbersOfIperfThatStandStillAreNone) {
    const auto of_format = [](__u8 format, int copies) {
        StreamAtPlace one = stream_of({});
        one.head.key.format = format;
        for (std::uint32_t number = 0; number < 10; ++number)
            for (int copy = 0; copy < copies; ++copy)
                take(one, number, 1'000'000'000U + 1000U * number);
        return figures_of({one});
    };
    EXPECT_TRUE(of_format(STREAM_IPERF2, 100).left_out);
    EXPECT_TRUE(of_format(STREAM_IPERF3, 11).left_out);
    EXPECT_FALSE(of_format(STREAM_IPERF2, 10).left_out);
    EXPECT_FALSE(of_format(STREAM_OURS, 100).left_out);
    EXPECT_FALSE(of_format(STREAM_RFC2544_MASTER, 100).left_out) << "it warms up";
    EXPECT_FALSE(of_format(STREAM_IPERF3, 1).left_out);
}

// One outage, or one damaged frame, is no reason to.
TEST(StreamFigures, AnOutageIsLoss) {
    StreamAtPlace one = stream_of({0, 1});
    take(one, 1'000'000, 11'000'000'000);
    take(one, 1'000'001, 11'000'001'000);
    EXPECT_EQ(figures_of({one}).lost, 999'998U);
    EXPECT_EQ(figures_of({stream_of({0, 1, 77'777'777, 2})}).lost, 0U);
}

// Transit times of several senders have nothing in common: of their variations the worst is said, as of jitter.
TEST(StreamReport, SumOfDelaysIsTheWorst) {
    StreamReport report;
    report.streams = {figures_of({stamped_stream(1000, {0, 100, 0, 100})}),
                      figures_of({stamped_stream(90'000, {0, 300})}), figures_of({stream_of({0, 1})})};
    const StreamFigures all = report.sum();
    ASSERT_TRUE(all.delay);
    EXPECT_EQ(all.delay->frames, 6U);
    EXPECT_EQ(all.delay->variation_most, 300);
    EXPECT_EQ(all.delay->variation_mean, 150);
    EXPECT_EQ(all.delay->jitter, report.streams[1].delay->jitter);
    EXPECT_EQ(all.delay->transit.least, 1000);
    EXPECT_EQ(all.delay->transit.most, 90'300);
    EXPECT_EQ(all.delay->pairs, 4U);
    EXPECT_EQ(all.delay->ipdv.least, -100);
    EXPECT_EQ(all.delay->ipdv.mean, 150);
    EXPECT_EQ(report.delay_unknown(), "stream 7 from 198.18.0.1 has no two frames that say when they were sent");
    report.streams.pop_back();
    EXPECT_EQ(report.delay_unknown(), "");
}

TEST(StreamReport, SumOfHistogramsHasAllFrames) {
    StreamReport report;
    stream_histograms counted{};
    histogram_take(&counted.delay, 5);
    histogram_take(&counted.delay, 700);
    for (int i = 0; i < 3; ++i) {
        StreamAtPlace one = stamped_stream(0, {0, 700});
        one.histograms = &counted;
        report.streams.push_back(figures_of({one}));
    }
    EXPECT_EQ(report.sum().delay->histogram->total(), 6U);
    EXPECT_EQ(report.sum().delay->histogram->count(histogram_index(700)), 3U);
}

TEST(StreamName, SaysWhoSends) {
    stream_key key = stream_of({0}).head.key;
    EXPECT_EQ(stream_name(key), "stream 7 from 198.18.0.1");
    key.ip = 6;
    inet_pton(AF_INET6, "2001:db8::", key.source);
    EXPECT_EQ(stream_name(key), "stream 7 from [2001:db8::]");
    key = {};
    key.ip = 4;
    key.format = STREAM_PKTGEN;
    inet_pton(AF_INET, "10.0.0.1", key.source);
    inet_pton(AF_INET, "10.0.0.2", key.destination);
    key.source_port = htons(1024);
    key.destination_port = htons(9);
    EXPECT_EQ(stream_name(key), "pktgen 10.0.0.1:1024 to 10.0.0.2:9");
    key.stream = 5;
    key.format = STREAM_RFC2544_MASTER;
    EXPECT_EQ(stream_name(key), "rfc2544-master stream 5 10.0.0.1:1024 to 10.0.0.2:9");
    key.format = STREAM_TREX;
    EXPECT_EQ(stream_name(key), "trex stream 5");
}

} // namespace
} // namespace responder::test
