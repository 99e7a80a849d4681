// SPDX-License-Identifier: GPL-2.0-only

#include "loader/mac_address.h"

#include <fmt/format.h>

#include <charconv>

namespace responder {

std::optional<MacAddress> MacAddress::parse(std::string_view text) {
    MacAddress mac;
    if (text.size() != 17)
        return std::nullopt;
    for (std::size_t i = 0; i < mac.bytes.size(); ++i) {
        const char* digits = text.data() + 3 * i;
        if (i > 0 && digits[-1] != ':' && digits[-1] != '-')
            return std::nullopt;
        const auto [end, error] = std::from_chars(digits, digits + 2, mac.bytes[i], 16);
        if (error != std::errc() || end != digits + 2)
            return std::nullopt;
    }
    return mac;
}

std::string to_string(const MacAddress& mac) {
    const auto& b = mac.bytes;
    return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", b[0], b[1], b[2], b[3], b[4], b[5]);
}

} // namespace responder
