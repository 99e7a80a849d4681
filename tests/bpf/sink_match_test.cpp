// SPDX-License-Identifier: GPL-2.0-only
//
// What is test traffic: each option alone at its bounds and with a full list, and the options together.

#include "tests/bpf/sink_check.h"

#include <array>
#include <bit>
#include <cstring>

namespace responder::test {
namespace {

using namespace packet;

Octets udp4(const std::string& destination, unsigned port = 77) {
    return Ethernet{} / Ipv4{.destination = destination} / Udp{.destination = static_cast<std::uint16_t>(port)};
}
Octets udp6(const std::string& destination, unsigned port = 77) {
    return Ethernet{} / Ipv6{.destination = destination} / Udp{.destination = static_cast<std::uint16_t>(port)};
}
Octets udp_port(unsigned port) { return udp4("192.0.2.9", port); }

match_mac mac(const MacAddress& address) {
    match_mac result{};
    std::ranges::copy(address.bytes, result.bytes);
    return result;
}
MacAddress numbered_mac(unsigned number) { return {{0x02, 0xaa, 0, 0, 0, static_cast<std::uint8_t>(number)}}; }

TEST(SinkMatch, DefaultTakesTheDiscardPort) {
    SinkCheck sink;
    for (const char* address : {"192.0.2.9", "255.255.255.255"}) {
        EXPECT_SLOT(sink, SLOT_SIZE_64, udp4(address, 9));
        EXPECT_SLOT(sink, SLOT_UDP, udp4(address, 8));
        EXPECT_SLOT(sink, SLOT_UDP, udp4(address, 10));
        EXPECT_SLOT(sink, SLOT_UDP, udp4(address, 0x0900));
    }
    EXPECT_SLOT(sink, SLOT_SIZE_65, udp6("2001:db8::9", 9));
    EXPECT_SLOT(sink, SLOT_UDP, udp6("2001:db8::9", 8));
    EXPECT_SLOT(sink, SLOT_UDP, udp6("2001:db8::9", 10));
    EXPECT_SLOT(sink, SLOT_UDP, Ethernet{} / Ipv4{} / Udp{.source = 9, .destination = 77});
}

TEST(SinkMatch, DefaultTakesTheBenchmarkingNetworks) {
    SinkCheck sink;
    for (const char* address : {"198.18.0.0", "198.18.255.255", "198.19.0.0", "198.19.255.255"})
        EXPECT_SLOT(sink, SLOT_SIZE_64, udp4(address)) << address;
    for (const char* address : {"198.17.255.255", "198.20.0.0", "18.198.0.0", "199.18.0.0"})
        EXPECT_SLOT(sink, SLOT_UDP, udp4(address)) << address;
    for (const char* address : {"2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"})
        EXPECT_SLOT(sink, SLOT_SIZE_65, udp6(address)) << address;
    for (const char* address : {"2001:2:1::", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff", "2001:3::", "2:2001::"})
        EXPECT_SLOT(sink, SLOT_UDP, udp6(address)) << address;
    // The destination counts, not the source.
    EXPECT_SLOT(sink, SLOT_UDP, Ethernet{} / Ipv4{.source = "198.18.0.1"} / Udp{.destination = 77});
    EXPECT_SLOT(sink, SLOT_UDP, Ethernet{} / Ipv6{.source = "2001:2::1"} / Udp{.destination = 77});
}

TEST(SinkMatch, PortRanges) {
    SinkCheck sink(match_ports({{100, 200}, {9, 9}, {65535, 65535}}));
    for (const unsigned port : {100, 150, 200, 9, 65535})
        EXPECT_TRUE(sink.counts(udp_port(port))) << port;
    for (const unsigned port : {99, 201, 8, 10, 65534, 0})
        EXPECT_SLOT(sink, SLOT_UDP, udp_port(port)) << port;
    SinkCheck every(match_ports({{0, 65535}}));
    EXPECT_TRUE(every.counts(udp_port(0)));
    EXPECT_TRUE(every.counts(udp_port(65535)));
    // Every port, but only where there is one.
    EXPECT_SLOT(every, SLOT_FRAGMENT, Ethernet{} / Ipv4{.protocol = 17, .fragment_offset = 1} / payload(64));
    EXPECT_SLOT(every, SLOT_TCP, Ethernet{} / Ipv4{} / Tcp{});
    EXPECT_SLOT(every, SLOT_DHCP, udp_port(68));
}

TEST(SinkMatch, FullListOfPorts) {
    match_cfg cfg{};
    cfg.port_count = MATCH_PORTS;
    for (unsigned i = 0; i < MATCH_PORTS; ++i)
        cfg.port[i] = {static_cast<__u16>(1000 + 10 * i), static_cast<__u16>(1000 + 10 * i + 1)};
    SinkCheck sink(cfg);
    for (unsigned port = 990; port < 1170; ++port)
        EXPECT_EQ(sink.counts(udp_port(port)), port >= 1000 && port < 1160 && port % 10 < 2) << port;
}

TEST(SinkMatch, AnyUdp) {
    match_cfg cfg{};
    cfg.any_udp = 1;
    SinkCheck sink(cfg);
    for (const unsigned port : {0, 1, 9, 53, 65535})
        EXPECT_TRUE(sink.counts(udp_port(port))) << port;
    EXPECT_TRUE(sink.counts(udp6("ff02::1")));
    EXPECT_TRUE(sink.counts(Ethernet{} / Ipv4{.protocol = 17, .fragment_offset = 1} / payload(64)));
    EXPECT_SLOT(sink, SLOT_DHCP, udp_port(67));
    EXPECT_SLOT(sink, SLOT_TCP, Ethernet{} / Ipv4{} / Tcp{});
    EXPECT_SLOT(sink, SLOT_OTHER_ETHERTYPE, Ethernet{} / payload(46));
    EXPECT_SLOT(sink, SLOT_MALFORMED, Ethernet{} / Ipv4{} / Udp{.length = 7});
}

TEST(SinkMatch, EtherTypes) {
    match_cfg cfg{};
    cfg.ethertype_count = MATCH_ETHERTYPES;
    for (unsigned i = 0; i < MATCH_ETHERTYPES; ++i)
        cfg.ethertype[i] = static_cast<__u16>(0x8900 + i);
    SinkCheck sink(cfg);
    for (std::uint16_t type = 0x88fe; type < 0x890a; ++type) {
        const bool listed = type >= 0x8900 && type < 0x8900 + MATCH_ETHERTYPES;
        EXPECT_EQ(sink.counts(Ethernet{.type = type} / payload(46)), listed) << type;
        EXPECT_EQ(sink.counts(Ethernet{} / Vlan{.type = type} / payload(46)), listed) << type;
    }
    EXPECT_SLOT(sink, SLOT_UDP, Ethernet{} / Ipv4{} / Udp{});
    EXPECT_SLOT(sink, SLOT_OTHER_ETHERTYPE, Ethernet{.type = 0x0089} / payload(0x89));

    // An IP packet is known by its ports and addresses, never by its EtherType.
    cfg = {};
    cfg.ethertype_count = 3;
    cfg.ethertype[0] = 0x0800;
    cfg.ethertype[1] = 0x86dd;
    cfg.ethertype[2] = 0x0806;
    SinkCheck ip(cfg);
    EXPECT_SLOT(ip, SLOT_TCP, Ethernet{} / Ipv4{} / Tcp{});
    EXPECT_SLOT(ip, SLOT_UDP, Ethernet{} / Ipv6{} / Udp{});
    EXPECT_SLOT(ip, SLOT_ARP, Ethernet{} / Arp{});
    EXPECT_SLOT(ip, SLOT_MALFORMED, Ethernet{.type = 0x0800, .shortest = 14} / payload(10));
}

TEST(SinkMatch, FullListsOfNetworks) {
    match_cfg cfg{};
    cfg.network4_count = cfg.network6_count = MATCH_PREFIXES;
    for (unsigned i = 0; i < MATCH_PREFIXES; ++i) {
        cfg.network4[i] = prefix4("10." + std::to_string(i * 2) + ".0.0", 16);
        cfg.network6[i] = prefix6("2001:db8:0:" + std::to_string(i * 2) + "::", 64);
    }
    SinkCheck sink(cfg);
    for (unsigned i = 0; i < 20; ++i) {
        const bool listed = i % 2 == 0 && i < 2 * MATCH_PREFIXES;
        EXPECT_EQ(sink.counts(udp4("10." + std::to_string(i) + ".7.7")), listed) << i;
        const std::string text = "2001:db8:0:" + std::to_string(i) + "::7";
        EXPECT_EQ(sink.counts(udp6(text)), listed) << text;
    }
}

// A mask of every length, against an address that differs in the last bit inside and the first outside.
TEST(SinkMatch, EveryLengthOfANetwork) {
    Octets address4 = address_octets("10.165.90.60").octets;
    Octets address6 = address_octets("2001:db8:a55a:3cc3:1234:5678:9abc:def0").octets;
    const auto flip = [](Octets frame, std::size_t at, unsigned bit) {
        frame[at + bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
        return frame;
    };
    const Octets frame4 = udp4("10.165.90.60"), frame6 = udp6("2001:db8:a55a:3cc3:1234:5678:9abc:def0");
    for (unsigned length = 1; length <= 128; length += length < 32 ? 1 : 7) {
        match_cfg cfg{};
        cfg.network6_count = 1;
        cfg.network6[0] = prefix6("2001:db8:a55a:3cc3:1234:5678:9abc:def0", length);
        if (length <= 32) {
            cfg.network4_count = 1;
            cfg.network4[0] = prefix4("10.165.90.60", length);
            cfg.network4[0].address &= cfg.network4[0].mask;
        }
        for (int i = 0; i < 4; ++i)
            cfg.network6[0].address[i] &= cfg.network6[0].mask[i];
        SinkCheck sink(cfg);
        SCOPED_TRACE(length);
        EXPECT_TRUE(sink.counts(frame6));
        EXPECT_FALSE(sink.counts(flip(frame6, 14 + 24, length - 1)));
        if (length < 128) {
            EXPECT_TRUE(sink.counts(flip(frame6, 14 + 24, length)));
        }
        if (length <= 32) {
            EXPECT_TRUE(sink.counts(frame4));
            EXPECT_FALSE(sink.counts(flip(frame4, 14 + 16, length - 1)));
        }
        if (length < 32) {
            EXPECT_TRUE(sink.counts(flip(frame4, 14 + 16, length)));
        }
    }
}

TEST(SinkMatch, Vlan) {
    match_cfg cfg = default_match();
    cfg.vlan_count = 2;
    cfg.vlan[0] = {100, 110};
    cfg.vlan[1] = {0, 0};
    SinkCheck sink(cfg);
    const Packet inside = Ipv4{} / Udp{};
    for (const unsigned id : {0, 100, 105, 110})
        for (const std::uint16_t protocol : {c_tag, s_tag}) {
            EXPECT_TRUE(sink.counts(Ethernet{} / Vlan{.id = id, .priority = 15, .protocol = protocol} / inside)) << id;
            EXPECT_TRUE(sink.counts(Ethernet{} / Vlan{.id = id, .protocol = protocol} / Vlan{.id = 7} / inside)) << id;
        }
    for (const unsigned id : {1, 99, 111, 4095})
        EXPECT_SLOT(sink, SLOT_OTHER_VLAN, Ethernet{} / Vlan{.id = id} / inside) << id;
    EXPECT_SLOT(sink, SLOT_OTHER_VLAN, Ethernet{} / Vlan{.id = 7} / Vlan{.id = 100} / inside);
    EXPECT_SLOT(sink, SLOT_TCP, Ethernet{} / Vlan{.id = 7} / Ipv4{} / Tcp{}); // only test traffic can be in another
    // Any id will do, but there must be one: what stands in its place is none.
    cfg.vlan[0] = {0, 4095};
    SinkCheck any(cfg);
    EXPECT_TRUE(any.counts(Ethernet{} / Vlan{.id = 7} / inside));
    EXPECT_SLOT(any, SLOT_OTHER_VLAN, Ethernet{} / inside);
    EXPECT_SLOT(any, SLOT_OTHER_VLAN, Ethernet{} / Ipv6{} / Udp{});
}

TEST(SinkMatch, InnerVlan) {
    match_cfg cfg = default_match();
    cfg.inner_vlan_count = MATCH_VLANS;
    for (unsigned i = 0; i < MATCH_VLANS; ++i)
        cfg.inner_vlan[i] = {static_cast<__u16>(10 * i), static_cast<__u16>(10 * i)};
    SinkCheck sink(cfg);
    const Packet inside = Ipv6{} / Udp{};
    for (unsigned id = 0; id < 100; ++id)
        EXPECT_EQ(sink.slot(Ethernet{} / Vlan{.id = 5, .protocol = s_tag} / Vlan{.id = id, .priority = 9} / inside),
                  Slot{id % 10 == 0 && id < 10 * MATCH_VLANS ? SLOT_SIZE_65 : SLOT_OTHER_VLAN})
            << id;
    EXPECT_SLOT(sink, SLOT_OTHER_VLAN, Ethernet{} / Vlan{.id = 10} / inside);
    EXPECT_SLOT(sink, SLOT_OTHER_VLAN, Ethernet{} / inside);
}

TEST(SinkMatch, SourceAndDestination) {
    match_cfg cfg = default_match();
    cfg.source4_count = 2;
    cfg.source4[0] = prefix4("10.1.0.0", 16);
    cfg.source4[1] = prefix4("10.9.9.9", 32);
    SinkCheck source4(cfg);
    EXPECT_TRUE(source4.counts(Ethernet{} / Ipv4{.source = "10.1.2.3"} / Udp{}));
    EXPECT_TRUE(source4.counts(Ethernet{} / Ipv4{.source = "10.9.9.9"} / Udp{}));
    EXPECT_SLOT(source4, SLOT_OTHER_ADDRESS,
                Ethernet{} / Ipv4{.source = "10.2.0.0", .destination = "10.1.0.0"} / Udp{});
    EXPECT_SLOT(source4, SLOT_OTHER_ADDRESS, Ethernet{} / Ipv6{} / Udp{});

    // A list of one version leaves out the other, whichever list it is.
    for (const bool by_source : {false, true})
        for (const bool v6 : {false, true}) {
            SCOPED_TRACE(std::string(by_source ? "source" : "destination") + (v6 ? "6" : "4"));
            cfg = default_match();
            (by_source ? (v6 ? cfg.source6_count : cfg.source4_count)
                       : (v6 ? cfg.destination6_count : cfg.destination4_count)) = 1;
            cfg.source4[0] = cfg.destination4[0] = prefix4("10.1.0.0", 16);
            cfg.source6[0] = cfg.destination6[0] = prefix6("2001:db8:1::", 48);
            SinkCheck sink(cfg);
            const Ipv4 from4{.source = "10.1.0.5", .destination = "10.2.0.5"},
                to4{.source = "10.2.0.5", .destination = "10.1.0.5"};
            const Ipv6 from6{.source = "2001:db8:1::5"}, to6{.destination = "2001:db8:1::5"};
            EXPECT_EQ(sink.slot(Ethernet{} / from4 / Udp{}),
                      Slot{!v6 && by_source ? SLOT_SIZE_64 : SLOT_OTHER_ADDRESS});
            EXPECT_EQ(sink.slot(Ethernet{} / to4 / Udp{}), Slot{!v6 && !by_source ? SLOT_SIZE_64 : SLOT_OTHER_ADDRESS});
            EXPECT_EQ(sink.slot(Ethernet{} / from6 / Udp{}), Slot{v6 && by_source ? SLOT_SIZE_65 : SLOT_OTHER_ADDRESS});
            EXPECT_EQ(sink.slot(Ethernet{} / to6 / Udp{}), Slot{v6 && !by_source ? SLOT_SIZE_65 : SLOT_OTHER_ADDRESS});
        }

    // Both directions, both versions: each packet by the lists of its own.
    cfg = default_match();
    cfg.source4_count = cfg.destination4_count = cfg.source6_count = cfg.destination6_count = 1;
    cfg.source4[0] = prefix4("10.1.0.0", 16);
    cfg.destination4[0] = prefix4("10.2.0.0", 16);
    cfg.source6[0] = prefix6("2001:db8:1::", 48);
    cfg.destination6[0] = prefix6("2001:db8:2::", 48);
    SinkCheck both(cfg);
    for (const bool from : {false, true})
        for (const bool to : {false, true}) {
            const count_slot expected4 = from && to ? SLOT_SIZE_64 : SLOT_OTHER_ADDRESS;
            const count_slot expected6 = from && to ? SLOT_SIZE_65 : SLOT_OTHER_ADDRESS;
            EXPECT_SLOT(
                both, expected4,
                Ethernet{} /
                    Ipv4{.source = from ? "10.1.0.1" : "10.3.0.1", .destination = to ? "10.2.0.1" : "10.3.0.2"} /
                    Udp{});
            EXPECT_SLOT(both, expected6,
                        Ethernet{} /
                            Ipv6{.source = from ? "2001:db8:1::1" : "2001:db8:3::1",
                                 .destination = to ? "2001:db8:2::1" : "2001:db8:3::2"} /
                            Udp{});
        }

    // Without an address there is nothing to choose by.
    cfg = {};
    cfg.all = 1;
    cfg.source4_count = 1;
    cfg.source4[0] = prefix4("0.0.0.0", 0);
    SinkCheck all(cfg);
    EXPECT_TRUE(all.counts(Ethernet{} / Ipv4{} / Tcp{}));
    EXPECT_SLOT(all, SLOT_OTHER_ADDRESS, Ethernet{} / payload(46));
    EXPECT_SLOT(all, SLOT_OTHER_ADDRESS, Ethernet{} / Ipv6{} / Tcp{});
}

TEST(SinkMatch, FullListsOfAddresses) {
    match_cfg cfg = default_match();
    cfg.source6_count = cfg.destination4_count = MATCH_PREFIXES;
    for (unsigned i = 0; i < MATCH_PREFIXES; ++i) {
        cfg.source6[i] = prefix6("2001:db8::" + std::to_string(i), 128);
        cfg.destination4[i] = prefix4("10.0.0." + std::to_string(i), 32);
    }
    cfg.source4_count = 1;
    cfg.source4[0] = prefix4("0.0.0.0", 0);
    cfg.destination6_count = 1;
    cfg.destination6[0] = prefix6("::", 0);
    SinkCheck sink(cfg);
    for (unsigned i = 0; i < MATCH_PREFIXES + 2; ++i) {
        EXPECT_EQ(sink.counts(Ethernet{} / Ipv6{.source = "2001:db8::" + std::to_string(i)} / Udp{}),
                  i < MATCH_PREFIXES)
            << i;
        EXPECT_EQ(sink.counts(Ethernet{} / Ipv4{.destination = "10.0.0." + std::to_string(i)} / Udp{}),
                  i < MATCH_PREFIXES)
            << i;
    }
}

TEST(SinkMatch, MacAddresses) {
    match_cfg cfg = default_match();
    cfg.source_mac_count = MATCH_MACS;
    for (unsigned i = 0; i < MATCH_MACS; ++i)
        cfg.source_mac[i] = mac(numbered_mac(i));
    SinkCheck source(cfg);
    for (unsigned i = 0; i < MATCH_MACS + 2; ++i)
        EXPECT_EQ(source.slot(Ethernet{.source = numbered_mac(i)} / Ipv4{} / Udp{}),
                  Slot{i < MATCH_MACS ? SLOT_SIZE_64 : SLOT_OTHER_MAC})
            << i;
    EXPECT_SLOT(source, SLOT_OTHER_MAC, Ethernet{.destination = numbered_mac(1)} / Ipv4{} / Udp{});

    cfg = default_match();
    cfg.any_mac = 1;
    cfg.destination_mac_count = MATCH_MACS;
    for (unsigned i = 0; i < MATCH_MACS; ++i)
        cfg.destination_mac[i] = mac(numbered_mac(i));
    SinkCheck destination(cfg);
    for (unsigned i = 0; i < MATCH_MACS + 2; ++i)
        EXPECT_EQ(destination.slot(Ethernet{.destination = numbered_mac(i)} / Ipv4{} / Udp{}),
                  Slot{i < MATCH_MACS ? SLOT_SIZE_64 : SLOT_OTHER_MAC})
            << i;
    EXPECT_SLOT(destination, SLOT_OTHER_MAC, Ethernet{} / Ipv4{} / Udp{});
    for (std::size_t octet = 0; octet < 6; ++octet) { // each octet matters
        Octets frame = Ethernet{.destination = numbered_mac(0)} / Ipv4{} / Udp{};
        frame[octet] ^= 0x20;
        EXPECT_SLOT(destination, SLOT_OTHER_MAC, frame) << octet;
    }
}

TEST(SinkMatch, OtherMac) {
    const MacAddress multicast{{0x01, 0x00, 0x5e, 1, 2, 3}};
    const auto to = [](const MacAddress& address) { return Ethernet{.destination = address} / Ipv4{} / Udp{}; };
    SinkCheck own;
    EXPECT_TRUE(own.counts(to(own_mac)));
    EXPECT_TRUE(own.counts(to(broadcast_mac)));
    EXPECT_TRUE(own.counts(to(multicast)));
    EXPECT_SLOT(own, SLOT_OTHER_MAC, to(stranger_mac));
    EXPECT_SLOT(own, SLOT_TCP, Ethernet{.destination = stranger_mac} / Ipv4{} / Tcp{});

    match_cfg cfg = default_match();
    cfg.any_mac = 1;
    SinkCheck any(cfg);
    for (const MacAddress& address : {own_mac, broadcast_mac, multicast, stranger_mac})
        EXPECT_TRUE(any.counts(to(address))) << to_string(address);
    EXPECT_SLOT(any, SLOT_CONTROL, to({{0x01, 0x80, 0xc2, 0, 0, 1}}));
}

TEST(SinkMatch, All) {
    match_cfg cfg{};
    cfg.all = 1;
    SinkCheck sink(cfg);
    const Octets taken[] = {
        Ethernet{} / Ipv4{} / Tcp{.destination = 22},
        Ethernet{} / Ipv6{} / Tcp{},
        Ethernet{} / Ipv4{} / Icmp{},
        Ethernet{} / Ipv6{} / Icmp{.type = 128},
        Ethernet{} / Ipv4{} / Udp{.destination = 5353},
        Ethernet{} / Ipv4{.protocol = 17, .fragment_offset = 1} / payload(64),
        Ethernet{} / payload(46),
        Ethernet{.type = 46} / payload(46),
        Ethernet{} / Vlan{} / Vlan{} / Vlan{} / Ipv4{} / Udp{},
        Ethernet{} / Ipv4{.ihl = 0} / Udp{},
        Ethernet{} / Ipv4{.length = 1500} / Udp{.destination = 68},
        Ethernet{} / Ipv6{.length = 1500} / Icmp{.type = 135} / payload(16),
        Ethernet{.type = 0x0800, .shortest = 14} / payload(0),
        Ethernet{.type = 0x8100, .shortest = 14} / payload(3),
        Ethernet{} / Ipv4{} / Udp{.length = 7},
        Ethernet{.destination = broadcast_mac} / payload(46),
    };
    for (const Octets& frame : taken)
        EXPECT_TRUE(sink.counts(frame)) << hex(frame);
    EXPECT_SLOT(sink, SLOT_CONTROL, Ethernet{.destination = {{0x01, 0x80, 0xc2, 0, 0, 0x0e}}} / payload(46));
    EXPECT_SLOT(sink, SLOT_ARP, Ethernet{} / Arp{});
    EXPECT_SLOT(sink, SLOT_ND, Ethernet{} / Ipv6{} / Icmp{.type = 135} / payload(16));
    EXPECT_SLOT(sink, SLOT_DHCP, Ethernet{} / Ipv4{} / Udp{.destination = 68});
    EXPECT_SLOT(sink, SLOT_DHCP, Ethernet{} / Ipv6{} / Udp{.destination = 546});
    EXPECT_SLOT(sink, SLOT_OTHER_MAC, Ethernet{.destination = stranger_mac} / Ipv4{} / Tcp{});
}

// Every set of restrictions against frames that miss every subset of them: the reason is the first that applies, and
// only restrictions that are set apply.
TEST(SinkMatch, RestrictionsTogether) {
    enum {
        source_mac_bit = 1,
        destination_mac_bit = 2,
        vlan_bit = 4,
        inner_bit = 8,
        source_bit = 16,
        destination_bit = 32
    };
    for (unsigned set = 0; set < 64; ++set) {
        match_cfg cfg = default_match();
        cfg.any_mac = 1;
        cfg.source_mac_count = (set & source_mac_bit) != 0;
        cfg.source_mac[0] = mac(tester_mac);
        cfg.destination_mac_count = (set & destination_mac_bit) != 0;
        cfg.destination_mac[0] = mac(own_mac);
        cfg.vlan_count = (set & vlan_bit) != 0;
        cfg.vlan[0] = {5, 5};
        cfg.inner_vlan_count = (set & inner_bit) != 0;
        cfg.inner_vlan[0] = {6, 6};
        cfg.source4_count = (set & source_bit) != 0;
        cfg.source4[0] = prefix4("10.0.0.1", 32);
        cfg.destination4_count = (set & destination_bit) != 0;
        cfg.destination4[0] = prefix4("10.0.0.2", 32);
        SinkCheck sink(cfg);
        for (unsigned missed = 0; missed < 64; ++missed) {
            const Octets frame = Ethernet{.destination = missed & destination_mac_bit ? stranger_mac : own_mac,
                                          .source = missed & source_mac_bit ? stranger_mac : tester_mac} /
                                 Vlan{.id = missed & vlan_bit ? 50u : 5u} / Vlan{.id = missed & inner_bit ? 60u : 6u} /
                                 Ipv4{.source = missed & source_bit ? "10.0.0.10" : "10.0.0.1",
                                      .destination = missed & destination_bit ? "10.0.0.20" : "10.0.0.2"} /
                                 Udp{};
            const unsigned applies = set & missed;
            const count_slot expected = applies & (source_mac_bit | destination_mac_bit) ? SLOT_OTHER_MAC
                                        : applies & (vlan_bit | inner_bit)               ? SLOT_OTHER_VLAN
                                        : applies                                        ? SLOT_OTHER_ADDRESS
                                                                                         : SLOT_SIZE_64;
            EXPECT_SLOT(sink, expected, frame) << "set " << set << ", missed " << missed;
        }
    }
}

// Everything that identifies at once: each still does, and nothing else.
TEST(SinkMatch, IdentificationsTogether) {
    match_cfg cfg = default_match();
    cfg.ethertype_count = 1;
    cfg.ethertype[0] = 0x88b5;
    SinkCheck sink(cfg);
    EXPECT_TRUE(sink.counts(udp_port(9)));
    EXPECT_TRUE(sink.counts(udp4("198.19.1.1")));
    EXPECT_TRUE(sink.counts(udp6("2001:2::1")));
    EXPECT_TRUE(sink.counts(Ethernet{} / payload(46)));
    EXPECT_SLOT(sink, SLOT_UDP, udp_port(10));
    EXPECT_SLOT(sink, SLOT_TCP, Ethernet{} / Ipv4{.destination = "198.19.1.1"} / Tcp{.destination = 9});
    EXPECT_SLOT(sink, SLOT_OTHER_ETHERTYPE, Ethernet{.type = 0x88b6} / payload(46));
}

} // namespace
} // namespace responder::test
