// SPDX-License-Identifier: GPL-2.0-only
//
// Mapping<T> owns a shared, writable mapping of a BPF map's memory as one T: a program's global variables.

#pragma once

#include "loader/error.h"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

namespace responder {

template <class T>
class Mapping {
  public:
    explicit Mapping(int map_fd) {
        void* memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
        if (memory == MAP_FAILED)
            throw Error::from_errno(ExitCode::os, "map the program's variables", errno);
        object_ = static_cast<T*>(memory);
    }
    Mapping(Mapping&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Mapping& operator=(Mapping&&) = delete;
    ~Mapping() {
        if (object_ != nullptr)
            munmap(object_, sizeof(T));
    }

    volatile T& operator*() const noexcept { return *object_; }
    volatile T* operator->() const noexcept { return object_; }

  private:
    T* object_;
};

} // namespace responder
