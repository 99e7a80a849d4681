// SPDX-License-Identifier: GPL-2.0-only
//
// Umem owns the memory that an AF_XDP socket's frames lie in, cut into equal chunks, and knows of each chunk whose it
// is:
//
//              give() ->                 (kernel: fill ring, a frame on its way, receive ring)
//     ours  ------------>  the kernel's  --------------+
//       ^                                              |
//       +----------------------------------------------+
//                           <- take()
//
// A chunk that comes when it is ours already was written to by two at a time: is_sound() says that this has never
// happened, and that none has got lost.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace responder {

class Umem {
  public:
    // Both powers of two; all chunks are ours. Throws Error.
    Umem(unsigned chunks, unsigned chunk_size);
    Umem(const Umem&) = delete;
    Umem& operator=(const Umem&) = delete;
    ~Umem();

    unsigned chunks() const noexcept { return static_cast<unsigned>(is_kernels_.size()); }
    unsigned chunk_size() const noexcept { return 1U << chunk_shift_; }
    std::size_t size() const noexcept { return std::size_t{chunks()} << chunk_shift_; }
    std::uint8_t* memory() const noexcept { return memory_; }
    std::uint8_t* at(std::uint64_t address) const noexcept { return memory_ + address; }

    void give(std::uint64_t address) noexcept { change(address, 1); }
    void take(std::uint64_t address) noexcept { change(address, 0); }

    // None was ever in two places, and the kernel has this many.
    bool is_sound(unsigned kernels_chunks) const noexcept;

  private:
    void change(std::uint64_t address, std::uint8_t is_kernels) noexcept {
        std::uint8_t& chunk = is_kernels_[address >> chunk_shift_];
        misplaced_ += chunk == is_kernels;
        chunk = is_kernels;
    }

    unsigned chunk_shift_;
    std::vector<std::uint8_t> is_kernels_;
    std::uint64_t misplaced_ = 0;
    std::uint8_t* memory_;
};

} // namespace responder
