// SPDX-License-Identifier: GPL-2.0-only
//
// What is no test traffic goes up the stack untouched, while test traffic flows.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"
#include "tests/net/sockets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace responder::test {
namespace {

using namespace packet;

TEST(Stack, UdpToAnotherPortArrivesOctetByOctet) {
    const Lab lab({.addresses = true});
    Sink sink(lab, {});
    const UniqueFd receiver = udp_socket(lab.responder, "192.0.2.2", 7000);
    const UniqueFd sender = udp_socket(lab.tester, "192.0.2.1", 0);
    Traffic traffic(lab);
    constexpr unsigned datagrams = 200;
    for (unsigned i = 0; i < datagrams; ++i) {
        const Octets data(1 + i * 7, static_cast<std::uint8_t>(i));
        send_to(sender, "192.0.2.2", 7000, data);
        ASSERT_EQ(receive_from(receiver), data) << "datagram " << i;
    }
    const std::uint64_t sent = traffic.end();
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), sent);
    EXPECT_EQ(passed(summary, "udp"), datagrams);
    Reasons others = passed(summary);
    others.erase("udp");
    others.erase("arp"); // as many as the kernel thinks fit
    EXPECT_EQ(others, Reasons());
}

TEST(Stack, ATcpConnectionLivesThroughTestTraffic) {
    const Lab lab({.addresses = true});
    Sink sink(lab, {});
    Traffic traffic(lab);
    constexpr std::size_t octets = 6'000'000;
    expect_tcp_transfers(lab, octets);
    const std::uint64_t sent = traffic.end();
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), sent);
    EXPECT_GE(passed(summary, "tcp"), octets / 1448);
    EXPECT_EQ(passed(summary, "udp"), 0U);
}

TEST(Stack, Iperf3RunsBesideIt) {
    const Lab lab({.addresses = true});
    Sink sink(lab, {});
    Process server({"iperf3", "-s", "-1", "--forceflush"}, {.network_namespace = lab.responder.fd()});
    ASSERT_TRUE(server.wait_for_out("Server listening"));
    Process client({"iperf3", "-c", "192.0.2.2", "-n", "20M", "-J"}, {.network_namespace = lab.tester.fd()});
    ASSERT_EQ(client.wait(60s).code, 0) << client.out();
    EXPECT_EQ(server.wait().code, 0);
    const Json report = Json::parse(client.out());
    // The server stops counting as soon as the client has written the last of them: less than was sent.
    const std::uint64_t received = report["end"]["sum_received"]["bytes"];
    EXPECT_GE(report["end"]["sum_sent"]["bytes"], 20 << 20);
    EXPECT_GT(received, 1U << 20);
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 0U);
    EXPECT_GE(passed(summary, "tcp"), received / 1460);
}

TEST(Stack, TheKernelAnswersArpAndPing) {
    const Lab lab({.addresses = true, .ipv6 = true});
    Sink sink(lab, {});
    Traffic traffic(lab);
    EXPECT_EQ(ping(lab.tester, "192.0.2.2", 10), 10U);
    EXPECT_EQ(ping(lab.tester, "2001:db8::2", 10), 10U);
    const std::uint64_t sent = traffic.end();
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), sent);
    EXPECT_GE(passed(summary, "icmp"), 20U);
    EXPECT_GE(passed(summary, "arp"), 1U);
    EXPECT_GE(passed(summary, "nd"), 1U);
    EXPECT_EQ(summary["ports"][0]["answered"], Json::parse(R"({"arp_reply": 0, "nd_reply": 0, "ping_reply": 0})"));
}

TEST(Stack, EveryKindOfFramePassesUntouchedUnderItsReason) {
    const MacAddress lldp{{0x01, 0x80, 0xc2, 0, 0, 0x0e}};
    const std::vector<std::pair<Octets, std::string>> frames = {
        {Ethernet{.destination = lldp, .type = 0x88cc} / payload(46), "control"},
        {Ethernet{} / Arp{}, "arp"},
        {Ethernet{} / Ipv6{.hop_limit = 255} / Icmp{.type = 135, .rest = 0} / address_octets("2001:db8::77"), "nd"},
        {Ethernet{} / Ipv4{} / Udp{.destination = 67} / payload(240), "dhcp"},
        {Ethernet{} / Ipv6{} / Udp{.destination = 547} / payload(60), "dhcp"},
        {Ethernet{} / Ipv4{.length = 1400} / Udp{} / payload(18), "malformed"},
        {Ethernet{} / Vlan{} / Vlan{} / Vlan{} / Ipv4{} / Udp{} / payload(18), "too_deep"},
        {Ethernet{} / Ipv4{.fragment_offset = 4} / Udp{} / payload(18), "fragment"},
        {Ethernet{} / Ipv4{} / Tcp{} / payload(100), "tcp"},
        {Ethernet{} / Vlan{.id = 7} / Ipv6{} / Tcp{} / payload(100), "tcp"},
        {Ethernet{} / Ipv4{} / Icmp{} / payload(56), "icmp"},
        {Ethernet{} / Ipv4{} / Udp{.destination = 53} / payload(1400), "udp"},
        {Ethernet{} / Vlan{.id = 7} / Vlan{.id = 8} / Ipv4{} / Udp{.destination = 53} / payload(18), "udp"},
        {Ethernet{} / Ipv4{.protocol = std::uint8_t{47}} / payload(40), "other_ip"},
        {Ethernet{.type = 0x88b5} / payload(46), "other_ethertype"},
        {Ethernet{.type = 46} / payload(46), "other_ethertype"}, // IEEE 802.3: a length
        {Ethernet{.destination = stranger_mac} / Ipv4{} / Udp{} / payload(18), "other_mac"},
    };
    const Lab lab;
    PacketSocket sender(lab.tester, lab.from().name), receiver(lab.responder, lab.to().name);
    Sink sink(lab, {});
    Reasons reasons;
    for (const auto& [frame, reason] : frames) {
        sender.send(frame);
        sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(18)); // a test frame: it must not turn up
        ++reasons[reason];
        EXPECT_EQ(receiver.receive(), frame) << reason;
    }
    EXPECT_TRUE(receiver.receive(100ms).empty());
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), frames.size());
    EXPECT_EQ(passed(summary), reasons);
}

// The kernel counts it as rx_dropped of the interface: nobody wanted it. The NIC lost nothing.
TEST(Stack, WhatTheStackDropsIsNoLossOfTheNic) {
    const Lab lab;
    Sink sink(lab, {}, {.json = false});
    PacketSocket(lab.tester, "tx1").send(Ethernet{.type = 0x88b5} / payload(60), 12);
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    const std::string out = sink.process().out();
    EXPECT_TRUE(contains(out, "passed up        other EtherType 12\n")) << out;
    EXPECT_TRUE(contains(out, "dropped          12 by the driver, or by the stack of what passed up\n")) << out;
    EXPECT_FALSE(contains(out, "NIC lost")) << out;
}

} // namespace
} // namespace responder::test
