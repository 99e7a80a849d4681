// SPDX-License-Identifier: GPL-2.0-only

#include "loader/umem.h"

#include "loader/error.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>

namespace responder {

Umem::Umem(unsigned chunks, unsigned chunk_size)
    : chunk_shift_(static_cast<unsigned>(std::countr_zero(chunk_size))), is_kernels_(chunks) {
    // Populated: no page fault in the packet loop.
    void* memory = mmap(nullptr, size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        throw Error::from_errno(ExitCode::os, "get memory for frames", errno);
    memory_ = static_cast<std::uint8_t*>(memory);
}

Umem::~Umem() { munmap(memory_, size()); }

bool Umem::is_sound(unsigned kernels_chunks) const noexcept {
    return misplaced_ == 0 && std::ranges::count(is_kernels_, 1) == kernels_chunks;
}

} // namespace responder
