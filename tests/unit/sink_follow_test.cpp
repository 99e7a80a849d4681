// SPDX-License-Identifier: GPL-2.0-only
//
// What the reader of a socket makes of a frame, without a socket.

#include "bpf/signature/ours.h"
#include "bpf/signature/trex.h"
#include "loader/generate/frame_spec.h"
#include "loader/sink/follow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <vector>

namespace responder::test {
namespace {

class Follow : public testing::Test {
  protected:
    void follow(std::vector<std::uint8_t> frame, const socket_arrival* arrival) {
        follow_frame(&table_, frame.data(), static_cast<__u32>(frame.size()), arrival);
    }
    std::size_t only_place() const {
        const auto is_taken = [](const stream& place) { return place.key.format != STREAM_NONE; };
        EXPECT_EQ(std::ranges::count_if(places_, is_taken), 1);
        return static_cast<std::size_t>(std::ranges::find_if(places_, is_taken) - places_.begin());
    }
    const stream& only_stream() const { return places_[only_place()]; }
    stream settled_stream() const {
        stream settled = only_stream();
        sequence numbers = rests_[only_place()].sequence;
        stream_settle(&settled, &numbers);
        return settled;
    }
    const stream_payload& payload() const { return rests_[only_place()].payload; }
    static FrameSpec spec() {
        FrameSpec spec;
        spec.source = *IpAddress::parse("198.18.0.1");
        spec.destination = *IpAddress::parse("198.18.0.2");
        spec.sizes = {100};
        return spec;
    }
    // With a time of sending.
    static std::vector<std::uint8_t> stamped_frame(std::uint32_t number, std::uint32_t time) {
        std::vector<std::uint8_t> frame = build_frame(spec(), number);
        const auto put = [&](unsigned at, std::uint64_t value, unsigned octets) {
            for (unsigned i = 0; i < octets; ++i)
                frame[42 + at + i] = static_cast<std::uint8_t>(value >> 8 * (octets - 1 - i));
        };
        put(OURS_TIME_OFFSET, time, 4);
        put(OURS_CHECK_OFFSET, ours_check(0, number, time), 2);
        return frame;
    }

    std::vector<stream> places_ = std::vector<stream>(8);
    std::vector<stream_rest> rests_ = std::vector<stream_rest>(8);
    stream_unplaced unplaced_{};
    follow_table table_{.streams = places_.data(), .rests = rests_.data(), .slots = 8, .unplaced = &unplaced_};
};

TEST_F(Follow, ProvesThePayload) {
    const socket_arrival arrival{.ns = 1};
    std::vector<std::uint8_t> wrong = build_frame(spec(), 1);
    wrong.back() ^= 1;
    follow(build_frame(spec(), 0), &arrival);
    follow(wrong, &arrival);
    sequence numbers = rests_[only_place()].sequence;
    sequence_follow(&numbers, &only_stream().head);
    EXPECT_EQ(sequence_packets(&numbers), 2U);
    EXPECT_EQ(payload().proved, 2U);
    EXPECT_EQ(payload().wrong_frames, 1U);
    EXPECT_EQ(payload().wrong_octets, 1U);
}

TEST_F(Follow, ProvesTheFirstFragmentAsFarAsItGoes) {
    const socket_arrival arrival{.ns = 1};
    std::vector<std::uint8_t> frame = build_frame(spec(), 0);
    frame.resize(90);    // of 96 without FCS
    frame[17] = 90 - 14; // IPv4's total length
    frame[20] = 0x20;    // more fragments
    follow(frame, &arrival);
    EXPECT_EQ(payload().proved, 1U);
    EXPECT_EQ(payload().wrong_frames, 0U);
}

// Under --all a frame is taken whatever its bytes mean.
TEST_F(Follow, ReadsNothingBehindAFrameWhoseLengthLies) {
    const socket_arrival arrival{.ns = 1};
    std::vector<std::uint8_t> frame = build_frame(spec(), 0);
    frame[38] = 0xff; // UDP's length
    follow(frame, &arrival);
    EXPECT_EQ(payload().proved, 0U);
}

// Frames of lo may be longer than a trailer is looked for: what lies 16 KiB before it is none.
TEST_F(Follow, FindsTheTrailerOfTrexOrNothing) {
    const watch_port watch{.port = 9, .format = STREAM_TREX};
    table_.watch = &watch;
    table_.watch_count = 1;
    const socket_arrival arrival{.ns = 1};
    const auto frame_with_trailer_at = [](std::size_t offset) {
        std::vector<std::uint8_t> frame = build_frame(spec(), 0);
        frame.resize(42);
        frame.resize(42 + offset + TREX_LENGTH);
        frame[42] = frame[42 + offset] = TREX_MAGIC;
        const auto put_length = [&](unsigned at, std::size_t length) {
            frame[at] = static_cast<std::uint8_t>(length >> 8);
            frame[at + 1] = static_cast<std::uint8_t>(length);
        };
        put_length(16, frame.size() - 14); // IPv4's
        put_length(38, frame.size() - 34); // UDP's
        return frame;
    };
    const auto is_followed = [&](std::size_t offset) {
        follow(frame_with_trailer_at(offset), &arrival);
        return followed_last().stream != nullptr;
    };
    EXPECT_TRUE(is_followed(0));
    EXPECT_TRUE(is_followed(0x3fff));
    EXPECT_FALSE(is_followed(0x4000));
}

TEST_F(Follow, TakesTheTimeThatTheProgramTook) {
    const socket_arrival first{.ns = 5'000'000}, second{.ns = 5'000'700};
    follow(stamped_frame(0, 4'999'000), &first);
    follow(stamped_frame(1, 4'999'000), &second);
    EXPECT_EQ(settled_stream().delay.frames, 2U);
    EXPECT_EQ(only_stream().delay.most, 5'000'700 - 4'999'000);
    EXPECT_EQ(only_stream().delay.ipdv_most, 700);
}

// In the usual order they are not counted one by one.
TEST_F(Follow, KnowsHowManyTimesItTook) {
    const auto take = [this](std::uint32_t number, bool is_stamped) {
        const std::uint32_t now = 5'000'000 + 1000 * number + number % 3;
        const socket_arrival arrival{.ns = now};
        follow(stamped_frame(number, is_stamped ? now - 700 - number % 2 : 0), &arrival);
    };
    for (std::uint32_t number = 0; number < 150; ++number)
        take(number, true);
    take(150, false);
    for (std::uint32_t number = 151; number < 160; ++number)
        take(number, true);
    const stream settled = settled_stream();
    EXPECT_EQ(settled.delay.frames, 159U);
    EXPECT_EQ(settled.gaps.count, 149U + 8U);
    EXPECT_EQ(settled.gaps.least, 998U);
    EXPECT_EQ(settled.gaps.most, 1001U);
    EXPECT_EQ(settled.delay.least, 700);
    EXPECT_EQ(settled.delay.most, 701);
    EXPECT_EQ(settled.delay.sum, 159U * 700 + 75 + 5);
}

TEST_F(Follow, ReadsTheEndOfALongFrame) {
    const watch_port watch{.port = 7000, .format = STREAM_TREX};
    table_.watch = &watch;
    table_.watch_count = 1;
    FrameSpec long_spec = spec();
    long_spec.sizes = {9022};
    long_spec.destination_ports = {7000, 7000};
    const socket_arrival arrival{.ns = 1};
    for (std::uint8_t number = 0; number < 3; ++number) {
        std::vector<std::uint8_t> frame = build_frame(long_spec, number);
        const std::uint8_t trailer[16] = {0xab, 2, 0x34, 0x12, static_cast<std::uint8_t>(10 + number)};
        std::ranges::copy(trailer, frame.end() - 16);
        follow(frame, &arrival);
    }
    EXPECT_EQ(only_stream().key.stream, 0x1234);
    sequence numbers = rests_[only_place()].sequence;
    sequence_follow(&numbers, &only_stream().head);
    EXPECT_EQ(sequence_packets(&numbers), 3U);
    EXPECT_EQ(numbers.missing, 0U);
}

TEST_F(Follow, TakesTheTimeItselfWhereNobodyDid) {
    timespec now{};
    clock_gettime(CLOCK_TAI, &now);
    const auto sent = static_cast<std::uint32_t>(now.tv_sec * 1'000'000'000 + now.tv_nsec);
    follow(stamped_frame(0, sent), nullptr);
    clock_gettime(CLOCK_TAI, &now);
    const auto passed = static_cast<std::uint32_t>(now.tv_sec * 1'000'000'000 + now.tv_nsec) - sent;
    EXPECT_EQ(only_stream().delay.frames, 1U);
    EXPECT_LE(only_stream().delay.last, passed);
}

} // namespace
} // namespace responder::test
