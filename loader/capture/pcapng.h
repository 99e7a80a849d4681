// SPDX-License-Identifier: GPL-2.0-only
//
// The blocks of a pcapng file (draft-ietf-opsawg-pcapng), in this machine's own octet order, which the format allows:
// who captured, on which interface, each frame, and at the end what was counted. Only Ethernet; times in nanoseconds
// since 1970, UTC. A block is a whole number of 32-bit words and says its length at both ends, so that a file may end
// after any of them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace responder::pcapng {

using Octets = std::vector<std::uint8_t>;

struct Section {
    std::string hardware, os, application;
};

// Its number in a section is the place in the order of the descriptions, from 0.
struct Interface {
    std::string name, hardware;
    std::string filter;          // what is captured, in words
    std::uint64_t speed_bps = 0; // 0: not known
    std::uint32_t snaplen = 0;
};

struct Packet {
    std::uint32_t interface = 0;
    std::uint32_t queue = 0;
    std::uint64_t time_ns = 0;
    std::uint32_t length = 0;             // as it came, without FCS
    std::span<const std::uint8_t> octets; // what is kept of it
    std::uint64_t lost_before = 0;        // since the one before, of those that should have been captured
    std::string_view comment;             // for people; mostly there is none
};

// Counts over the whole capture so far; what is not known is left out.
struct Statistics {
    std::uint64_t started_ns = 0, ended_ns = 0;
    std::optional<std::uint64_t> received; // by the interface
    std::optional<std::uint64_t> dropped_by_interface;
    std::uint64_t dropped_by_system = 0; // should have been captured, and were not
    std::uint64_t delivered = 0;
};

Octets section_block(const Section& section);
Octets interface_block(const Interface& interface);
Octets statistics_block(std::uint32_t interface, const Statistics& statistics);
inline constexpr std::size_t longest_statistics_block = 100;

inline constexpr std::size_t longest_comment = 256; // what is beyond is cut off
std::size_t packet_block_size(const Packet& packet) noexcept;
void write_packet_block(const Packet& packet, std::uint8_t* to) noexcept; // packet_block_size() octets

// The first of whole blocks that lie one behind the other.
struct Block {
    std::uint32_t length;
    std::optional<std::uint32_t> packet_of; // the interface's number, if it holds a packet
};
Block first_block(std::span<const std::uint8_t> blocks) noexcept;

} // namespace responder::pcapng
