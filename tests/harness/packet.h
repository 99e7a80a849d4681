// SPDX-License-Identifier: GPL-2.0-only
//
// Frames out of headers: `Ethernet{} / Vlan{.id = 5} / Ipv4{.ttl = 3} / Udp{} / payload(18)`, outermost first. Types,
// protocols, lengths and checksums are filled in, and the frame is padded to 60 octets; a field that is set by hand
// stands as it is, however wrong. Not a line of the code under test is in here.

#pragma once

#include "loader/mac_address.h"
#include "tests/harness/octets.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace responder::test::packet {

using Octet = std::optional<std::uint8_t>; // nothing: fill it in
using Word = std::optional<std::uint16_t>;

constexpr std::uint16_t c_tag = 0x8100, s_tag = 0x88a8; // 802.1Q, 802.1ad

constexpr MacAddress own_mac{{0x02, 0, 0, 0, 0, 0x01}};
constexpr MacAddress tester_mac{{0x02, 0, 0, 0, 0, 0x02}};
constexpr MacAddress stranger_mac{{0x02, 0, 0, 0, 0, 0x03}};
constexpr MacAddress broadcast_mac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

struct Ethernet {
    MacAddress destination = own_mac;
    MacAddress source = tester_mac;
    Word type = {};
    std::size_t shortest = 60;
};

struct Vlan {
    unsigned id = 1;
    unsigned priority = 0; // with DEI as its lowest bit
    std::uint16_t protocol = c_tag;
    Word type = {};
};

struct Ipv4 {
    std::string source = "10.0.0.1";
    std::string destination = "10.0.0.2";
    Octet protocol = {};
    unsigned ttl = 64;
    unsigned version = 4;
    unsigned options = 0; // octets
    Octet ihl = {};       // in words
    unsigned tos = 0;
    unsigned id = 0;
    bool dont_fragment = false;
    bool more_fragments = false;
    unsigned fragment_offset = 0; // in units of 8 octets
    Word length = {};
    Word checksum = {};
};

struct Ipv6 {
    std::string source = "2001:db8::1";
    std::string destination = "2001:db8::2";
    Octet next = {};
    unsigned hop_limit = 64;
    unsigned version = 6;
    Word length = {}; // of what follows
};

// An IPv6 extension header of `size` octets: protocol numbers as in RFC 8200; 51 (AH) counts in words, the others in
// units of eight octets.
struct Extension {
    std::uint8_t kind = 0;
    std::size_t size = 8;
    Octet next = {};
    Octet length = {};
};

struct Fragment {
    unsigned offset = 0; // in units of 8 octets
    bool more = false;
    Octet next = {};
    std::uint8_t reserved = 0; // where other extension headers have their length
};

struct Udp {
    std::uint16_t source = 1024;
    std::uint16_t destination = 9;
    Word length = {};
    Word checksum = {};
};

struct Tcp {
    std::uint16_t source = 1024;
    std::uint16_t destination = 22;
};

// ICMP below Ipv4, ICMPv6 below Ipv6; `rest` is the second word of the header.
struct Icmp {
    std::uint8_t type = 8;
    std::uint8_t code = 0;
    std::uint32_t rest = 0x00010001;
    Word checksum = {};
};

struct Arp {
    unsigned operation = 1;
    MacAddress sender_mac = tester_mac;
    std::string sender = "198.18.1.1";
    MacAddress target_mac{};
    std::string target = "198.18.1.2";
    unsigned hardware_type = 1, protocol_type = 0x0800, hardware_length = 6, protocol_length = 4;
};

struct Payload {
    Octets octets;
};
Payload payload(std::size_t size); // 0 1 2 ... 255 0 ...
Payload zeros(std::size_t size);
Payload address_octets(const std::string& address); // 4 or 16
Payload mac_octets(const MacAddress& mac);

using Layer = std::variant<Ethernet, Vlan, Ipv4, Ipv6, Extension, Fragment, Udp, Tcp, Icmp, Arp, Payload>;

class Packet {
  public:
    template <class T>
    requires std::constructible_from<Layer, T> Packet(T layer) : layers_{std::move(layer)} {}

    Packet& operator/=(const Packet& inner);

    Octets octets() const;
    operator Octets() const { return octets(); }

  private:
    std::vector<Layer> layers_;
};

// At namespace scope, so that both sides may be layers.
inline Packet operator/(Packet outer, const Packet& inner) { return outer /= inner; }

// RFC 1071: 0 over octets that carry their own valid checksum.
std::uint16_t internet_checksum(std::span<const std::uint8_t> octets);

// Of an upper layer, over IPv4's or IPv6's pseudo-header; 0 if `upper` carries a valid one.
std::uint16_t pseudo_checksum(std::span<const std::uint8_t> source, std::span<const std::uint8_t> destination,
                              std::uint8_t protocol, std::span<const std::uint8_t> upper);

std::string hex(std::span<const std::uint8_t> octets); // sixteen a line

} // namespace responder::test::packet
