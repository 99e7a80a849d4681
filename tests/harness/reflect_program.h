// SPDX-License-Identifier: GPL-2.0-only
//
// The reflector's program, loaded for a test or a benchmark; nothing is attached.

#pragma once

#include "bpf/reflect_abi.h"
#include "reflect.skel.h" // behind bpf/reflect_abi.h, whose types it names

#include "tests/harness/prog_run.h"

namespace responder::test {

// What xdp-reflect takes when nothing is said.
reflect_cfg default_reflect();

// For packet::own_mac; sources are on the link in 10.0.0.0/8 and 2001:db8::/32.
class ReflectProgram {
  public:
    explicit ReflectProgram(const reflect_cfg& cfg);

    CountChange take_change() { return counter_.take_change(); }
    int fd() const { return bpf_program__fd(skeleton_->progs.xdp_reflect); }
    const reflect_cfg& cfg() const noexcept { return cfg_; }
    reflect_bpf* operator->() const noexcept { return skeleton_.get(); }

    static constexpr std::uint64_t tai_offset_s = 37;

  private:
    Skeleton<reflect_bpf> skeleton_;
    reflect_cfg cfg_;
    SlotCounter counter_;
};

} // namespace responder::test
