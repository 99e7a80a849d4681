// SPDX-License-Identifier: GPL-2.0-only
//
// Every slot of the counters, and what is counted in it.

#include "tests/bpf/sink_check.h"

#include <set>

namespace responder::test {
namespace {

using namespace packet;

const Ipv4 to_other4{.destination = "192.0.2.9"};
const Ipv6 to_other6{.destination = "2001:db8::9"};

struct Case {
    const char* name;
    Octets frame;
    count_slot slot;
};

std::vector<Case> passing_cases() {
    const MacAddress lldp{{0x01, 0x80, 0xc2, 0, 0, 0x0e}};
    const MacAddress all_nodes{{0x33, 0x33, 0, 0, 0, 1}};
    return {
        {"LLDP", Ethernet{.destination = lldp, .type = 0x88cc} / payload(60), SLOT_CONTROL},
        {"STP, an 802.3 frame", Ethernet{.destination = {{0x01, 0x80, 0xc2, 0, 0, 0}}, .type = 38} / payload(46),
         SLOT_CONTROL},
        {"UDP to a control address", Ethernet{.destination = lldp} / Ipv4{} / Udp{}, SLOT_CONTROL},
        {"tagged to a control address", Ethernet{.destination = lldp} / Vlan{} / Ipv4{} / Udp{}, SLOT_CONTROL},
        {"ARP request", Ethernet{.destination = broadcast_mac} / Arp{}, SLOT_ARP},
        {"ARP reply", Ethernet{} / Arp{.operation = 2}, SLOT_ARP},
        {"ARP, tagged twice", Ethernet{} / Vlan{.protocol = s_tag} / Vlan{} / Arp{}, SLOT_ARP},
        {"ARP cut short", Ethernet{.type = 0x0806, .shortest = 14} / payload(3), SLOT_ARP},
        {"router solicitation", Ethernet{.destination = all_nodes} / Ipv6{.hop_limit = 255} / Icmp{.type = 133},
         SLOT_ND},
        {"router advertisement", Ethernet{} / Ipv6{.hop_limit = 255} / Icmp{.type = 134} / payload(8), SLOT_ND},
        {"neighbour solicitation", Ethernet{} / Ipv6{.hop_limit = 255} / Icmp{.type = 135} / payload(16), SLOT_ND},
        {"neighbour advertisement", Ethernet{} / Ipv6{.hop_limit = 255} / Icmp{.type = 136} / payload(16), SLOT_ND},
        {"redirect", Ethernet{} / Ipv6{.hop_limit = 255} / Icmp{.type = 137} / payload(32), SLOT_ND},
        {"ND behind an extension header", Ethernet{} / Ipv6{} / Extension{} / Icmp{.type = 135} / payload(16), SLOT_ND},
        {"DHCP to the server", Ethernet{} / to_other4 / Udp{.destination = 67}, SLOT_DHCP},
        {"DHCP to the client", Ethernet{} / to_other4 / Udp{.destination = 68}, SLOT_DHCP},
        {"DHCP in a test network", Ethernet{} / Ipv4{.destination = "198.18.0.1"} / Udp{.destination = 68}, SLOT_DHCP},
        {"DHCP with IP options", Ethernet{} / Ipv4{.options = 4} / Udp{.destination = 67}, SLOT_DHCP},
        {"DHCPv6 to the client", Ethernet{} / to_other6 / Udp{.destination = 546}, SLOT_DHCP},
        {"DHCPv6 to the server", Ethernet{} / to_other6 / Udp{.destination = 547}, SLOT_DHCP},
        {"IPv4 header cut short", Ethernet{.type = 0x0800, .shortest = 14} / payload(19), SLOT_MALFORMED},
        {"IPv6 header cut short", Ethernet{.type = 0x86dd, .shortest = 14} / payload(39), SLOT_MALFORMED},
        {"three tags", Ethernet{} / Vlan{} / Vlan{} / Vlan{} / Ipv4{} / Udp{}, SLOT_TOO_DEEP},
        {"later fragment of UDP",
         Ethernet{} / Ipv4{.destination = "192.0.2.9", .protocol = 17, .fragment_offset = 100} / payload(64),
         SLOT_FRAGMENT},
        {"TCP", Ethernet{} / to_other4 / Tcp{}, SLOT_TCP},
        {"TCP to a test network and port", Ethernet{} / Ipv4{.destination = "198.18.0.1"} / Tcp{.destination = 9},
         SLOT_TCP},
        {"TCP over IPv6", Ethernet{} / to_other6 / Tcp{}, SLOT_TCP},
        {"TCP later fragment", Ethernet{} / Ipv4{.protocol = 6, .fragment_offset = 1} / payload(64), SLOT_TCP},
        {"ping", Ethernet{} / to_other4 / Icmp{}, SLOT_ICMP},
        {"ping over IPv6", Ethernet{} / to_other6 / Icmp{.type = 128}, SLOT_ICMP},
        {"MLD report", Ethernet{} / to_other6 / Icmp{.type = 143}, SLOT_ICMP},
        {"ND's neighbour below", Ethernet{} / to_other6 / Icmp{.type = 132} / payload(16), SLOT_ICMP},
        {"ND's neighbour above", Ethernet{} / to_other6 / Icmp{.type = 138} / payload(16), SLOT_ICMP},
        {"ND's type in a later fragment",
         Ethernet{} / Ipv6{} / Fragment{.offset = 3, .next = 58} / payload(0) / Payload{{135, 0, 0, 0, 0, 0, 0, 0}},
         SLOT_ICMP},
        {"UDP to another port", Ethernet{} / to_other4 / Udp{.destination = 10}, SLOT_UDP},
        {"UDP to port 0", Ethernet{} / to_other4 / Udp{.destination = 0}, SLOT_UDP},
        {"UDP to DHCP's neighbour below", Ethernet{} / to_other4 / Udp{.destination = 66}, SLOT_UDP},
        {"UDP to DHCP's neighbour above", Ethernet{} / to_other4 / Udp{.destination = 69}, SLOT_UDP},
        {"UDP from DHCP's port", Ethernet{} / to_other4 / Udp{.source = 67, .destination = 1}, SLOT_UDP},
        {"UDP over IPv4 to DHCPv6's port", Ethernet{} / to_other4 / Udp{.destination = 547}, SLOT_UDP},
        {"UDP over IPv6 to DHCP's port", Ethernet{} / to_other6 / Udp{.destination = 67}, SLOT_UDP},
        {"UDP over IPv6 to DHCPv6's neighbour below", Ethernet{} / to_other6 / Udp{.destination = 545}, SLOT_UDP},
        {"UDP over IPv6 to DHCPv6's neighbour above", Ethernet{} / to_other6 / Udp{.destination = 548}, SLOT_UDP},
        {"SCTP", Ethernet{} / Ipv4{.protocol = 132} / payload(32), SLOT_OTHER_IP},
        {"ESP", Ethernet{} / Ipv6{.next = 50} / payload(32), SLOT_OTHER_IP},
        {"no next header", Ethernet{} / Ipv6{}, SLOT_OTHER_IP},
        {"ICMPv6 over IPv4", Ethernet{} / Ipv4{.protocol = 58} / payload(32), SLOT_OTHER_IP},
        {"ICMP over IPv6", Ethernet{} / Ipv6{.next = 1} / payload(32), SLOT_OTHER_IP},
        {"EtherType for experiments", Ethernet{} / payload(46), SLOT_OTHER_ETHERTYPE},
        {"802.3 with LLC", Ethernet{.type = 46} / payload(46), SLOT_OTHER_ETHERTYPE},
        {"EtherType alone", Ethernet{.shortest = 14} / payload(0), SLOT_OTHER_ETHERTYPE},
        {"test frame to another station", Ethernet{.destination = stranger_mac} / Ipv4{} / Udp{}, SLOT_OTHER_MAC},
    };
}

TEST(SinkSlot, EveryReasonToPass) {
    SinkCheck sink;
    std::set<std::uint32_t> reached;
    for (const Case& each : passing_cases()) {
        SCOPED_TRACE(each.name);
        EXPECT_SLOT(sink, each.slot, each.frame);
        reached.insert(each.slot);
    }
    for (std::uint32_t slot = SLOT_REASON_FIRST; slot < SLOTS; ++slot)
        if (!is_reflectors(slot) && slot != SLOT_OTHER_VLAN &&
            slot != SLOT_OTHER_ADDRESS) { // these need an option: SinkMatch
            EXPECT_TRUE(reached.contains(slot)) << slot_name(slot);
        }
}

// Nothing that identifies: not even what the default takes.
TEST(SinkSlot, EmptyMatchCountsNothing) {
    SinkCheck sink(match_cfg{});
    EXPECT_SLOT(sink, SLOT_UDP, Ethernet{} / Ipv4{} / Udp{});
    EXPECT_SLOT(sink, SLOT_UDP, Ethernet{} / Ipv6{.destination = "2001:2::1"} / Udp{.destination = 0});
    EXPECT_SLOT(sink, SLOT_OTHER_ETHERTYPE, Ethernet{} / payload(46));
    for (const Case& each : passing_cases()) {
        SCOPED_TRACE(each.name);
        EXPECT_FALSE(sink.counts(each.frame));
    }
}

struct SizeBin {
    count_slot slot;
    std::size_t smallest; // with FCS
};
constexpr SizeBin size_bins[] = {
#define X(id, smallest) {SLOT_SIZE_##id, smallest},
    SLOT_SIZE_BINS(X)
#undef X
};

TEST(SinkSlot, EveryBoundOfTheSizeBins) {
    constexpr std::size_t fcs = 4;
    SinkCheck sink({.multi_buffer = true});
    for (std::size_t bin = 1; bin < std::size(size_bins); ++bin) {
        for (const bool v6 : {false, true}) {
            const auto frame = [&](std::size_t with_fcs) {
                const Packet ip = v6 ? Packet(Ipv6{}) : Packet(Ipv4{});
                const std::size_t headers = v6 ? 14 + 40 + 8 : 14 + 20 + 8;
                const std::size_t length = with_fcs - fcs;
                return (Ethernet{.shortest = 0} / ip / Udp{} / payload(length - std::min(length, headers))).octets();
            };
            const std::size_t bound = size_bins[bin].smallest;
            if (v6 && bound < 67)
                continue; // no IPv6 header and UDP in so little
            EXPECT_SLOT(sink, size_bins[bin - 1].slot, frame(bound - 1)) << bound - 1;
            EXPECT_SLOT(sink, size_bins[bin].slot, frame(bound)) << bound;
        }
    }
    EXPECT_SLOT(sink, SLOT_SIZE_8192, Ethernet{} / Ipv4{} / Udp{} / payload(8946 - 28));
    EXPECT_SLOT(sink, SLOT_SIZE_0, Ethernet{.shortest = 0} / Ipv4{} / Udp{});
}

TEST(SinkSlot, OctetsOfEachLayer) {
    struct {
        const char* name;
        Octets frame;
        std::uint64_t l2, l3, payload;
    } const cases[] = {
        {"padding is not IP's", Ethernet{} / Ipv4{} / Udp{} / payload(2), 60, 30, 2},
        {"18 octets fill the smallest frame", Ethernet{} / Ipv4{} / Udp{} / payload(18), 60, 46, 18},
        {"IPv6", Ethernet{} / Ipv6{} / Udp{} / payload(100), 162, 148, 100},
        {"tags are not L3", Ethernet{} / Vlan{} / Vlan{} / Ipv4{} / Udp{} / payload(100), 150, 128, 100},
        {"IP options are not payload", Ethernet{} / Ipv4{.options = 40} / Udp{} / payload(100), 182, 168, 100},
        {"extension headers are not payload", Ethernet{} / Ipv6{} / Extension{.size = 24} / Udp{} / payload(10), 96, 82,
         10},
        {"UDP shorter than IP says", Ethernet{} / Ipv4{} / Udp{.length = 18} / payload(20), 62, 48, 10},
        {"first fragment", Ethernet{} / Ipv4{.more_fragments = true} / Udp{.length = 3000} / payload(64), 106, 92, 64},
        {"later fragment of UDP", Ethernet{} / Ipv4{.protocol = 17, .fragment_offset = 9} / payload(64), 98, 84, 64},
        {"TCP", Ethernet{} / Ipv4{} / Tcp{} / payload(100), 154, 140, 120},
        {"no IP", Ethernet{} / Vlan{} / payload(100), 118, 100, 100},
    };
    SinkCheck sink;
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        const SinkCheck::Seen seen = sink.see(each.frame);
        EXPECT_EQ(seen.count.l2_bytes, each.l2);
        EXPECT_EQ(seen.count.l3_bytes, each.l3);
        EXPECT_EQ(seen.count.payload_bytes, each.payload);
    }
}

// More than one buffer: counted whole, though only the first can be read.
TEST(SinkSlot, MultiBufferFrame) {
    SinkCheck sink({.multi_buffer = true});
    const SinkCheck::Seen test = sink.see(Ethernet{} / Ipv4{} / Udp{} / payload(8000));
    EXPECT_EQ(test.slot, Slot{SLOT_SIZE_4096});
    EXPECT_EQ(test.count.l2_bytes, 8042u);
    EXPECT_EQ(test.count.l3_bytes, 8028u);
    EXPECT_EQ(test.count.payload_bytes, 8000u);
    EXPECT_SLOT(sink, SLOT_TCP, Ethernet{} / Ipv6{} / Tcp{} / payload(8000));
    EXPECT_SLOT(sink, SLOT_MALFORMED, Ethernet{} / Ipv4{.length = 8029} / Udp{} / payload(8000));
    EXPECT_SLOT(sink, SLOT_SIZE_64, Ethernet{} / Ipv4{} / Udp{} / payload(18)); // and the others as ever
}

TEST(SinkSlot, OwnMacCanChange) {
    SinkCheck sink;
    const Octets frame = Ethernet{.destination = stranger_mac} / Ipv4{} / Udp{};
    EXPECT_SLOT(sink, SLOT_OTHER_MAC, frame);
    std::ranges::copy(stranger_mac.bytes, sink.program()->bss->sink_own_mac.bytes);
    EXPECT_TRUE(sink.counts(frame));
    EXPECT_SLOT(sink, SLOT_OTHER_MAC, Ethernet{} / Ipv4{} / Udp{});
    for (std::size_t octet = 0; octet < 6; ++octet) { // each octet matters
        Octets other = frame;
        other[octet] ^= octet == 0 ? 0x10 : 0x01;
        EXPECT_SLOT(sink, SLOT_OTHER_MAC, other) << octet;
    }
}

} // namespace
} // namespace responder::test
