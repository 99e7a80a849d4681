// SPDX-License-Identifier: GPL-2.0-only
//
// What comes back, octet by octet, against frames that the packet builder makes with its own checksums; and every
// guard.

#include "loader/clock.h"
#include "tests/bpf/reflect_check.h"
#include "tests/harness/reflect_frames.h"

#include <gtest/gtest.h>

#include <bpf/bpf.h>

#include <algorithm>
#include <map>
#include <random>
#include <source_location>
#include <vector>

namespace responder::test {
namespace {

using namespace packet;

#define EXPECT_REFLECT(check, expected, ...) EXPECT_EQ(reflect_slot_name((check).slot(__VA_ARGS__)), expected)

void expect_back(ReflectCheck& reflector, const Octets& request, const std::string& slot, const Octets& expected,
                 const std::source_location& where = std::source_location::current()) {
    const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "request");
    const ReflectCheck::Seen seen = reflector.see(request);
    EXPECT_EQ(reflect_slot_name(seen.slot), slot);
    EXPECT_TRUE(seen.out == expected) << "came:\n" << hex(seen.out) << "\nexpected:\n" << hex(expected);
}

TEST(Reflect, WhatTheTableSays) {
    reflect_cfg cfg = default_reflect();
    cfg.icmp = 1;
    ReflectCheck reflector(cfg);
    for (const ReflectFixture& fixture : reflect_fixtures()) {
        SCOPED_TRACE(fixture.name);
        ReflectCheck::Seen seen = reflector.see(fixture.in);
        EXPECT_EQ(reflect_slot_name(seen.slot), fixture.slot);
        if (fixture.out.empty()) {
            EXPECT_GE(seen.slot, SLOT_ANSWER_END);
            continue;
        }
        blank_times(seen.out, fixture.slot);
        EXPECT_TRUE(seen.out == fixture.out) << "came:\n" << hex(seen.out) << "\nexpected:\n" << hex(fixture.out);
    }
}

TEST(Reflect, SwapsAsDeepAsItIsTold) {
    for (const auto& [swap, layers] :
         {std::pair{REFLECT_SWAP_MAC, 1U}, {REFLECT_SWAP_IP, 2U}, {REFLECT_SWAP_AUTO, 3U}}) {
        reflect_cfg cfg = default_reflect();
        cfg.swap = static_cast<__u8>(swap);
        ReflectCheck reflector(cfg);
        for (const Shape& shape : shapes())
            expect_back(reflector, shape.packet({}), "test", shape.packet(Ends{}.back(layers)));
    }
}

// A frame cut short anywhere: never a fault, never an octet changed by what is no answer; native and BPF agree.
TEST(Reflect, EveryTruncation) {
    reflect_cfg cfg = default_reflect();
    cfg.icmp = 1;
    ReflectCheck reflector(cfg);
    std::size_t answered = 0, refused = 0;
    const auto cut = [&](const Octets& frame) {
        for (std::size_t length = 14; length <= frame.size(); ++length)
            ++(reflector.slot(Octets(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length))) <
                       SLOT_ANSWER_END
                   ? answered
                   : refused);
    };
    for (const Shape& shape : shapes())
        if (shape.payload == 18)
            cut(shape.packet({}));
    EXPECT_GT(answered, 10U);
    EXPECT_GT(refused, 500U);
}

// RFC 2544 appendix C.2.6.4 prints lengths of UDP that are shorter than the datagram; testers have copied them.
TEST(Reflect, Rfc2544TestFrames) {
    ReflectCheck reflector;
    const struct {
        std::uint16_t ip_length, udp_length;
    } table[] = {{0x2e, 0x1a},   {0x6e, 0x5a},   {0xee, 0x9a},   {0x1ee, 0x19a},
                 {0x2ee, 0x29a}, {0x3ee, 0x39a}, {0x4ee, 0x49a}, {0x5dc, 0x5c8}};
    for (const auto& [ip_length, udp_length] : table) {
        const auto frame = [&](const Ends& ends) {
            return Ethernet{.destination = ends.mac[0], .source = ends.mac[1]} /
                   Ipv4{.source = ends.ip4[1], .destination = ends.ip4[0], .ttl = 10, .length = ip_length} /
                   Udp{.source = ends.port[1], .destination = ends.port[0], .length = udp_length, .checksum = 0} /
                   payload(ip_length - 28U);
        };
        expect_back(reflector, frame({}), "test", frame(Ends{}.back(3)));
    }
}

// ---- what asks for an answer ----

Packet to_port(std::uint16_t port, const Octets& data) {
    return Ethernet{} / Ipv4{} / Udp{.source = 0xc020, .destination = port} / Payload{data};
}

TEST(Reflect, WhatAsksForIt) {
    ReflectCheck reflector;
    EXPECT_REFLECT(reflector, "test", to_port(7, Octets(18)));
    EXPECT_REFLECT(reflector, "udp", to_port(8, Octets(18)));
    EXPECT_REFLECT(reflector, "test", to_port(0xc01f, our_signature(77)));
    EXPECT_REFLECT(reflector, "udp", to_port(0xc020, our_signature(77))); // a reply may look so
    EXPECT_REFLECT(reflector, "udp", to_port(0xc021, our_signature(77)));
    Octets damaged = our_signature(77);
    damaged[9] ^= 1;
    EXPECT_REFLECT(reflector, "udp", to_port(40'000, damaged));
    for (const char* signature : {"PROBEOT", "DATA:OT", "LATENCY"}) {
        EXPECT_REFLECT(reflector, "test", to_port(3842, text("12345", signature)));
        EXPECT_REFLECT(reflector, "udp", to_port(3842, text("1234", signature)));
        EXPECT_REFLECT(reflector, "udp", to_port(3841, text("12345", signature)));
    }
    EXPECT_REFLECT(reflector, "udp", to_port(3842, Octets(11)));
    EXPECT_REFLECT(reflector, "tcp", Ethernet{} / Ipv4{} / Tcp{.destination = 7} / payload(18));
    EXPECT_REFLECT(reflector, "icmp", Ethernet{} / Ipv4{} / Icmp{} / payload(18));
    EXPECT_REFLECT(reflector, "other_ethertype", Ethernet{.type = 0x8847} / payload(46));
}

TEST(Reflect, ControlTrafficIsNeverAnswered) {
    reflect_cfg cfg = default_reflect();
    cfg.match.all = 1;
    cfg.match.any_mac = 1;
    cfg.tester_mac_count = 1;
    std::ranges::copy(tester_mac.bytes, cfg.tester_mac[0].bytes);
    ReflectCheck reflector(cfg);
    EXPECT_REFLECT(reflector, "control", Ethernet{.destination = {{0x01, 0x80, 0xc2, 0, 0, 0x0e}}} / payload(46));
    EXPECT_REFLECT(reflector, "control",
                   Ethernet{.destination = {{0x01, 0x80, 0xc2, 0, 0, 0x37}}, .type = 0x8902} / payload(46));
    EXPECT_REFLECT(reflector, "arp", Ethernet{} / Arp{});
    EXPECT_REFLECT(reflector, "nd", Ethernet{} / Ipv6{.hop_limit = 255} / Icmp{.type = 135} / payload(20));
    EXPECT_REFLECT(reflector, "dhcp", Ethernet{} / Ipv4{} / Udp{.destination = 68} / payload(240));
    EXPECT_REFLECT(reflector, "dhcp", Ethernet{} / Ipv6{} / Udp{.destination = 546} / payload(20));
}

TEST(Reflect, FromATesterEverythingElse) {
    reflect_cfg by_mac = default_reflect(), by_ip = default_reflect();
    by_mac.tester_mac_count = 1;
    std::ranges::copy(tester_mac.bytes, by_mac.tester_mac[0].bytes);
    by_ip.tester4_count = by_ip.tester6_count = 1;
    by_ip.tester4[0] = prefix4("10.0.0.1", 32);
    by_ip.tester6[0] = prefix6("2001:db8::1", 128);
    for (const reflect_cfg& cfg : {by_mac, by_ip}) {
        ReflectCheck reflector(cfg);
        Ends ends;
        ends.port[0] = 22;
        for (const bool tcp : {false, true})
            for (const Shape& shape : shapes(tcp))
                expect_back(reflector, shape.packet(ends), "test", shape.packet(ends.back(3)));
        const Ethernet stranger{.source = stranger_mac};
        EXPECT_REFLECT(reflector, "tcp", stranger / Ipv4{.source = "10.0.0.3"} / Tcp{} / payload(18));
    }
    ReflectCheck reflector(by_mac);
    const Ethernet back{.destination = tester_mac, .source = own_mac};
    const auto frame = [](Ethernet eth, std::uint16_t type) {
        eth.type = type;
        return eth / payload(46);
    };
    expect_back(reflector, frame({}, 0x8847), "test", frame(back, 0x8847)); // MPLS
    expect_back(reflector, frame({}, 0x1234), "test", frame(back, 0x1234));
    expect_back(reflector, Ethernet{} / Ipv4{} / Icmp{} / payload(18), "test",
                back / Ipv4{.source = "10.0.0.2", .destination = "10.0.0.1"} / Icmp{} / payload(18));
    // A datagram that lies about its length goes back by what can be trusted.
    expect_back(reflector, Ethernet{} / Ipv4{} / Udp{.length = 9000} / payload(18), "test",
                back / Ipv4{.source = "10.0.0.2", .destination = "10.0.0.1"} / Udp{.length = 9000} / payload(18));
}

// ---- guards ----

TEST(Reflect, Guards) {
    ReflectCheck reflector;
    const auto ask = [](const Ethernet& eth, const Ipv4& ip = {}, const Udp& udp = {.destination = 7}) {
        return eth / ip / udp / payload(18);
    };
    const auto ask6 = [](const Ipv6& ip) { return Ethernet{} / ip / Udp{.destination = 7} / payload(18); };
    EXPECT_REFLECT(reflector, "test", ask({}));
    EXPECT_REFLECT(reflector, "group_address", ask({.destination = broadcast_mac}));
    EXPECT_REFLECT(reflector, "group_address", ask({.destination = {{0x01, 0, 0x5e, 0, 0, 1}}}));
    EXPECT_REFLECT(reflector, "other_mac", ask({.destination = stranger_mac}));
    EXPECT_REFLECT(reflector, "source_mac", ask({.source = own_mac}));
    EXPECT_REFLECT(reflector, "source_mac", ask({.source = {{0x03, 0, 0, 0, 0, 2}}}));
    EXPECT_REFLECT(reflector, "source_mac", ask({.source = {}}));
    EXPECT_REFLECT(reflector, "test", ask({.source = {{0, 0, 0, 0, 1, 0}}}));
    EXPECT_REFLECT(reflector, "fragment", ask({}, {.fragment_offset = 100}));
    EXPECT_REFLECT(reflector, "source_address", ask({}, {.source = "0.0.0.0"}));
    EXPECT_REFLECT(reflector, "source_address", ask({}, {.source = "127.0.0.1"}));
    EXPECT_REFLECT(reflector, "source_address", ask({}, {.source = "224.0.0.1"}));
    EXPECT_REFLECT(reflector, "source_address", ask({}, {.source = "255.255.255.255"}));
    EXPECT_REFLECT(reflector, "source_address", ask({}, {.source = "10.0.0.2"})); // land
    EXPECT_REFLECT(reflector, "group_address", ask({}, {.destination = "239.1.2.3"}));
    EXPECT_REFLECT(reflector, "group_address", ask({}, {.destination = "255.255.255.255"}));
    EXPECT_REFLECT(reflector, "not_allowed", ask({}, {.source = "11.0.0.1"}));
    for (const std::uint16_t port : std::initializer_list<std::uint16_t>{7, 862, 3842})
        EXPECT_REFLECT(reflector, "from_reflector", ask({}, {}, {.source = port, .destination = 7}));
    EXPECT_REFLECT(reflector, "source_address", ask6({.source = "::"}));
    EXPECT_REFLECT(reflector, "source_address", ask6({.source = "::1"}));
    EXPECT_REFLECT(reflector, "source_address", ask6({.source = "ff02::1"}));
    EXPECT_REFLECT(reflector, "source_address", ask6({.source = "2001:db8::2"}));
    EXPECT_REFLECT(reflector, "group_address", ask6({.destination = "ff02::1"}));
    EXPECT_REFLECT(reflector, "not_allowed", ask6({.source = "2001:db9::1"}));
}

// The other end of the test's networks, which the programs take for on the link: 10.0.0.0/8.
TEST(Reflect, BroadcastAddressesOfTheNetwork) {
    ReflectCheck reflector;
    const auto slot = [&](const std::string& source, const std::string& destination) {
        return reflect_slot_name(reflector.slot(Ethernet{} / Ipv4{.source = source, .destination = destination} /
                                                Udp{.source = 50'000, .destination = 7} / payload(18)));
    };
    for (const char* broadcast : {"10.0.0.0", "10.255.255.255"}) {
        EXPECT_EQ(slot(broadcast, "10.0.0.2"), "source_address") << broadcast;
        EXPECT_EQ(slot("10.0.0.1", broadcast), "group_address") << broadcast;
    }
    for (const char* station : {"10.0.0.3", "10.0.0.4", "10.0.0.255", "10.0.1.0", "10.255.255.254"}) {
        EXPECT_EQ(slot(station, "10.0.0.2"), "test") << station;
        EXPECT_EQ(slot("10.0.0.1", station), "test") << station;
    }
    reflector.program()->bss->reflect_live.on_link4[0] = prefix4("10.0.0.2", 31);
    EXPECT_EQ(slot("10.0.0.3", "10.0.0.2"), "test");
    reflector.program()->bss->reflect_live.on_link4[0] = prefix4("10.0.0.3", 32);
    EXPECT_EQ(slot("10.0.0.3", "10.0.0.2"), "test");
}

// They answer whatever comes, and might for ever.
TEST(Reflect, PortsOfServices) {
    ReflectCheck reflector;
    const auto slot = [&](std::uint16_t source) {
        return reflect_slot_name(
            reflector.slot(Ethernet{} / Ipv4{} / Udp{.source = source, .destination = 7} / payload(18)));
    };
    for (const std::uint16_t service : std::initializer_list<std::uint16_t>{0, 7, 13, 19, 53, 123, 862, 1023, 3842})
        EXPECT_EQ(slot(service), "from_reflector") << service;
    for (const std::uint16_t tester : std::initializer_list<std::uint16_t>{1024, 3841, 3843, 49'184, 65'535})
        EXPECT_EQ(slot(tester), "test") << tester;
}

TEST(Reflect, AllowedSourcesMayBeFarAwayAndReflectors) {
    reflect_cfg cfg = default_reflect();
    cfg.allow4_count = cfg.allow6_count = 1;
    cfg.allow4[0] = prefix4("11.0.0.0", 24);
    cfg.allow6[0] = prefix6("2001:db9::", 64);
    ReflectCheck reflector(cfg);
    const Udp symmetric{.source = 7, .destination = 7};
    EXPECT_REFLECT(reflector, "test", Ethernet{} / Ipv4{.source = "11.0.0.9"} / symmetric / payload(18));
    EXPECT_REFLECT(reflector, "test", Ethernet{} / Ipv6{.source = "2001:db9::9"} / symmetric / payload(18));
    EXPECT_REFLECT(reflector, "not_allowed", Ethernet{} / Ipv4{.source = "11.0.1.9"} / symmetric / payload(18));
    EXPECT_REFLECT(reflector, "from_reflector", Ethernet{} / Ipv4{} / symmetric / payload(18));
}

TEST(Reflect, AnyMacLiftsTheGuardOfOurOwn) {
    reflect_cfg cfg = default_reflect();
    cfg.match.any_mac = 1;
    ReflectCheck reflector(cfg);
    Ends ends;
    ends.mac[0] = stranger_mac;
    const Shape shape;
    expect_back(reflector, shape.packet(ends), "test", shape.packet(ends.back(3)));
    ends.mac[0] = tester_mac;
    EXPECT_REFLECT(reflector, "source_mac", shape.packet(ends));
    ends.mac[0] = broadcast_mac;
    EXPECT_REFLECT(reflector, "group_address", shape.packet(ends));
}

TEST(Reflect, RestrictionsOfTheSink) {
    reflect_cfg cfg = default_reflect();
    cfg.match.vlan_count = 1;
    cfg.match.vlan[0] = {5, 5};
    ReflectCheck reflector(cfg);
    EXPECT_REFLECT(reflector, "other_vlan", to_port(7, Octets(18)));
    EXPECT_REFLECT(reflector, "test", Ethernet{} / Vlan{.id = 5} / Ipv4{} / Udp{.destination = 7} / payload(18));
    EXPECT_REFLECT(reflector, "other_vlan", Ethernet{} / Vlan{.id = 6} / Ipv4{} / Udp{.destination = 7} / payload(18));
}

TEST(Reflect, RefusesWhileItIsTold) {
    ReflectCheck reflector;
    reflector.program()->bss->reflect_live.refuse = SLOT_EXPIRED;
    EXPECT_REFLECT(reflector, "expired", to_port(7, Octets(18)));
    EXPECT_REFLECT(reflector, "udp", to_port(8, Octets(18)));
    reflector.program()->bss->reflect_live.refuse = 0;
    EXPECT_REFLECT(reflector, "test", to_port(7, Octets(18)));
}

// ---- how long a frame stays ----

TEST(Reflect, TimesAFrameThatGoesBackWhenTold) {
    ReflectCheck reflector;
    const auto timed = [&] {
        std::vector<histogram> by_cpu(static_cast<std::size_t>(libbpf_num_possible_cpus()));
        const std::uint32_t key = 0;
        EXPECT_EQ(bpf_map_lookup_elem(bpf_map__fd(reflector.program()->maps.reflect_residence), &key, by_cpu.data()),
                  0);
        std::uint64_t frames = 0;
        for (const histogram& one : by_cpu)
            for (const std::uint64_t count : one.count)
                frames += count;
        return frames;
    };
    const Octets test = Shape{}.packet({}), passes = Ethernet{} / Ipv4{} / Tcp{} / payload(18);
    for (std::uint64_t round = 1; round <= 5; ++round) {
        reflector.program()->bss->reflect_time_next = 1;
        reflector.see(test); // this one
        reflector.see(test);
        EXPECT_EQ(timed(), round);
        reflector.program()->bss->reflect_time_next = 1;
        reflector.see(passes);
        EXPECT_EQ(timed(), round);
    }
}

// ---- caps ----

TEST(ReflectCaps, EachHasItsOwnAccount) {
    reflect_cfg cfg = default_reflect();
    const auto slots = [&](std::uint64_t frame_cost, std::uint64_t octet_cost) {
        cfg.frame_cost = frame_cost;
        cfg.octet_cost = octet_cost;
        ReflectProgram program(cfg);
        std::map<std::string, std::uint64_t> seen;
        for (int i = 0; i < 20; ++i) {
            run_program(program.fd(), Shape{}.packet({}).octets());
            for (const auto& [slot, count] : program.take_change())
                seen[reflect_slot_name(slot)] += count.frames;
        }
        return seen;
    };
    const std::uint64_t hour_of_a_frame = std::uint64_t{3600} * 1'000'000'000 << CAP_UNIT_BITS;
    const std::uint64_t hour_of_an_octet = std::uint64_t{60} * 1'000'000'000 << CAP_OCTET_BITS;
    using Seen = std::map<std::string, std::uint64_t>;
    EXPECT_EQ(slots(0, 0), (Seen{{"test", 20}}));
    EXPECT_EQ(slots(1, 1), (Seen{{"test", 20}}));
    EXPECT_EQ(slots(hour_of_a_frame, 0), (Seen{{"test", 1}, {"capped", 19}}));
    EXPECT_EQ(slots(0, hour_of_an_octet), (Seen{{"test", 1}, {"capped", 19}}));
    EXPECT_EQ(slots(1, hour_of_an_octet), (Seen{{"test", 1}, {"capped", 19}}));
}

// Of the socket's answers nothing is taken, and none is in the way of the cap.
TEST(ReflectCaps, WhatASocketAnswersTakesNothing) {
    for (const bool authenticated : {false, true}) {
        reflect_cfg cfg = default_reflect();
        cfg.frame_cost = std::uint64_t{3600} * 1'000'000'000 << CAP_UNIT_BITS;
        cfg.stamp_authenticated = authenticated;
        ReflectProgram program(cfg);
        const auto slot = [&](const Octets& frame) {
            run_program(program.fd(), frame);
            return reflect_slot_name(program.take_change().begin()->first);
        };
        const Octets rare = Ethernet{} / Ipv4{} / Udp{.destination = 862} / zeros(authenticated ? 112 : 14);
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(slot(rare), "stamp_rare");
        EXPECT_EQ(slot(Shape{}.packet({})), "test");
        EXPECT_EQ(slot(Shape{}.packet({})), "capped");
        EXPECT_EQ(slot(rare), "stamp_rare");
    }
}

// At this rate and 10 ms ahead, whatever comes.
TEST(ReflectCaps, Rate) {
    volatile __u64 taken = 0;
    std::uint64_t through = 0;
    constexpr std::uint64_t cost = 100'000 << CAP_UNIT_BITS; // 10,000 frames a second
    constexpr std::uint64_t start = 5'000'000'000, second = 1'000'000'000;
    for (std::uint64_t now = start; now < start + 2 * second; now += 1000)
        if (!cap_is_reached(&taken, now)) {
            cap_take(&taken, now, cost);
            ++through;
        }
    EXPECT_NEAR(static_cast<double>(through), 20'000 + 100, 1);
    // A pause earns nothing but these 10 ms.
    for (std::uint64_t i = 0; i < 1000; ++i)
        if (!cap_is_reached(&taken, start + 100 * second)) {
            cap_take(&taken, start + 100 * second, cost);
            ++through;
        }
    EXPECT_NEAR(static_cast<double>(through), 20'000 + 2 * 101, 2);
}

// ---- STAMP ----

double ntp_now() {
    return static_cast<double>(clock_now_ns(CLOCK_TAI)) / 1e9 + 2'208'988'800.0 -
           static_cast<double>(ReflectProgram::tai_offset_s);
}

double ntp_seconds(std::uint64_t time) { return static_cast<double>(time) / 4294967296.0; }

void expect_stamp(ReflectCheck& reflector, const Shape& shape, const StampPacket& packet, Word checksum = {},
                  std::uint32_t sequence = 0x01020304) {
    Ends ends;
    ends.port[0] = 862;
    const double before = ntp_now();
    const ReflectCheck::Seen seen = reflector.see(stamp_frame(shape, ends, 61, packet.payload(), checksum));
    ASSERT_EQ(reflect_slot_name(seen.slot), "stamp_reply");
    const std::size_t at = 14 + 4 * shape.tags.size() + (shape.ip == 4 ? 20 : 40) + 8;
    const double received = ntp_seconds(get(seen.out, at + 16, 8)), sent = ntp_seconds(get(seen.out, at + 4, 8));
    EXPECT_GT(received, before - 1e-5);
    EXPECT_GE(get(seen.out, at + 4, 8), get(seen.out, at + 16, 8));
    EXPECT_LT(sent, ntp_now() + 1e-5);
    const Octets expected =
        stamp_frame(shape, ends.back(3), 255, stamp_reply(packet, seen.out, at, 61, sequence), checksum);
    EXPECT_TRUE(seen.out == expected) << "came:\n" << hex(seen.out) << "\nexpected:\n" << hex(expected);
}

Octets tlv(std::uint8_t flags, std::uint8_t type, std::size_t length) {
    Octets octets{flags, type, static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length)};
    octets.resize(4 + length, 0x5a);
    return octets;
}

TEST(ReflectStamp, Replies) {
    ReflectCheck reflector;
    for (const auto& [name, tags] : tag_stacks)
        for (const unsigned ip : {4U, 6U}) {
            SCOPED_TRACE(name);
            const Shape shape{.tags = tags, .ip = ip};
            expect_stamp(reflector, shape, {});
            expect_stamp(reflector, shape, {.mbz = payload(28).octets}); // not zero: ignored
            expect_stamp(reflector, shape, {.more = Octets(3)});
            expect_stamp(reflector, shape, {.more = Octets(1000)});
            expect_stamp(reflector, shape, {.more = tlv(0x80, 1, 300)});
            expect_stamp(reflector, shape, {.more = tlv(0x80, 1, 0)});
        }
    expect_stamp(reflector, {}, {}, 0); // IPv4 may go without a checksum
}

// Sums that come to nothing: the checksum 0 has a meaning of its own.
TEST(ReflectStamp, ChecksumsOfAllKinds) {
    ReflectCheck reflector;
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
        StampPacket packet{.sequence = static_cast<std::uint32_t>(random()),
                           .session = static_cast<std::uint16_t>(random())};
        for (auto& octet : packet.mbz)
            octet = i % 2 == 0 ? 0xff : static_cast<std::uint8_t>(random());
        expect_stamp(reflector, {.ip = i % 4 < 2 ? 4U : 6U}, packet, {}, packet.sequence);
        if (HasFailure())
            return;
    }
}

TEST(ReflectStamp, StatefulCountsASession) {
    reflect_cfg cfg = default_reflect();
    cfg.stamp_stateful = 1;
    ReflectCheck reflector(cfg);
    for (std::uint32_t i = 0; i < 5; ++i) {
        expect_stamp(reflector, {}, {.sequence = 100 + 2 * i}, {}, i);
        expect_stamp(reflector, {}, {.sequence = 7, .session = 1}, {}, i);
        expect_stamp(reflector, {.ip = 6}, {}, {}, i);
    }
}

TEST(ReflectStamp, WhatIsLeftToASocket) {
    ReflectCheck reflector;
    const auto ask = [](const Payload& data, const Ipv4& ip = {}) {
        return Ethernet{} / ip / Udp{.destination = 862} / data;
    };
    EXPECT_REFLECT(reflector, "stamp_reply", ask(StampPacket{}.payload()));
    EXPECT_REFLECT(reflector, "stamp_rare", ask(zeros(14))); // TWAMP-Light's shortest
    EXPECT_REFLECT(reflector, "stamp_rare", ask(zeros(43)));
    EXPECT_REFLECT(reflector, "stamp_rare", ask(StampPacket{.more = tlv(0x80, 5, 12)}.payload()));
    EXPECT_REFLECT(reflector, "stamp_rare", ask(StampPacket{.more = tlv(0xc0, 1, 12)}.payload()));
    EXPECT_REFLECT(reflector, "stamp_rare", ask(StampPacket{.more = {0x80, 1, 0, 9, 0}}.payload()));
    EXPECT_REFLECT(reflector, "stamp_rare", ask(StampPacket{}.payload(), {.options = 4}));
    EXPECT_REFLECT(reflector, "not_allowed", ask(StampPacket{}.payload(), {.source = "11.0.0.1"}));
    reflect_cfg cfg = default_reflect();
    cfg.stamp_authenticated = 1;
    ReflectCheck authenticated(cfg);
    EXPECT_REFLECT(authenticated, "stamp_rare", ask(StampPacket{}.payload()));
}

// ---- Ethernet OAM ----

TEST(ReflectOam, Loopback) {
    ReflectCheck reflector;
    for (const auto& [name, tags] : tag_stacks)
        for (unsigned level = 0; level < 8; ++level) {
            const Ethernet there = with_type({}, tags),
                           back = with_type({.destination = tester_mac, .source = own_mac}, tags);
            expect_back(reflector, oam(there, tags, 3, payload(64).octets, level), "loopback_reply",
                        oam(back, tags, 2, payload(64).octets, level));
        }
    EXPECT_REFLECT(reflector, "group_address",
                   oam(with_type({.destination = broadcast_mac}, {}), {}, 3, payload(64).octets));
    for (const std::uint8_t opcode : std::initializer_list<std::uint8_t>{1, 2, 4, 5, 46, 54})
        EXPECT_REFLECT(reflector, "other_ethertype", oam(with_type({}, {}), {}, opcode, payload(64).octets));
}

TEST(ReflectOam, OneLevelOnly) {
    reflect_cfg cfg = default_reflect();
    cfg.oam_level = 3;
    ReflectCheck reflector(cfg);
    for (unsigned level = 0; level < 8; ++level)
        EXPECT_REFLECT(reflector, level == 3 ? "loopback_reply" : "other_ethertype",
                       oam(with_type({}, {}), {}, 3, payload(64).octets, level));
}

TEST(ReflectOam, Delay) {
    ReflectCheck reflector;
    for (const auto& [name, tags] : tag_stacks) {
        const Octets body = payload(33).octets; // four times and the end TLV
        const ReflectCheck::Seen seen = reflector.see(oam(with_type({}, tags), tags, 47, body));
        ASSERT_EQ(reflect_slot_name(seen.slot), "delay_reply");
        const std::size_t at = 14 + 4 * tags.size() + 4;
        Octets expected = body;
        std::copy_n(seen.out.begin() + static_cast<std::ptrdiff_t>(at + 8), 16, expected.begin() + 8);
        EXPECT_EQ(seen.out,
                  oam(with_type({.destination = tester_mac, .source = own_mac}, tags), tags, 46, expected).octets());
        const std::uint64_t received = get(seen.out, at + 8, 4) * 1'000'000'000 + get(seen.out, at + 12, 4),
                            sent = get(seen.out, at + 16, 4) * 1'000'000'000 + get(seen.out, at + 20, 4);
        const std::uint64_t now_ns = clock_now_ns(CLOCK_TAI);
        EXPECT_LE(received, sent);
        EXPECT_LE(sent, now_ns);
        EXPECT_GT(received, now_ns - 10'000'000'000);
    }
}

TEST(ReflectOam, SyntheticLossCountsAMeasurement) {
    reflect_cfg cfg = default_reflect();
    cfg.oam_mep = 4711;
    ReflectCheck reflector(cfg);
    const auto body = [](std::uint16_t mep, std::uint16_t responder, std::uint32_t test, std::uint32_t forward,
                         std::uint32_t back) {
        Octets octets;
        const auto put = [&](std::uint64_t value, int bytes) {
            for (int i = bytes - 1; i >= 0; --i)
                octets.push_back(static_cast<std::uint8_t>(value >> 8 * i));
        };
        put(mep, 2);
        put(responder, 2);
        put(test, 4);
        put(forward, 4);
        put(back, 4);
        put(0, 1);
        return octets;
    };
    const Ethernet there = with_type({}, {}), back = with_type({.destination = tester_mac, .source = own_mac}, {});
    for (std::uint32_t i = 1; i <= 4; ++i) {
        expect_back(reflector, oam(there, {}, 55, body(11, 0, 1, 10 * i, 0)), "loss_reply",
                    oam(back, {}, 54, body(11, 4711, 1, 10 * i, i)));
        expect_back(reflector, oam(there, {}, 55, body(11, 0, 2, 7, 0)), "loss_reply",
                    oam(back, {}, 54, body(11, 4711, 2, 7, i)));
    }
}

// ---- ping, and the address of the test ----

TEST(ReflectPing, OnRequest) {
    reflect_cfg cfg = default_reflect();
    EXPECT_REFLECT(*std::make_unique<ReflectCheck>(cfg), "icmp", Ethernet{} / Ipv4{} / Icmp{} / payload(56));
    cfg.icmp = 1;
    ReflectCheck reflector(cfg);
    const Ethernet back{.destination = tester_mac, .source = own_mac};
    expect_back(reflector, Ethernet{} / Ipv4{} / Icmp{} / payload(56), "ping_reply",
                back / Ipv4{.source = "10.0.0.2", .destination = "10.0.0.1"} / Icmp{.type = 0} / payload(56));
    expect_back(reflector, Ethernet{} / Ipv6{} / Icmp{.type = 128} / payload(56), "ping_reply",
                back / Ipv6{.source = "2001:db8::2", .destination = "2001:db8::1"} / Icmp{.type = 129} / payload(56));
    EXPECT_REFLECT(reflector, "not_allowed", Ethernet{} / Ipv4{.source = "11.0.0.1"} / Icmp{} / payload(56));
    EXPECT_REFLECT(reflector, "icmp", Ethernet{} / Ipv4{} / Icmp{.type = 0} / payload(56));
}

TEST(ReflectPing, ForTheAddressOfTheTest) {
    reflect_cfg cfg = default_reflect();
    cfg.answer.v4 = cfg.answer.v6 = 1;
    cfg.answer.address4 = prefix4("198.18.1.2", 32).address;
    std::ranges::copy(prefix6("2001:2::2", 128).address, cfg.answer.address6);
    ReflectCheck reflector(cfg);
    EXPECT_REFLECT(reflector, "arp_reply", Ethernet{.destination = broadcast_mac} / Arp{});
    EXPECT_REFLECT(reflector, "ping_reply", Ethernet{} / Ipv4{.destination = "198.18.1.2"} / Icmp{} / payload(56));
    EXPECT_REFLECT(reflector, "ping_reply",
                   Ethernet{} / Ipv6{.destination = "2001:2::2"} / Icmp{.type = 128} / payload(56));
    EXPECT_REFLECT(reflector, "icmp", Ethernet{} / Ipv4{.destination = "198.18.1.3"} / Icmp{} / payload(56));
    cfg.match.all = 1; // also where a ping is test traffic
    ReflectCheck all(cfg);
    EXPECT_REFLECT(all, "ping_reply", Ethernet{} / Ipv4{.destination = "198.18.1.2"} / Icmp{} / payload(56));
    EXPECT_REFLECT(all, "test", Ethernet{} / Ipv4{.destination = "198.18.1.3"} / Icmp{} / payload(56));
}

// ---- whatever comes ----

TEST(Reflect, RandomDamage) {
    reflect_cfg cfg = default_reflect();
    cfg.icmp = 1;
    ReflectCheck reflector(cfg);
    std::mt19937 random(4);
    std::vector<Octets> frames{
        oam(with_type({}, {}), {}, 47, payload(33).octets), oam(with_type({}, {}), {}, 55, payload(17).octets),
        Ethernet{} / Ipv4{} / Icmp{} / payload(56),
        Ethernet{} / Ipv4{} / Udp{.destination = 862} / StampPacket{.more = tlv(0x80, 1, 9)}.payload()};
    for (const Shape& shape : shapes())
        if (shape.payload == 18)
            frames.push_back(shape.packet({}));
    for (int i = 0; i < 20'000 && !testing::Test::HasFailure(); ++i) {
        Octets frame = frames[random() % frames.size()];
        for (unsigned damage = random() % 4; damage > 0; --damage)
            frame[12 + random() % (frame.size() - 12)] = static_cast<std::uint8_t>(random());
        frame.resize(14 + random() % (frame.size() - 13));
        reflector.see(frame);
    }
}

} // namespace
} // namespace responder::test
