// SPDX-License-Identifier: GPL-2.0-only

#pragma once

#include <cstdint>
#include <ctime>

namespace responder {

inline std::uint64_t clock_now_ns(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace responder
