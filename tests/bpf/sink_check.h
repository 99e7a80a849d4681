// SPDX-License-Identifier: GPL-2.0-only
//
// The sink's program, with everything expected of it that must hold for any frame: it is counted once, in one slot,
// with its octets; the verdict is that of the slot; a frame that is not answered comes out as it went in; and the same
// frame logic compiled for this machine comes to the same slot, octets and reply.

#pragma once

#include "tests/harness/packet.h"
#include "tests/harness/prog_run.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>

namespace responder::test {

struct Slot {
    std::uint32_t value = SLOTS;
    bool operator==(const Slot&) const = default;
    friend void PrintTo(const Slot& slot, std::ostream* out) { *out << slot_name(slot.value); }
};

constexpr bool is_size(std::uint32_t slot) { return slot < SLOT_SIZE_END; }
// That no sink counts in.
constexpr bool is_reflectors(std::uint32_t slot) {
    return (slot >= SLOT_STAMP_REPLY && slot < SLOT_ANSWER_END) || slot >= SLOT_GROUP;
}
constexpr bool is_answer(std::uint32_t slot) { return slot >= SLOT_ANSWER_FIRST && slot < SLOT_ANSWER_END; }

class SinkCheck {
  public:
    SinkCheck() = default;
    explicit SinkCheck(const SinkProgram::Options& options) : program_(options) {}
    explicit SinkCheck(const match_cfg& match) : SinkCheck(SinkProgram::Options{.match = match}) {}

    struct Seen {
        Slot slot;
        slot_count count{};
        Octets out;
        bool plain = false; // the parser's short cut took it
    };
    Seen see(const Octets& frame);
    Slot slot(const Octets& frame) { return see(frame).slot; }

    // Any size bin is `true`: for tests that are not about the size.
    bool counts(const Octets& frame) { return is_size(slot(frame).value); }

    std::uint64_t frames() const noexcept { return frames_; }
    SinkProgram& program() noexcept { return program_; }

  private:
    SinkProgram program_;
    std::uint64_t frames_ = 0;
};

// By name. `expected` is an enumerator of count_slot; what follows is the frame.
#define EXPECT_SLOT(check, expected, ...) EXPECT_EQ((check).slot(__VA_ARGS__), Slot{expected})

} // namespace responder::test
