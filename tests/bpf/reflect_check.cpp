// SPDX-License-Identifier: GPL-2.0-only

#include "tests/bpf/reflect_check.h"

#include "loader/clock.h"
#include "tests/harness/reflect_frames.h"
#include "tests/harness/reflect_native.h"

#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <algorithm>

namespace responder::test {

namespace {

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
    reflect_native_state state{.now_ns = clock_now_ns(CLOCK_TAI), .number = 0, .losses = 0, .is_over_cap = 0};
    const std::uint32_t native_slot = reflect_native_run(native.data(), native.size(), native.size(), &program_.cfg(),
                                                         &program_->bss->reflect_live, &state);
    EXPECT_EQ(slot_name(slot), slot_name(native_slot)) << "BPF and native";
    if (slot != native_slot)
        return {};
    blank_times(native, slot_name(slot));
    blank_times(mine, slot_name(slot));
    if (!program_.cfg().stamp_stateful) {
        EXPECT_TRUE(mine == native) << "BPF:\n" << packet::hex(mine) << "\nnative:\n" << packet::hex(native);
    }
    return {.slot = slot, .out = std::move(run.out)};
}

std::string reflect_slot_name(std::uint32_t slot) { return slot < SLOT_SIZE_END ? "test" : slot_name(slot); }

} // namespace responder::test
