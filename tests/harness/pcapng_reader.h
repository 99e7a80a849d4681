// SPDX-License-Identifier: GPL-2.0-only
//
// Reads a pcapng file for the tests, by the draft alone: one section in this machine's octet order, and every length,
// both of it, is checked. What is no whole file throws std::runtime_error.

#pragma once

#include "tests/harness/octets.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace responder::test {

struct PcapngBlock {
    std::uint32_t type = 0;
    Octets body; // up to the options
    std::multimap<std::uint16_t, Octets> options;
    std::string text(std::uint16_t option) const;     // empty: there is none
    std::uint64_t number(std::uint16_t option) const; // of four or eight octets; 0: there is none
};

struct PcapngPacket {
    std::uint32_t interface = 0, length = 0, flags = 0, queue = 0;
    std::uint64_t time_ns = 0, lost_before = 0;
    Octets octets;
    std::string comment;
};

struct PcapngFile {
    std::uint64_t size = 0;
    PcapngBlock section;
    std::vector<PcapngBlock> interfaces;
    std::vector<PcapngPacket> packets;
    std::vector<PcapngBlock> statistics; // by interface
};

PcapngFile read_pcapng(const std::string& file);
PcapngFile parse_pcapng(const Octets& octets);

} // namespace responder::test
