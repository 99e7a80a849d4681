// SPDX-License-Identifier: GPL-2.0-only

#include "tests/bpf/reflect_check.h"

#include "loader/clock.h"
#include "tests/harness/reflect_native.h"

#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <algorithm>

namespace responder::test {

namespace {

constexpr std::size_t stamp_t3 = 4, stamp_t2 = 16, dmm_t2 = 12, dmm_t3 = 20, time_octets = 8, slr_count = 16;

// Where the UDP payload or the OAM frame lies: the reply is as long as the request, and its headers are plain.
std::size_t behind_tags(const Octets& frame) {
    std::size_t at = 12;
    while (frame.at(at) == 0x81 || frame.at(at) == 0x88)
        at += 4;
    return at + 2;
}

void blank(Octets& frame, std::size_t at, std::size_t octets) {
    std::fill_n(frame.begin() + static_cast<std::ptrdiff_t>(at), octets, std::uint8_t{0});
}

// What differs from run to run.
void blank_times(Octets& frame, std::uint32_t slot) {
    if (slot == SLOT_STAMP_REPLY) {
        const std::size_t l3 = behind_tags(frame), udp = l3 + (frame.at(l3) >> 4 == 4 ? 20 : 40);
        blank(frame, udp + 6, 2);
        blank(frame, udp + 8 + stamp_t3, time_octets);
        blank(frame, udp + 8 + stamp_t2, time_octets);
    } else if (slot == SLOT_DELAY_REPLY) {
        blank(frame, behind_tags(frame) + dmm_t2, time_octets);
        blank(frame, behind_tags(frame) + dmm_t3, time_octets);
    } else if (slot == SLOT_LOSS_REPLY) {
        blank(frame, behind_tags(frame) + slr_count, 4);
    }
}

std::uint32_t verdict_of(std::uint32_t slot) {
    return slot < SLOT_ANSWER_END ? XDP_TX : slot < SLOT_REASON_END ? XDP_PASS : XDP_DROP;
}

} // namespace

ReflectCheck::Seen ReflectCheck::see(const Octets& frame) {
    SCOPED_TRACE("frame of " + std::to_string(frame.size()) + " octets:\n" +
                 packet::hex(std::span(frame).first(std::min<std::size_t>(frame.size(), 192))));
    ProgramRun run = run_program(program_.fd(), frame);
    const CountChange change = program_.take_change();
    EXPECT_EQ(change.size(), 1U) << "slots that changed";
    if (change.size() != 1)
        return {};
    const auto& [slot, count] = *change.begin();
    EXPECT_EQ(count.frames, 1U);
    EXPECT_EQ(count.l2_bytes, frame.size());
    EXPECT_EQ(run.verdict, verdict_of(slot)) << slot_name(slot);
    if (slot >= SLOT_ANSWER_END) {
        EXPECT_TRUE(run.out == frame) << slot_name(slot) << " came out as\n" << packet::hex(run.out);
    }

    Octets native = frame, mine = run.out;
    reflect_native_state state{.now_ns = clock_now_ns(CLOCK_TAI), .number = 0, .losses = 0};
    const std::uint32_t native_slot = reflect_native_run(native.data(), native.size(), native.size(), &program_.cfg(),
                                                         &program_->bss->reflect_live, &state);
    EXPECT_EQ(slot_name(slot), slot_name(native_slot)) << "BPF and native";
    if (slot != native_slot)
        return {};
    blank_times(native, slot);
    blank_times(mine, slot);
    if (!program_.cfg().stamp_stateful) {
        EXPECT_TRUE(mine == native) << "BPF:\n" << packet::hex(mine) << "\nnative:\n" << packet::hex(native);
    }
    return {.slot = slot, .out = std::move(run.out)};
}

std::string reflect_slot_name(std::uint32_t slot) { return slot < SLOT_SIZE_END ? "test" : slot_name(slot); }

} // namespace responder::test
