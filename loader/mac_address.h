// SPDX-License-Identifier: GPL-2.0-only

#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace responder {

struct MacAddress {
    std::array<std::uint8_t, 6> bytes{};

    bool is_group() const noexcept { return (bytes[0] & 1) != 0; }
    bool is_zero() const noexcept { return bytes == std::array<std::uint8_t, 6>{}; }
    auto operator<=>(const MacAddress&) const = default;

    // Six pairs of hexadecimal digits between colons or dashes; nullopt for anything else.
    static std::optional<MacAddress> parse(std::string_view text);
};

std::string to_string(const MacAddress& mac);

} // namespace responder
