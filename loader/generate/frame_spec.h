// SPDX-License-Identifier: GPL-2.0-only
//
// What the sender sends: FrameSpec describes the test frames, build_frame() makes any one of them, and
// generate_config() makes of the same description what the BPF program needs to make all of them. All of it is pure.
//
// A frame is Ethernet, up to two VLAN tags, IPv4 or IPv6, UDP, and a payload that begins with a signature: our own, 14
// octets, and behind it a pattern of its numbers (bpf/signature/ours.h, pattern.h); or that of the kernel's pktgen
// (bpf/signature/pktgen.h, 16 octets, of which the last 8, the time, stay zero and are cut off where the frame ends),
// and behind it the octets 10 11 12 .. FF 00 .. of RFC 2544 C.2.6.4. The smallest frames that have room for the
// signature:
//
//                   no tag   one tag   two tags
//     IPv4            64        64        68     (with pktgen's 64)
//     IPv6            80        84        88     (with pktgen's 74, 78 and 82)
//
// Sizes are those of the whole frame, tags and FCS included. Frames in memory have no FCS: the NIC adds it.

#pragma once

#include "bpf/generate_abi.h"
#include "loader/ip_address.h"
#include "loader/mac_address.h"
#include "loader/wire.h"

#include <cstdint>
#include <vector>

namespace responder {

// Ports taken in turn, one frame after the other.
struct PortRange {
    std::uint16_t first = 0;
    std::uint16_t last = 0;

    bool operator==(const PortRange&) const = default;
    unsigned count() const noexcept { return last - first + 1U; }
};

enum class Signature { ours, pktgen };

struct FrameSpec {
    MacAddress source_mac;
    MacAddress destination_mac;
    std::vector<std::uint16_t> vlans; // ids from outside inwards; two make an 802.1ad frame
    IpAddress source;                 // both of one family
    IpAddress destination;
    std::uint8_t ttl = 10;
    PortRange source_ports{0xC020, 0xC020};
    PortRange destination_ports{9, 9}; // discard
    std::vector<unsigned> sizes{64};   // taken in turn, one frame after the other; up to GENERATE_SIZES
    Signature signature = Signature::ours;
    bool stamped = false; // our own signature says when each frame was made; build_frame() leaves that out
    unsigned streams = 1; // of our own signature: taken in turn likewise, each with sequence numbers of its own

    // Throws Error(usage) where this describes no frames.
    void validate() const;

    unsigned largest_size() const;
    unsigned header_size() const noexcept; // of a frame without payload
    unsigned smallest_possible_size() const noexcept;
};

inline constexpr unsigned fcs_length = wire::fcs_bytes;
inline constexpr unsigned smallest_frame_size = wire::smallest_frame;
inline constexpr unsigned largest_frame_size = GENERATE_LARGEST;

// The frame number `number`, from 0. Sizes, ports and streams take turns by it.
std::vector<std::uint8_t> build_frame(const FrameSpec& spec, std::uint64_t number);

// What every frame is made from: of the largest size, with a signature whose changing fields are 0.
std::vector<std::uint8_t> template_frame(const FrameSpec& spec);

generate_cfg generate_config(const FrameSpec& spec);

struct SizeCount {
    unsigned size = 0;
    std::uint64_t frames = 0;

    bool operator==(const SizeCount&) const = default;
};

// How many of the first `frames` frames are of which size, smallest first; a size listed twice is one.
std::vector<SizeCount> frames_by_size(const FrameSpec& spec, std::uint64_t frames);

} // namespace responder
