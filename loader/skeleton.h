// SPDX-License-Identifier: GPL-2.0-only
//
// Skeleton<T> owns an opened or loaded BPF object. T is the struct that bpftool generates for one of our programs, with
// its static open/load/destroy. Configure rodata between the constructor and load(); from load() on the kernel has it.

#pragma once

#include "loader/error.h"
#include "loader/libbpf_log.h"

#include <cerrno>
#include <memory>
#include <string>

namespace responder {

template <class T>
class Skeleton {
  public:
    Skeleton() : skeleton_(T::open()) {
        if (!skeleton_)
            throw Error::from_errno(ExitCode::internal, "open the BPF object", errno);
    }

    // Throws load_error(); the verifier's log goes to stderr where libbpf_log is verbose.
    void load() {
        if (int error = T::load(skeleton_.get()); error != 0)
            throw load_error(error);
    }

    T* operator->() const noexcept { return skeleton_.get(); }
    T* get() const noexcept { return skeleton_.get(); }

  private:
    struct Destroy {
        void operator()(T* skeleton) const noexcept { T::destroy(skeleton); }
    };
    std::unique_ptr<T, Destroy> skeleton_;
};

} // namespace responder
