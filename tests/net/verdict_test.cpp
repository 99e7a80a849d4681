// SPDX-License-Identifier: GPL-2.0-only
//
// PASS and FAIL, and their exit status.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"
#include "tests/net/sockets.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstring>

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

// The program sees the numbers; most of them then find no room, and a stranger's socket loses as well.
TEST(Verdict, WhatTheSocketOnAWatchedPortLosesIsLoss) {
    const Lab lab({.addresses = true});
    const UniqueFd server = udp_socket(lab.responder, "192.0.2.2", 5201);
    const UniqueFd stranger = udp_socket(lab.responder, "192.0.2.2", 7000);
    const UniqueFd sender = udp_socket(lab.tester, "192.0.2.1", 0);
    ASSERT_EQ(ping(lab.tester, "192.0.2.2", 1), 1U); // so that no datagram waits for ARP
    Sink sink(lab, {"--max-loss", "50%"});
    constexpr std::uint32_t datagrams = 3000;
    for (std::uint32_t number = 1; number <= datagrams; ++number) {
        Octets data(1000);
        const std::uint32_t words[] = {htonl(number / 1000), htonl(number % 1000 * 1000), htonl(number)};
        std::memcpy(data.data(), words, sizeof(words));
        send_to(sender, "192.0.2.2", 5201, data);
        send_to(sender, "192.0.2.2", 7000, Octets(1000));
    }
    const Json summary = sink.end(SIGINT, exit_verdict_fail);
    const Json& conditions = summary["verdict"]["conditions"];
    ASSERT_EQ(conditions.size(), 2U) << summary["verdict"];
    EXPECT_EQ(conditions[0]["holds"], true) << summary["verdict"];
    EXPECT_EQ(conditions[1]["holds"], false) << summary["verdict"];
    EXPECT_EQ(conditions[1]["wanted"], "sockets on watched ports: at most 50% dropped");
    std::uint64_t left = 0;
    const timeval no_time{.tv_sec = 0, .tv_usec = 1000};
    ASSERT_EQ(setsockopt(server.get(), SOL_SOCKET, SO_RCVTIMEO, &no_time, sizeof(no_time)), 0);
    while (!receive_from(server).empty())
        ++left;
    const Json& socket = summary["lost_where"].at(1);
    const std::uint64_t came = summary["ports"][0]["streams"]["list"].at(0)["frames"];
    EXPECT_EQ(socket["frames"], came - left);
    EXPECT_GT(socket["all_sockets_frames"], socket["frames"]) << "the stranger's are no loss of the test";
}

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
