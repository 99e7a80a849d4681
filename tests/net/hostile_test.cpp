// SPDX-License-Identifier: GPL-2.0-only
//
// Frames that lie. Each is accounted for once, and none is test traffic unless it is.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

#include <numeric>

namespace responder::test {
namespace {

using namespace packet;

struct Sent {
    std::uint64_t test = 0, others = 0;
};

void expect_accounted(const Sent& sent, const Json& summary) {
    EXPECT_EQ(test_frames(summary), sent.test);
    const Reasons reasons = passed(summary);
    EXPECT_EQ(std::accumulate(reasons.begin(), reasons.end(), std::uint64_t{0},
                              [](auto sum, const auto& reason) { return sum + reason.second; }),
              sent.others);
    EXPECT_EQ(summary["ports"][0]["balance"]["nic_received"], sent.test + sent.others);
}

class Hostile : public testing::TestWithParam<std::string> {
  protected:
    Hostile() : sender(lab.tester, "tx1"), sink(lab, {"--mode", GetParam()}) {}
    void send(const Octets& frame, bool test) {
        sender.send(frame);
        ++(test ? sent.test : sent.others);
    }
    const Lab lab;
    PacketSocket sender;
    Sink sink;
    Sent sent;
};

TEST_P(Hostile, CutOffAtEveryOctet) {
    const Ethernet unpadded{.shortest = 0};
    const std::vector<Packet> frames = {
        unpadded / Ipv4{} / Udp{} / payload(18), unpadded / Ipv4{.options = 40} / Udp{} / payload(18),
        unpadded / Ipv6{} / Udp{} / payload(18),
        unpadded / Vlan{.id = 5} / Vlan{.id = 6} / Ipv4{} / Udp{} / payload(18),
        unpadded / Ipv6{} / Extension{.kind = 0, .size = 16} / Extension{.kind = 60} / Udp{} / payload(18)};
    for (const Packet& packet : frames) {
        const Octets whole = packet;
        for (std::size_t length = 14; length <= whole.size(); ++length)
            send(Octets(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)), length == whole.size());
    }
    expect_accounted(sent, sink.end());
}

TEST_P(Hostile, LengthsThatLie) {
    constexpr unsigned udp = 8 + 18, ip = 20 + udp;
    for (const unsigned length : {0U, 1U, 8U, 19U, 20U, 27U, 28U, ip - 1, ip, ip + 1, 46U, 47U, 1500U, 65535U}) {
        // The UDP datagram must lie inside the IP packet, and the packet inside the frame.
        send(Ethernet{} / Ipv4{.length = static_cast<std::uint16_t>(length)} / Udp{} / payload(18), length == ip);
        send(Ethernet{} / Ipv6{.length = static_cast<std::uint16_t>(length)} / Udp{} / payload(18), length == udp);
    }
    for (unsigned length = 0; length <= 100; ++length)
        send(Ethernet{} / Ipv4{} / Udp{.length = static_cast<std::uint16_t>(length)} / payload(18),
             length >= 8 && length <= udp);
    send(Ethernet{} / Ipv4{} / Udp{.length = 65535} / payload(18), false);
    expect_accounted(sent, sink.end());
}

TEST_P(Hostile, EveryHeaderLengthAndVersionOfIpv4) {
    for (unsigned ihl = 0; ihl <= 15; ++ihl)
        send(Ethernet{} / Ipv4{.ihl = static_cast<std::uint8_t>(ihl)} / Udp{} / zeros(60), ihl == 5);
    for (unsigned version = 0; version <= 15; ++version) {
        send(Ethernet{} / Ipv4{.version = version} / Udp{} / payload(18), version == 4);
        send(Ethernet{} / Ipv6{.version = version} / Udp{} / payload(18), version == 6);
    }
    for (unsigned options = 0; options <= 40; options += 4)
        send(Ethernet{} / Ipv4{.options = options} / Udp{} / payload(18), true);
    expect_accounted(sent, sink.end());
}

TEST_P(Hostile, FragmentsAreJudgedByWhatTheyShow) {
    // A first fragment shows its ports.
    send(Ethernet{} / Ipv4{.more_fragments = true} / Udp{.length = 2000} / payload(64), true);
    send(Ethernet{} / Ipv6{} / Fragment{.more = true} / Udp{.length = 2000} / payload(64), true);
    // Later ones show none: what looks like port 9 is somebody's payload.
    for (const unsigned offset : {1U, 4U, 8U, 100U, 0x1fffU}) {
        send(Ethernet{} / Ipv4{.fragment_offset = offset} / Udp{} / payload(64), false);
        send(Ethernet{} / Ipv4{.more_fragments = true, .fragment_offset = offset} / Udp{} / payload(64), false);
        send(Ethernet{} / Ipv6{} / Fragment{.offset = offset} / Udp{} / payload(64), false);
    }
    // An atomic fragment (RFC 6946) is a whole packet.
    send(Ethernet{} / Ipv6{} / Fragment{} / Udp{} / payload(64), true);
    expect_accounted(sent, sink.end());
}

TEST_P(Hostile, TagsAndExtensionHeadersBeyondTheLimit) {
    for (const std::uint16_t outer : {std::uint16_t{0x8100}, std::uint16_t{0x88a8}}) {
        send(Ethernet{} / Vlan{.protocol = outer} / Ipv4{} / Udp{} / payload(18), true);
        send(Ethernet{} / Vlan{.protocol = outer} / Vlan{} / Ipv4{} / Udp{} / payload(18), true);
        send(Ethernet{} / Vlan{.protocol = outer} / Vlan{} / Vlan{} / Ipv4{} / Udp{} / payload(18), false);
        send(Ethernet{} / Vlan{.protocol = outer} / Vlan{} / Vlan{} / Vlan{} / Ipv4{} / Udp{} / payload(18), false);
    }
    for (unsigned headers = 0; headers <= 12; ++headers) {
        Packet packet = Ethernet{} / Packet(Ipv6{});
        for (unsigned i = 0; i < headers; ++i)
            packet /= Extension{.kind = static_cast<std::uint8_t>(i % 2 == 0 ? 60 : 0)};
        packet /= Packet(Udp{}) / payload(18);
        send(packet, headers <= 8);
    }
    for (const unsigned length : {1U, 4U, 5U, 200U, 255U})
        send(Ethernet{} / Ipv6{} / Extension{.kind = 60, .length = static_cast<std::uint8_t>(length)} / Udp{} /
                 payload(18),
             false);
    send(Ethernet{} / Ipv6{.next = std::uint8_t{59}} / Udp{} / payload(18), false); // no next header
    expect_accounted(sent, sink.end());
}

TEST_P(Hostile, RandomOctets) {
    std::uint32_t state = 2463534242; // xorshift: the same frames in every run
    const auto random = [&] {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        return state;
    };
    for (int i = 0; i < 2000; ++i) {
        Octets frame(14 + random() % 200);
        for (std::uint8_t& octet : frame)
            octet = static_cast<std::uint8_t>(random());
        const Octets head = Ethernet{.shortest = 0} / Ipv4{} / Udp{};
        // Random up to a point, or random from a point on; never a group address, which all may take.
        const std::size_t kept = i % 2 == 0 ? 12 : std::min<std::size_t>(random() % head.size(), frame.size());
        std::copy_n(head.begin(), std::min(kept, frame.size()), frame.begin());
        frame[0] &= 0xfe;
        sender.send(frame);
        ++sent.others;
    }
    const Json summary = sink.end();
    EXPECT_EQ(
        test_frames(summary) +
            [&] {
                std::uint64_t sum = 0;
                for (const auto& [reason, frames] : passed(summary))
                    sum += frames;
                return sum;
            }(),
        sent.others);
}

INSTANTIATE_TEST_SUITE_P(, Hostile, testing::Values("native", "generic"), [](const auto& test) { return test.param; });

} // namespace
} // namespace responder::test
