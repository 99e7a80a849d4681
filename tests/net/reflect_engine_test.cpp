// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-reflect's engines over veth: both send back the same octets for the same frames, and count the same.

#include "tests/harness/packet.h"
#include "tests/harness/reflect_frames.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <string>
#include <vector>

namespace responder::test {
namespace {

using namespace packet;

struct Way {
    const char* name;
    Arguments arguments;
    friend std::ostream& operator<<(std::ostream& out, const Way& way) { return out << way.name; }
};

class ReflectEngine : public testing::TestWithParam<Way> {
  protected:
    static Arguments and_options(Arguments more) {
        Arguments arguments = GetParam().arguments;
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }
    static bool has_sockets() { return std::string_view(GetParam().name).starts_with("af_xdp"); }
};

// In any order: what goes through a socket may be overtaken by what the program answers.
std::vector<std::string> sorted(std::vector<std::string> frames) {
    std::ranges::sort(frames);
    return frames;
}

std::uint64_t of_sockets(const Json& summary, const char* what) { return summary["ports"][0]["sockets"].at(what); }

void expect_all_sent(const Json& summary, bool has_sockets) {
    EXPECT_EQ(summary["ports"][0].contains("sockets"), has_sockets);
    if (!has_sockets)
        return;
    EXPECT_EQ(of_sockets(summary, "received"), test_frames(summary));
    EXPECT_EQ(of_sockets(summary, "not_delivered"), 0U);
    EXPECT_EQ(of_sockets(summary, "not_sent"), 0U);
}

TEST_P(ReflectEngine, SendsBackWhatTheTableSays) {
    const Lab lab({.mtu = 1600}); // the longest have two tags
    PacketSocket tester(lab.tester, lab.from().name);
    const std::vector<ReflectFixture> fixtures = reflect_fixtures();
    Reflector reflector(lab, and_options({"--icmp", "--stamp-format", "ntp", "--allow", "10.0.0.0/8,2001:db8::/32"}));
    std::vector<std::string> expected, came;
    std::map<std::string, std::uint64_t> slots;
    for (const ReflectFixture& fixture : fixtures) {
        ++slots[fixture.slot];
        tester.send(fixture.in);
        if (fixture.out.empty())
            continue;
        expected.push_back(hex(fixture.out));
        Octets reply = tester.receive();
        ASSERT_FALSE(reply.empty()) << fixture.name;
        blank_times(reply, fixture.slot);
        EXPECT_EQ(hex(reply), expected.back()) << fixture.name;
    }
    EXPECT_TRUE(tester.receive_all().empty());
    const Json summary = reflector.end();
    for (const auto& [slot, frames] : slots) {
        const bool is_test = slot == "test", is_answer = slot.ends_with("_reply");
        EXPECT_EQ(is_test     ? test_frames(summary)
                  : is_answer ? answered(summary, slot)
                              : passed(summary, slot),
                  frames)
            << slot;
    }
    expect_all_sent(summary, has_sockets());
}

TEST_P(ReflectEngine, AllThatIsSentComesBackInOrder) {
    const Lab lab({.pass = false}); // one queue: over two, a stream's order would not be known
    lab.responder.run({"ethtool", "-K", lab.to().name, "gro", "on"}); // or a veth takes no frame in generic mode
    Reflector reflector(lab, and_options({}));
    Sink returned(lab, {"--all"}, {.interfaces = {lab.from().name}, .where = &lab.tester});
    const std::uint64_t sent = frames_sent(generate(
        lab, {"--port", "9", "--streams", "16", "--size", "64,128,512,1518", "--rate", "20000", "--count", "40000"}));
    const Json far = reflector.end(), near = returned.end();
    EXPECT_EQ(sent, 40'000U);
    EXPECT_EQ(test_frames(far), sent);
    EXPECT_EQ(test_frames(near), sent);
    EXPECT_EQ(sizes(near), sizes(far));
    expect_all_sent(far, has_sockets());
    const Json& streams = streams_of(near);
    EXPECT_EQ(streams.size(), 16U);
    for (const Json& stream : streams) {
        EXPECT_EQ(stream.at("frames"), sent / 16);
        EXPECT_EQ(stream.at("lost"), 0);
        EXPECT_EQ(stream.at("late"), 0);
        EXPECT_EQ(stream.at("duplicate"), 0);
    }
}

// Longer than a chunk of a socket's memory, and than a driver's buffer.
TEST_P(ReflectEngine, Jumbo) {
    const Lab lab({.mtu = 9000});
    PacketSocket tester(lab.tester, lab.from().name);
    Reflector reflector(lab, and_options({}));
    for (const std::size_t size : {1472U, 3000U, 4100U, 8972U}) {
        const auto frame = [&](const Ends& ends) {
            return stamp_frame({.tags = {}}, ends, 61, payload(size)).octets();
        };
        Ends there;
        there.ip4[0] = "198.18.0.2";
        there.ip4[1] = "198.18.0.1";
        tester.send(frame(there));
        EXPECT_TRUE(tester.receive() == frame(there.back(3))) << size;
    }
    const Json summary = reflector.end();
    EXPECT_EQ(test_frames(summary), 4U);
    expect_all_sent(summary, has_sockets());
}

INSTANTIATE_TEST_SUITE_P(Ways, ReflectEngine,
                         testing::Values(Way{"xdp", {}}, Way{"xdp_generic", {"--mode", "generic"}},
                                         Way{"af_xdp", {"--engine", "af_xdp"}},
                                         Way{"af_xdp_generic", {"--engine", "af_xdp", "--mode", "generic"}}),
                         [](const auto& way) { return way.param.name; });

// ---- cut short ----

struct Outcome {
    std::vector<std::string> back;
    Json test, answered, passed;
};

Outcome of_truncations(const Arguments& engine) {
    const Lab lab;
    PacketSocket tester(lab.tester, lab.from().name);
    Arguments arguments{"--allow", "10.0.0.0/8,2001:db8::/32"};
    arguments.insert(arguments.end(), engine.begin(), engine.end());
    Reflector reflector(lab, arguments);
    Outcome outcome;
    for (const Shape& shape : shapes()) {
        const Octets whole = shape.packet({});
        if (shape.payload != 18)
            continue;
        for (std::size_t length = 14; length <= whole.size(); ++length)
            tester.send(Octets(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
        for (const Octets& frame : tester.receive_all())
            outcome.back.push_back(hex(frame));
    }
    outcome.back = sorted(outcome.back);
    const Json port = reflector.end()["ports"][0];
    outcome.test = port["test"]["frames"];
    outcome.answered = port["answered"];
    outcome.passed = port["passed"];
    return outcome;
}

TEST(ReflectEngines, AgreeOnEveryTruncation) {
    const Outcome xdp = of_truncations({}), af_xdp = of_truncations({"--engine", "af_xdp"});
    EXPECT_GT(xdp.back.size(), 10U);
    EXPECT_EQ(xdp.back, af_xdp.back);
    EXPECT_EQ(xdp.test, af_xdp.test);
    EXPECT_EQ(xdp.test, xdp.back.size());
    EXPECT_EQ(xdp.answered, af_xdp.answered);
    EXPECT_EQ(xdp.passed, af_xdp.passed);
}

// ---- what only sockets can do ----

// A process that stands still: what its socket had no room for is not sent back, and is said to be lost there.
TEST(ReflectSockets, LossesAreNamed) {
    const Lab lab;
    PacketSocket tester(lab.tester, lab.from().name);
    Reflector reflector(lab, {"--engine", "af_xdp"});
    const Octets frame = Ethernet{} / Ipv4{.source = "198.18.0.1", .destination = "198.18.0.2"} /
                         Udp{.source = 50'000, .destination = 7} / payload(18);
    constexpr unsigned frames = 6000; // more than a ring has places
    reflector.process().signal(SIGSTOP);
    tester.send(frame, frames);
    reflector.process().signal(SIGCONT);
    const std::size_t back = tester.receive_all().size();
    const Json summary = reflector.end();
    EXPECT_EQ(test_frames(summary), frames);
    EXPECT_EQ(of_sockets(summary, "received"), back);
    EXPECT_EQ(of_sockets(summary, "rx_ring_full") + of_sockets(summary, "received"), frames);
    EXPECT_GT(of_sockets(summary, "rx_ring_full"), 0U);
    EXPECT_EQ(of_sockets(summary, "not_sent"), 0U);
}

// Chunks of memory go round for ever: many times as many frames as there are.
TEST(ReflectSockets, MemoryGoesRound) {
    const Lab lab({.queues = 2, .pass = false});
    Reflector reflector(lab, {"--engine", "af_xdp"});
    Sink returned(lab, {"--all", "--streams", "0"}, {.interfaces = {lab.from().name}, .where = &lab.tester});
    const std::uint64_t sent = frames_sent(generate(lab, {"--port", "9", "--rate", "100000", "--count", "100000"}));
    const Json far = reflector.end(), near = returned.end();
    EXPECT_EQ(test_frames(far), sent);
    EXPECT_EQ(test_frames(near), of_sockets(far, "received"));
    EXPECT_EQ(of_sockets(far, "received") + of_sockets(far, "rx_ring_full") + of_sockets(far, "rx_dropped"), sent);
    EXPECT_GT(of_sockets(far, "received"), 50'000U);
}

TEST(ReflectSockets, SayWhatTheyDid) {
    const Lab lab;
    Reflector reflector(lab, {"--engine", "af_xdp"}, {.json = false});
    const std::uint64_t sent = frames_sent(generate(lab, {"--port", "7", "--rate", "10000", "--count", "1000"}));
    EXPECT_EQ(sent, 1000U);
    reflector.process().signal(SIGINT);
    EXPECT_EQ(reflector.process().wait().code, 0);
    const std::string out = reflector.process().out();
    EXPECT_NE(out.find("  to the sockets   1,000, "), out.npos) << out;
    EXPECT_NE(out.find("  AF_XDP sockets   copy, sent back 1,000; read 1,000, lost 0\n"), out.npos) << out;
}

} // namespace
} // namespace responder::test
