// SPDX-License-Identifier: GPL-2.0-only
//
// The reflector's program, with everything expected of it that must hold for any frame: it is counted once, in one
// slot, with its octets; the verdict is that of the slot; a frame that is not answered comes out as it went in; and the
// same frame logic compiled for this machine comes to the same slot and the same octets, times and what depends on them
// excepted.

#pragma once

#include "bpf/reflect_abi.h"
#include "reflect.skel.h" // behind bpf/reflect_abi.h, whose types it names

#include "tests/harness/prog_run.h"

#include <functional>

namespace responder::test {

// What xdp-reflect takes when nothing is said; sources are on the link in 10.0.0.0/8 and 2001:db8::/32.
reflect_cfg default_reflect();

class ReflectCheck {
  public:
    ReflectCheck() : ReflectCheck(default_reflect()) {}
    explicit ReflectCheck(const reflect_cfg& cfg);

    struct Seen {
        std::uint32_t slot = SINK_SLOTS;
        Octets out;
    };
    Seen see(const Octets& frame);
    std::uint32_t slot(const Octets& frame) { return see(frame).slot; }

    reflect_bpf* operator->() const noexcept { return skeleton_.get(); }
    int fd() const { return bpf_program__fd(skeleton_->progs.xdp_reflect); }

    static constexpr std::uint64_t tai_offset_s = 37;

  private:
    Skeleton<reflect_bpf> skeleton_;
    reflect_cfg cfg_;
    SlotCounter counter_;
};

// By name; any size of test frame is "test".
std::string reflect_slot_name(std::uint32_t slot);

} // namespace responder::test
