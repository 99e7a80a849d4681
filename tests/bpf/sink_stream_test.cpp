// SPDX-License-Identifier: GPL-2.0-only
//
// Which frames are followed as streams, in which stream, and which are not.

#include "bpf/signature/ours.h"
#include "bpf/signature/pktgen.h"
#include "loader/sink/streams.h"
#include "tests/bpf/sink_check.h"
#include "tests/harness/sender_frames.h"

#include <bpf/bpf.h>
#include <fmt/format.h>

#include <ctime>
#include <random>

namespace responder::test {
namespace {

using namespace packet;

constexpr unsigned slots = 16;

Octets ours(unsigned stream, std::uint32_t sequence, std::uint32_t time = 0) {
    return big_endian(OURS_MAGIC, 2) + big_endian(ours_check(stream, sequence, time), 2) + big_endian(stream, 2) +
           big_endian(sequence, 4) + big_endian(time, 4);
}

Octets pktgen(std::uint32_t sequence) { return big_endian(PKTGEN_MAGIC, 4) + big_endian(sequence, 4) + Octets(8); }

// Modulo 2^32, as in the signature.
std::uint32_t tai_ns_ago(std::uint64_t ns) {
    timespec now{};
    clock_gettime(CLOCK_TAI, &now);
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                                      static_cast<std::uint64_t>(now.tv_nsec) - ns);
}

Octets frame_with(const Octets& signature) { return Ethernet{} / Ipv4{} / Udp{} / Payload{signature}; }

class SinkStream : public testing::Test {
  protected:
    SinkStream() : sink_({.stream_slots = slots}) {}

    StreamReport report() { return sink_.program().streams(); }
    void expect_nothing_followed() {
        const StreamReport report = this->report();
        EXPECT_TRUE(report.streams.empty());
        EXPECT_EQ(report.damaged + report.no_room, 0U);
    }

    SinkCheck sink_;
};

TEST_F(SinkStream, NumbersOfAStreamAreFollowed) {
    for (const std::uint32_t number : {0U, 1U, 2U, 5U, 4U, 5U, 6U})
        EXPECT_TRUE(sink_.counts(frame_with(ours(3, number, 77))));
    const StreamReport report = this->report();
    ASSERT_EQ(report.streams.size(), 1U);
    const StreamFigures& stream = report.streams[0];
    EXPECT_EQ(stream_name(stream.key), "stream 3 from 10.0.0.1");
    EXPECT_EQ(stream.frames, 7U);
    EXPECT_EQ(stream.lost, 1U);
    EXPECT_EQ(stream.late->count, 1U);
    EXPECT_EQ(stream.duplicate, 1U);
}

TEST_F(SinkStream, FoundBehindEveryHeader) {
    const Payload signature{ours(0, 1)};
    sink_.counts(Ethernet{} / Vlan{} / Ipv4{.source = "10.0.0.2"} / Udp{} / signature);
    sink_.counts(Ethernet{} / Vlan{} / Vlan{} / Ipv4{.source = "10.0.0.3"} / Udp{} / signature);
    sink_.counts(Ethernet{} / Ipv4{.source = "10.0.0.4", .options = 8} / Udp{} / signature);
    sink_.counts(Ethernet{} / Ipv6{.source = "2001:db8::5"} / Udp{} / signature);
    sink_.counts(Ethernet{} / Ipv6{.source = "2001:db8::6"} / Extension{} / Udp{} / signature);
    sink_.counts(Ethernet{} / Ipv4{.source = "10.0.0.7", .more_fragments = true} / Udp{} / signature);
    std::vector<std::string> names;
    for (const StreamFigures& stream : report().streams)
        names.push_back(stream_name(stream.key));
    EXPECT_EQ(names, (std::vector<std::string>{"stream 0 from 10.0.0.2", "stream 0 from 10.0.0.3",
                                               "stream 0 from 10.0.0.4", "stream 0 from 10.0.0.7",
                                               "stream 0 from [2001:db8::5]", "stream 0 from [2001:db8::6]"}));
}

TEST_F(SinkStream, PktgensStreamIsItsFlow) {
    for (const std::uint16_t port : {std::uint16_t{1000}, std::uint16_t{1001}})
        for (const std::uint32_t number : {7U, 9U})
            sink_.counts(Ethernet{} / Ipv4{} / Udp{.source = port} / Payload{pktgen(number)});
    const StreamReport report = this->report();
    ASSERT_EQ(report.streams.size(), 2U);
    EXPECT_EQ(stream_name(report.streams[0].key), "pktgen 10.0.0.1:1000 to 10.0.0.2:9");
    EXPECT_EQ(report.streams[0].lost, 1U);
    EXPECT_EQ(report.streams[1].lost, 1U);
}

TEST_F(SinkStream, WhatIsNoTestTrafficIsNotFollowed) {
    EXPECT_FALSE(sink_.counts(Ethernet{} / Ipv4{} / Udp{.destination = 53} / Payload{ours(0, 1)}));
    EXPECT_FALSE(sink_.counts(Ethernet{.destination = tester_mac} / Ipv4{} / Udp{} / Payload{ours(0, 1)}));
    expect_nothing_followed();
}

TEST_F(SinkStream, OffMeansOff) {
    SinkCheck off;
    EXPECT_TRUE(off.counts(frame_with(ours(0, 1))));
    stream first{};
    const std::uint32_t place = 0;
    EXPECT_EQ(bpf_map_lookup_elem(bpf_map__fd(off.program()->maps.sink_streams), &place, &first), 0);
    EXPECT_EQ(first.key.format, STREAM_NONE);
}

TEST_F(SinkStream, ASignatureThatIsCutOffIsNone) {
    for (std::size_t length = 0; length < OURS_LENGTH; ++length) {
        Octets cut = ours(0, 1);
        cut.resize(length);
        // Padding behind it is no payload, whatever stands there.
        EXPECT_TRUE(sink_.counts(frame_with(cut) + ours(0, 1)));
    }
    for (std::size_t length = 0; length < PKTGEN_SEQUENCED_LENGTH; ++length) {
        Octets cut = pktgen(1);
        cut.resize(length);
        EXPECT_TRUE(sink_.counts(frame_with(cut)));
    }
    expect_nothing_followed();
}

// A change of any one bit behind the magic.
TEST_F(SinkStream, DamageIsSeen) {
    const Octets signature = ours(0x1234, 0x89abcdef, 0x13579bdf);
    for (std::size_t bit = 16; bit < 8 * OURS_LENGTH; ++bit) {
        Octets damaged = signature;
        damaged[bit / 8] ^= static_cast<std::uint8_t>(0x80 >> bit % 8);
        EXPECT_TRUE(sink_.counts(frame_with(damaged)));
    }
    const StreamReport report = this->report();
    EXPECT_TRUE(report.streams.empty());
    EXPECT_EQ(report.damaged, 8U * (OURS_LENGTH - 2));
}

TEST_F(SinkStream, WhatExceedsTheTableIsCounted) {
    for (unsigned stream = 0; stream < slots + 5; ++stream)
        for (const std::uint32_t number : {0U, 1U})
            sink_.counts(frame_with(ours(stream, number)));
    const StreamReport report = this->report();
    EXPECT_EQ(report.streams.size(), slots);
    EXPECT_EQ(report.sum().frames, 2U * slots);
    EXPECT_EQ(report.sum().lost, 0U);
    EXPECT_EQ(report.no_room, 10U);
}

// A source's streams lie in a row, and rows meet.
TEST_F(SinkStream, HalfATableHasRoomForTheStreamsOfAnySources) {
    constexpr unsigned streams = 512;
    for (const unsigned a_source : {1U, 32U, 200U}) {
        SinkCheck sink({.stream_slots = 2 * streams});
        for (unsigned i = 0; i < streams; ++i) {
            const unsigned source = i / a_source;
            const Octets frame = Ethernet{} / Ipv4{.source = fmt::format("10.1.{}.{}", source / 256, source % 256)} /
                                 Udp{} / Payload{ours(i % a_source, 0)};
            sink.program().run(frame);
        }
        EXPECT_EQ(sink.program().streams().streams.size(), streams);
        EXPECT_EQ(sink.program().streams().no_room, 0U);
    }
}

TEST_F(SinkStream, HistogramsHaveEveryFrameOnce) {
    for (const bool in_step : {false, true}) {
        SinkCheck sink({.stream_slots = slots, .histograms = true, .clocks_in_step = in_step});
        const std::uint32_t time = tai_ns_ago(1'000'000'000);
        for (const std::uint32_t number : {0U, 1U, 2U, 5U, 4U, 5U, 6U, 7U}) // one is lost, one late, one comes twice
            sink.counts(frame_with(ours(3, number, time)));
        for (const std::uint32_t number : {0U, 1U, 2U})
            sink.counts(frame_with(pktgen(number)));
        const StreamReport report = sink.program().streams();
        ASSERT_EQ(report.streams.size(), 2U);
        const StreamFigures& stamped = report.streams[1].delay ? report.streams[1] : report.streams[0];
        const StreamFigures& plain = report.streams[1].delay ? report.streams[0] : report.streams[1];
        EXPECT_EQ(stamped.delay->histogram->total(), 7U);
        // A second and more by two clocks in step; else only how much more than the fastest took.
        EXPECT_EQ(stamped.delay->histogram_is_of_transit, in_step);
        if (in_step)
            EXPECT_GE(stamped.delay->histogram->percentile(50), 0.99e9);
        else
            EXPECT_LE(stamped.delay->histogram->percentile(50), 1.01 * stamped.delay->variation_most + 1);
        EXPECT_EQ(stamped.delay->frames, 7U);
        EXPECT_EQ(stamped.delay->pairs, 3U) << "0-1, 1-2 and 6-7";
        EXPECT_EQ(stamped.gaps->histogram->total(), 7U);
        EXPECT_EQ(plain.gaps->histogram->total(), 2U);
        EXPECT_FALSE(plain.delay);
    }
}

// By the short way and by the long one the same frames come to the same.
TEST_F(SinkStream, StampedFramesAreFollowed) {
    const auto time = static_cast<std::uint32_t>(1'000'000'000);
    for (std::uint32_t number = 0; number < 1000; ++number)
        if (number % 100 != 50)
            sink_.counts(frame_with(ours(0, number, number % 10 == 5 ? time + 1'000'000'000 : time)));
    sink_.counts(frame_with(ours(0, 1000))); // without a time
    sink_.counts(frame_with(ours(0, 1001, time)));
    const StreamFigures stream = report().streams.at(0);
    EXPECT_EQ(stream.frames, 992U);
    EXPECT_EQ(stream.lost, 10U);
    ASSERT_TRUE(stream.delay);
    EXPECT_EQ(stream.delay->wild, 100U);
    EXPECT_EQ(stream.delay->frames, 891U);
    EXPECT_EQ(stream.delay->clock_steps, 0U);
    EXPECT_EQ(stream.gaps->count, 989U) << "none on either side of the frame that took the coarse clock";
    EXPECT_GT(stream.gaps->gap.mean, 0);
    EXPECT_LT(stream.gaps->gap.mean, 1e9);
}

TEST_F(SinkStream, AFrameWithoutATimeIsInNoPair) {
    for (const bool histograms : {false, true}) {
        SinkCheck sink({.stream_slots = slots, .histograms = histograms});
        for (std::uint32_t number = 0; number < 100; ++number)
            sink.counts(frame_with(ours(0, number, number % 10 == 5 ? 0 : 1'000'000'000)));
        const StreamFigures stream = sink.program().streams().streams.at(0);
        EXPECT_EQ(stream.lost, 0U);
        ASSERT_TRUE(stream.delay);
        EXPECT_EQ(stream.delay->frames, 90U);
        EXPECT_EQ(stream.delay->pairs, 79U) << "neither the first has one nor those behind the ten";
    }
}

TEST_F(SinkStream, AFirstNumberThatIsDamagedIsOneStray) {
    sink_.counts(frame_with(ours(3, 512)));
    for (std::uint32_t number = 1; number < 2000; ++number)
        sink_.counts(frame_with(ours(3, number)));
    const StreamFigures stream = report().streams.at(0);
    EXPECT_FALSE(stream.left_out);
    EXPECT_EQ(stream.frames, 2000U);
    EXPECT_EQ(stream.stray, 1U);
    EXPECT_EQ(stream.lost, 0U);
    EXPECT_EQ(stream.restarts, 0U);
}

// One in 2^32 passes for a stream's frame, and one in 2^16 has the magic alone and passes for a damaged one.
TEST_F(SinkStream, RandomPayloadsAreNoStreams) {
    std::mt19937_64 random(1);
    Octets frame = frame_with(Octets(OURS_LENGTH));
    constexpr unsigned frames = 300'000;
    for (unsigned i = 0; i < frames; ++i) {
        for (std::size_t at = frame.size() - 18; at < frame.size(); ++at)
            frame[at] = static_cast<std::uint8_t>(random());
        run_program(sink_.program().fd(), frame);
    }
    const StreamReport report = this->report();
    EXPECT_TRUE(report.streams.empty());
    EXPECT_LT(report.damaged, 40U) << "expected: 4.6";
}

} // namespace
} // namespace responder::test
