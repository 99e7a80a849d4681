// SPDX-License-Identifier: GPL-2.0-only

#include "loader/ip_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace responder {

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
    const std::string terminated(text);
    for (const int family : {AF_INET, AF_INET6}) {
        IpAddress address{.family = family};
        if (inet_pton(family, terminated.c_str(), address.bytes.data()) == 1)
            return address;
    }
    return std::nullopt;
}

IpAddress IpAddress::from(const sockaddr& address) {
    IpAddress result;
    if (address.sa_family != AF_INET && address.sa_family != AF_INET6)
        return result;
    result.family = address.sa_family;
    if (result.v6())
        std::memcpy(result.bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, 16);
    else
        std::memcpy(result.bytes.data(), &reinterpret_cast<const sockaddr_in&>(address).sin_addr, 4);
    return result;
}

bool IpAddress::v6() const noexcept { return family == AF_INET6; }

bool IpAddress::is_unspecified() const noexcept { return bytes == std::array<std::uint8_t, 16>{}; }

bool IpAddress::is_multicast() const noexcept { return v6() ? bytes[0] == 0xff : bytes[0] >> 4 == 14; }

bool IpAddress::is_broadcast() const noexcept {
    return !v6() && std::all_of(bytes.begin(), bytes.begin() + 4, [](std::uint8_t octet) { return octet == 255; });
}

bool IpAddress::is_loopback() const noexcept {
    constexpr std::array<std::uint8_t, 16> loopback6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    return v6() ? bytes == loopback6 : bytes[0] == 127;
}

bool IpAddress::is_host() const noexcept {
    if (!v6())
        return bytes[0] != 0 && !is_loopback() && bytes[0] < 224;
    // RFC 4291 section 2.5.5: IPv4 addresses in IPv6's clothes, which no interface has.
    constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return !is_unspecified() && !is_loopback() && !is_multicast() &&
           !std::equal(mapped.begin(), mapped.end(), bytes.begin());
}

std::string IpAddress::address_text() const {
    char text[INET6_ADDRSTRLEN];
    inet_ntop(family, bytes.data(), text, sizeof(text));
    return text;
}

std::optional<Prefix> Prefix::parse(std::string_view text) {
    const auto slash = text.find('/');
    const auto address = IpAddress::parse(text.substr(0, slash));
    if (!address)
        return std::nullopt;
    const unsigned bits = address->v6() ? 128 : 32;
    unsigned length = bits;
    if (slash != text.npos) {
        const std::string_view digits = text.substr(slash + 1);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
        if (error != std::errc() || end != digits.data() + digits.size() || length > bits)
            return std::nullopt;
    }
    return Prefix{*address, length};
}

bool Prefix::contains(const Prefix& other) const noexcept {
    if (family != other.family || other.length < length)
        return false;
    const unsigned whole = length / 8;
    const unsigned rest = length % 8;
    return std::equal(bytes.begin(), bytes.begin() + whole, other.bytes.begin()) &&
           (rest == 0 || (bytes[whole] ^ other.bytes[whole]) >> (8 - rest) == 0);
}

bool Prefix::host_bits_are(unsigned value) const noexcept {
    const unsigned bits = v6() ? 128 : 32;
    for (unsigned bit = length; bit < bits; ++bit)
        if ((bytes[bit / 8] >> (7 - bit % 8) & 1U) != value)
            return false;
    return length + 2 <= bits;
}

bool Prefix::is_host() const noexcept { return length != 0 && IpAddress::is_host(); }

bool Prefix::is_first() const noexcept { return host_bits_are(0); }
bool Prefix::is_last() const noexcept { return host_bits_are(1); }

Prefix Prefix::network() const noexcept {
    Prefix network = *this;
    for (unsigned bit = length; bit < 8 * network.bytes.size(); ++bit)
        network.bytes[bit / 8] &= static_cast<std::uint8_t>(~(0x80U >> bit % 8));
    return network;
}

std::string Prefix::text() const { return fmt::format("{}/{}", address_text(), length); }

} // namespace responder
