// SPDX-License-Identifier: GPL-2.0-only
//
// The reflector's program, with everything expected of it that must hold for any frame: it is counted once, in one
// slot, with its octets; the verdict is that of the slot; a frame that is not answered comes out as it went in; and the
// same frame logic compiled for this machine comes to the same slot and the same octets, times and what depends on them
// excepted.

#pragma once

#include "tests/harness/reflect_program.h"

namespace responder::test {

class ReflectCheck {
  public:
    ReflectCheck() : ReflectCheck(default_reflect()) {}
    explicit ReflectCheck(const reflect_cfg& cfg) : program_(cfg) {}

    struct Seen {
        std::uint32_t slot = SLOTS;
        Octets out;
    };
    Seen see(const Octets& frame);
    std::uint32_t slot(const Octets& frame) { return see(frame).slot; }

    ReflectProgram& program() noexcept { return program_; }

  private:
    ReflectProgram program_;
};

// By name; any size of test frame is "test".
std::string reflect_slot_name(std::uint32_t slot);

} // namespace responder::test
