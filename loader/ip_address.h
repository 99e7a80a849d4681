// SPDX-License-Identifier: GPL-2.0-only
//
// IP addresses as people write them, and what kind of address one is. Prefix is one with a length.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sockaddr;

namespace responder {

struct IpAddress {
    int family = 0;                       // AF_INET or AF_INET6
    std::array<std::uint8_t, 16> bytes{}; // network order; IPv4 uses the first four

    bool operator==(const IpAddress&) const = default;
    static std::optional<IpAddress> parse(std::string_view text); // no names, no zone
    static IpAddress from(const sockaddr& address);               // of any other family: unspecified

    bool v6() const noexcept;
    bool is_unspecified() const noexcept;
    bool is_multicast() const noexcept;
    bool is_broadcast() const noexcept; // 255.255.255.255
    bool is_loopback() const noexcept;
    bool is_host() const noexcept; // one that an interface can have towards others
    std::string address_text() const;
};

struct Prefix : IpAddress {
    unsigned length = 0;

    // "198.18.0.0/15", "2001:2::/48"; without a slash a host. nullopt for anything else.
    static std::optional<Prefix> parse(std::string_view text);
    bool contains(const Prefix& other) const noexcept;
    bool is_host() const noexcept; // with a length that a network can have
    // Of the network's addresses, where it has more than two: one of two (RFC 3021, RFC 6164) has none but hosts'.
    bool is_first() const noexcept;
    bool is_last() const noexcept;
    Prefix network() const noexcept; // that it is in
    std::string text() const;        // with its length

  private:
    bool host_bits_are(unsigned value) const noexcept; // and there are two or more
};

} // namespace responder
