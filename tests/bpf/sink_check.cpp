// SPDX-License-Identifier: GPL-2.0-only

#include "tests/bpf/sink_check.h"

#include "tests/harness/frame_native.h"

#include <linux/bpf.h>
#include <unistd.h>

#include <algorithm>

namespace responder::test {

namespace {

// Of a frame of several buffers the kernel puts a page, less headroom and skb_shared_info, into the linear part.
std::size_t linear_part(const SinkProgram& program, std::size_t length) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return program.cfg().multi_buffer ? std::min(length, page - 256 - 320) : length;
}

std::uint32_t verdict_of(std::uint32_t slot) { return is_size(slot) ? XDP_DROP : is_answer(slot) ? XDP_TX : XDP_PASS; }

} // namespace

SinkCheck::Seen SinkCheck::see(const Octets& frame) {
    SCOPED_TRACE("frame of " + std::to_string(frame.size()) + " octets:\n" +
                 packet::hex(std::span(frame).first(std::min<std::size_t>(frame.size(), 192))));

    SinkProgram::Run run = program_.run(frame);
    ++frames_;
    EXPECT_EQ(run.change.size(), 1u) << "slots that changed";
    if (run.change.size() != 1)
        return {};
    const auto& [slot, count] = *run.change.begin();
    EXPECT_EQ(count.frames, 1u);
    EXPECT_EQ(count.l2_bytes, frame.size());
    EXPECT_EQ(run.verdict, verdict_of(slot)) << slot_name(slot);

    Octets native_frame = frame;
    const frame_native native = frame_native_run(native_frame.data(), linear_part(program_, frame.size()), frame.size(),
                                                 &program_.cfg(), &program_->bss->sink_own_mac);
    EXPECT_EQ(slot_name(slot), slot_name(native.slot)) << "BPF and native";
    EXPECT_EQ(count.l3_bytes, native.l3_bytes) << "BPF and native";
    EXPECT_EQ(count.payload_bytes, native.payload_bytes) << "BPF and native";
    EXPECT_EQ(native.plain_differs, 0u) << "the parser's short cut says something else";
    EXPECT_TRUE(run.out == native_frame) << "BPF:\n"
                                         << packet::hex(run.out) << "\nnative:\n"
                                         << packet::hex(native_frame);
    if (!is_answer(slot)) {
        EXPECT_TRUE(run.out == frame) << slot_name(slot) << " came out as\n" << packet::hex(run.out);
    }
    return {.slot = {slot}, .count = count, .out = std::move(run.out), .plain = native.plain != 0};
}

} // namespace responder::test
