// SPDX-License-Identifier: GPL-2.0-only
//
// What STAMP replies say of this machine's clock.

#pragma once

#include "bpf/respond/stamp_clock.h"

#include <chrono>
#include <cstdint>

namespace responder {

// RFC 4656 section 4.1.2: S for a clock that something keeps in step with UTC, Z for the format (RFC 8762), then the
// error as multiplier times 2^scale in 2^-32 s, rounded up; the multiplier is never 0. In host order.
std::uint16_t error_estimate(bool synchronised, stamp_format format, std::chrono::microseconds error) noexcept;

// Where the kernel does not know TAI's offset, PTP's format is UTC here.
stamp_clock read_stamp_clock(stamp_format format) noexcept;

} // namespace responder
