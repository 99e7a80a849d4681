// SPDX-License-Identifier: GPL-2.0-only
//
// Streams: what is lost, late and duplicate on the way is found to the frame. The impairment is in what is sent: frames
// of xdp-gen's making, by their numbers.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

#include <regex>

namespace responder::test {
namespace {

// At which a socket's ring holds all that comes while its reader waits for a CPU of a busy machine.
constexpr const char* gentle_rate = "20000";

class Streams : public EachEngine {};
INSTANTIATE_TEST_SUITE_P(Engine, Streams, each_engine, engine_name);

TEST_P(Streams, OfXdpGenArriveWhole) {
    const Lab lab;
    Sink sink(lab, with_engine({"--max-loss", "0"}));
    const std::uint64_t sent =
        frames_sent(generate(lab, {"--streams", "5", "--count", "50000", "--rate", gentle_rate, "--size", "64,1518"}));
    const Json summary = sink.end();
    ASSERT_EQ(sent, 50'000U);
    ASSERT_EQ(streams_of(summary).size(), 5U);
    for (unsigned stream = 0; stream < 5; ++stream) {
        const Json& figures = streams_of(summary)[stream];
        EXPECT_EQ(figures["name"], "stream " + std::to_string(stream) + " from 198.18.0.1");
        EXPECT_EQ(figures["frames"], 10'000U);
        EXPECT_EQ(figures["lost"], 0U);
        EXPECT_EQ(figures["late"], 0U);
        EXPECT_EQ(figures["duplicate"], 0U);
        EXPECT_EQ(figures["queues"], 1U);
    }
    EXPECT_EQ(summary["verdict"]["result"], "PASS");
}

TEST_P(Streams, OfPktgensSignature) {
    const Lab lab;
    Sink sink(lab, with_engine({}));
    const std::uint64_t sent = frames_sent(generate(lab, {"--signature", "pktgen", "--count", "1000"}));
    const Json summary = sink.end();
    ASSERT_EQ(streams_of(summary).size(), 1U);
    EXPECT_EQ(streams_of(summary)[0]["format"], "pktgen");
    EXPECT_EQ(streams_of(summary)[0]["frames"], sent);
    EXPECT_EQ(streams_of(summary)[0]["lost"], 0U);
}

TEST_P(Streams, LostLateAndDuplicateToTheFrame) {
    const Lab lab;
    const FrameSpec spec = spec_of(lab);
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, with_engine({}));
    std::uint64_t lost = 0, late = 0, duplicate = 0, periods = 0, sent = 0;
    for (std::uint64_t number = 0; number < 20'000; ++number) {
        if (number % 1000 == 500) { // three in a row are lost
            number += 2;
            lost += 3;
            ++periods;
            continue;
        }
        if (number % 1000 == 700) { // two frames are overtaken by the third
            for (const std::uint64_t each : {number + 2, number, number + 1})
                sender.send(build_frame(spec, each));
            number += 2;
            late += 2;
            sent += 3;
            continue;
        }
        sender.send(build_frame(spec, number));
        ++sent;
        if (number % 1000 == 900) {
            sender.send(build_frame(spec, number));
            ++duplicate;
            ++sent;
        }
        if (number % 128 == 127)
            std::this_thread::sleep_for(1ms);
    }
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), sent);
    ASSERT_EQ(streams_of(summary).size(), 1U);
    const Json& stream = streams_of(summary)[0];
    EXPECT_EQ(stream["frames"], sent);
    EXPECT_EQ(stream["lost"], lost);
    EXPECT_EQ(stream["loss_periods"], periods);
    EXPECT_EQ(stream["longest_loss_period"], 3U);
    EXPECT_EQ(stream["late"], late);
    EXPECT_EQ(stream["late_extent_max"], 2U);
    EXPECT_EQ(stream["duplicate"], duplicate);
    EXPECT_EQ(stream["stray"], 0U);
    EXPECT_EQ(stream["restarts"], 0U);
}

// Runs of losses that are known, as bars whose lengths are known.
TEST_P(Streams, LossPeriodsAreDrawnByTheirLength) {
    const Lab lab;
    const FrameSpec spec = spec_of(lab);
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, with_engine({"--histogram"}), {.process = {.environment = {"LC_ALL=C"}}, .json = false});
    std::uint64_t number = 0;
    const auto send = [&](unsigned frames) {
        for (unsigned i = 0; i < frames; ++i)
            sender.send(build_frame(spec, number++));
    };
    send(10);
    for (const unsigned lost : {1, 1, 2, 7, 1, 1, 3, 4, 1, 1, 1, 1, 2}) {
        number += lost;
        send(10);
    }
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    EXPECT_TRUE(contains(sink.process().out(), R"(  loss periods     13, by their length
              1 lost               8  ########################################
              2 lost               2  ##########
            3-4 lost               2  ##########
            5-8 lost               1  #####
)")) << sink.process().out();
}

// Whatever CPU serves a frame: a CPU has a table of its own.
TEST_P(Streams, InGenericMode) {
    const Lab lab;
    Sink sink(lab, with_engine({"--mode", "generic"}));
    FrameSpec spec = spec_of(lab);
    spec.streams = 3;
    PacketSocket sender(lab.tester, "tx1");
    for (std::uint64_t number = 0; number < 3000; ++number)
        if (number != 1500)
            sender.send(build_frame(spec, number));
    const Json summary = sink.end();
    EXPECT_EQ(summary["ports"][0]["mode"], "generic");
    ASSERT_EQ(streams_of(summary).size(), 3U);
    std::uint64_t frames = 0, lost = 0;
    for (const Json& stream : streams_of(summary)) {
        frames += stream["frames"].get<std::uint64_t>();
        lost += stream["lost"].get<std::uint64_t>();
    }
    EXPECT_EQ(frames, 2999U);
    EXPECT_EQ(lost, 1U);
}

TEST_P(Streams, DamagedFramesAreNoLossOfMillions) {
    const Lab lab;
    const FrameSpec spec = spec_of(lab);
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, with_engine({}), {.json = false});
    for (std::uint64_t number = 0; number < 1000; ++number) {
        Octets frame = build_frame(spec, number);
        if (number % 100 == 50)
            frame[48] ^= 0x80; // the sequence number's highest bit
        sender.send(frame);
    }
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    const std::string out = sink.process().out();
    EXPECT_TRUE(contains(out, "stream           1: 990 frames, lost 10 (1.00 %) in 10 periods of up to 1, late 0, "
                              "duplicate 0"))
        << out;
    EXPECT_TRUE(contains(out, "    stream 0 from 198.18.0.1: 990 frames, lost 10 (1.00 %)")) << out;
    EXPECT_TRUE(contains(out, "damaged          10 frames with our signature and a wrong check\n")) << out;
}

TEST_P(Streams, ASecondRunOfTheSenderIsNoLoss) {
    const Lab lab;
    Sink sink(lab, with_engine({}));
    for (const char* rate : {"50000", "2000", "9000"})
        ASSERT_EQ(frames_sent(generate(lab, {"--count", "400", "--rate", rate})), 400U);
    const Json summary = sink.end();
    const Json& stream = streams_of(summary)[0];
    EXPECT_EQ(stream["frames"], 1200U);
    EXPECT_EQ(stream["lost"], 0U);
    EXPECT_EQ(stream["duplicate"], 0U);
    EXPECT_EQ(stream["restarts"], 2U);
}

// Each queue misses what the other got. That is no loss, and nobody knows the order any more: it is marked.
TEST_P(Streams, OneThatComesByTwoQueuesIsMarked) {
    const Lab lab({.queues = 2});
    FrameSpec spec = spec_of(lab);
    spec.source_ports = {1000, 1031}; // by which a flow's queue is chosen
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, with_engine({"--json-stream", "--interval", "100ms"}), {.json = false});
    for (std::uint64_t number = 0; number < 400; ++number)
        if (number != 100)
            sender.send(build_frame(spec, number));
    const auto intervals = [&] { return count_of(sink.process().out(), "\"event\":\"interval\""); };
    const std::size_t before = intervals();
    ASSERT_TRUE(eventually([&] { return intervals() >= before + 3; }));
    sink.process().signal(SIGINT);
    ASSERT_EQ(sink.process().wait().code, 0);
    const std::string out = sink.process().out();
    const std::size_t last = out.rfind("{\"event\":\"interval\"");
    EXPECT_EQ(Json::parse(out.substr(last, out.find('\n', last) - last))["lost"], 1U);
    const Json summary = summary_of_stream(out);
    EXPECT_EQ(test_frames(summary), 399U);
    ASSERT_EQ(streams_of(summary).size(), 1U);
    const Json& stream = streams_of(summary)[0];
    EXPECT_EQ(stream["queues"], 2U);
    EXPECT_EQ(stream["frames"], 399U);
    EXPECT_EQ(stream["lost"], 1U);
    EXPECT_FALSE(stream.contains("late"));
    EXPECT_FALSE(stream.contains("loss_periods"));
}

TEST_P(Streams, MoreThanTheTableHasPlacesForAreCounted) {
    const Lab lab;
    Sink sink(lab, with_engine({"--streams", "8", "--max-loss", "0"}));
    const std::uint64_t sent =
        frames_sent(generate(lab, {"--streams", "100", "--count", "10000", "--rate", gentle_rate}));
    const Json summary = sink.end(SIGINT, exit_verdict_fail);
    ASSERT_EQ(sent, 10'000U);
    EXPECT_GE(streams_of(summary).size(), 8U);
    EXPECT_LE(streams_of(summary).size(), 16U);
    std::uint64_t followed = 0;
    for (const Json& stream : streams_of(summary)) {
        followed += stream["frames"].get<std::uint64_t>();
        EXPECT_EQ(stream["lost"], 0U);
    }
    EXPECT_EQ(followed, 100 * streams_of(summary).size());
    EXPECT_EQ(summary["ports"][0]["streams"]["no_room_frames"], sent - followed);
}

TEST_P(Streams, MoreThanTheTableHasPlacesForAreInTheSummaryForPeople) {
    const Lab lab;
    Sink sink(lab, with_engine({"--streams", "8"}), {.json = false});
    generate(lab, {"--streams", "100", "--count", "10000", "--rate", gentle_rate});
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    std::string out = sink.process().out();
    std::erase(out, ',');
    std::smatch followed, no_room;
    ASSERT_TRUE(std::regex_search(out, followed, std::regex("\n  streams +[0-9]+: ([0-9]+) frames "))) << out;
    ASSERT_TRUE(std::regex_search(
        out, no_room, std::regex("\n  no room +([0-9]+) frames of more streams than --streams has places for\n")))
        << out;
    EXPECT_EQ(std::stoull(followed[1]) + std::stoull(no_room[1]), 10'000U);
}

TEST_P(Streams, ThousandsOfThem) {
    const Lab lab;
    Sink sink(lab, with_engine({}));
    const std::uint64_t sent =
        frames_sent(generate(lab, {"--streams", "4096", "--count", "40960", "--rate", gentle_rate}));
    const Json summary = sink.end();
    ASSERT_EQ(sent, 40'960U);
    EXPECT_EQ(summary["ports"][0]["streams"]["no_room_frames"], 0U);
    ASSERT_EQ(streams_of(summary).size(), 4096U);
    for (const Json& stream : streams_of(summary)) {
        ASSERT_EQ(stream["frames"], 10U) << stream;
        ASSERT_EQ(stream["lost"], 0U) << stream;
    }
}

TEST_P(Streams, MaxLossDecidesTheVerdict) {
    struct Row {
        std::string limit;
        bool pass;
    };
    for (const Row& row : {Row{"10", true}, Row{"9", false}, Row{"1%", true}, Row{"0.9%", false}}) {
        const Lab lab;
        const FrameSpec spec = spec_of(lab);
        PacketSocket sender(lab.tester, "tx1");
        Sink sink(lab, with_engine({"--max-loss", row.limit}));
        for (std::uint64_t number = 0; number < 1000; ++number)
            if (number % 100 != 50)
                sender.send(build_frame(spec, number));
        const Json summary = sink.end(SIGINT, row.pass ? 0 : exit_verdict_fail);
        EXPECT_EQ(summary["verdict"]["result"], row.pass ? "PASS" : "FAIL") << row.limit;
        EXPECT_EQ(summary["verdict"]["conditions"][0]["measured"], "10 frames of 1000 (1 %)");
    }
    const Lab lab;
    Sink silent(lab, with_engine({"--max-loss", "0"}));
    EXPECT_EQ(silent.end(SIGINT, exit_verdict_fail)["verdict"]["conditions"][0]["measured"], "no stream");
}

TEST_P(Streams, OffOnRequest) {
    const Lab lab;
    Sink sink(lab, with_engine({"--streams", "0"}));
    const std::uint64_t sent = frames_sent(generate(lab, {"--count", "1000"}));
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), sent);
    EXPECT_FALSE(summary["ports"][0].contains("streams"));
    expect_refused(lab, {"--streams", "0", "--max-loss", "1"}, exit_usage, {"--max-loss with --streams 0"});
}

} // namespace
} // namespace responder::test
