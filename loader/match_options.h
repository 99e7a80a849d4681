// SPDX-License-Identifier: GPL-2.0-only
//
// What is test traffic, in the words of the command line, and what that makes of the program's match_cfg.

#pragma once

#include "bpf/abi.h"
#include "loader/ip_address.h"
#include "loader/mac_address.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace responder {

// What is test traffic where nothing is said, and what else a command calls things.
struct UsualMatch {
    std::uint16_t port;
    bool benchmark_networks; // UDP to 198.18.0.0/15 and 2001:2::/48
    const char* in_help;
    const char* promiscuous; // the name of that option
};
// RFC 863; what pktgen and testpmd send to unless told otherwise.
inline constexpr UsualMatch discard_match{.port = 9,
                                          .benchmark_networks = true,
                                          .in_help = "9, and UDP to 198.18.0.0/15 and 2001:2::/48",
                                          .promiscuous = "--promisc"};

struct MatchOptions {
    // As given; empty where not.
    std::vector<std::string> ports, ethertypes, vlans, inner_vlans, sources, destinations, source_macs,
        destination_macs;
    bool all = false;
    bool promiscuous = false;
    UsualMatch usual = discard_match;

    void add_to(CLI::App& app);

    // Nothing was said of what identifies test traffic.
    bool is_usual() const noexcept;

    bool uses_vlans() const noexcept { return !vlans.empty() || !inner_vlans.empty(); }

    // Throws Error(usage) that names the option and the value. `test_addresses` identify test traffic too, as long as
    // nothing else was said of what does.
    match_cfg build(const std::vector<Prefix>& test_addresses) const;
};

// Appends to a list of prefixes, and reads one of MAC addresses. Throw Error(usage).
void append_prefix(std::string_view option, const std::string& text, match_prefix4 (&list4)[MATCH_PREFIXES],
                   std::uint8_t& count4, match_prefix6 (&list6)[MATCH_PREFIXES], std::uint8_t& count6);
void append_source_mac(const char* option, const std::string& text, match_mac (&list)[MATCH_MACS], std::uint8_t& count);

// RFC 2544 appendix C.2.2 as corrected by RFC 6815 section 4.2, and RFC 5180 section 8 with its erratum.
inline constexpr std::string_view benchmark_networks[] = {"198.18.0.0/15", "2001:2::/48"};

// At most one address of each family.
answer_cfg to_answer_cfg(const std::vector<Prefix>& addresses);

match_prefix4 to_match_prefix4(const Prefix& prefix);
match_prefix6 to_match_prefix6(const Prefix& prefix);

// MAC addresses that the NIC must be asked to let through for this configuration.
std::vector<MacAddress> wanted_macs(const match_cfg& cfg);

// What to set a tester to, so that its frames are test traffic: "MAC 02:00:00:00:00:01, IPv4 198.18.1.2/24, UDP port 9
// or 5000-5010, VLAN 5".
std::string tester_settings(const match_cfg& cfg, const MacAddress& own_mac, const std::vector<Prefix>& addresses);

// "UDP port 9; UDP to 198.18.0.0/15, 2001:2::/48; only VLAN 5"
std::string describe(const match_cfg& cfg);

} // namespace responder
