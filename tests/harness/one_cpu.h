// SPDX-License-Identifier: GPL-2.0-only

#pragma once

#include <sched.h>

namespace responder::test {

// The calling thread stays on one CPU while this lives.
class OnOneCpu {
  public:
    explicit OnOneCpu(unsigned cpu) {
        sched_getaffinity(0, sizeof(before_), &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof(one), &one);
    }
    OnOneCpu(const OnOneCpu&) = delete;
    OnOneCpu& operator=(const OnOneCpu&) = delete;
    ~OnOneCpu() { sched_setaffinity(0, sizeof(before_), &before_); }

  private:
    cpu_set_t before_{};
};

} // namespace responder::test
