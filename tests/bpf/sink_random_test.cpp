// SPDX-License-Identifier: GPL-2.0-only
//
// Many frames that nobody thought of: headers stacked at random, octets changed at random, cut at random. SinkCheck
// expects of each that the program and the native frame logic agree; here the books are balanced over all of them.

#include "tests/bpf/sink_check.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

namespace responder::test {
namespace {

using namespace packet;

constexpr unsigned frames_of_each = 100'000;
constexpr const char* own4 = "198.18.1.2";
constexpr const char* own6 = "2001:2::2";

class Generator {
  public:
    explicit Generator(std::uint32_t seed) : random_(seed) {}

    Octets next() {
        Packet packet =
            Ethernet{.destination = mac(own_mac), .source = mac(tester_mac), .shortest = one_in(2) ? 60u : 0u};
        for (unsigned tags = one_in(3) ? below(5) : 0; tags > 0; --tags)
            packet /= Vlan{.id = below(8), .protocol = one_in(2) ? c_tag : s_tag};
        switch (below(12)) {
        case 0:
            packet /= payload(below(100));
            break;
        case 1:
            packet /= Arp{
                .operation = 1 + below(2), .sender_mac = mac(tester_mac), .sender = address4(), .target = address4()};
            break;
        case 2:
        case 3:
        case 4:
        case 5:
        case 6:
            ip4(packet);
            break;
        default:
            ip6(packet);
        }
        Octets octets = packet;
        if (one_in(3)) { // mostly in the headers
            for (unsigned changes = 1 + below(3); changes > 0; --changes)
                octets[below(std::min<unsigned>(100, static_cast<unsigned>(octets.size())))] =
                    static_cast<std::uint8_t>(random_());
        }
        if (one_in(6))
            octets.resize(14 + below(static_cast<unsigned>(octets.size()) - 13));
        return octets;
    }

  private:
    unsigned below(unsigned limit) { return static_cast<unsigned>(random_()) % limit; }
    bool one_in(unsigned n) { return below(n) == 0; }

    MacAddress mac(const MacAddress& usual) {
        static const MacAddress macs[] = {own_mac,
                                          tester_mac,
                                          stranger_mac,
                                          broadcast_mac,
                                          {{0x01, 0x80, 0xc2, 0, 0, 2}},
                                          {{0x33, 0x33, 0xff, 0, 0, 2}}};
        return one_in(3) ? macs[below(std::size(macs))] : usual;
    }
    std::string address4() {
        static const char* const addresses[] = {own4,        own4,      "198.18.1.1", "10.0.0.1",
                                                "224.0.0.1", "0.0.0.0", "198.20.0.0"};
        return addresses[below(std::size(addresses))];
    }
    std::string address6() {
        static const char* const addresses[] = {own6, own6,        "2001:2::1", "2001:db8::1", "ff02::1:ff00:2",
                                                "::", "2001:2:1::"};
        return addresses[below(std::size(addresses))];
    }
    std::uint16_t port() {
        static const std::uint16_t ports[] = {9, 9, 9, 7, 10, 67, 68, 546, 547, 0, 5000};
        return ports[below(std::size(ports))];
    }

    void ip4(Packet& packet) {
        Ipv4 ip{.source = address4(), .destination = address4(), .ttl = below(256)};
        if (one_in(4))
            ip.options = 4 * below(11);
        if (one_in(4)) {
            ip.more_fragments = one_in(2);
            ip.fragment_offset = one_in(2) ? 0 : below(8192);
        }
        if (one_in(10))
            ip.length = static_cast<std::uint16_t>(below(120));
        if (one_in(20))
            ip.ihl = static_cast<std::uint8_t>(below(16));
        upper(packet /= ip, false);
    }
    void ip6(Packet& packet) {
        Ipv6 ip{.source = address6(), .destination = address6(), .hop_limit = one_in(4) ? 64u : 255u};
        if (one_in(10))
            ip.length = static_cast<std::uint16_t>(below(120));
        packet /= ip;
        for (unsigned count = one_in(3) ? below(11) : 0; count > 0; --count) {
            static const std::uint8_t kinds[] = {0, 43, 60, 135, 51, 44};
            const std::uint8_t kind = kinds[below(std::size(kinds))];
            if (kind == 44)
                packet /= Fragment{.offset = one_in(3) ? below(8192) : 0, .more = one_in(3)};
            else
                packet /= Extension{.kind = kind, .size = 8 + 8 * below(3)};
        }
        upper(packet, true);
    }
    void upper(Packet& packet, bool v6) {
        switch (below(8)) {
        case 0:
            packet /= Tcp{};
            break;
        case 1:
            packet /= payload(below(40));
            break;
        case 2:
            packet /= Icmp{.type = v6 ? std::uint8_t{128} : std::uint8_t{8}, .code = one_in(8)};
            break;
        case 3:
            packet /= Icmp{.type = static_cast<std::uint8_t>(one_in(2) ? 135 : 132 + below(7)), .rest = 0};
            packet /= address_octets(address6());
            packet /= one_in(2) ? Payload{{1, 1, 2, 0, 0, 0, 0, 2}} : Payload{};
            return;
        default: {
            Udp udp{.destination = port()};
            if (one_in(8))
                udp.length = static_cast<std::uint16_t>(below(80));
            packet /= udp;
        }
        }
        packet /= payload(below(one_in(4) ? 600 : 60));
    }

    std::mt19937 random_;
};

struct Setting {
    const char* name;
    SinkProgram::Options options;
};

Setting settings(unsigned index) {
    Setting setting{"default", {}};
    match_cfg& match = setting.options.match;
    switch (index) {
    case 1:
        setting = {"answering", {.address4 = own4, .address6 = own6}};
        break;
    case 2:
        setting.name = "all, answering";
        setting.options = {.match = {}, .address4 = own4, .address6 = own6};
        setting.options.match.all = 1;
        break;
    case 3:
        setting.name = "restricted";
        match.any_mac = 1;
        match.vlan_count = 1;
        match.vlan[0] = {0, 5};
        match.source4_count = match.source6_count = 1;
        match.source4[0] = prefix4("198.18.0.0", 15);
        match.source6[0] = prefix6("2001:2::", 48);
        match.source_mac_count = 1;
        std::ranges::copy(tester_mac.bytes, match.source_mac[0].bytes);
        break;
    case 4:
        setting.name = "EtherType and any UDP, with several buffers";
        setting.options = {.match = {}, .multi_buffer = true};
        setting.options.match.any_udp = 1;
        setting.options.match.ethertype_count = 1;
        setting.options.match.ethertype[0] = 0x88b5;
        break;
    }
    return setting;
}
constexpr unsigned setting_count = 5;

class SinkRandom : public testing::TestWithParam<unsigned> {};

TEST_P(SinkRandom, ProgramAndNativeAgree) {
    const std::uint32_t seed = 20261130 + GetParam();
    const Setting setting = settings(GetParam());
    std::printf("%s: %u frames, seed %u\n", setting.name, frames_of_each, seed);
    SinkCheck sink(setting.options);
    Generator generator(seed);
    std::vector<std::uint64_t> seen(SLOTS);
    for (unsigned i = 0; i < frames_of_each && !HasFailure(); ++i) { // one that fails says enough
        const Slot slot = sink.slot(generator.next());
        if (slot.value < SLOTS)
            ++seen[slot.value];
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t count : seen)
        sum += count;
    EXPECT_EQ(sum, frames_of_each);
    EXPECT_EQ(sink.frames(), frames_of_each);

    // The frames are of the kinds that they are meant to be, or the agreement means little.
    for (std::uint32_t slot = 0; slot < SLOTS; ++slot) {
        const bool size = slot >= SLOT_SIZE_1024 && slot < SLOT_SIZE_END;
        const bool answers = sink.program().cfg().answer.v4 != 0;
        const bool expected = !size && !is_reflectors(slot) && (!is_answer(slot) || answers);
        if (is_reflectors(slot)) {
            EXPECT_EQ(seen[slot], 0u) << slot_name(slot);
        }
        if (expected && GetParam() < 2 && slot != SLOT_OTHER_VLAN && slot != SLOT_OTHER_ADDRESS) {
            EXPECT_GT(seen[slot], 10u) << slot_name(slot);
        }
    }
    std::uint64_t test = 0;
    for (std::uint32_t slot = 0; slot < SLOT_SIZE_END; ++slot)
        test += seen[slot];
    EXPECT_GT(test, frames_of_each / 1000) << "test frames";
}

INSTANTIATE_TEST_SUITE_P(Settings, SinkRandom, testing::Range(0u, setting_count));

} // namespace
} // namespace responder::test
