// SPDX-License-Identifier: GPL-2.0-only
//
// What is test traffic, in the words of the command line, and what that makes of the program's match_cfg.

#pragma once

#include "bpf/abi.h"
#include "loader/ip_address.h"
#include "loader/mac_address.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace responder {

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

// What to set a tester to, so that its frames are test traffic: "MAC 02:00:00:00:00:01, IPv4 198.18.1.2/24, UDP port 9
// or 5000-5010, VLAN 5".
std::string tester_settings(const match_cfg& cfg, const MacAddress& own_mac, const std::vector<Prefix>& addresses);

// "UDP port 9; UDP to 198.18.0.0/15, 2001:2::/48; only VLAN 5"
std::string describe(const match_cfg& cfg);

} // namespace responder
