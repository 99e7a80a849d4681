// SPDX-License-Identifier: GPL-2.0-only
//
// Datagrams of others' senders on watched ports: followed and passed on; iperf's with the figures that its own receiver
// comes to.

#include "bpf/signature/iperf2.h"
#include "bpf/signature/iperf3.h"
#include "bpf/signature/ours.h"
#include "bpf/signature/pktgen.h"
#include "loader/sink/streams.h"
#include "tests/bpf/sink_check.h"
#include "tests/harness/iperf_reference.h"
#include "tests/harness/sender_frames.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <string>

namespace responder::test {
namespace {

using namespace packet;

constexpr unsigned slots = 16;
constexpr std::uint16_t iperf3_port = 5201, iperf2_port = 5001, narrow_port = 5301, wide_port = 5302, trex_port = 12,
                        master_port = 3842;

const std::vector<watch_port> watches{{iperf3_port, STREAM_IPERF3},    {iperf2_port, STREAM_IPERF2},
                                      {narrow_port, STREAM_IPERF3_32}, {wide_port, STREAM_IPERF3_64},
                                      {trex_port, STREAM_TREX},        {master_port, STREAM_RFC2544_MASTER}};

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

Octets little_endian(std::uint64_t value, unsigned octets) {
    const Octets reversed = big_endian(value, octets);
    return {reversed.rbegin(), reversed.rend()};
}

// The `number`th packet since this start of the stream, from 0 on, with so many octets in front of what tells of it.
Octets trex(std::uint32_t number, std::uint16_t stream = 3, std::size_t before = 20, std::uint8_t start = 2) {
    return Octets(before, 'x') + Octets{0xab, start} + little_endian(stream, 2) +
           little_endian(std::uint32_t{0xfffffffe} + number, 4) + little_endian(0x0123456789abcdef, 8);
}

Octets master(std::uint32_t number, std::uint64_t sent_ns = 77, const std::string& letters = "RFC2544",
              std::uint32_t stream = 0) {
    return Octets(letters.begin(), letters.end()) + big_endian(number, 4) + big_endian(sent_ns, 8) +
           big_endian(stream, 4) + Octets{1} + Octets(20, 0x55);
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
        EXPECT_SLOT(sink_, SLOT_UDP, frame_to(iperf3_port, iperf3(number)));
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
    for (std::size_t length = IPERF3_LENGTH; length < IPERF3_LENGTH_64; ++length) {
        Octets cut = iperf3(1, 64);
        cut.resize(length);
        sink_.slot(frame_to(wide_port, cut)); // half a number
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
    EXPECT_SLOT(sink_, SLOT_UDP, frame_to(iperf3_port, ours));
    for (const StreamFigures& stream : report().streams)
        EXPECT_EQ(stream.key.format, STREAM_IPERF3);
}

TEST_F(SinkWatch, TRexNumbersAreTheLastOctetsOfItsPackets) {
    for (const unsigned number : {0U, 1U, 2U, 3U, 6U, 5U, 5U})
        EXPECT_SLOT(sink_, SLOT_UDP, frame_to(trex_port, trex(number)));
    const StreamReport report = this->report();
    ASSERT_EQ(report.streams.size(), 1U);
    const StreamFigures& stream = report.streams[0];
    EXPECT_EQ(stream_name(stream.key), "trex stream 3");
    EXPECT_EQ(stream.frames, 7U);
    EXPECT_EQ(stream.lost, 1U);
    EXPECT_EQ(stream.late->count, 1U);
    EXPECT_EQ(stream.duplicate, 1U);
    EXPECT_FALSE(stream.delay) << "ticks of no known length";
    EXPECT_FALSE(stream.iperf);
}

TEST_F(SinkWatch, AStreamOfTRexIsItsNumberWhateverItsPacketsLookLike) {
    const std::size_t sizes[] = {0, 1, 2, 3, 30, 1400};
    std::uint32_t number = 0;
    for (const std::size_t before : sizes)
        sink_.slot(Ethernet{} / Ipv4{.source = fmt::format("10.0.0.{}", number + 1), .options = 4 * (number % 2)} /
                   Udp{.source = static_cast<std::uint16_t>(1000 + number), .destination = trex_port} /
                   Payload{trex(number++, 7, before)});
    sink_.slot(frame_to(trex_port, trex(0, 0x1234)));
    const StreamReport report = this->report();
    ASSERT_EQ(report.streams.size(), 2U);
    EXPECT_EQ(report.streams[0].key.stream, 7);
    EXPECT_EQ(report.streams[0].frames, std::size(sizes));
    EXPECT_EQ(report.streams[0].lost, 0U);
    EXPECT_EQ(report.streams[1].key.stream, 0x1234);
}

TEST_F(SinkWatch, TRexBeginsAnew) {
    for (const std::uint8_t start : {std::uint8_t{2}, std::uint8_t{3}})
        for (std::uint32_t number = 0; number < 100; ++number)
            if (number != 50)
                sink_.slot(frame_to(trex_port, trex(number, 3, 20, start)));
    const StreamFigures stream = report().streams.at(0);
    EXPECT_EQ(stream.frames, 198U);
    EXPECT_EQ(stream.restarts, 1U);
    EXPECT_EQ(stream.lost, 2U);
    EXPECT_EQ(stream.duplicate, 0U);
}

TEST_F(SinkWatch, Rfc2544MasterIsFollowedByFlowAndService) {
    const auto send = [&](std::uint32_t number, const char* letters, std::uint32_t stream) {
        EXPECT_SLOT(sink_, SLOT_UDP, frame_to(master_port, master(number, 1'000'000 + number, letters, stream)));
    };
    for (const unsigned number : {0U, 1U, 2U, 3U, 6U, 5U, 5U}) {
        send(number, "RFC2544", 0);
        send(number * 2, "Y.1564 ", 8);
    }
    const StreamReport report = this->report();
    ASSERT_EQ(report.streams.size(), 2U);
    EXPECT_EQ(stream_name(report.streams[0].key), "rfc2544-master stream 0 10.0.0.1:40000 to 10.0.0.2:3842");
    EXPECT_EQ(stream_name(report.streams[1].key), "rfc2544-master stream 8 10.0.0.1:40000 to 10.0.0.2:3842");
    for (const StreamFigures& stream : report.streams) {
        EXPECT_EQ(stream.frames, 7U);
        EXPECT_EQ(stream.late->count, 1U);
        EXPECT_EQ(stream.duplicate, 1U);
        ASSERT_TRUE(stream.delay);
        EXPECT_FALSE(stream.delay->of_tai);
        EXPECT_EQ(stream.delay->frames, 6U) << "not the duplicate";
    }
    EXPECT_EQ(report.streams[0].lost, 1U);
    EXPECT_EQ(report.streams[1].lost, 1U + 6U);
}

// The number stands still until it measures.
TEST_F(SinkWatch, Rfc2544MasterWarmsUpWithDuplicates) {
    for (int trial = 0; trial < 2; ++trial) {
        for (int frame = 0; frame < 200; ++frame)
            sink_.slot(frame_to(master_port, master(0)));
        for (unsigned number = 0; number < 2000; ++number)
            sink_.slot(frame_to(master_port, master(number)));
    }
    const StreamFigures stream = report().streams.at(0);
    EXPECT_EQ(stream.frames, 4400U);
    EXPECT_EQ(stream.duplicate, 400U);
    EXPECT_EQ(stream.lost, 0U);
    EXPECT_EQ(stream.stray, 0U);
    EXPECT_EQ(stream.restarts, 1U);
}

TEST_F(SinkWatch, WhatHasNotTheFormatOfItsPortIsNotFollowed) {
    Octets cut = trex(0);
    cut.erase(cut.begin(), cut.end() - 15);
    sink_.slot(frame_to(trex_port, cut));
    sink_.slot(frame_to(trex_port, Octets(20, 0xaa)));
    sink_.slot(frame_to(trex_port, Octets(20, 0xaa)) + trex(0)); // padding is no payload
    sink_.slot(frame_to(trex_port, trex(0) + Octets{0}));
    sink_.slot(frame_to(trex_port, Octets(14) + trex(0, 3, 0) + Octets(2)));
    sink_.slot(Ethernet{} / Ipv4{.more_fragments = true} / Udp{.destination = trex_port} / Payload{trex(0)});
    cut = master(0);
    cut.resize(23);
    sink_.slot(frame_to(master_port, cut));
    sink_.slot(frame_to(master_port, cut) + Octets(10)); // padding is no payload
    for (const char* letters : {"RFC2543", "SFC2544", "Y.1564!", "RFC564 ", "Y.12544"})
        sink_.slot(frame_to(master_port, master(0, 77, letters)));
    sink_.slot(frame_to(master_port, trex(0)));
    sink_.slot(frame_to(iperf2_port + 1, trex(0)));
    sink_.slot(frame_to(iperf2_port + 1, master(0)));
    expect_nothing_followed();
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
        EXPECT_SLOT(sink_, SLOT_UDP, frame_to(iperf2_port, iperf2(number)));
    const StreamFigures stream = report().streams.at(0);
    EXPECT_EQ(stream.frames, 4U);
    EXPECT_EQ(stream.lost, 0U);
    EXPECT_EQ(stream.iperf->packets, 6U);
    EXPECT_EQ(stream.iperf->lost, 1U);
}

TEST_F(SinkWatch, ADamagedUpperHalfOfANumberIsOneStray) {
    for (std::uint64_t number = 1; number < 100; ++number) {
        const std::uint64_t damaged = number == 50 ? number | std::uint64_t{1} << 40 : number;
        sink_.slot(frame_to(iperf3_port, iperf3(damaged, 64)));
        sink_.slot(frame_to(wide_port, iperf3(damaged, 64)));
        sink_.slot(frame_to(iperf2_port, iperf2(static_cast<std::int64_t>(damaged))));
    }
    const StreamReport report = this->report();
    ASSERT_EQ(report.streams.size(), 3U);
    for (const StreamFigures& stream : report.streams) {
        SCOPED_TRACE(stream_name(stream.key));
        EXPECT_EQ(stream.frames, 99U);
        EXPECT_EQ(stream.lost, 1U);
        EXPECT_EQ(stream.stray, 1U);
        EXPECT_EQ(stream.iperf->packets, 99U);
        EXPECT_EQ(stream.iperf->lost, 1U);
        EXPECT_EQ(stream.iperf->out_of_order, 0U);
    }
}

TEST_F(SinkWatch, AnotherWidthOnTheSamePortsCountsEachFrameOnce) {
    for (const unsigned width : {32U, 64U})
        for (std::uint64_t number = 1; number < 100; ++number)
            sink_.slot(frame_to(iperf3_port, iperf3(number, width)));
    const StreamFigures stream = report().streams.at(0);
    EXPECT_EQ(stream.frames, 198U);
    EXPECT_EQ(stream.restarts, 1U);
    EXPECT_EQ(stream.lost, 0U);
}

TEST_F(SinkWatch, WhoComesInLaterReckonsWhatItSaw) {
    for (std::uint64_t number = 1001; number <= 1100; ++number)
        if (number != 1050)
            sink_.slot(frame_to(iperf3_port, iperf3(number)));
    const StreamFigures stream = report().streams.at(0);
    EXPECT_EQ(stream.iperf->packets, 100U);
    EXPECT_EQ(stream.iperf->lost, 1U);
}

// Its seconds, or its microseconds, stand where the other has the number.
TEST_F(SinkWatch, TheOtherIperfsDatagramsAreLeftOut) {
    for (std::uint32_t number = 1; number <= 300; ++number) {
        const Microseconds sent{77 + number / 100, number * 9973 % 1'000'000};
        sink_.slot(frame_to(iperf2_port, iperf3(number, 32, sent)));
        sink_.slot(frame_to(iperf3_port, iperf2(number, sent)));
    }
    const StreamReport report = this->report();
    ASSERT_EQ(report.streams.size(), 2U);
    EXPECT_EQ(report.left_out(), 2U);
    EXPECT_EQ(report.sum().frames, 0U);
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
