// SPDX-License-Identifier: GPL-2.0-only
//
// Delays: frames of xdp-gen's making that say when they were sent, or something else.

#include "bpf/signature/ours.h"
#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <functional>
#include <regex>

namespace responder::test {
namespace {

class Delay : public EachEngine {};
INSTANTIATE_TEST_SUITE_P(Engine, Delay, each_engine, engine_name);

const Json& first_stream(const Json& summary) { return summary["ports"][0]["streams"]["list"][0]; }

// Sends frames 0 to `count` - 1 of one stream, each as much later than it says as `shift_ns` has it.
void send_stamped(const Lab& lab, std::uint32_t count, const std::function<std::int64_t(std::uint32_t)>& shift_ns) {
    const FrameSpec spec = spec_of(lab);
    PacketSocket sender(lab.tester, "tx1");
    for (std::uint32_t number = 0; number < count; ++number) {
        timespec now{};
        clock_gettime(CLOCK_TAI, &now);
        const auto time = static_cast<std::uint32_t>(now.tv_sec * 1'000'000'000 + now.tv_nsec - shift_ns(number));
        Octets frame = build_frame(spec, number);
        const std::uint64_t check = ours_check(0, number, time);
        for (unsigned octet = 0; octet < 4; ++octet)
            frame[42 + OURS_TIME_OFFSET + octet] = static_cast<std::uint8_t>(time >> (24 - 8 * octet));
        frame[42 + OURS_CHECK_OFFSET] = static_cast<std::uint8_t>(check >> 8);
        frame[42 + OURS_CHECK_OFFSET + 1] = static_cast<std::uint8_t>(check);
        sender.send(frame);
    }
}

// Nothing that a test sends can take longer than the test, however busy the machine is.
class Stopwatch {
  public:
    double ns() const {
        return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin_).count();
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::uint64_t frames_in(const Json& histogram) {
    std::uint64_t frames = 0;
    for (const Json& bucket : histogram["buckets"])
        frames += bucket["frames"].get<std::uint64_t>();
    return frames;
}

TEST_P(Delay, VariationOfStampedFrames) {
    const Lab lab;
    Sink sink(lab, with_engine({}));
    const Stopwatch all;
    const std::uint64_t sent = frames_sent(generate(lab, {"--stamp", "--count", "20000", "--rate", "20000"}));
    const Json summary = sink.end();
    const Json& stream = first_stream(summary);
    EXPECT_EQ(stream["stamped_frames"], sent);
    EXPECT_GT(stream["jitter_ns"], 0.0);
    EXPECT_GE(stream["delay_variation_max_ns"], stream["delay_variation_mean_ns"]);
    EXPECT_GT(stream["delay_variation_mean_ns"], 0.0);
    EXPECT_LT(stream["delay_variation_max_ns"], all.ns());
    EXPECT_EQ(stream["ipdv_pairs"], sent - 1);
    EXPECT_LT(stream["ipdv_min_ns"], 0.0);
    EXPECT_GT(stream["ipdv_mean_ns"], 0.0);
    EXPECT_GE(stream["ipdv_max_ns"], stream["ipdv_mean_ns"]);
    EXPECT_GE(stream["gap_mean_ns"], 0.9e9 / 20'000) << "no faster than it was sent, but for the first one's delay";
    EXPECT_EQ(stream["clock_steps"], 0U);
    EXPECT_EQ(stream["wild_times"], 0U);
    EXPECT_FALSE(stream.contains("one_way_delay_mean_ns"));
    EXPECT_FALSE(stream.contains("gap_histogram"));
    EXPECT_EQ(stream["sent"], "the sender's program, before its driver");
    EXPECT_EQ(stream["sent_clock"], "CLOCK_TAI");
    EXPECT_EQ(summary["ports"][0]["streams"]["stamps"]["received"], "XDP, behind the interrupt");
    EXPECT_GT(summary["ports"][0]["streams"]["stamps"]["clock_reading_ns"], 0);
}

// Every second frame says that it was sent 200 ms earlier than it was, which is far more than a busy machine's own
// jitter.
std::int64_t every_second_is_late(std::uint32_t number) { return number % 2 * 200'000'000; }

TEST_P(Delay, JitterIsThatOfRfc3550) {
    const Lab lab;
    Sink sink(lab, with_engine({}));
    send_stamped(lab, 500, every_second_is_late);
    const Json summary = sink.end();
    const Json& stream = first_stream(summary);
    EXPECT_EQ(stream["stamped_frames"], 500U);
    EXPECT_NEAR(stream["jitter_ns"], 200e6, 20e6);
    EXPECT_NEAR(stream["delay_variation_mean_ns"], 100e6, 20e6);
    EXPECT_GE(stream["delay_variation_max_ns"], 190e6);
    EXPECT_NEAR(stream["ipdv_mean_ns"], 200e6, 20e6);
}

TEST_P(Delay, HistogramsAddUpToTheFrames) {
    const Lab lab;
    Sink sink(lab, with_engine({"--histogram"}));
    const std::uint64_t stamped =
        frames_sent(generate(lab, {"--stamp", "--streams", "3", "--count", "15000", "--rate", "20000"}));
    const std::uint64_t plain =
        frames_sent(generate(lab, {"--src", "198.18.0.9", "--count", "1000", "--rate", "20000"}));
    const Json summary = sink.end();
    const Json& streams = summary["ports"][0]["streams"]["list"];
    ASSERT_EQ(streams.size(), 4U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(streams[i]["frames"], stamped / 3);
        EXPECT_EQ(frames_in(streams[i]["delay_variation_histogram"]), stamped / 3);
        EXPECT_EQ(frames_in(streams[i]["gap_histogram"]), stamped / 3 - 1);
        EXPECT_LE(streams[i]["gap_histogram"]["percentiles"][0]["ns"], streams[i]["gap_max_ns"]);
    }
    EXPECT_EQ(streams[3]["frames"], plain);
    EXPECT_EQ(frames_in(streams[3]["gap_histogram"]), plain - 1);
    EXPECT_FALSE(streams[3].contains("delay_variation_histogram"));
}

TEST_P(Delay, HistogramsAreDrawn) {
    const Lab lab;
    Sink sink(lab, with_engine({"--histogram"}), {.process = {.environment = {"LC_ALL=C"}}, .json = false});
    generate(lab, {"--stamp", "--count", "2000", "--rate", "20000"});
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    const std::string out = sink.process().out();
    EXPECT_TRUE(contains(out, "  delay variation  of 2,000 frames, beyond the fastest of each stream so far\n")) << out;
    EXPECT_TRUE(contains(out, "  between frames   of 1,999 pairs, as they came in each stream\n")) << out;
    EXPECT_EQ(count_of(out, "99.99 % "), 2U) << out;
    EXPECT_TRUE(contains(out, "  ####")) << out;
    EXPECT_TRUE(contains(out,
                         "  stamps           the sender's program, before its driver (CLOCK_TAI), to XDP, behind the "
                         "interrupt (CLOCK_TAI, which takes "))
        << out;
}

// Sender and sink are one machine, whose clock agrees with itself.
TEST_P(Delay, OneWayWhereClocksAreInStep) {
    const Lab lab;
    Sink sink(lab, with_engine({"--clocks-within", "0", "--histogram", "--max-delay", "1s", "--max-jitter", "1s"}));
    const Stopwatch all;
    const std::uint64_t sent = frames_sent(generate(lab, {"--stamp", "--count", "5000", "--rate", "20000"}));
    const Json summary = sink.end();
    const Json& stream = first_stream(summary);
    EXPECT_GT(stream["one_way_delay_min_ns"], 0.0);
    EXPECT_GE(stream["one_way_delay_mean_ns"], stream["one_way_delay_min_ns"]);
    EXPECT_GE(stream["one_way_delay_max_ns"], stream["one_way_delay_mean_ns"]);
    EXPECT_LT(stream["one_way_delay_max_ns"], all.ns());
    EXPECT_EQ(frames_in(stream["one_way_delay_histogram"]), sent);
    EXPECT_GE(stream["one_way_delay_histogram"]["buckets"][0]["last_ns"], stream["one_way_delay_min_ns"]);
    EXPECT_EQ(summary["verdict"]["result"], "PASS");
}

// A way of 20 ms, in the frames' own words, and what the machine adds to it.
TEST_P(Delay, OneWayOfAKnownPathIsKnownToWithinTheClocks) {
    const Lab lab;
    const auto send = [&] { send_stamped(lab, 200, [](std::uint32_t) { return 20'000'000; }); };
    Sink sink(lab, with_engine({"--clocks-within", "20us"}));
    const Stopwatch all;
    send();
    const Json summary = sink.end();
    EXPECT_EQ(summary["ports"][0]["streams"]["stamps"]["clocks_within_ns"], 20'000);
    EXPECT_GE(first_stream(summary)["one_way_delay_min_ns"], 20e6);
    EXPECT_LT(first_stream(summary)["one_way_delay_max_ns"], 20e6 + all.ns());

    Sink text(lab, with_engine({"--clocks-within", "20us"}), {.json = false});
    send();
    text.process().signal(SIGINT);
    EXPECT_EQ(text.process().wait().code, 0);
    const std::string out = text.process().out();
    EXPECT_TRUE(contains(out, " to read here), the two clocks agree to within 20.0 us\n")) << out;
    std::smatch least;
    ASSERT_TRUE(std::regex_search(out, least, std::regex(", one-way delay ([0-9.]+) ms to [0-9.]+ ms \\(mean ")))
        << out;
    EXPECT_GE(std::stod(least[1]), 20);
}

// Where nothing keeps the clock, nobody knows how far it is off, whatever was promised: unless it is one and the same.
TEST(DelayClock, ThatNothingKeepsIsSaid) {
    const Lab lab;
    for (const char* kept : {"yes", "no"})
        for (const char* within : {"20us", "0"}) {
            Sink sink(
                lab, {"--clocks-within", within},
                {.process = {.environment = {"LD_PRELOAD=" TEST_CLOCK_KEEPER, std::string("CLOCK_KEPT=") + kept}}});
            const Json summary = sink.end();
            const bool is_kept = kept == std::string("yes");
            EXPECT_EQ(contains(sink.process().err(),
                               "--clocks-within: the kernel says that nothing keeps this machine's clock"),
                      !is_kept && within == std::string("20us"))
                << kept << ", " << within;
            const Json& stamps = summary["ports"][0]["streams"]["stamps"];
            EXPECT_EQ(stamps["clock_synchronised"], is_kept);
            EXPECT_EQ(stamps["clock_maximum_error_ns"], is_kept ? 1'500'000 : 16'000'000'000);
        }
}

TEST_P(Delay, IsRefusedWhereClocksAreNotInStep) {
    const Lab lab;
    Sink sink(lab, with_engine({"--clocks-within", "1ms", "--max-delay", "1s"}));
    send_stamped(lab, 10, [](std::uint32_t) { return -900'000'000; }); // the sender is ahead
    const Json summary = sink.end(SIGINT, exit_verdict_fail);
    EXPECT_FALSE(first_stream(summary).contains("one_way_delay_max_ns"));
    EXPECT_TRUE(contains(first_stream(summary)["one_way_delay_unknown"], "the clocks are not in step"));
    EXPECT_TRUE(contains(summary["verdict"]["conditions"][0]["measured"], "unknown: the clocks are not in step"));
}

TEST_P(Delay, AClockThatIsSetIsSaid) {
    const Lab lab;
    Sink sink(lab, with_engine({"--clocks-within", "0"}));
    const Stopwatch all;
    send_stamped(lab, 400, [](std::uint32_t number) { return number < 200 ? 0 : 1'500'000'000; });
    const Json summary = sink.end();
    const Json& stream = first_stream(summary);
    EXPECT_EQ(stream["clock_steps"], 1U);
    EXPECT_EQ(stream["wild_times"], 0U);
    EXPECT_LT(stream["delay_variation_max_ns"], all.ns());
    EXPECT_EQ(stream["one_way_delay_unknown"], "a clock was set during the run");
}

TEST_P(Delay, AWildTimeSpoilsNothing) {
    const Lab lab;
    Sink sink(lab, with_engine({"--clocks-within", "0"}));
    const Stopwatch all;
    send_stamped(lab, 400, [](std::uint32_t number) { return number % 100 == 50 ? 1'500'000'000 : 0; });
    const Json summary = sink.end();
    const Json& stream = first_stream(summary);
    EXPECT_EQ(stream["frames"], 400U);
    EXPECT_EQ(stream["stamped_frames"], 396U);
    EXPECT_EQ(stream["wild_times"], 4U);
    EXPECT_EQ(stream["clock_steps"], 0U);
    EXPECT_LT(stream["one_way_delay_max_ns"], all.ns());
}

TEST_P(Delay, LimitsDecideTheVerdict) {
    struct Row {
        Arguments limit;
        bool pass;
    };
    for (const Row& row : {Row{{"--max-jitter", "300ms"}, true}, Row{{"--max-jitter", "100ms"}, false},
                           Row{{"--max-delay", "1s", "--clocks-within", "0"}, true},
                           Row{{"--max-delay", "150ms", "--clocks-within", "0"}, false}}) {
        const Lab lab;
        Sink sink(lab, with_engine(row.limit));
        send_stamped(lab, 500, every_second_is_late);
        const Json summary = sink.end(SIGINT, row.pass ? 0 : exit_verdict_fail);
        EXPECT_EQ(summary["verdict"]["result"], row.pass ? "PASS" : "FAIL") << row.limit[1];
    }
}

TEST_P(Delay, LimitsFailWhereNothingWasMeasured) {
    const Lab lab;
    Sink sink(lab, with_engine({"--max-jitter", "1s"}));
    generate(lab, {"--count", "1000", "--rate", "20000"});
    EXPECT_EQ(sink.end(SIGINT, exit_verdict_fail)["verdict"]["conditions"][0]["measured"],
              "unknown: stream 0 from 198.18.0.1 has no two frames that say when they were sent");
    Sink silent(lab, with_engine({"--max-delay", "1s", "--clocks-within", "0"}));
    EXPECT_EQ(silent.end(SIGINT, exit_verdict_fail)["verdict"]["conditions"][0]["measured"], "no stream");
    expect_refused(lab, {"--max-delay", "1s"}, exit_usage, {"--max-delay without --clocks-within"});
    expect_refused(lab, {"--histogram", "--streams", "0"}, exit_usage, {"--histogram with --streams 0"});
}

} // namespace
} // namespace responder::test
