// SPDX-License-Identifier: GPL-2.0-only
//
// From the program's table to what is said of a stream.

#include "loader/sink/streams.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace responder::test {
namespace {

stream stream_of(std::initializer_list<std::uint32_t> numbers) {
    stream one{};
    one.key.format = STREAM_OURS;
    one.key.stream = 7;
    one.key.ip = 4;
    inet_pton(AF_INET, "198.18.0.1", one.key.source);
    std::uint64_t now = 1'000'000'000;
    for (const std::uint32_t number : numbers) {
        sequence_take(&one.sequence, number, now += 1000);
        ++one.frames;
    }
    return one;
}

StreamFigures figures_of(const std::vector<stream>& on_queues) { return stream_figures(on_queues); }

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
    stream anew = stream_of({1000, 1001, 1002});
    for (const std::uint32_t number : {0U, 1U})
        sequence_take(&anew.sequence, number, 1'100'000'000);
    ASSERT_EQ(anew.sequence.restarts, 1U);
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

TEST(StreamName, SaysWhoSends) {
    stream_key key = stream_of({0}).key;
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
}

} // namespace
} // namespace responder::test
