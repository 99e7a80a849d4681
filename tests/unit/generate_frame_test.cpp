// SPDX-License-Identifier: GPL-2.0-only
//
// The frames that the sender is to send, read back by code that shares nothing with the code that makes them.

#include "bpf/signature/ours.h"
#include "bpf/signature/pattern.h"
#include "loader/generate/frame_spec.h"
#include "loader/generate/sent_counter.h"
#include "tests/harness/sender_frames.h"
#include "tests/unit/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace responder::test {
namespace {

using Octets = std::vector<std::uint8_t>;

FrameSpec make_spec(bool v6, std::size_t tags, std::vector<unsigned> sizes, Signature signature) {
    FrameSpec spec = test::make_spec(v6, tags, std::move(sizes));
    spec.signature = signature;
    return spec;
}

unsigned word(const Octets& frame, std::size_t at) { return frame.at(at) * 256U + frame.at(at + 1); }

// RFC 1071 in its plainest form: add with end-around carry, word by word. 0xFFFF for what carries a valid checksum.
unsigned ones_complement_sum(const Octets& octets) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < octets.size(); i += 2) {
        sum += octets[i] * 256U + (i + 1 < octets.size() ? octets[i + 1] : 0U);
        if (sum > 0xFFFF)
            sum = sum - 0x10000 + 1;
    }
    return sum;
}

Octets slice(const Octets& frame, std::size_t from, std::size_t to) {
    return Octets(frame.begin() + static_cast<std::ptrdiff_t>(from), frame.begin() + static_cast<std::ptrdiff_t>(to));
}

// The signature's octets for a sequence number, of stream 0; the check of our own as bpf/signature/ours.h documents it.
Octets signature_of(Signature signature, std::uint32_t sequence) {
    if (signature == Signature::pktgen)
        return Octets{0xBE, 0x9B, 0xE9, 0x55} + big_endian(sequence, 4) + Octets(8);
    const std::uint64_t fields = (std::uint64_t{sequence} << 32) ^ 0xBB67AE8584CAA73BULL;
    return Octets{0x78, 0x52} + big_endian(fields * 0x9E3779B97F4A7C15ULL >> 48, 2) + Octets(2) +
           big_endian(sequence, 4) + Octets(4);
}

// Reads a frame from the outside inwards, and expects all of it to be as it has to be.
void expect_sound(const Octets& frame, bool v6, std::size_t tags, unsigned size, const Octets& signature) {
    SCOPED_TRACE(testing::Message() << (v6 ? "IPv6, " : "IPv4, ") << tags << " tags, size " << size);
    ASSERT_EQ(frame.size(), size - 4);
    EXPECT_EQ(slice(frame, 0, 12), (Octets{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}));
    std::size_t at = 12;
    if (tags == 2) {
        EXPECT_EQ(word(frame, at), 0x88A8U);
        EXPECT_EQ(word(frame, at + 2), 100U);
        EXPECT_EQ(word(frame, at + 4), 0x8100U);
        EXPECT_EQ(word(frame, at + 6), 200U);
    } else if (tags == 1) {
        EXPECT_EQ(word(frame, at), 0x8100U);
        EXPECT_EQ(word(frame, at + 2), 100U);
    }
    at += 4 * tags;
    EXPECT_EQ(word(frame, at), v6 ? 0x86DDU : 0x0800U);
    at += 2;

    std::size_t udp = 0;
    Octets pseudo_header;
    if (v6) {
        udp = at + 40;
        EXPECT_EQ(word(frame, at), 0x6000U);
        EXPECT_EQ(word(frame, at + 4), frame.size() - udp);
        EXPECT_EQ(frame[at + 6], 17);
        EXPECT_EQ(frame[at + 7], 10);
        pseudo_header = slice(frame, at + 8, at + 40);
    } else {
        udp = at + 20;
        EXPECT_EQ(word(frame, at), 0x4500U);
        EXPECT_EQ(word(frame, at + 2), frame.size() - at);
        EXPECT_EQ(word(frame, at + 4), 0U) << "identification";
        EXPECT_EQ(word(frame, at + 6), 0U) << "fragmentation";
        EXPECT_EQ(frame[at + 8], 10);
        EXPECT_EQ(frame[at + 9], 17);
        EXPECT_EQ(ones_complement_sum(slice(frame, at, at + 20)), 0xFFFFU);
        EXPECT_EQ(slice(frame, at + 12, at + 20), (Octets{198, 18, 0, 1, 198, 18, 0, 2}));
    }
    EXPECT_EQ(word(frame, udp), 0xC020U);
    EXPECT_EQ(word(frame, udp + 2), 9U);
    EXPECT_EQ(word(frame, udp + 4), frame.size() - udp);
    if (v6) {
        EXPECT_NE(word(frame, udp + 6), 0U);
        Octets covered = pseudo_header;
        const auto length = static_cast<std::uint8_t>((frame.size() - udp) % 256);
        const auto length_high = static_cast<std::uint8_t>((frame.size() - udp) / 256);
        for (const std::uint8_t octet : {std::uint8_t{0}, std::uint8_t{0}, length_high, length, std::uint8_t{0},
                                         std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{17}})
            covered.push_back(octet);
        covered.insert(covered.end(), frame.begin() + static_cast<std::ptrdiff_t>(udp), frame.end());
        EXPECT_EQ(ones_complement_sum(covered), 0xFFFFU);
    } else {
        EXPECT_EQ(word(frame, udp + 6), 0U) << "UDP checksum";
    }

    const Octets payload = slice(frame, udp + 8, frame.size());
    ASSERT_EQ(slice(payload, 0, std::min(signature.size(), payload.size())),
              slice(signature, 0, std::min(signature.size(), payload.size())));
    if (signature.size() == OURS_LENGTH) {
        EXPECT_EQ(pattern_check(0, 0xDEADBEEF, payload.data(), static_cast<std::uint32_t>(payload.size())), 0U);
        return;
    }
    for (std::size_t i = signature.size(); i < payload.size(); ++i)
        ASSERT_EQ(payload[i], i % 256) << "payload octet " << i;
}

TEST(GenerateFrame, EverySizeFamilyAndTagDepthIsSound) {
    for (const Signature signature : {Signature::ours, Signature::pktgen})
        for (const bool v6 : {false, true})
            for (std::size_t tags = 0; tags <= 2; ++tags)
                for (unsigned size = 64; size <= 1530; ++size) {
                    const FrameSpec spec = make_spec(v6, tags, {size}, signature);
                    if (size < spec.smallest_possible_size())
                        continue;
                    spec.validate();
                    expect_sound(build_frame(spec, 0xDEADBEEF), v6, tags, size, signature_of(signature, 0xDEADBEEF));
                    if (HasFatalFailure())
                        return;
                }
    const Octets first = signature_of(Signature::pktgen, 1);
    expect_sound(build_frame(make_spec(false, 0, {9216}, Signature::pktgen), 1), false, 0, 9216, first);
    expect_sound(build_frame(make_spec(true, 2, {9216}, Signature::pktgen), 1), true, 2, 9216, first);
}

// The lengths of RFC 2544 C.2.6.4. Its table misprints four UDP lengths; these are the computed ones.
TEST(GenerateFrame, LengthsAreThoseOfRfc2544) {
    struct Row {
        unsigned size, ip_length, udp_length;
    };
    for (const Row& row :
         {Row{64, 0x002E, 0x001A}, Row{128, 0x006E, 0x005A}, Row{256, 0x00EE, 0x00DA}, Row{512, 0x01EE, 0x01DA},
          Row{768, 0x02EE, 0x02DA}, Row{1024, 0x03EE, 0x03DA}, Row{1280, 0x04EE, 0x04DA}, Row{1518, 0x05DC, 0x05C8}}) {
        const Octets frame = build_frame(make_spec(false, 0, {row.size}, Signature::pktgen), 0);
        EXPECT_EQ(word(frame, 16), row.ip_length) << row.size;
        EXPECT_EQ(word(frame, 38), row.udp_length) << row.size;
    }
}

TEST(GenerateFrame, SignatureNeedsItsRoom) {
    struct Row {
        bool v6;
        std::size_t tags;
        unsigned ours, pktgen; // smallest sizes
    };
    for (const Row& row : {Row{false, 0, 64, 64}, Row{false, 1, 64, 64}, Row{false, 2, 68, 64}, Row{true, 0, 80, 74},
                           Row{true, 1, 84, 78}, Row{true, 2, 88, 82}}) {
        EXPECT_EQ(make_spec(row.v6, row.tags, {64}, Signature::ours).smallest_possible_size(), row.ours);
        EXPECT_EQ(make_spec(row.v6, row.tags, {64}, Signature::pktgen).smallest_possible_size(), row.pktgen);
    }
}

TEST(GenerateFrame, StreamsTakeTurnsWithNumbersOfTheirOwn) {
    FrameSpec spec = make_spec(false, 0, {64}, Signature::ours);
    spec.streams = 3;
    for (std::uint64_t n = 0; n < 10; ++n) {
        const Octets frame = build_frame(spec, n);
        EXPECT_EQ(slice(frame, 46, 52), big_endian(n % 3, 2) + big_endian(n / 3, 4)) << n;
        EXPECT_EQ(pattern_check(static_cast<__u32>(n % 3), static_cast<__u32>(n / 3), frame.data() + 42, 18), 0U) << n;
    }
}

TEST(GenerateFrame, SizesAndPortsTakeTurns) {
    FrameSpec spec = make_spec(false, 0, {64, 1518, 128}, Signature::pktgen);
    spec.source_ports = {1000, 1001};
    spec.destination_ports = {5000, 5004};
    for (std::uint64_t n = 0; n < 40; ++n) {
        const Octets frame = build_frame(spec, n);
        EXPECT_EQ(frame.size() + 4, spec.sizes[n % 3]);
        EXPECT_EQ(word(frame, 34), 1000 + n % 2);
        EXPECT_EQ(word(frame, 36), 5000 + n % 5);
    }
}

TEST(GenerateFrame, SequenceNumberIsTheLow32Bits) {
    const Octets frame = build_frame(make_spec(false, 0, {64}, Signature::pktgen), 0x1'0000'0002);
    EXPECT_EQ(slice(frame, 42, 50), (Octets{0xBE, 0x9B, 0xE9, 0x55, 0, 0, 0, 2}));
}

TEST(GenerateFrame, CountsFramesBySize) {
    const FrameSpec imix = make_spec(false, 0, {64, 64, 570, 64, 1518}, Signature::pktgen);
    EXPECT_EQ(frames_by_size(imix, 0), (std::vector<SizeCount>{{64, 0}, {570, 0}, {1518, 0}}));
    EXPECT_EQ(frames_by_size(imix, 5), (std::vector<SizeCount>{{64, 3}, {570, 1}, {1518, 1}}));
    EXPECT_EQ(frames_by_size(imix, 12), (std::vector<SizeCount>{{64, 8}, {570, 2}, {1518, 2}}));
}

TEST(GenerateFrame, RefusesWhatIsNoFrame) {
    const auto why = [](const std::function<void(FrameSpec&)>& change, bool v6 = false) {
        FrameSpec spec = make_spec(v6, 0, {128}, Signature::pktgen);
        change(spec);
        return refusal([&] { spec.validate(); });
    };
    EXPECT_EQ(why([](FrameSpec& s) { s.sizes = {63}; }), "frame size 63: frames have 64 to 9216 bytes, FCS included");
    EXPECT_EQ(why([](FrameSpec& s) { s.sizes = {9217}; }),
              "frame size 9217: frames have 64 to 9216 bytes, FCS included");
    EXPECT_EQ(why([](FrameSpec& s) { s.sizes = {65}; }, true),
              "frame size 65: UDP over IPv6 with 0 VLAN tags and the signature needs 74 bytes, FCS included");
    EXPECT_EQ(why([](FrameSpec& s) { s.streams = 2; }),
              "2 streams: our own signature tells 1 to 65536 of them apart, pktgen's none");
    EXPECT_EQ(why([](FrameSpec& s) { s.sizes = {}; }), "frame sizes: 0 of them; 1 to 16 can take turns");
    EXPECT_EQ(why([](FrameSpec& s) { s.sizes.assign(17, 64); }), "frame sizes: 17 of them; 1 to 16 can take turns");
    EXPECT_EQ(why([](FrameSpec& s) { s.vlans = {4095}; }), "VLAN 4095: an id is a number from 0 to 4094");
    EXPECT_EQ(why([](FrameSpec& s) { s.vlans = {1, 2, 3}; }), "VLAN tags: 3 of them; a frame carries at most two");
    EXPECT_EQ(why([](FrameSpec& s) { s.source_ports = {9, 8}; }), "UDP ports 9-8: the range ends before it begins");
    EXPECT_EQ(why([](FrameSpec& s) { s.source = *IpAddress::parse("::1"); }),
              "source and destination address: one is IPv4 and the other IPv6");
    EXPECT_EQ(why([](FrameSpec& s) { s.source_mac.bytes[0] = 1; }),
              "source MAC 01:00:00:00:00:01: a group address cannot send");
}

TEST(GenerateSentCounter, FindsTheDriversOwn) {
    EXPECT_EQ(xdp_xmit_total({}), std::nullopt);
    EXPECT_EQ(xdp_xmit_total({{"rx_queue_0_xdp_tx", 5}, {"tx_packets", 7}}), std::nullopt);
    // veth
    EXPECT_EQ(xdp_xmit_total({{"tx_queue_0_xdp_xmit", 5},
                              {"tx_queue_0_xdp_xmit_errors", 9},
                              {"tx_queue_1_xdp_xmit", 6},
                              {"tx_queue_1_xdp_xmit_errors", 0}}),
              11U);
    // A driver that counts in all and by queue.
    EXPECT_EQ(xdp_xmit_total({{"tx_xdp_xmit", 11}, {"tx0_xdp_xmit", 5}, {"tx1_xdp_xmit", 6}}), 11U);
    EXPECT_EQ(xdp_xmit_total({{"tx_xdp_xmit", 0}}), 0U);
}

} // namespace
} // namespace responder::test
