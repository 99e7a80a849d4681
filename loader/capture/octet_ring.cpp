// SPDX-License-Identifier: GPL-2.0-only

#include "loader/capture/octet_ring.h"

#include "loader/error.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>

namespace responder {

OctetRing::OctetRing(std::size_t size) : size_(size) {
    const auto fail = [&] {
        return Error::from_errno(ExitCode::os, fmt::format("get {} MiB of memory for the capture", size >> 20), errno);
    };
    void* room = mmap(nullptr, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        throw fail();
    memory_ = static_cast<std::uint8_t*>(room);
    // No memfd: a limit on the size of files holds for it. Of shared memory, mremap() with an old size of 0 makes a
    // second mapping (mremap(2)).
    if (mmap(memory_, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ||
        mremap(memory_, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, memory_ + size) == MAP_FAILED ||
        madvise(memory_, 2 * size, MADV_POPULATE_WRITE) != 0) {
        const Error error = fail();
        munmap(memory_, 2 * size);
        throw error;
    }
}

OctetRing::~OctetRing() { munmap(memory_, 2 * size_); }

} // namespace responder
