// SPDX-License-Identifier: GPL-2.0-only
//
// What the sender sends: FrameSpec describes the test frames, build_frame() makes any one of them, and
// generate_config() makes of the same description what the BPF program needs to make all of them. All of it is pure.
//
// A frame is that of RFC 2544 C.2.6.4: Ethernet, up to two VLAN tags, IPv4 or IPv6, UDP, and octets 00 01 02 .. FF 00
// .. which count from the start of the payload. Its first 16 octets are the signature of the kernel's pktgen instead
// (magic, sequence number, 8 octets of time that stay zero), cut off where the frame ends. A sequence number is written
// only where it fits in whole. It fits in from these sizes on:
//
//                   no tag   one tag   two tags
//     IPv4            64        64        64     (the whole signature from 64, 66 and 70)
//     IPv6            74        78        82     (a frame without payload has 66, 70 and 74)
//
// Sizes are those of the whole frame, tags and FCS included. Frames in memory have no FCS: the NIC adds it.

#pragma once

#include "bpf/generate_abi.h"
#include "loader/mac_address.h"
#include "loader/wire.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace responder {

struct IpAddress {
    bool v6 = false;
    std::array<std::uint8_t, 16> bytes{}; // network order; IPv4 uses the first four

    bool operator==(const IpAddress&) const = default;
    static std::optional<IpAddress> parse(std::string_view text);
};

// Ports taken in turn, one frame after the other.
struct PortRange {
    std::uint16_t first = 0;
    std::uint16_t last = 0;

    bool operator==(const PortRange&) const = default;
    unsigned count() const noexcept { return last - first + 1U; }
};

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

    // Throws Error(usage) where this describes no frames.
    void validate() const;

    unsigned smallest_size() const;
    unsigned largest_size() const;
    // Size of a frame that has just room for the headers.
    unsigned header_size() const noexcept;
    bool carries_sequence(unsigned size) const noexcept;
};

inline constexpr unsigned fcs_length = wire::fcs_bytes;
inline constexpr unsigned smallest_frame_size = wire::smallest_frame;
inline constexpr unsigned largest_frame_size = 9216; // what is commonly called jumbo; no engine sends more

// The frame number `number`, from 0. Sizes and ports take turns by it, and its low 32 bits are the sequence number.
std::vector<std::uint8_t> build_frame(const FrameSpec& spec, std::uint64_t number);

// What every frame is made from: of the largest size, with sequence number 0.
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
