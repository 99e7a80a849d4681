// SPDX-License-Identifier: GPL-2.0-only
//
// What tests of the sender's frames share: a description to start from, and octets put together by hand.

#pragma once

#include "loader/generate/frame_spec.h"
#include "tests/harness/octets.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace responder::test {

// From 02:00:00:00:00:01 to 02:00:00:00:00:02, 198.18.0.1 or 2001:2::1 to ...2, in VLAN 100, or 100 and in it 200.
inline FrameSpec make_spec(bool v6, std::size_t tags, std::vector<unsigned> sizes) {
    FrameSpec spec;
    spec.source_mac = {{0x02, 0, 0, 0, 0, 1}};
    spec.destination_mac = {{0x02, 0, 0, 0, 0, 2}};
    spec.source = *IpAddress::parse(v6 ? "2001:2::1" : "198.18.0.1");
    spec.destination = *IpAddress::parse(v6 ? "2001:2::2" : "198.18.0.2");
    for (std::size_t tag = 0; tag < tags; ++tag)
        spec.vlans.push_back(static_cast<std::uint16_t>(100 * (tag + 1)));
    spec.sizes = std::move(sizes);
    return spec;
}

inline Octets big_endian(std::uint64_t value, unsigned octets) {
    Octets result;
    while (octets-- > 0)
        result.push_back(static_cast<std::uint8_t>(value >> 8 * octets));
    return result;
}

inline Octets operator+(Octets a, const Octets& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

} // namespace responder::test
