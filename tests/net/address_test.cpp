// SPDX-License-Identifier: GPL-2.0-only
//
// --address: the program answers ARP, ND and ping for an address that no interface has.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"
#include "tests/net/sockets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace responder::test {
namespace {

using namespace packet;

const Arguments both_addresses{"--address", "198.18.1.2/24", "--address", "2001:2::2/64"};

// The tester as a tester is set up: addresses of the test's networks on its port.
void give_tester_addresses(const Lab& lab) {
    lab.tester.ip("address add 198.18.1.1/24 dev tx1\naddress add 2001:2::1/64 nodad dev tx1");
}

Packet solicitation(const std::string& source, const std::string& target) {
    const Octets address = address_octets(target).octets;
    Packet packet = Ethernet{.destination = MacAddress{{0x33, 0x33, 0xff, address[13], address[14], address[15]}}} /
                    Ipv6{.source = source, .destination = "ff02::1:ff00:2", .hop_limit = 255} /
                    Icmp{.type = 135, .rest = 0} / address_octets(target);
    if (source != "::")
        packet /= Payload{{1, 1, 2, 0, 0, 0, 0, 2}}; // source link-layer address: tester_mac
    return packet;
}

TEST(Address, ArpIsAnsweredWithTheReplyOfRfc826) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, {"--address", "198.18.1.2/24"});
    sender.send(Ethernet{.destination = broadcast_mac} / Arp{});
    EXPECT_EQ(sender.receive(), (Ethernet{.destination = tester_mac, .source = own_mac} / Arp{.operation = 2,
                                                                                              .sender_mac = own_mac,
                                                                                              .sender = "198.18.1.2",
                                                                                              .target_mac = tester_mac,
                                                                                              .target = "198.18.1.1"})
                                    .octets());
    sender.send(Ethernet{.destination = broadcast_mac} / Arp{.sender = "0.0.0.0"}); // RFC 5227: a probe
    EXPECT_EQ(sender.receive(), (Ethernet{.destination = tester_mac, .source = own_mac} / Arp{.operation = 2,
                                                                                              .sender_mac = own_mac,
                                                                                              .sender = "198.18.1.2",
                                                                                              .target_mac = tester_mac,
                                                                                              .target = "0.0.0.0"})
                                    .octets());
    // Not for us, and not requests.
    sender.send(Ethernet{.destination = broadcast_mac} / Arp{.target = "198.18.1.3"});
    sender.send(Ethernet{} / Arp{.operation = 2});
    sender.send(Ethernet{.destination = broadcast_mac} /
                Arp{.sender = "198.18.1.2"}); // gratuitous: somebody has our address
    EXPECT_TRUE(sender.receive(200ms).empty());
    const Json summary = sink.end();
    EXPECT_EQ(answered(summary, "arp_reply"), 2U);
    EXPECT_EQ(passed(summary), (Reasons{{"arp", 3}}));
}

TEST(Address, NeighbourSolicitationIsAnsweredWithAValidAdvertisement) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, both_addresses);
    sender.send(solicitation("2001:2::1", "2001:2::2"));
    const Octets reply = sender.receive();
    const Octets expected = Ethernet{.destination = tester_mac, .source = own_mac} /
                            Ipv6{.source = "2001:2::2", .destination = "2001:2::1", .hop_limit = 255} /
                            Icmp{.type = 136, .rest = 0x60000000} / address_octets("2001:2::2") /
                            Payload{{2, 1, 2, 0, 0, 0, 0, 1}};
    EXPECT_EQ(reply, expected);
    // Duplicate address detection: from nobody, answered to all nodes. It has no room for the option, and needs none.
    sender.send(solicitation("::", "2001:2::2"));
    const Octets to_all = Ethernet{.destination = MacAddress{{0x33, 0x33, 0, 0, 0, 1}}, .source = own_mac} /
                          Ipv6{.source = "2001:2::2", .destination = "ff02::1", .hop_limit = 255} /
                          Icmp{.type = 136, .rest = 0x20000000} / address_octets("2001:2::2");
    EXPECT_EQ(sender.receive(), to_all);
    sender.send(solicitation("2001:2::1", "2001:2::3"));
    EXPECT_TRUE(sender.receive(200ms).empty());
    const Json summary = sink.end();
    EXPECT_EQ(answered(summary, "nd_reply"), 2U);
    EXPECT_EQ(passed(summary), (Reasons{{"nd", 1}}));
}

TEST(Address, TheTestersKernelPingsIt) {
    const Lab lab({.ipv6 = true});
    give_tester_addresses(lab);
    Sink sink(lab, both_addresses);
    unsigned pings = 0;
    for (const std::size_t payload : {0U, 1U, 56U, 1400U}) {
        EXPECT_EQ(ping(lab.tester, "198.18.1.2", 5, payload), 5U) << payload;
        EXPECT_EQ(ping(lab.tester, "2001:2::2", 5, payload), 5U) << payload;
        pings += 10;
    }
    const Json summary = sink.end();
    EXPECT_EQ(answered(summary, "ping_reply"), pings);
    EXPECT_GE(answered(summary, "arp_reply"), 1U);
    EXPECT_GE(answered(summary, "nd_reply"), 1U);
}

TEST(Address, TheTestersKernelFindsItsOwnAddressTaken) {
    const Lab lab({.ipv6 = true});
    Sink sink(lab, {"--address", "2001:2::2/64"});
    lab.tester.sysctl("ipv6/conf/tx1/accept_dad", "1");
    lab.tester.sysctl("ipv6/conf/tx1/dad_transmits", "1");
    lab.tester.ip("address add 2001:2::2/64 dev tx1"); // duplicate address detection, RFC 4862
    EXPECT_TRUE(eventually([&] {
        return contains(lab.tester.run({"ip", "-6", "address", "show", "dev", "tx1"}), "dadfailed");
    }));
    EXPECT_GE(answered(sink.end(), "nd_reply"), 1U);
}

TEST(Address, PingInAVlanIsAnsweredInThatVlan) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, {"--address", "198.18.1.2/24", "--vlan", "5"});
    sender.send(Ethernet{} / Vlan{.id = 5} / Ipv4{.source = "198.18.1.1", .destination = "198.18.1.2"} / Icmp{} /
                payload(56));
    EXPECT_EQ(sender.receive(),
              (Ethernet{.destination = tester_mac, .source = own_mac} / Vlan{.id = 5} /
               Ipv4{.source = "198.18.1.2", .destination = "198.18.1.1"} / Icmp{.type = 0} / payload(56))
                  .octets());
    sender.send(Ethernet{.destination = broadcast_mac} / Vlan{.id = 5} / Arp{});
    EXPECT_EQ(sender.receive(), (Ethernet{.destination = tester_mac, .source = own_mac} / Vlan{.id = 5} /
                                 Arp{.operation = 2,
                                     .sender_mac = own_mac,
                                     .sender = "198.18.1.2",
                                     .target_mac = tester_mac,
                                     .target = "198.18.1.1"})
                                    .octets());
    const Json summary = sink.end();
    EXPECT_EQ(answered(summary, "ping_reply"), 1U);
    EXPECT_EQ(answered(summary, "arp_reply"), 1U);
}

TEST(Address, WrongPingsAreNotAnswered) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, {"--address", "198.18.1.2/24"});
    const auto echo = [](const Ethernet& ethernet, const Ipv4& ip, const Icmp& icmp) {
        return ethernet / Packet(ip) / icmp / payload(56);
    };
    const Ipv4 ours{.source = "198.18.1.1", .destination = "198.18.1.2"};
    sender.send(echo({.destination = broadcast_mac}, ours, {}));
    sender.send(echo({.destination = stranger_mac}, ours, {}));
    sender.send(echo({}, {.source = "198.18.1.1", .destination = "198.18.1.3"}, {}));
    sender.send(echo({}, {.source = "224.0.0.1", .destination = "198.18.1.2"}, {}));
    sender.send(echo({}, {.source = "255.255.255.255", .destination = "198.18.1.2"}, {}));
    sender.send(echo({}, {.source = "198.18.1.2", .destination = "198.18.1.2"}, {}));
    sender.send(echo({}, {.source = "0.0.0.0", .destination = "198.18.1.2"}, {}));
    sender.send(echo({}, ours, {.type = 0}));
    sender.send(echo({}, ours, {.type = 8, .code = 1}));
    sender.send(Ethernet{} / Ipv4{.source = "198.18.1.1", .destination = "198.18.1.2", .more_fragments = true} /
                Icmp{} / payload(56));
    EXPECT_TRUE(sender.receive(200ms).empty());
    const Json summary = sink.end();
    EXPECT_EQ(answered(summary, "ping_reply"), 0U);
    EXPECT_EQ(passed(summary), (Reasons{{"icmp", 10}}));
}

TEST(Address, AnswersAtFullLoad) {
    const Lab lab({.ipv6 = true});
    give_tester_addresses(lab);
    Sink sink(lab, both_addresses);
    Traffic traffic(lab, {});
    // The veth's ring has room for 256 frames and at times none to spare: for a ping lost there nobody is to blame.
    unsigned asked = 0, answers = 0;
    for (const auto begin = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - begin < 2s; ++asked) {
        answers += ping(lab.tester, asked % 2 == 0 ? "198.18.1.2" : "2001:2::2", 1, 56, 100ms);
        std::this_thread::sleep_for(20ms);
    }
    const std::uint64_t sent = traffic.end();
    const Json summary = sink.end();
    EXPECT_GE(answers, asked / 4) << "of " << asked;
    EXPECT_GE(answered(summary, "ping_reply"), answers);
    EXPECT_EQ(test_frames(summary), sent);
    EXPECT_GT(sent, 100'000U);
}

TEST(Address, TheInterfaceStaysAsItIs) {
    const Lab lab({.addresses = true, .ipv6 = true});
    give_tester_addresses(lab);
    const auto configuration = [&] {
        std::string text;
        for (const char* what : {"address", "route", "-6 route", "rule"})
            text += lab.responder.run({"sh", "-c", std::string("ip ") + what + " show | grep -v ' link/\\|qdisc'"});
        return text;
    };
    const std::string before = configuration();
    ASSERT_TRUE(contains(before, "192.0.2.2/24"));
    Sink sink(lab, both_addresses);
    EXPECT_EQ(ping(lab.tester, "198.18.1.2", 3), 3U);
    EXPECT_EQ(ping(lab.tester, "192.0.2.2", 3), 3U) << "the kernel's own address";
    EXPECT_EQ(configuration(), before);
    sink.end();
    EXPECT_EQ(configuration(), before);
    EXPECT_EQ(ping(lab.tester, "198.18.1.2", 1), 0U) << "gone with the program";
}

// All UDP to it would be test traffic: name resolution would stop.
TEST(Address, OfTheMachineItselfIsRefused) {
    const Lab lab({.addresses = true, .ipv6 = true});
    expect_refused(lab, {"--address", "192.0.2.2/24"}, exit_usage, {"--address 192.0.2.2/24", "eth1 has this address"});
    expect_refused(lab, {"--address", "198.18.1.2/24", "--address", "2001:db8::2/64"}, exit_usage,
                   {"--address 2001:db8::2/64", "eth1 has this address"});
}

} // namespace
} // namespace responder::test
