// SPDX-License-Identifier: GPL-2.0-only
//
// The address of the test: replies octet by octet against ones that the packet builder makes, with its own checksums,
// and every guard that keeps a frame from being answered.

#include "tests/bpf/sink_check.h"

#include <source_location>

namespace responder::test {
namespace {

using namespace packet;

const std::string own4 = "198.18.1.2", tester4 = "198.18.1.1";
const std::string own6 = "2001:2::2", tester6 = "2001:2::1";
const SinkProgram::Options both{.address4 = own4, .address6 = own6};
const MacAddress solicited_mac{{0x33, 0x33, 0xff, 0, 0, 2}};
const std::string solicited = "ff02::1:ff00:2";

void expect_reply(SinkCheck& sink, const Octets& question, count_slot slot, const Octets& expected,
                  const std::source_location& where = std::source_location::current()) {
    const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "question");
    const SinkCheck::Seen seen = sink.see(question);
    EXPECT_EQ(seen.slot, Slot{slot});
    EXPECT_TRUE(seen.out == expected) << "came:\n" << hex(seen.out) << "\nexpected:\n" << hex(expected);
}

Arp request() { return {.sender = tester4, .target = own4}; }
const Ethernet to_all{.destination = broadcast_mac};
const Ethernet back{.destination = tester_mac, .source = own_mac};

TEST(SinkArp, Reply) {
    SinkCheck sink(both);
    const Arp reply{.operation = 2, .sender_mac = own_mac, .sender = own4, .target_mac = tester_mac, .target = tester4};
    expect_reply(sink, to_all / request(), SLOT_ARP_REPLY, back / reply);
    expect_reply(sink, Ethernet{} / request(), SLOT_ARP_REPLY, back / reply); // asked again, as caches do
    expect_reply(sink, to_all / Vlan{.id = 5, .priority = 7} / request(), SLOT_ARP_REPLY,
                 back / Vlan{.id = 5, .priority = 7} / reply);
    expect_reply(sink, to_all / Vlan{.protocol = s_tag} / Vlan{.id = 6} / request(), SLOT_ARP_REPLY,
                 back / Vlan{.protocol = s_tag} / Vlan{.id = 6} / reply);
    expect_reply(sink, Ethernet{.destination = broadcast_mac, .shortest = 42} / request(), SLOT_ARP_REPLY,
                 Ethernet{.destination = tester_mac, .source = own_mac, .shortest = 42} / reply);
}

// RFC 5227: whoever wants the address asks from 0.0.0.0 and must hear that it is taken.
TEST(SinkArp, Probe) {
    SinkCheck sink(both);
    const Arp probe{.sender = "0.0.0.0", .target = own4};
    expect_reply(
        sink, to_all / probe, SLOT_ARP_REPLY,
        back /
            Arp{.operation = 2, .sender_mac = own_mac, .sender = own4, .target_mac = tester_mac, .target = "0.0.0.0"});
}

// RFC 826: to the sender that the packet names, which a bridge that rewrites addresses need not be.
TEST(SinkArp, ReplyGoesToTheSenderInThePacket) {
    SinkCheck sink(both);
    Arp asked = request();
    asked.sender_mac = stranger_mac;
    expect_reply(
        sink, to_all / asked, SLOT_ARP_REPLY,
        Ethernet{.destination = stranger_mac, .source = own_mac} /
            Arp{.operation = 2, .sender_mac = own_mac, .sender = own4, .target_mac = stranger_mac, .target = tester4});
}

TEST(SinkArp, WhatIsNotAnswered) {
    const auto with = [](auto change) {
        Arp arp = request();
        change(arp);
        return arp;
    };
    SinkCheck sink(both);
    const struct {
        const char* name;
        Octets frame;
    } cases[] = {
        {"for another address", to_all / with([](Arp& arp) { arp.target = "198.18.1.3"; })},
        {"a reply", Ethernet{} / with([](Arp& arp) { arp.operation = 2; })},
        {"RARP's operation", to_all / with([](Arp& arp) { arp.operation = 3; })},
        {"another hardware", to_all / with([](Arp& arp) { arp.hardware_type = 6; })},
        {"another protocol", to_all / with([](Arp& arp) { arp.protocol_type = 0x86dd; })},
        {"long hardware addresses", to_all / with([](Arp& arp) { arp.hardware_length = 8; })},
        {"long protocol addresses", to_all / with([](Arp& arp) { arp.protocol_length = 16; })},
        {"from our own IP address (gratuitous)", to_all / with([](Arp& arp) { arp.sender = own4; })},
        {"from our own MAC address", Ethernet{.destination = broadcast_mac, .source = own_mac} / request()},
        {"from our own MAC address inside", to_all / with([](Arp& arp) { arp.sender_mac = own_mac; })},
        {"from a group", Ethernet{.destination = broadcast_mac, .source = {{3, 0, 0, 0, 0, 1}}} / request()},
        {"from a group inside", to_all / with([](Arp& arp) { arp.sender_mac = broadcast_mac; })},
        {"to another station", Ethernet{.destination = stranger_mac} / request()},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        EXPECT_SLOT(sink, SLOT_ARP, each.frame);
    }
    const Octets whole = to_all / request();
    for (std::ptrdiff_t size = 14; size < 42; ++size)
        EXPECT_SLOT(sink, SLOT_ARP, Octets(whole.begin(), whole.begin() + size)) << size;
    SinkCheck only6({.address6 = own6});
    EXPECT_SLOT(only6, SLOT_ARP, to_all / request());
    SinkCheck none;
    EXPECT_SLOT(none, SLOT_ARP, to_all / request());
}

TEST(SinkPing, Ipv4) {
    SinkCheck sink(both);
    for (const unsigned size : {0, 1, 17, 18, 56, 1000, 1472})
        for (const unsigned ttl : {1, 64, 255}) {
            const Ipv4 there{
                .source = tester4, .destination = own4, .ttl = ttl, .tos = 0xb8, .id = 77, .dont_fragment = true};
            const Ipv4 here{
                .source = own4, .destination = tester4, .ttl = 64, .tos = 0xb8, .id = 77, .dont_fragment = true};
            expect_reply(sink, Ethernet{} / there / Icmp{.rest = 0x12340000u + size} / payload(size), SLOT_PING_REPLY,
                         back / here / Icmp{.type = 0, .rest = 0x12340000u + size} / payload(size));
        }
    expect_reply(sink, Ethernet{} / Vlan{.id = 9} / Ipv4{.source = tester4, .destination = own4} / Icmp{} / payload(56),
                 SLOT_PING_REPLY,
                 back / Vlan{.id = 9} / Ipv4{.source = own4, .destination = tester4} / Icmp{.type = 0} / payload(56));
}

TEST(SinkPing, Ipv6) {
    SinkCheck sink(both);
    for (const unsigned size : {0, 1, 18, 56, 1000, 1452})
        expect_reply(sink,
                     Ethernet{} / Ipv6{.source = tester6, .destination = own6, .hop_limit = 3} /
                         Icmp{.type = 128, .rest = 0xffff0000u + size} / payload(size),
                     SLOT_PING_REPLY,
                     back / Ipv6{.source = own6, .destination = tester6, .hop_limit = 64} /
                         Icmp{.type = 129, .rest = 0xffff0000u + size} / payload(size));
}

// Checksums are updated, not summed anew, so they meet every value on their way; what arrives must verify.
TEST(SinkPing, ChecksumsVerifyForEverySum) {
    SinkCheck sink(both);
    const Octets v6_there = address_octets(tester6).octets, v6_here = address_octets(own6).octets;
    for (std::uint32_t rest = 0; rest < 0x10000; ++rest) {
        // Some, and all about the corners, where a sum runs over.
        if (rest % 37 != 0 && rest >= 0x20 && rest <= 0xffe0 && (rest & 0xff) != 0xff)
            continue;
        for (const std::uint32_t word : {rest, rest << 16}) {
            const Octets out4 =
                sink.see(Ethernet{.shortest = 0} / Ipv4{.source = tester4, .destination = own4, .ttl = rest & 0xff} /
                         Icmp{.rest = word})
                    .out;
            EXPECT_EQ(internet_checksum(std::span(out4).subspan(14, 20)), 0) << rest;
            EXPECT_EQ(internet_checksum(std::span(out4).subspan(34)), 0) << word;
            const Octets out6 =
                sink.see(Ethernet{} / Ipv6{.source = tester6, .destination = own6} / Icmp{.type = 128, .rest = word})
                    .out;
            EXPECT_EQ(pseudo_checksum(v6_here, v6_there, 58, std::span(out6).subspan(54)), 0) << word;
        }
    }
    // A reply of zeros: its checksum is the one that is never 0.
    const SinkCheck::Seen zero =
        sink.see(Ethernet{} / Ipv4{.source = tester4, .destination = own4} / Icmp{.rest = 0} / zeros(10));
    EXPECT_EQ(zero.slot, Slot{SLOT_PING_REPLY});
    EXPECT_EQ(zero.out[36] << 8 | zero.out[37], 0xffff);
    // A ping whose checksum is wrong is not made good.
    const Octets wrong = sink.see(Ethernet{} / Ipv4{.source = tester4, .destination = own4, .checksum = 0x1234} /
                                  Icmp{.checksum = 0x1234})
                             .out;
    EXPECT_NE(internet_checksum(std::span(wrong).subspan(14, 20)), 0);
    EXPECT_NE(internet_checksum(std::span(wrong).subspan(34, 8)), 0);
}

TEST(SinkPing, WhatIsNotAnswered) {
    SinkCheck sink(both);
    const Ipv4 ip4{.source = tester4, .destination = own4};
    const Ipv6 ip6{.source = tester6, .destination = own6};
    const Icmp echo4{}, echo6{.type = 128};
    const auto from4 = [&](const std::string& source) { return Ipv4{.source = source, .destination = own4}; };
    const auto from6 = [&](const std::string& source) { return Ipv6{.source = source, .destination = own6}; };
    const struct {
        const char* name;
        Octets frame;
        count_slot slot = SLOT_ICMP;
    } cases[] = {
        {"to another address", Ethernet{} / Ipv4{.source = tester4, .destination = "198.18.1.3"} / echo4},
        {"to another IPv6 address", Ethernet{} / Ipv6{.source = tester6, .destination = "2001:2::3"} / echo6},
        {"to an address that differs in the first word",
         Ethernet{} / Ipv6{.source = tester6, .destination = "2001:3::2"} / echo6},
        {"a reply", Ethernet{} / ip4 / Icmp{.type = 0}},
        {"an IPv6 reply", Ethernet{} / ip6 / Icmp{.type = 129}},
        {"a timestamp request", Ethernet{} / ip4 / Icmp{.type = 13} / payload(12)},
        {"another code", Ethernet{} / ip4 / Icmp{.code = 1}},
        {"another code, IPv6", Ethernet{} / ip6 / Icmp{.type = 128, .code = 1}},
        {"IPv6's type in IPv4", Ethernet{} / ip4 / Icmp{.type = 128}},
        {"IPv4's type in IPv6", Ethernet{} / ip6 / Icmp{.type = 8}},
        {"IP options", Ethernet{} / Ipv4{.source = tester4, .destination = own4, .options = 4} / echo4},
        {"an extension header", Ethernet{} / ip6 / Extension{.kind = 60} / echo6},
        {"an atomic fragment", Ethernet{} / ip6 / Fragment{} / echo6},
        {"a first fragment", Ethernet{} / Ipv4{.source = tester4, .destination = own4, .more_fragments = true} / echo4},
        {"a later fragment",
         Ethernet{} / Ipv4{.source = tester4, .destination = own4, .protocol = 1, .fragment_offset = 2} / payload(64)},
        {"from nobody", Ethernet{} / from4("0.0.0.0") / echo4},
        {"from this network", Ethernet{} / from4("0.1.2.3") / echo4},
        {"from loopback", Ethernet{} / from4("127.0.0.1") / echo4},
        {"from a group", Ethernet{} / from4("224.0.0.1") / echo4},
        {"from broadcast", Ethernet{} / from4("255.255.255.255") / echo4},
        {"from ourselves", Ethernet{} / from4(own4) / echo4},
        {"from nobody, IPv6", Ethernet{} / from6("::") / echo6},
        {"from a group, IPv6", Ethernet{} / from6("ff02::1") / echo6},
        {"from ourselves, IPv6", Ethernet{} / from6(own6) / echo6},
        {"to a group MAC", Ethernet{.destination = broadcast_mac} / ip4 / echo4},
        {"to a group MAC, IPv6", Ethernet{.destination = {{0x33, 0x33, 0, 0, 0, 1}}} / ip6 / echo6},
        {"to another MAC", Ethernet{.destination = stranger_mac} / ip4 / echo4},
        {"to another MAC, IPv6", Ethernet{.destination = stranger_mac} / ip6 / echo6},
        {"from our own MAC", Ethernet{.source = own_mac} / ip4 / echo4},
        {"from our own MAC, IPv6", Ethernet{.source = own_mac} / ip6 / echo6},
        {"from a group MAC", Ethernet{.source = {{3, 0, 0, 0, 0, 1}}} / ip4 / echo4},
        {"from a group MAC, IPv6", Ethernet{.source = {{3, 0, 0, 0, 0, 1}}} / ip6 / echo6},
        {"echo header cut short", Ethernet{} / Ipv4{.source = tester4, .destination = own4, .length = 27} / echo4},
        {"echo header cut short, IPv6", Ethernet{} / Ipv6{.source = tester6, .destination = own6, .length = 7} / echo6},
        {"a length that lies", Ethernet{} / Ipv4{.source = tester4, .destination = own4, .length = 600} / echo4,
         SLOT_MALFORMED},
        {"UDP", Ethernet{} / ip4 / Udp{.destination = 8}, SLOT_SIZE_64},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        EXPECT_SLOT(sink, each.slot, each.frame);
    }
    const Octets ping4 = Ethernet{} / ip4 / echo4, ping6 = Ethernet{} / ip6 / echo6;
    SinkCheck only4({.address4 = own4}), only6({.address6 = own6}), none;
    EXPECT_SLOT(only4, SLOT_PING_REPLY, ping4);
    EXPECT_SLOT(only4, SLOT_ICMP, ping6);
    EXPECT_SLOT(only6, SLOT_ICMP, ping4);
    EXPECT_SLOT(only6, SLOT_PING_REPLY, ping6);
    EXPECT_SLOT(none, SLOT_ICMP, ping4);
    EXPECT_SLOT(none, SLOT_ICMP, ping6);
}

// A solicitation is as long as its options; the advertisement carries one where there is room for it.
Packet solicitation(const std::string& source, const std::string& target = own6, const Payload& options = {},
                    unsigned hop_limit = 255) {
    const bool probing = source == "::";
    return Ethernet{.destination = solicited_mac} /
           Ipv6{.source = source, .destination = probing || target == own6 ? solicited : own6, .hop_limit = hop_limit} /
           Icmp{.type = 135, .rest = 0} / address_octets(target) / options;
}
Payload source_option() {
    Octets octets{1, 1};
    octets.insert(octets.end(), tester_mac.bytes.begin(), tester_mac.bytes.end());
    return {octets};
}
Packet bare_advertisement(const MacAddress& to_mac, const std::string& to, std::uint32_t flags) {
    return Ethernet{.destination = to_mac, .source = own_mac} /
           Ipv6{.source = own6, .destination = to, .hop_limit = 255} / Icmp{.type = 136, .rest = flags} /
           address_octets(own6);
}
Packet advertisement(const MacAddress& to_mac, const std::string& to, std::uint32_t flags) {
    return bare_advertisement(to_mac, to, flags) / Payload{{2, 1}} / mac_octets(own_mac);
}
constexpr std::uint32_t solicited_override = 0x60000000, override_only = 0x20000000;

TEST(SinkNd, Advertisement) {
    SinkCheck sink(both);
    const Octets expected = advertisement(tester_mac, tester6, solicited_override);
    expect_reply(sink, solicitation(tester6, own6, source_option()), SLOT_ND_REPLY, expected);
    // Asked again, directly.
    expect_reply(sink,
                 Ethernet{} / Ipv6{.source = tester6, .destination = own6, .hop_limit = 255} /
                     Icmp{.type = 135, .rest = 0} / address_octets(own6) / source_option(),
                 SLOT_ND_REPLY, expected);
    // Without an option there is no room for one.
    expect_reply(sink, solicitation(tester6), SLOT_ND_REPLY,
                 bare_advertisement(tester_mac, tester6, solicited_override));
    // Flags of a solicitation are reserved, and not reflected.
    expect_reply(sink,
                 Ethernet{} / Ipv6{.source = tester6, .destination = own6, .hop_limit = 255} /
                     Icmp{.type = 135, .rest = 0xffffffff} / address_octets(own6) / source_option(),
                 SLOT_ND_REPLY, expected);
}

TEST(SinkNd, TaggedAndPadded) {
    SinkCheck sink(both);
    const auto tagged = [](const Packet& frame) {
        Octets octets = frame;
        const Octets tag{0x81, 0x00, 0x00, 0x05};
        octets.insert(octets.begin() + 12, tag.begin(), tag.end());
        return octets;
    };
    expect_reply(sink, tagged(solicitation(tester6)), SLOT_ND_REPLY,
                 tagged(bare_advertisement(tester_mac, tester6, solicited_override)));
    // Room behind the packet is used.
    Octets padded = solicitation(tester6);
    padded.resize(padded.size() + 12);
    Octets expected = advertisement(tester_mac, tester6, solicited_override);
    expected.resize(padded.size());
    expect_reply(sink, padded, SLOT_ND_REPLY, expected);
}

// More options than one, such as a nonce (RFC 7527): the answer has its own one and the rest is padding.
TEST(SinkNd, OtherOptions) {
    SinkCheck sink(both);
    Payload two = source_option();
    two.octets.insert(two.octets.end(), {14, 1, 1, 2, 3, 4, 5, 6});
    Octets expected = advertisement(tester_mac, tester6, solicited_override);
    expected.insert(expected.end(), {14, 1, 1, 2, 3, 4, 5, 6});
    expect_reply(sink, solicitation(tester6, own6, two), SLOT_ND_REPLY, expected);

    expected.resize(expected.size() - 8);
    const Payload nonce{{14, 1, 1, 2, 3, 4, 5, 6}};
    expect_reply(sink, solicitation(tester6, own6, nonce), SLOT_ND_REPLY, expected);
}

// RFC 4862: whoever wants the address asks from :: and must hear, as all do, that it is taken.
TEST(SinkNd, DuplicateAddressDetection) {
    SinkCheck sink(both);
    const MacAddress all_nodes{{0x33, 0x33, 0, 0, 0, 1}};
    expect_reply(sink, solicitation("::"), SLOT_ND_REPLY, bare_advertisement(all_nodes, "ff02::1", override_only));
    const Octets expected = advertisement(all_nodes, "ff02::1", override_only);
    expect_reply(sink, solicitation("::", own6, Payload{{14, 1, 1, 2, 3, 4, 5, 6}}), SLOT_ND_REPLY, expected);
}

TEST(SinkNd, WhatIsNotAnswered) {
    SinkCheck sink(both);
    const Ipv6 ip6{.source = tester6, .destination = own6, .hop_limit = 255};
    const Icmp ask{.type = 135, .rest = 0};
    const Payload target = address_octets(own6);
    const struct {
        const char* name;
        Octets frame;
    } cases[] = {
        {"for another address", solicitation(tester6, "2001:2::3", source_option())},
        {"for an address that differs in the first word", solicitation(tester6, "2001:3::2", source_option())},
        {"for another address, without option", solicitation(tester6, "2001:2::3")},
        {"through a router", solicitation(tester6, own6, source_option(), 254)},
        {"through a router, without option", solicitation(tester6, own6, {}, 254)},
        {"another code", Ethernet{} / ip6 / Icmp{.type = 135, .code = 1, .rest = 0} / target / source_option()},
        {"an advertisement", Ethernet{} / ip6 / Icmp{.type = 136, .rest = 0} / target / source_option()},
        {"an extension header", Ethernet{} / ip6 / Extension{.kind = 60} / ask / target / source_option()},
        {"cut short", Ethernet{.shortest = 100} /
                          Ipv6{.source = tester6, .destination = own6, .hop_limit = 255, .length = 23} / ask / target},
        {"cut short at a whole unit", Ethernet{.shortest = 100} /
                                          Ipv6{.source = tester6, .destination = own6, .hop_limit = 255, .length = 16} /
                                          ask / target},
        {"half an option", Ethernet{.shortest = 100} / ip6 / ask / target / payload(4)},
        {"an option without length", Ethernet{} / ip6 / ask / target / Payload{{1, 0, 2, 0, 0, 0, 0, 2}}},
        {"from a group", solicitation("ff02::5", own6, source_option())},
        {"from ourselves", solicitation(own6, own6, source_option())},
        {"from nobody to one", Ethernet{} / Ipv6{.source = "::", .destination = own6, .hop_limit = 255} / ask / target},
        {"from our own MAC", Ethernet{.source = own_mac} / ip6 / ask / target / source_option()},
        {"from a group MAC", Ethernet{.source = {{3, 0, 0, 0, 0, 1}}} / ip6 / ask / target / source_option()},
        {"to another MAC", Ethernet{.destination = stranger_mac} / ip6 / ask / target / source_option()},
        {"to another MAC, without option", Ethernet{.destination = stranger_mac} / ip6 / ask / target},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        EXPECT_SLOT(sink, SLOT_ND, each.frame);
    }
    SinkCheck only4({.address4 = own4}), none;
    EXPECT_SLOT(only4, SLOT_ND, solicitation(tester6));
    EXPECT_SLOT(none, SLOT_ND, solicitation(tester6));
}

// The address is where the test is: in other VLANs it may be somebody else's.
TEST(SinkAnswer, OnlyInTheVlansOfTheTest) {
    SinkProgram::Options options = both;
    options.match.vlan_count = 1;
    options.match.vlan[0] = {5, 5};
    SinkCheck sink(options);
    const Packet ping = Ipv4{.source = tester4, .destination = own4} / Icmp{};
    EXPECT_SLOT(sink, SLOT_ARP_REPLY, to_all / Vlan{.id = 5} / request());
    EXPECT_SLOT(sink, SLOT_ARP, to_all / Vlan{.id = 6} / request());
    EXPECT_SLOT(sink, SLOT_ARP, to_all / request());
    EXPECT_SLOT(sink, SLOT_PING_REPLY, Ethernet{} / Vlan{.id = 5} / ping);
    EXPECT_SLOT(sink, SLOT_ICMP, Ethernet{} / Vlan{.id = 6} / ping);
    EXPECT_SLOT(sink, SLOT_ND, solicitation(tester6));

    options.match.inner_vlan_count = 1;
    options.match.inner_vlan[0] = {7, 7};
    SinkCheck inner(options);
    EXPECT_SLOT(inner, SLOT_PING_REPLY, Ethernet{} / Vlan{.id = 5} / Vlan{.id = 7} / ping);
    EXPECT_SLOT(inner, SLOT_ICMP, Ethernet{} / Vlan{.id = 5} / Vlan{.id = 8} / ping);
    EXPECT_SLOT(inner, SLOT_ICMP, Ethernet{} / Vlan{.id = 5} / ping);
}

// Where everything is test traffic, a ping to the address is still answered, and any other ping is counted.
TEST(SinkAnswer, UnderAll) {
    SinkProgram::Options options = both;
    options.match = {};
    options.match.all = 1;
    SinkCheck sink(options);
    EXPECT_SLOT(sink, SLOT_PING_REPLY, Ethernet{} / Ipv4{.source = tester4, .destination = own4} / Icmp{});
    EXPECT_SLOT(sink, SLOT_PING_REPLY, Ethernet{} / Ipv6{.source = tester6, .destination = own6} / Icmp{.type = 128});
    EXPECT_SLOT(sink, SLOT_ARP_REPLY, to_all / request());
    EXPECT_SLOT(sink, SLOT_ND_REPLY, solicitation(tester6));
    EXPECT_SLOT(sink, SLOT_SIZE_64, Ethernet{} / Ipv4{.source = tester4, .destination = "198.18.1.3"} / Icmp{});
    EXPECT_SLOT(sink, SLOT_SIZE_64, Ethernet{} / Ipv4{} / Tcp{});
    EXPECT_SLOT(sink, SLOT_SIZE_64, Ethernet{} / payload(46));
}

// Test traffic is counted beside the answers as without them.
TEST(SinkAnswer, DoesNotChangeWhatCounts) {
    SinkCheck sink(both);
    EXPECT_SLOT(sink, SLOT_SIZE_64, Ethernet{} / Ipv4{.source = tester4, .destination = own4} / Udp{.destination = 7});
    EXPECT_SLOT(sink, SLOT_SIZE_65, Ethernet{} / Ipv6{} / Udp{});
    EXPECT_SLOT(sink, SLOT_TCP, Ethernet{} / Ipv4{.source = tester4, .destination = own4} / Tcp{});
}

TEST(SinkAnswer, LargePingOfSeveralBuffers) {
    SinkProgram::Options options = both;
    options.multi_buffer = true;
    SinkCheck sink(options);
    expect_reply(sink, Ethernet{} / Ipv4{.source = tester4, .destination = own4} / Icmp{} / payload(8000),
                 SLOT_PING_REPLY,
                 back / Ipv4{.source = own4, .destination = tester4} / Icmp{.type = 0} / payload(8000));
    expect_reply(sink, solicitation(tester6, own6, source_option()), SLOT_ND_REPLY,
                 advertisement(tester_mac, tester6, solicited_override));
}

} // namespace
} // namespace responder::test
