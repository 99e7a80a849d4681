// SPDX-License-Identifier: GPL-2.0-only
//
// Copies of what passes up, for a capture: of nothing else, as long as was asked for, and what finds no room is
// counted.

#include "loader/capture/passed_frames.h"
#include "tests/harness/prog_run.h"

#include <gtest/gtest.h>
#include <linux/bpf.h>

#include <vector>

namespace responder::test {
namespace {

using namespace packet;

struct Copy {
    passed_frame about;
    Octets octets;
};

class SinkPassed : public testing::Test {
  protected:
    explicit SinkPassed() : program_({.copy_passed = 100}) {}

    std::vector<Copy> copies() {
        copies_.clear();
        reader_.read();
        return copies_;
    }

    SinkProgram program_;
    std::vector<Copy> copies_;
    PassedFrames reader_{bpf_map__fd(program_->maps.sink_passed),
                         [this](const passed_frame& about, std::span<const std::uint8_t> octets) {
                             copies_.push_back({about, {octets.begin(), octets.end()}});
                         }};
};

TEST_F(SinkPassed, WholeOrAsLongAsWasAskedFor) {
    for (const std::size_t payload_size : {6U, 46U, 47U, 1400U}) {
        const Octets frame = Ethernet{} / Ipv4{} / Tcp{} / payload(payload_size);
        EXPECT_EQ(program_.run(frame).verdict, static_cast<std::uint32_t>(XDP_PASS));
        const std::vector<Copy> found = copies();
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found[0].octets,
                  Octets(frame.begin(), frame.begin() + std::min<std::ptrdiff_t>(100, std::ssize(frame))));
        EXPECT_EQ(found[0].about.length, frame.size());
        EXPECT_EQ(found[0].about.lost, 0U);
        EXPECT_GT(found[0].about.time_ns, 1'000'000'000'000'000'000U) << "CLOCK_TAI";
    }
}

TEST_F(SinkPassed, NotOfTestTraffic) {
    EXPECT_EQ(program_.run((Ethernet{} / Ipv4{} / Udp{}).octets()).verdict, static_cast<std::uint32_t>(XDP_DROP));
    EXPECT_TRUE(copies().empty());
}

TEST_F(SinkPassed, WhatFindsNoRoomIsCounted) {
    const Octets frame = Ethernet{} / Ipv4{} / Tcp{} / payload(1400);
    std::uint64_t given = 0;
    for (; program_->bss->sink_passed_lost < 3; ++given)
        ASSERT_EQ(program_.run(frame).verdict, static_cast<std::uint32_t>(XDP_PASS));
    EXPECT_EQ(copies().size(), given - 3);
    program_.run(frame);
    const std::vector<Copy> next = copies();
    ASSERT_EQ(next.size(), 1U);
    EXPECT_EQ(next[0].about.lost, 3U) << "which the next one says";
}

TEST(SinkPassedUnasked, NothingIsCopied) {
    SinkProgram program;
    EXPECT_EQ(program.run((Ethernet{} / Ipv4{} / Tcp{}).octets()).verdict, static_cast<std::uint32_t>(XDP_PASS));
    EXPECT_EQ(program->bss->sink_passed_lost, 0U) << "nobody reads it: a copy would have been lost";
}

} // namespace
} // namespace responder::test
