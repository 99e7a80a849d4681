// SPDX-License-Identifier: GPL-2.0-only
//
// Native, generic and multi-buffer XDP: which one was obtained is said, and the counts are exact in each.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"
#include "tests/net/sockets.h"

#include <gtest/gtest.h>

namespace responder::test {
namespace {

using namespace packet;

void expect_exact_counts(const Lab& lab, Sink& sink) {
    PacketSocket sender(lab.tester, "tx1");
    sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(18), 3000);
    sender.send(Ethernet{} / Vlan{.id = 5} / Ipv4{} / Udp{} / payload(1468), 2000);
    sender.send(Ethernet{} / Vlan{.id = 5} / Vlan{.id = 6} / Ipv6{} / Udp{} / payload(100), 1000);
    sender.send(Ethernet{} / Ipv4{} / Udp{.destination = 53} / payload(18), 500);
    sender.send(Ethernet{} / Ipv4{} / Tcp{} / payload(18), 300);
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 6000U);
    EXPECT_EQ(sizes(summary),
              (std::map<std::string, std::uint64_t>{{"64-64", 3000}, {"128-255", 1000}, {"1024-1518", 2000}}));
    EXPECT_EQ(summary["ports"][0]["test"]["l2_bytes"],
              3000 * 64 + 2000 * (18 + 4 + 20 + 8 + 1468) + 1000 * (18 + 8 + 40 + 8 + 100));
    EXPECT_EQ(passed(summary), (Reasons{{"udp", 500}, {"tcp", 300}}));
}

TEST(Mode, GenericCountsTheSame) {
    const Lab lab;
    Sink sink(lab, {"--mode", "generic"});
    const XdpPrograms there = xdp_programs(lab.responder, "eth1");
    EXPECT_NE(there.generic, 0U);
    EXPECT_EQ(there.native, 0U);
    EXPECT_TRUE(contains(sink.process().err(), "eth1: generic XDP on veth"));
    EXPECT_FALSE(contains(sink.process().err(), "because")) << "it was asked for";
    expect_exact_counts(lab, sink);
    EXPECT_TRUE(xdp_programs(lab.responder, "eth1").none());
}

TEST(Mode, NativeCountsTheSame) {
    const Lab lab;
    Sink sink(lab, {"--mode", "native"});
    EXPECT_NE(xdp_programs(lab.responder, "eth1").native, 0U);
    expect_exact_counts(lab, sink);
}

TEST(Mode, NativeIsRefusedWithTheReasonWhereTheDriverHasNone) {
    const Lab lab;
    for (const Arguments& arguments : std::vector<Arguments>{{"--mode", "native"}, {"--require-native"}})
        expect_refused(lab, arguments, exit_os, {"lo: native XDP", "not supported"}, {.interfaces = {"lo"}});
    EXPECT_TRUE(xdp_programs(lab.responder, "lo").none());
}

TEST(Mode, AutoFallsBackAndSaysSoInOneLine) {
    const Lab lab;
    Sink sink(lab, {}, {.interfaces = {"lo"}});
    const std::string err = sink.process().err();
    EXPECT_EQ(count_of(err, "generic XDP, because"), 1U) << err;
    EXPECT_NE(xdp_programs(lab.responder, "lo").generic, 0U);
    const UniqueFd sender = udp_socket(lab.responder, "127.0.0.1", 0);
    for (int i = 0; i < 100; ++i)
        send_to(sender, "127.0.0.1", 9, Octets(100));
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 100U);
    EXPECT_EQ(summary["ports"][0]["mode"], "generic");
    EXPECT_NE(summary["ports"][0]["native_refused"], "");
}

TEST(Mode, OnABridge) {
    const Lab lab;
    lab.responder.ip(
        "link add br0 type bridge\nlink set br0 address 02:00:00:00:00:44\nlink set eth1 master br0\nlink set br0 up");
    ASSERT_TRUE(eventually([&] { return link_of(lab.responder, "br0").at("operstate") == "UP"; }));
    expect_refused(lab, {"--mode", "native"}, exit_os, {"br0: native XDP", "not supported"}, {.interfaces = {"br0"}});
    Sink sink(lab, {}, {.interfaces = {"br0"}});
    PacketSocket sender(lab.tester, "tx1");
    sender.send(Ethernet{.destination = MacAddress{{2, 0, 0, 0, 0, 0x44}}} / Ipv4{} / Udp{} / payload(18), 200);
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 200U);
    EXPECT_EQ(summary["ports"][0]["mode"], "generic");
}

class ModeJumbo : public testing::TestWithParam<std::string> {};

TEST_P(ModeJumbo, FramesBeyondAPageAreCountedExactly) {
    const bool native = GetParam() == "native";
    const Lab lab({.mtu = 9000});
    Sink sink(lab, {"--mode", GetParam()});
    PacketSocket sender(lab.tester, "tx1");
    sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(8972), 1000); // 9000 octets of IP, 9018 with FCS
    sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(4050), 500);
    sender.send(Ethernet{} / Ipv6{} / Udp{} / payload(18), 250);
    sender.send(Ethernet{} / Ipv4{} / Udp{.destination = 53} / payload(8972), 100);
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 1750U);
    EXPECT_EQ(sizes(summary),
              (std::map<std::string, std::uint64_t>{{"65-127", 250}, {"4096-8191", 500}, {"8192-", 1000}}));
    const Json& test = summary["ports"][0]["test"];
    EXPECT_EQ(test["l2_bytes"], 1000 * 9018 + 500 * (18 + 28 + 4050) + 250 * (18 + 48 + 18));
    EXPECT_EQ(test["payload_bytes"], 1000 * 8972 + 500 * 4050 + 250 * 18);
    EXPECT_EQ(passed(summary), (Reasons{{"udp", 100}}));
    EXPECT_EQ(summary["ports"][0]["multi_buffer"], native);
    EXPECT_EQ(summary["ports"][0]["mtu"], 9000);
}

INSTANTIATE_TEST_SUITE_P(, ModeJumbo, testing::Values("native", "generic"),
                         [](const auto& test) { return test.param; });

TEST(Mode, JumboFramesOfAnotherPortArriveWhole) {
    const Lab lab({.mtu = 9000});
    PacketSocket sender(lab.tester, "tx1"), receiver(lab.responder, "eth1");
    Sink sink(lab, {});
    const Octets frame = Ethernet{} / Ipv4{} / Udp{.destination = 53} / payload(8972);
    for (int i = 0; i < 20; ++i) {
        sender.send(frame);
        ASSERT_EQ(receiver.receive(), frame) << i;
    }
    EXPECT_EQ(passed(sink.end()), (Reasons{{"udp", 20}}));
}

} // namespace
} // namespace responder::test
