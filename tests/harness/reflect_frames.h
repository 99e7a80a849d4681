// SPDX-License-Identifier: GPL-2.0-only
//
// Requests to a reflector and what must come back, made by the packet builder with its own checksums: one table, which
// the program under BPF_PROG_TEST_RUN and the command's two engines over veth are all held against.

#pragma once

#include "tests/harness/packet.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace responder::test {

// ---- a frame and its way back ----

struct Ends {
    MacAddress mac[2] = {packet::own_mac, packet::tester_mac}; // to, from
    std::string ip4[2] = {"10.0.0.2", "10.0.0.1"}, ip6[2] = {"2001:db8::2", "2001:db8::1"};
    std::uint16_t port[2] = {7, 0xc020};

    Ends back(unsigned layers) const { // 1: MAC, 2: and IP, 3: and ports
        Ends turned = *this;
        std::swap(turned.mac[0], turned.mac[1]);
        if (layers >= 2) {
            std::swap(turned.ip4[0], turned.ip4[1]);
            std::swap(turned.ip6[0], turned.ip6[1]);
        }
        if (layers >= 3)
            std::swap(turned.port[0], turned.port[1]);
        return turned;
    }
};

struct Shape {
    std::string name = {};
    std::vector<std::uint16_t> tags = {};
    unsigned ip = 4;
    unsigned options = 0;                      // IPv4's
    std::vector<std::uint8_t> extensions = {}; // IPv6's
    bool tcp = false;
    std::size_t payload = 18;

    packet::Packet packet(const Ends& ends) const;
};

extern const std::vector<std::pair<std::string, std::vector<std::uint16_t>>> tag_stacks;

// Of every depth of tags and every kind of header.
std::vector<Shape> shapes(bool tcp = false);

// ---- what asks for an answer ----

Octets our_signature(std::uint32_t sequence); // built by hand: stream 3, no time
Octets text(const std::string& front, const std::string& signature);

// ---- STAMP ----

struct StampPacket {
    std::uint32_t sequence = 0x01020304;
    std::uint64_t sent = 0xe0e1e2e3a0a1a2a3;
    std::uint16_t error = 0x8123;
    std::uint16_t session = 0x5566;
    Octets mbz = Octets(28);
    Octets more = {};

    packet::Payload payload() const;
};

std::uint64_t get(const Octets& octets, std::size_t at, std::size_t bytes); // in network order

// The reply of RFC 8762 section 4.3.1 to it, by the builder; the two times are taken from what came.
packet::Payload stamp_reply(const StampPacket& request, const Octets& came, std::size_t at, unsigned ttl,
                            std::uint32_t sequence);

packet::Packet stamp_frame(const Shape& shape, const Ends& ends, unsigned ttl, const packet::Payload& data,
                           packet::Word checksum = {});

// ---- Ethernet OAM ----

packet::Packet oam(const packet::Ethernet& eth, const std::vector<std::uint16_t>& tags, std::uint8_t opcode,
                   const Octets& body, unsigned level = 5);
packet::Ethernet with_type(packet::Ethernet eth, const std::vector<std::uint16_t>& tags);

// ---- all of it ----

struct ReflectFixture {
    std::string name;
    Octets in;
    std::string slot; // reflect_slot_name()
    Octets out;       // times and what depends on them are 0; empty: nothing comes back
};

// To a reflector with --icmp that answers 10.0.0.0/8 and 2001:db8::/32.
std::vector<ReflectFixture> reflect_fixtures();

// Times of a reply, the clock's error estimate, checksums over them and counters: all that differs from run to run.
void blank_times(Octets& reply, const std::string& slot);

} // namespace responder::test
