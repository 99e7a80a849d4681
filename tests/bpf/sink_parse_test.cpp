// SPDX-License-Identifier: GPL-2.0-only
//
// Tags, headers, fragments and lengths, the honest and the hostile ones: nothing is counted as something that it is
// not.

#include "tests/bpf/sink_check.h"
#include "tests/harness/frame_native.h"

namespace responder::test {
namespace {

using namespace packet;

// What stands behind the tags: one of each IP version, found by port.
Packet ip_udp(bool v6) { return v6 ? Ipv6{} / Udp{} : Ipv4{} / Udp{}; }

TEST(SinkParse, Tags) {
    SinkCheck sink;
    for (const bool v6 : {false, true})
        for (const std::uint16_t first : {c_tag, s_tag})
            for (const std::uint16_t second : {c_tag, s_tag})
                for (const std::uint16_t third : {c_tag, s_tag}) {
                    const Vlan a{.id = 1, .protocol = first}, b{.id = 2, .protocol = second},
                        c{.id = 3, .protocol = third};
                    EXPECT_TRUE(sink.counts(Ethernet{} / ip_udp(v6)));
                    EXPECT_TRUE(sink.counts(Ethernet{} / a / ip_udp(v6)));
                    EXPECT_TRUE(sink.counts(Ethernet{} / a / b / ip_udp(v6)));
                    EXPECT_SLOT(sink, SLOT_TOO_DEEP, Ethernet{} / a / b / c / ip_udp(v6));
                    EXPECT_SLOT(sink, SLOT_TOO_DEEP, Ethernet{} / a / b / c / c / c / ip_udp(v6));
                }
    for (const std::uint16_t no_tag :
         {std::uint16_t{0x9100}, std::uint16_t{0x9200}, std::uint16_t{0x88e7}}) // older QinQ, PBB
        EXPECT_SLOT(sink, SLOT_OTHER_ETHERTYPE, Ethernet{} / Vlan{.protocol = no_tag} / ip_udp(false));
    EXPECT_SLOT(sink, SLOT_OTHER_ETHERTYPE, Ethernet{} / Vlan{.type = 0x88b5} / ip_udp(false));
}

TEST(SinkParse, EveryIhl) {
    SinkCheck sink;
    for (unsigned words = 5; words <= 15; ++words) {
        const unsigned options = (words - 5) * 4;
        EXPECT_TRUE(sink.counts(Ethernet{} / Ipv4{.options = options} / Udp{} / payload(10))) << words;
        EXPECT_SLOT(sink, SLOT_UDP, Ethernet{} / Ipv4{.options = options} / Udp{.destination = 10}) << words;
        EXPECT_SLOT(sink, SLOT_TCP, Ethernet{} / Ipv4{.options = options} / Tcp{}) << words;
    }
    for (std::uint8_t words = 0; words < 5; ++words)
        EXPECT_SLOT(sink, SLOT_MALFORMED, Ethernet{} / Ipv4{.ihl = words} / Udp{}) << int{words};
    // More header than there is of the packet, though not of the frame.
    for (std::uint8_t words = 6; words <= 15; ++words)
        EXPECT_SLOT(sink, SLOT_MALFORMED, Ethernet{.shortest = 100} / Ipv4{.ihl = words, .length = 20}) << int{words};
    // More header than there is of the frame.
    for (std::uint8_t words = 6; words <= 15; ++words)
        EXPECT_SLOT(sink, SLOT_MALFORMED, Ethernet{.shortest = 0} / Ipv4{.protocol = 17, .ihl = words}) << int{words};
    // The ports are where the header ends: these say 9 where IHL 5 would look.
    EXPECT_SLOT(sink, SLOT_UDP,
                Ethernet{} / Ipv4{.protocol = 17, .ihl = 6} / Payload{{0, 0, 0, 9}} / Udp{.destination = 10});
}

// Version and IHL share an octet. Behind the header of any length stands what would be UDP to port 9.
TEST(SinkParse, EveryFirstOctetOfIpv4) {
    SinkCheck sink;
    Payload words;
    for (int i = 0; i < 40; ++i)
        words.octets.insert(words.octets.end(), {0, 9, 0, 9});
    Octets frame = Ethernet{} / Ipv4{.protocol = 17} / words;
    for (unsigned first = 0; first < 256; ++first) {
        frame[14] = static_cast<std::uint8_t>(first);
        EXPECT_SLOT(sink, first >= 0x45 && first <= 0x4f ? SLOT_SIZE_128 : SLOT_MALFORMED, frame) << first;
    }
}

TEST(SinkParse, Version) {
    SinkCheck sink;
    for (unsigned version = 0; version < 16; ++version) {
        EXPECT_EQ(sink.counts(Ethernet{} / Ipv4{.version = version} / Udp{}), version == 4) << version;
        EXPECT_EQ(sink.counts(Ethernet{} / Ipv6{.version = version} / Udp{}), version == 6) << version;
    }
    EXPECT_SLOT(sink, SLOT_MALFORMED, Ethernet{} / Ipv4{.version = 6} / Udp{});
    EXPECT_SLOT(sink, SLOT_MALFORMED, Ethernet{.type = 0x86dd} / Ipv4{} / Udp{} / payload(100));
    EXPECT_SLOT(sink, SLOT_MALFORMED, Ethernet{.type = 0x0800} / Ipv6{} / Udp{});
}

struct ExtensionKind {
    std::uint8_t kind;
    std::size_t shortest, step;
};
constexpr ExtensionKind extension_kinds[] = {{0, 8, 8}, {43, 8, 8}, {60, 8, 8}, {135, 8, 8}, {51, 8, 4}};

Packet chain(std::uint8_t kind, unsigned count, std::size_t size) {
    Packet packet{Ipv6{}};
    for (unsigned i = 0; i < count; ++i)
        packet /= kind == 44 ? Packet(Fragment{}) : Packet(Extension{.kind = kind, .size = size});
    return packet;
}

TEST(SinkParse, ExtensionHeadersOfEachKind) {
    SinkCheck sink;
    for (const auto& [kind, shortest, step] : extension_kinds)
        for (unsigned count = 0; count <= 9; ++count)
            for (const std::size_t size : {shortest, shortest + step, shortest + 5 * step}) {
                SCOPED_TRACE("kind " + std::to_string(kind) + ", " + std::to_string(count) + " of " +
                             std::to_string(size));
                const Packet headers = chain(kind, count, size);
                const count_slot deep = SLOT_TOO_DEEP;
                EXPECT_EQ(sink.counts(Ethernet{} / headers / Udp{}), count <= 8);
                EXPECT_SLOT(sink, count <= 8 ? SLOT_UDP : deep, Ethernet{} / headers / Udp{.destination = 10});
                EXPECT_SLOT(sink, count <= 8 ? SLOT_TCP : deep, Ethernet{} / headers / Tcp{});
                EXPECT_SLOT(sink, count <= 8 ? SLOT_ICMP : deep, Ethernet{} / headers / Icmp{.type = 128});
            }
    for (unsigned count = 0; count <= 9; ++count) { // fragment headers that fragment nothing (RFC 6946)
        EXPECT_EQ(sink.counts(Ethernet{} / chain(44, count, 8) / Udp{}), count <= 8) << count;
        EXPECT_SLOT(sink, count <= 8 ? SLOT_UDP : SLOT_TOO_DEEP,
                    Ethernet{} / chain(44, count, 8) / Udp{.destination = 10});
    }
}

TEST(SinkParse, ExtensionHeadersMixedAndLong) {
    SinkCheck sink;
    const Packet mixed = Ipv6{} / Extension{.kind = 0} / Extension{.kind = 43, .size = 24} /
                         Extension{.kind = 51, .size = 24} / Fragment{} / Extension{.kind = 135} /
                         Extension{.kind = 60};
    const SinkCheck::Seen seen = sink.see(Ethernet{} / Vlan{} / Vlan{} / mixed / Udp{} / payload(5));
    EXPECT_EQ(seen.slot, Slot{SLOT_SIZE_128});
    EXPECT_EQ(seen.count.payload_bytes, 5u);
    // The longest that can be: 2048 octets each.
    EXPECT_TRUE(sink.counts(Ethernet{} / Ipv6{} / Extension{.kind = 60, .size = 2048} / Udp{}));
    // Beyond the buffer that can be read: what is there nobody knows.
    SinkCheck frags({.multi_buffer = true});
    const Packet beyond = Ipv6{} / Extension{.kind = 60, .size = 2048} / Extension{.kind = 60, .size = 2048};
    EXPECT_SLOT(frags, SLOT_MALFORMED, Ethernet{} / beyond / Udp{});
    EXPECT_SLOT(frags, SLOT_MALFORMED, Ethernet{} / beyond / Tcp{});
    // The fragment header's second octet is reserved and no length.
    EXPECT_TRUE(sink.counts(Ethernet{} / Ipv6{} / Fragment{.reserved = 255} / Udp{}));
    // ESP hides what follows, and nothing follows "no next header".
    EXPECT_SLOT(sink, SLOT_OTHER_IP, Ethernet{} / Ipv6{.next = 50} / Udp{});
    EXPECT_SLOT(sink, SLOT_OTHER_IP, Ethernet{} / Ipv6{.next = 59} / Udp{});
}

TEST(SinkParse, ExtensionHeadersThatLie) {
    SinkCheck sink;
    for (const ExtensionKind& each : extension_kinds)
        for (unsigned before = 0; before < 8; ++before) {
            const std::uint8_t kind = each.kind;
            SCOPED_TRACE("kind " + std::to_string(kind) + " behind " + std::to_string(before));
            const Packet outer = chain(60, before, 8);
            // One unit more than there is, and the most that can be said.
            const Octets honest = Ethernet{} / outer / Extension{.kind = kind, .size = 16} / Udp{};
            EXPECT_TRUE(sink.counts(honest));
            EXPECT_SLOT(sink, SLOT_MALFORMED,
                        Ethernet{.shortest = 400} / outer / Extension{.kind = kind, .next = 17, .length = 255});
            EXPECT_SLOT(sink, SLOT_MALFORMED,
                        Ethernet{.shortest = 400} / outer / Extension{.kind = kind, .next = 17, .length = 4});
            // IP ends where the header begins; what looks like it is padding.
            Octets outside = Ethernet{.shortest = 400} / outer / Extension{.kind = kind, .next = 17} / Udp{};
            outside[18] = 0;
            outside[19] = static_cast<std::uint8_t>(8 * before);
            EXPECT_SLOT(sink, SLOT_MALFORMED, outside);
        }
    // The length of the whole ends inside an extension header.
    for (std::uint16_t length = 0; length < 24; ++length) {
        const Octets frame = Ethernet{} / Ipv6{.length = length} / Extension{.size = 24} / Udp{};
        EXPECT_SLOT(sink, SLOT_MALFORMED, frame) << length;
    }
}

TEST(SinkParse, FragmentsOfIpv4) {
    SinkCheck sink;
    const auto first = [](std::uint16_t port, std::size_t size) {
        return Ethernet{} / Ipv4{.more_fragments = true} / Udp{.destination = port, .length = 5000} / payload(size);
    };
    EXPECT_TRUE(sink.counts(first(9, 64)));
    EXPECT_SLOT(sink, SLOT_UDP, first(10, 64));
    EXPECT_SLOT(sink, SLOT_DHCP, first(67, 64));
    EXPECT_TRUE(sink.counts(Ethernet{} / Ipv4{.dont_fragment = true} / Udp{}));
    // A later one has no ports: what stands there may look like port 9.
    for (const bool more : {false, true})
        for (const unsigned offset : {1u, 2u, 4096u, 8191u})
            for (const unsigned options : {0u, 40u}) {
                const Ipv4 ip{.protocol = 17, .options = options, .more_fragments = more, .fragment_offset = offset};
                EXPECT_SLOT(sink, SLOT_FRAGMENT, Ethernet{} / ip / Udp{}) << offset;
                EXPECT_SLOT(sink, SLOT_FRAGMENT, Ethernet{} / ip / Udp{.destination = 67}) << offset;
                EXPECT_SLOT(sink, SLOT_FRAGMENT, Ethernet{} / ip / payload(3)) << offset;
                Ipv4 to_test = ip;
                to_test.destination = "198.18.5.5"; // known by its address alone
                EXPECT_TRUE(sink.counts(Ethernet{} / to_test / payload(64))) << offset;
            }
    // Too small for the UDP header (RFC 1858's tiny fragment).
    for (std::size_t size = 0; size < 8; ++size)
        EXPECT_SLOT(sink, SLOT_MALFORMED, Ethernet{} / Ipv4{.protocol = 17, .more_fragments = true} / payload(size))
            << size;
    // Of other protocols they are that protocol.
    EXPECT_SLOT(sink, SLOT_TCP, Ethernet{} / Ipv4{.protocol = 6, .more_fragments = true} / payload(8));
    EXPECT_SLOT(sink, SLOT_ICMP, Ethernet{} / Ipv4{.protocol = 1, .fragment_offset = 2} / payload(8));
}

TEST(SinkParse, FragmentsOfIpv6) {
    SinkCheck sink;
    const Packet test_network = Ipv6{.destination = "2001:2::77"};
    for (const unsigned before : {0u, 1u, 7u}) {
        SCOPED_TRACE(before);
        const auto fragment = [&](unsigned offset, bool more) {
            return chain(60, before, 8) / Fragment{.offset = offset, .more = more, .next = 17};
        };
        EXPECT_TRUE(sink.counts(Ethernet{} / fragment(0, true) / Udp{.length = 5000} / payload(64)));
        EXPECT_SLOT(sink, SLOT_UDP, Ethernet{} / fragment(0, true) / Udp{.destination = 10, .length = 5000});
        EXPECT_SLOT(sink, SLOT_MALFORMED, Ethernet{} / fragment(0, true) / payload(7));
        for (const bool more : {false, true})
            for (const unsigned offset : {1u, 2u, 8191u}) {
                EXPECT_SLOT(sink, SLOT_FRAGMENT, Ethernet{} / fragment(offset, more) / Udp{}) << offset;
                EXPECT_SLOT(sink, SLOT_FRAGMENT, Ethernet{} / fragment(offset, more) / payload(2)) << offset;
            }
        EXPECT_TRUE(sink.counts(Ethernet{} / test_network / Fragment{.offset = 9, .next = 17} / payload(64)));
    }
    // A second fragment header does not undo the first, nor hide behind it.
    EXPECT_SLOT(sink, SLOT_FRAGMENT, Ethernet{} / Ipv6{} / Fragment{} / Fragment{.offset = 5, .next = 17} / Udp{});
    const SinkCheck::Seen both = sink.see(Ethernet{} / Ipv6{} / Fragment{.more = true} / Fragment{.next = 17} /
                                          Udp{.length = 5000} / payload(4));
    EXPECT_EQ(both.slot, Slot{SLOT_SIZE_65}); // still a first fragment, whose UDP length is the datagram's
    EXPECT_EQ(both.count.payload_bytes, 4u);
    // In a later fragment the next header is not there: what stands in its place is not stepped over.
    EXPECT_SLOT(sink, SLOT_OTHER_IP,
                Ethernet{} / Ipv6{} / Fragment{.offset = 1, .next = 60} / Extension{.kind = 60, .next = 17} / Udp{});
    // Ninth header, in a later fragment: nothing to step over, so not too deep.
    EXPECT_SLOT(sink, SLOT_OTHER_IP, Ethernet{} / chain(60, 7, 8) / Fragment{.offset = 1, .next = 60} / payload(8));
}

TEST(SinkParse, LengthsThatLie) {
    SinkCheck sink;
    struct {
        const char* name;
        Octets frame;
        count_slot slot;
    } const cases[] = {
        {"IPv4 length 0", Ethernet{} / Ipv4{.length = 0} / Udp{}, SLOT_MALFORMED},
        {"IPv4 length below its header", Ethernet{} / Ipv4{.length = 19} / Udp{}, SLOT_MALFORMED},
        {"IPv4 length below its header with options", Ethernet{} / Ipv4{.options = 8, .length = 27} / Udp{},
         SLOT_MALFORMED},
        {"IPv4 header alone", Ethernet{} / Ipv4{.length = 20} / Udp{}, SLOT_MALFORMED},
        {"IPv4 length into the UDP header", Ethernet{} / Ipv4{.length = 27} / Udp{}, SLOT_MALFORMED},
        {"IPv4 length as UDP's", Ethernet{} / Ipv4{.length = 28} / Udp{}, SLOT_SIZE_64},
        {"IPv4 length into the padding", Ethernet{} / Ipv4{.length = 46} / Udp{}, SLOT_SIZE_64},
        {"IPv4 length one beyond the frame", Ethernet{} / Ipv4{.length = 47} / Udp{}, SLOT_MALFORMED},
        {"IPv4 length one beyond a tagged frame", Ethernet{} / Vlan{} / Ipv4{.length = 43} / Udp{}, SLOT_MALFORMED},
        {"IPv4 length as a tagged frame's", Ethernet{} / Vlan{} / Ipv4{.length = 42} / Udp{}, SLOT_SIZE_64},
        {"IPv4 length 65535", Ethernet{} / Ipv4{.length = 65535} / Udp{}, SLOT_MALFORMED},
        {"TCP with an IPv4 length beyond", Ethernet{} / Ipv4{.length = 1500} / Tcp{}, SLOT_MALFORMED},
        {"IPv6 length 0", Ethernet{} / Ipv6{.length = 0} / Udp{}, SLOT_MALFORMED},
        {"IPv6 length into the UDP header", Ethernet{} / Ipv6{.length = 7} / Udp{}, SLOT_MALFORMED},
        {"IPv6 length as UDP's", Ethernet{.shortest = 80} / Ipv6{.length = 8} / Udp{}, SLOT_SIZE_65},
        {"IPv6 length one beyond the frame", Ethernet{} / Ipv6{.length = 9} / Udp{}, SLOT_MALFORMED},
        {"IPv6 length 65535", Ethernet{} / Ipv6{.length = 65535} / Udp{}, SLOT_MALFORMED},
        {"IPv6 jumbogram", Ethernet{} / Ipv6{.length = 0} / Extension{.kind = 0} / Udp{}, SLOT_MALFORMED},
        {"IPv6 length 0, TCP", Ethernet{} / Ipv6{.length = 0} / Tcp{}, SLOT_TCP},
        {"UDP length 0", Ethernet{} / Ipv4{} / Udp{.length = 0}, SLOT_MALFORMED},
        {"UDP length 7", Ethernet{} / Ipv4{} / Udp{.length = 7}, SLOT_MALFORMED},
        {"UDP length 8", Ethernet{} / Ipv4{} / Udp{.length = 8} / payload(10), SLOT_SIZE_64},
        {"UDP length one beyond IP's", Ethernet{} / Ipv4{} / Udp{.length = 19} / payload(10), SLOT_MALFORMED},
        {"UDP length beyond IP's, not the frame's", Ethernet{} / Ipv4{.length = 28} / Udp{.length = 26},
         SLOT_MALFORMED},
        {"UDP length 65535", Ethernet{} / Ipv6{} / Udp{.length = 65535}, SLOT_MALFORMED},
        {"UDP length in a first fragment", Ethernet{} / Ipv4{.more_fragments = true} / Udp{.length = 65535},
         SLOT_SIZE_64},
        {"checksums are not looked at", Ethernet{} / Ipv4{.checksum = 0x1234} / Udp{.checksum = 0x1234}, SLOT_SIZE_64},
        {"ND without its whole header", Ethernet{} / Ipv6{.length = 7} / Icmp{.type = 135} / payload(16), SLOT_ICMP},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        EXPECT_SLOT(sink, each.slot, each.frame);
    }
}

// `packet_end`: where IP says that the packet ends. Behind it is padding, which may go.
TEST(SinkParse, CutAtEveryOctet) {
    struct {
        const char* name;
        Octets frame;
        std::size_t packet_end;
    } const cases[] = {
        {"IPv4", Ethernet{} / Ipv4{} / Udp{} / payload(4), 46},
        {"IPv4 with options", Ethernet{} / Ipv4{.options = 24} / Udp{} / payload(40), 106},
        {"IPv6", Ethernet{.shortest = 80} / Ipv6{} / Udp{}, 62},
        {"IPv6 with extension headers",
         Ethernet{} / Ipv6{} / Extension{} / Fragment{} / Extension{.kind = 51, .size = 12} / Udp{} / payload(6), 96},
        {"tagged IPv4", Ethernet{} / Vlan{} / Ipv4{} / Udp{} / payload(4), 50},
        {"IPv6 tagged twice", Ethernet{} / Vlan{} / Vlan{} / Ipv6{} / Udp{} / payload(4), 74},
    };
    SinkCheck sink;
    const sink_cfg cfg = sink.program().cfg();
    const match_mac own = sink.program()->bss->sink_own_mac;
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        for (std::size_t size = 0; size <= each.frame.size(); ++size) {
            SCOPED_TRACE(size);
            Octets cut(each.frame.begin(), each.frame.begin() + static_cast<std::ptrdiff_t>(size));
            if (size < 14) { // the kernel takes none of these, and no driver delivers one
                EXPECT_EQ(frame_native_run(cut.data(), size, size, &cfg, &own).slot, std::uint32_t{SLOT_MALFORMED});
                continue;
            }
            const Slot slot = sink.slot(cut);
            if (size < each.packet_end)
                EXPECT_EQ(slot, Slot{SLOT_MALFORMED});
            else
                EXPECT_TRUE(is_size(slot.value)) << slot_name(slot.value);
        }
    }
}

// The same, with IP's length set to what is left: only the header that is cut can tell.
TEST(SinkParse, CutAtEveryOctetWithAnHonestLength) {
    SinkCheck sink;
    const Octets ip4 = Ethernet{} / Ipv4{.options = 8} / Udp{.length = 8} / payload(30);
    for (std::size_t size = 14 + 20; size <= ip4.size(); ++size) {
        Octets cut(ip4.begin(), ip4.begin() + static_cast<std::ptrdiff_t>(size));
        cut[17] = static_cast<std::uint8_t>(size - 14);
        EXPECT_EQ(sink.slot(cut).value < SLOT_SIZE_END, size >= 14 + 28 + 8) << size;
    }
    const Octets ip6 = Ethernet{} / Ipv6{} / Extension{.size = 16} / Fragment{} / Udp{.length = 8} / payload(30);
    for (std::size_t size = 14 + 40; size <= ip6.size(); ++size) {
        Octets cut(ip6.begin(), ip6.begin() + static_cast<std::ptrdiff_t>(size));
        cut[19] = static_cast<std::uint8_t>(size - 54);
        EXPECT_EQ(sink.slot(cut).value < SLOT_SIZE_END, size >= 14 + 40 + 24 + 8) << size;
    }
}

// Which frames go the short way decides what a frame costs; bench/ measures it.
TEST(SinkParse, PlainFramesAreThoseThatAreUsual) {
    SinkCheck sink;
    for (const bool v6 : {false, true}) {
        EXPECT_TRUE(sink.see(Ethernet{} / ip_udp(v6)).plain);
        EXPECT_TRUE(sink.see(Ethernet{} / Vlan{} / Vlan{} / ip_udp(v6)).plain);
        EXPECT_TRUE(sink.see(Ethernet{} / (v6 ? Packet(Ipv6{}) : Packet(Ipv4{})) / Tcp{}).plain);
    }
    EXPECT_TRUE(sink.see(Ethernet{} / payload(46)).plain);
    EXPECT_FALSE(sink.see(Ethernet{} / Ipv4{.options = 4} / Udp{}).plain);
    EXPECT_FALSE(sink.see(Ethernet{} / Ipv4{.more_fragments = true} / Udp{}).plain);
    EXPECT_FALSE(sink.see(Ethernet{} / Ipv4{.protocol = 17, .fragment_offset = 1} / payload(40)).plain);
    EXPECT_FALSE(sink.see(Ethernet{} / Ipv6{} / Extension{} / Udp{}).plain);
}

} // namespace
} // namespace responder::test
