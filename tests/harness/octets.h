// SPDX-License-Identifier: GPL-2.0-only
//
// A frame, or a part of one.

#pragma once

#include <cstdint>
#include <vector>

namespace responder::test {

using Octets = std::vector<std::uint8_t>;

} // namespace responder::test
