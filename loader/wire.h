// SPDX-License-Identifier: GPL-2.0-only
//
// What a frame costs on the wire. Sizes named frame_size_with_fcs are RFC 1242's
// and RFC 2544's data link frame size: from the first octet behind the preamble to the end of the FCS.

#pragma once

#include <cstdint>

namespace responder::wire {

constexpr std::uint64_t fcs_bytes = 4;               // a NIC takes it off before a program sees the frame
constexpr std::uint64_t preamble_and_gap_bytes = 20; // preamble 7, start of frame 1, interframe gap 12 (IEEE 802.3)
constexpr std::uint64_t smallest_frame = 64;

// Octets on the wire for frames whose bytes were counted without FCS.
constexpr std::uint64_t l2_bytes_with_fcs(std::uint64_t frames, std::uint64_t bytes_without_fcs) {
    return bytes_without_fcs + frames * fcs_bytes;
}
constexpr std::uint64_t l1_bytes(std::uint64_t frames, std::uint64_t bytes_without_fcs) {
    return l2_bytes_with_fcs(frames, bytes_without_fcs) + frames * preamble_and_gap_bytes;
}

} // namespace responder::wire
