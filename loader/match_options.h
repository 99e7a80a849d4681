// SPDX-License-Identifier: GPL-2.0-only
//
// What is test traffic, in the words of the command line, and what that makes of the program's match_cfg.

#pragma once

#include "bpf/abi.h"
#include "loader/mac_address.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace responder {

// An address with the length of its prefix. IPv4 has 4 bytes.
struct Prefix {
    int family = 0; // AF_INET or AF_INET6
    std::array<std::uint8_t, 16> bytes{};
    unsigned length = 0;

    // "198.18.0.0/15", "2001:2::/48"; without a slash a host. nullopt for anything else.
    static std::optional<Prefix> parse(std::string_view text);
    bool is_host() const noexcept;
    bool contains(const Prefix& other) const noexcept;
    std::string address_text() const;
    std::string text() const; // with its length
};

struct MatchOptions {
    // As given; empty where not.
    std::vector<std::string> ports, ethertypes, vlans, inner_vlans, sources, destinations, source_macs,
        destination_macs;
    bool all = false;
    bool promiscuous = false;

    void add_to(CLI::App& app);

    bool uses_vlans() const noexcept { return !vlans.empty() || !inner_vlans.empty(); }

    // Throws Error(usage) that names the option and the value. `test_addresses` identify test traffic too, as long as
    // nothing else was said of what does.
    match_cfg build(const std::vector<Prefix>& test_addresses) const;
};

// MAC addresses that the NIC must be asked to let through for this configuration.
std::vector<MacAddress> wanted_macs(const match_cfg& cfg);

// "UDP port 9; UDP to 198.18.0.0/15, 2001:2::/48; only VLAN 5"
std::string describe(const match_cfg& cfg);

} // namespace responder
