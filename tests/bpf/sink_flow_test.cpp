// SPDX-License-Identifier: GPL-2.0-only
//
// What passed by, while nobody finds any test traffic: one entry a flow, with all that an option could choose it by.

#include "tests/bpf/sink_check.h"

#include <bpf/bpf.h>

#include <cstring>
#include <utility>

namespace responder::test {
namespace {

using namespace packet;

using Flow = std::pair<passed_flow_key, std::uint64_t>;

std::vector<Flow> flows(SinkCheck& sink) {
    const int map = bpf_map__fd(sink.program()->maps.passed_flows);
    std::vector<Flow> found;
    passed_flow_key key{};
    for (const passed_flow_key* previous = nullptr; bpf_map_get_next_key(map, previous, &key) == 0; previous = &key) {
        std::uint64_t frames = 0;
        EXPECT_EQ(bpf_map_lookup_elem(map, &key, &frames), 0);
        found.emplace_back(key, frames);
    }
    return found;
}

Flow only_flow(SinkCheck& sink) {
    const std::vector<Flow> found = flows(sink);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? Flow{} : found.front();
}

Octets octets_of(const __be32* words, std::size_t count) {
    Octets octets(count);
    std::memcpy(octets.data(), words, count);
    return octets;
}

class SinkFlow : public testing::Test {
  protected:
    SinkFlow() { sink_.program()->bss->sink_watch_flows = 1; }
    SinkCheck sink_;
};

TEST_F(SinkFlow, NothingIsKeptUnlessAsked) {
    sink_.program()->bss->sink_watch_flows = 0;
    EXPECT_SLOT(sink_, SLOT_TCP, Ethernet{} / Ipv4{} / Tcp{});
    EXPECT_TRUE(flows(sink_).empty());
    sink_.program()->bss->sink_watch_flows = 1;
    EXPECT_SLOT(sink_, SLOT_TCP, Ethernet{} / Ipv4{} / Tcp{});
    EXPECT_EQ(flows(sink_).size(), 1u);
}

TEST_F(SinkFlow, TestTrafficIsNoFlowThatPassedBy) {
    EXPECT_TRUE(sink_.counts(Ethernet{} / Ipv4{} / Udp{}));
    EXPECT_TRUE(flows(sink_).empty());
}

TEST(SinkFlowAnswered, IsNoFlowThatPassedBy) {
    SinkCheck sink({.address4 = "198.18.1.2"});
    sink.program()->bss->sink_watch_flows = 1;
    EXPECT_SLOT(sink, SLOT_ARP_REPLY, Ethernet{.destination = broadcast_mac} / Arp{});
    EXPECT_TRUE(flows(sink).empty());
}

TEST_F(SinkFlow, UdpOverIpv4) {
    for (int i = 0; i < 3; ++i)
        EXPECT_SLOT(sink_, SLOT_UDP,
                    Ethernet{} / Vlan{.id = 5, .priority = 15} / Vlan{.id = 6} /
                        Ipv4{.source = "16.0.0.1", .destination = "48.0.0.1"} / Udp{.destination = 12} / payload(100));
    const auto [key, frames] = only_flow(sink_);
    EXPECT_EQ(frames, 3u);
    EXPECT_EQ(key.ethertype, 0x0800);
    EXPECT_EQ(key.protocol, 17);
    EXPECT_EQ(key.destination_port, 12);
    EXPECT_EQ(key.tags, 2);
    EXPECT_EQ(key.vlan[0], 5);
    EXPECT_EQ(key.vlan[1], 6);
    EXPECT_EQ(Slot{key.slot}, Slot{SLOT_UDP});
    EXPECT_EQ(octets_of(key.source, 4), address_octets("16.0.0.1").octets);
    EXPECT_EQ(octets_of(key.destination, 4), address_octets("48.0.0.1").octets);
    EXPECT_EQ(std::memcmp(key.destination_mac, own_mac.bytes.data(), 6), 0);
}

TEST_F(SinkFlow, Ipv6) {
    EXPECT_SLOT(sink_, SLOT_TCP, Ethernet{} / Ipv6{} / Extension{} / Tcp{});
    const auto [key, frames] = only_flow(sink_);
    EXPECT_EQ(frames, 1u);
    EXPECT_EQ(key.ethertype, 0x86dd);
    EXPECT_EQ(key.protocol, 6);
    EXPECT_EQ(key.destination_port, 0);
    EXPECT_EQ(key.tags, 0);
    EXPECT_EQ(octets_of(key.source, 16), address_octets("2001:db8::1").octets);
    EXPECT_EQ(octets_of(key.destination, 16), address_octets("2001:db8::2").octets);
}

TEST_F(SinkFlow, OtherEtherTypeAndMac) {
    EXPECT_SLOT(sink_, SLOT_OTHER_ETHERTYPE, Ethernet{.destination = stranger_mac, .type = 0x8902} / payload(60));
    const auto [key, frames] = only_flow(sink_);
    EXPECT_EQ(key.ethertype, 0x8902);
    EXPECT_EQ(key.protocol, 0);
    EXPECT_EQ(std::memcmp(key.destination_mac, stranger_mac.bytes.data(), 6), 0);
}

TEST_F(SinkFlow, WhatDiffersIsAFlowOfItsOwn) {
    const Octets frames[] = {
        Ethernet{} / Ipv4{} / Udp{.destination = 10},
        Ethernet{} / Ipv4{} / Udp{.destination = 11},
        Ethernet{} / Ipv4{.source = "10.0.0.9"} / Udp{.destination = 10},
        Ethernet{} / Ipv4{.destination = "10.0.0.9"} / Udp{.destination = 10},
        Ethernet{} / Vlan{.id = 1} / Ipv4{} / Udp{.destination = 10},
        Ethernet{} / Vlan{.id = 2} / Ipv4{} / Udp{.destination = 10},
        Ethernet{.destination = stranger_mac} / Ipv4{} / Udp{.destination = 10},
        Ethernet{} / Ipv4{} / Tcp{.destination = 10},
    };
    for (int i = 0; i < 2; ++i)
        for (const Octets& frame : frames)
            sink_.see(frame);
    // The source port does not: a tester that varies it is one flow.
    EXPECT_SLOT(sink_, SLOT_UDP, Ethernet{} / Ipv4{} / Udp{.source = 7, .destination = 10});
    EXPECT_EQ(flows(sink_).size(), std::size(frames));
}

// More flows than there is room for: no frame is lost to the counters, and the map stays within its size.
TEST_F(SinkFlow, MoreFlowsThanRoom) {
    for (unsigned port = 1000; port < 1000 + 2 * PASSED_FLOWS; ++port)
        EXPECT_SLOT(sink_, SLOT_UDP, Ethernet{} / Ipv4{} / Udp{.destination = static_cast<std::uint16_t>(port)});
    const std::size_t kept = flows(sink_).size();
    EXPECT_GT(kept, 0u);
    EXPECT_LE(kept, std::size_t{PASSED_FLOWS});
}

} // namespace
} // namespace responder::test
