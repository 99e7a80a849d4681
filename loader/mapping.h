// SPDX-License-Identifier: GPL-2.0-only
//
// Mapping<T> owns a shared, writable mapping of a BPF map's memory: one T (global variables) or a row of them.

#pragma once

#include "loader/error.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

namespace responder {

template <class T>
class Mapping {
  public:
    explicit Mapping(int map_fd, std::size_t count = 1) : size_(count * sizeof(T)) {
        void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
        if (memory == MAP_FAILED)
            throw Error::from_errno(ExitCode::os, "map the memory of a BPF map", errno);
        object_ = static_cast<T*>(memory);
    }
    Mapping(Mapping&& other) noexcept : object_(std::exchange(other.object_, nullptr)), size_(other.size_) {}
    Mapping& operator=(Mapping&&) = delete;
    ~Mapping() {
        if (object_ != nullptr)
            munmap(object_, size_);
    }

    volatile T& operator*() const noexcept { return *object_; }
    volatile T* operator->() const noexcept { return object_; }
    T* data() const noexcept { return object_; } // for the one that writes where the program does not
    std::span<const T> values() const noexcept { return {object_, size_ / sizeof(T)}; } // the program may be writing

  private:
    T* object_;
    std::size_t size_;
};

} // namespace responder
