// SPDX-License-Identifier: GPL-2.0-only
//
// PASS and FAIL, and their exit status.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

namespace responder::test {
namespace {

using namespace packet;

struct Case {
    std::string name;
    Arguments options;
    bool pass;
    std::string wanted; // in the condition's own words
    friend std::ostream& operator<<(std::ostream& out, const Case& given) { return out << given.name; }
};

class VerdictOf : public testing::TestWithParam<Case> {};

TEST_P(VerdictOf, AThousandFrames) {
    const Lab lab;
    Sink sink(lab, GetParam().options);
    PacketSocket(lab.tester, "tx1").send(Ethernet{} / Ipv4{} / Udp{} / payload(18), 1000);
    const Json summary = sink.end(SIGINT, GetParam().pass ? 0 : exit_verdict_fail);
    EXPECT_EQ(test_frames(summary), 1000U);
    ASSERT_TRUE(summary.contains("verdict"));
    EXPECT_EQ(summary["verdict"]["result"], GetParam().pass ? "PASS" : "FAIL");
    EXPECT_TRUE(contains(summary["verdict"].dump(), GetParam().wanted)) << summary["verdict"];
}

INSTANTIATE_TEST_SUITE_P(
    , VerdictOf,
    testing::Values(
        Case{"Frames", {"--expect-frames", "1000"}, true, "exactly 1000 test frames"},
        Case{"FramesTooFew", {"--expect-frames", "1001"}, false, "exactly 1001 test frames"},
        Case{"FramesTooMany", {"--expect-frames", "999"}, false, "exactly 999 test frames"},
        Case{"Rate", {"--expect-rate", "1fps"}, true, "at least 1fps"},
        Case{"RateTooLow", {"--expect-rate", "900Mfps"}, false, "at least 900Mfps"},
        Case{"RateOfLayer1TooLow", {"--expect-rate", "9000Gbps@L1"}, false, "9000Gbps@L1 while"},
        Case{"RateOfPayload", {"--expect-rate", "0.001kbps@payload"}, true, "0.001kbps@payload while"},
        Case{"Missed", {"--max-missed", "0"}, true, "at most 0 frames missed by the NIC"},
        Case{"AllHold", {"--expect-frames", "1000", "--expect-rate", "1fps", "--max-missed", "0"}, true, "exactly"},
        Case{"OneOfThreeFails",
             {"--expect-frames", "1000", "--expect-rate", "900Mfps", "--max-missed", "0"},
             false,
             "exactly"}),
    [](const auto& test) { return test.param.name; });

TEST(Verdict, ShareOfALineThatSaysNoSpeedIsRefused) {
    expect_refused(Lab{}, {"--expect-rate", "95%"}, exit_usage, {"eth1: --expect-rate 95%", "how fast its line is"});
}

TEST(Verdict, SilenceFailsARate) {
    const Lab lab;
    Sink sink(lab, {"--expect-rate", "1fps", "--duration", "300ms"});
    EXPECT_EQ(sink.wait(exit_verdict_fail)["verdict"]["result"], "FAIL");
}

TEST(Verdict, TextEndsWithIt) {
    const Lab lab;
    Sink sink(lab, {"--expect-frames", "0", "--duration", "300ms"}, {.json = false});
    EXPECT_EQ(sink.process().wait().code, 0);
    EXPECT_TRUE(sink.process().out().ends_with("ok     exactly 0 test frames: 0\nPASS\n")) << sink.process().out();
    Sink other(lab, {"--expect-frames", "3", "--duration", "300ms"}, {.json = false});
    EXPECT_EQ(other.process().wait().code, exit_verdict_fail);
    EXPECT_TRUE(other.process().out().ends_with("not ok exactly 3 test frames: 0\nFAIL\n")) << other.process().out();
}

TEST(Verdict, FramesAreThoseOfAllPortsTogether) {
    const Lab lab({.pairs = 2});
    Sink sink(lab, {"--expect-frames", "30"}, {.interfaces = {"eth1", "eth2"}});
    PacketSocket(lab.tester, "tx1").send(Ethernet{} / Ipv4{} / Udp{} / payload(18), 10);
    PacketSocket(lab.tester, "tx2")
        .send(Ethernet{.destination = lab.responder_ports[1].mac} / Ipv4{} / Udp{} / payload(18), 20);
    EXPECT_EQ(sink.end()["verdict"]["result"], "PASS");
}

} // namespace
} // namespace responder::test
