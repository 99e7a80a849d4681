// SPDX-License-Identifier: GPL-2.0-only
//
// Datagrams of iperf's on watched ports: followed and passed on, with the figures that iperf's own receiver comes to.

#include "bpf/signature/iperf2.h"
#include "bpf/signature/iperf3.h"
#include "bpf/signature/ours.h"
#include "bpf/signature/pktgen.h"
#include "loader/sink/streams.h"
#include "tests/bpf/sink_check.h"
#include "tests/harness/iperf_reference.h"
#include "tests/harness/sender_frames.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <ctime>
#include <random>

namespace responder::test {
namespace {

using namespace packet;

constexpr unsigned slots = 16;
constexpr std::uint16_t iperf3_port = 5201, iperf2_port = 5001, narrow_port = 5301, wide_port = 5302;

const std::vector<watch_port> watches{{iperf3_port, STREAM_IPERF3},
                                      {iperf2_port, STREAM_IPERF2},
                                      {narrow_port, STREAM_IPERF3_32},
                                      {wide_port, STREAM_IPERF3_64}};

Octets iperf3(std::uint64_t number, unsigned width = 32, Microseconds sent = {77, 5}) {
    return big_endian(sent.seconds, 4) + big_endian(sent.microseconds, 4) + big_endian(number, width / 8) +
           Octets(8, 0x30);
}

Octets iperf2(std::int64_t number, Microseconds sent = {77, 5}) {
    const auto bits = static_cast<std::uint64_t>(number);
    return big_endian(bits, 4) + big_endian(sent.seconds, 4) + big_endian(sent.microseconds, 4) +
           big_endian(bits >> 32, 4) + big_endian(0x48010098, 4) + Octets(20);
}

// Before 2.0.10: the number has one half, and flags of another kind follow it.
Octets old_iperf2(std::int32_t number) {
    return big_endian(static_cast<std::uint32_t>(number), 4) + big_endian(77, 4) + big_endian(5, 4) + Octets(24);
}

Octets frame_to(std::uint16_t port, const Octets& payload) {
    return Ethernet{} / Ipv4{} / Udp{.source = 40'000, .destination = port} / Payload{payload};
}

class SinkWatch : public testing::Test {
  protected:
    SinkWatch() : sink_({.stream_slots = slots, .watches = watches}) {}

    StreamReport report(SinkCheck& sink) { return sink.program().streams(); }
    StreamReport report() { return report(sink_); }
    void expect_nothing_followed() {
        const StreamReport report = this->report();
        EXPECT_TRUE(report.streams.empty());
        EXPECT_EQ(report.damaged + report.no_room, 0U);
    }
    // When the last frame of the only stream arrived.
    std::uint64_t arrival() {
        for (std::uint32_t place = 0; place < slots; ++place) {
            stream found{};
            if (bpf_map_lookup_elem(bpf_map__fd(sink_.program()->maps.sink_streams), &place, &found) == 0 &&
                found.key.format != STREAM_NONE)
                return found.head.last_ns;
        }
        return 0;
    }

    SinkCheck sink_;
};

TEST_F(SinkWatch, PassesAndFollows) {
    for (const unsigned number : {1U, 2U, 3U, 6U, 5U, 5U})
        EXPECT_SLOT(sink_, SINK_UDP, frame_to(iperf3_port, iperf3(number)));
    const StreamReport report = this->report();
    ASSERT_EQ(report.streams.size(), 1U);
    const StreamFigures& stream = report.streams[0];
    EXPECT_EQ(stream_name(stream.key), "iperf3 10.0.0.1:40000 to 10.0.0.2:5201");
    EXPECT_EQ(stream.frames, 6U);
    EXPECT_EQ(stream.lost, 1U);
    EXPECT_EQ(stream.late->count, 1U);
    EXPECT_EQ(stream.duplicate, 1U);
    ASSERT_TRUE(stream.iperf);
    EXPECT_EQ(stream.iperf->packets, 6U);
    EXPECT_EQ(stream.iperf->lost, 0U) << "iperf3 takes the duplicate for the missing one";
    EXPECT_EQ(stream.iperf->out_of_order, 2U);
}

TEST_F(SinkWatch, DroppedAndFollowedWhereThePortIsTestTraffic) {
    SinkCheck dropping({.match = match_ports({{iperf2_port, iperf2_port}}), .stream_slots = slots, .watches = watches});
    for (const int number : {1, 2, 4})
        EXPECT_TRUE(dropping.counts(frame_to(iperf2_port, iperf2(number))));
    const StreamReport report = this->report(dropping);
    ASSERT_EQ(report.streams.size(), 1U);
    EXPECT_EQ(report.streams[0].lost, 1U);
}

TEST_F(SinkWatch, AFlowIsAStream) {
    const Payload first{iperf3(1)};
    sink_.slot(Ethernet{} / Vlan{} / Ipv4{} / Udp{.source = 1, .destination = iperf3_port} / first);
    sink_.slot(Ethernet{} / Ipv4{} / Udp{.source = 2, .destination = iperf3_port} / first);
    sink_.slot(Ethernet{} / Ipv4{.options = 4} / Udp{.source = 2, .destination = wide_port} / Payload{iperf3(1, 64)});
    sink_.slot(Ethernet{} / Ipv6{} / Extension{} / Udp{.source = 2, .destination = iperf3_port} / first);
    sink_.slot(Ethernet{} / Ipv4{.destination = "10.0.0.3"} / Udp{.source = 2, .destination = iperf3_port} / first);
    std::vector<std::string> names;
    for (const StreamFigures& stream : report().streams)
        names.push_back(stream_name(stream.key));
    std::ranges::sort(names);
    EXPECT_EQ(names, (std::vector<std::string>{
                         "iperf3 10.0.0.1:1 to 10.0.0.2:5201", "iperf3 10.0.0.1:2 to 10.0.0.2:5201",
                         "iperf3 10.0.0.1:2 to 10.0.0.3:5201", "iperf3 [2001:db8::1]:2 to [2001:db8::2]:5201",
                         "iperf3-64 10.0.0.1:2 to 10.0.0.2:5302"}));
}

TEST_F(SinkWatch, WhatIsNoDataIsNotFollowed) {
    sink_.slot(frame_to(iperf3_port, {0x36, 0x37, 0x38, 0x39})); // how a stream of iperf3 begins
    for (std::size_t length = 0; length < IPERF3_LENGTH; ++length) {
        Octets cut = iperf3(1);
        cut.resize(length);
        sink_.slot(frame_to(iperf3_port, cut) + iperf3(1)); // padding is no payload
    }
    for (const int number : {-659, -660, -661})
        sink_.slot(frame_to(iperf2_port, iperf2(number)));
    sink_.slot(frame_to(iperf2_port, old_iperf2(-17)));
    expect_nothing_followed();
}

TEST_F(SinkWatch, OtherPortsAndOtherMachinesAreNotFollowed) {
    sink_.slot(frame_to(5202, iperf3(1)));
    sink_.slot(Ethernet{.destination = stranger_mac} / Ipv4{} / Udp{.destination = iperf3_port} / Payload{iperf3(1)});
    sink_.slot(Ethernet{} / Ipv4{} / Tcp{.destination = iperf3_port} / Payload{iperf3(1)});
    sink_.slot(Ethernet{} / Ipv4{.fragment_offset = 8} / Udp{.destination = iperf3_port} / Payload{iperf3(1)});
    expect_nothing_followed();
}

// The number of an iperf 2 datagram stands where other signatures begin.
TEST_F(SinkWatch, ANumberThatLooksLikeAnotherSignatureIsNone) {
    for (const std::int64_t first : {std::int64_t{OURS_MAGIC} << 16, std::int64_t{PKTGEN_MAGIC} - 10}) {
        SinkCheck sink({.stream_slots = slots, .watches = watches});
        for (std::int64_t number = first; number < first + 300; ++number)
            sink.slot(frame_to(iperf2_port, iperf2(number)));
        const StreamReport report = this->report(sink);
        EXPECT_EQ(report.damaged, 0U);
        ASSERT_EQ(report.streams.size(), 1U);
        EXPECT_EQ(report.streams[0].frames, 300U);
        EXPECT_EQ(report.streams[0].lost, 0U);
    }
}

TEST_F(SinkWatch, NoOtherSignatureIsLookedForThere) {
    const Octets ours = big_endian(OURS_MAGIC, 2) + big_endian(ours_check(3, 9, 0), 2) + big_endian(3, 2) +
                        big_endian(9, 4) + big_endian(0, 4);
    EXPECT_SLOT(sink_, SINK_UDP, frame_to(iperf3_port, ours));
    for (const StreamFigures& stream : report().streams)
        EXPECT_EQ(stream.key.format, STREAM_IPERF3);
}

// Whether the rest came is not known here.
TEST_F(SinkWatch, FirstFragmentsAreCounted) {
    for (const unsigned number : {1U, 2U, 3U})
        sink_.slot(Ethernet{} / Ipv4{.more_fragments = number != 2} / Udp{.destination = iperf3_port} /
                   Payload{iperf3(number)});
    ASSERT_EQ(report().streams.size(), 1U);
    EXPECT_EQ(report().streams[0].iperf->packets, 3U);
    EXPECT_EQ(report().streams[0].iperf->fragmented, 2U);
}

TEST_F(SinkWatch, NumbersOfIperf2HaveTwoHalvesOrOne) {
    constexpr std::int64_t half = std::int64_t{1} << 31;
    for (std::int64_t number = half - 10; number < half + 10; ++number)
        sink_.slot(frame_to(iperf2_port, iperf2(number)));
    for (int number = 0; number < 5; ++number)
        sink_.slot(Ethernet{} / Ipv4{.source = "10.0.0.9"} / Udp{.destination = iperf2_port} /
                   Payload{old_iperf2(number)});
    for (const StreamFigures& stream : report().streams) {
        EXPECT_EQ(stream.lost, 0U);
        EXPECT_EQ(stream.stray + stream.restarts, 0U);
    }
    EXPECT_EQ(report().sum().frames, 25U);
}

// The same datagrams, at the times at which the program saw them, through iperf's own formulas.
struct Sender {
    std::string name;
    std::uint16_t port;
    IperfReference::Kind kind;
    unsigned width;
    std::uint64_t first;
    friend std::ostream& operator<<(std::ostream& out, const Sender& sender) { return out << sender.name; }
};

class SinkWatchAgrees : public SinkWatch, public testing::WithParamInterface<Sender> {};

TEST_P(SinkWatchAgrees, WithIperfsReceiver) {
    const Sender& sender = GetParam();
    IperfReference reference(sender.kind);
    std::mt19937_64 random(5);
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < 1500; ++i) {
        if (random() % 40 == 0 && i > 2)
            continue;
        numbers.push_back(sender.first + i);
        if (random() % 60 == 0)
            numbers.push_back(sender.first + i);
        if (random() % 30 == 0 && numbers.size() > 8)
            std::swap(numbers.back(), numbers[numbers.size() - 1 - random() % 6]);
    }
    const bool from_start = sender.first == 1;
    // Of the program's clock: floating point, as iperf has it, is no exacter than the transit is short.
    timespec now{};
    clock_gettime(CLOCK_TAI, &now);
    std::uint64_t time_ns = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000;
    for (const std::uint64_t number : numbers) {
        time_ns += random() % 3'000'000;
        const Microseconds sent = Microseconds::of_ns(time_ns);
        sink_.slot(frame_to(sender.port, sender.kind == IperfReference::Kind::iperf2
                                             ? iperf2(static_cast<std::int64_t>(number), sent)
                                             : iperf3(number, sender.width, sent)));
        if (!from_start && number == numbers.front())
            reference.join(number);
        reference.take(sender.width == 32 ? number & 0xffffffff : number, sent, Microseconds::of_ns(arrival()));
    }
    const StreamReport report = this->report();
    ASSERT_EQ(report.streams.size(), 1U);
    const StreamFigures& stream = report.streams[0];
    EXPECT_EQ(stream.frames, numbers.size());
    EXPECT_EQ(stream.restarts + stream.stray, 0U);
    ASSERT_TRUE(stream.iperf);
    EXPECT_EQ(stream.iperf->out_of_order, reference.out_of_order());
    EXPECT_EQ(stream.iperf->packets, reference.packets());
    EXPECT_EQ(stream.iperf->lost, reference.lost());
    EXPECT_NEAR(stream.iperf->jitter_ms, reference.jitter_ms(), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(
    Senders, SinkWatchAgrees,
    testing::Values(Sender{"iperf3", iperf3_port, IperfReference::Kind::iperf3, 32, 1},
                    Sender{"iperf3_64", iperf3_port, IperfReference::Kind::iperf3, 64, 1},
                    Sender{"iperf3_told_32", narrow_port, IperfReference::Kind::iperf3, 32, 1},
                    Sender{"iperf3_told_64", wide_port, IperfReference::Kind::iperf3, 64, 1},
                    Sender{"iperf3_wraps", iperf3_port, IperfReference::Kind::iperf3, 32, 0x1'0000'0000 - 700},
                    Sender{"iperf3_64_passes_32", iperf3_port, IperfReference::Kind::iperf3, 64, 0x1'0000'0000 - 700},
                    Sender{"iperf2", iperf2_port, IperfReference::Kind::iperf2, 64, 1},
                    Sender{"iperf2_passes_32", iperf2_port, IperfReference::Kind::iperf2, 64, 0x1'0000'0000 - 700}),
    [](const auto& sender) { return sender.param.name; });

TEST_F(SinkWatch, TheServerOfIperf2CountsTheLastOnce) {
    for (const int number : {1, 2, 3, 4, -6, -7, -8})
        EXPECT_SLOT(sink_, SINK_UDP, frame_to(iperf2_port, iperf2(number)));
    const StreamFigures stream = report().streams.at(0);
    EXPECT_EQ(stream.frames, 4U);
    EXPECT_EQ(stream.lost, 0U);
    EXPECT_EQ(stream.iperf->packets, 6U);
    EXPECT_EQ(stream.iperf->lost, 1U);
}

// Ours goes on where iperf3's goes wrong.
TEST_F(SinkWatch, A32BitNumberThatWrapsIsNoLoss) {
    for (std::uint64_t number = 0x1'0000'0000 - 300; number < 0x1'0000'0000 + 300; ++number)
        if (number % 100 != 0)
            sink_.slot(frame_to(iperf3_port, iperf3(number & 0xffffffff)));
    const StreamFigures stream = report().streams.at(0);
    EXPECT_EQ(stream.frames, 594U);
    EXPECT_EQ(stream.lost, 6U);
    EXPECT_EQ(stream.late->count + stream.duplicate + stream.stray + stream.restarts, 0U);
}

} // namespace
} // namespace responder::test
