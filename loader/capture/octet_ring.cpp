// SPDX-License-Identifier: GPL-2.0-only

#include "loader/capture/octet_ring.h"

#include "loader/error.h"
#include "loader/fd.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace responder {

OctetRing::OctetRing(std::size_t size) : size_(size) {
    const auto fail = [&] {
        return Error::from_errno(ExitCode::os, fmt::format("get {} MiB of memory for the capture", size >> 20), errno);
    };
    const UniqueFd memory(memfd_create("capture", MFD_CLOEXEC));
    if (!memory || ftruncate(memory.get(), static_cast<off_t>(size)) != 0)
        throw fail();
    void* room = mmap(nullptr, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        throw fail();
    memory_ = static_cast<std::uint8_t*>(room);
    for (const std::size_t half : {std::size_t{0}, size}) {
        if (mmap(memory_ + half, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, memory.get(),
                 0) == MAP_FAILED) {
            const Error error = fail();
            munmap(memory_, 2 * size);
            throw error;
        }
    }
}

OctetRing::~OctetRing() { munmap(memory_, 2 * size_); }

} // namespace responder
