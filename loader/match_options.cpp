// SPDX-License-Identifier: GPL-2.0-only

#include "loader/match_options.h"

#include "loader/command_line.h"
#include "loader/error.h"

#include <CLI/CLI.hpp>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/if_ether.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace responder {

namespace {

std::uint16_t parse_ethertype(const std::string& text) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    const char* const last = text.data() + text.size();
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data() + (hex ? 2 : 0), last, number, hex ? 16 : 10);
    if (error != std::errc() || end != last || number < 0x600 || number > 0xffff)
        refuse_value("--ethertype", text, "not an EtherType from 0x0600 to 0xffff");
    switch (number) {
    case ETH_P_IP:
    case ETH_P_IPV6:
        refuse_value("--ethertype", text,
                     "this is IP, the stack's own traffic too: choose by --port, --dst or --src, or take --all");
    case ETH_P_ARP:
        refuse_value("--ethertype", text, "ARP always goes up the stack");
    case ETH_P_8021Q:
    case ETH_P_8021AD:
        refuse_value("--ethertype", text, "this is a VLAN tag: choose by --vlan, and name the EtherType behind it");
    default:
        return static_cast<std::uint16_t>(number);
    }
}

// What to do where a list is full.
std::string way_out(const match_range&) { return "join neighbouring ones to a range"; }
std::string way_out(const match_prefix4&) { return "join neighbouring ones to a shorter prefix"; }
std::string way_out(const match_prefix6&) { return "join neighbouring ones to a shorter prefix"; }
std::string way_out(const match_mac&) { return "choose by --src, --dst or --vlan instead"; }
std::string way_out(std::uint16_t) { return "--all takes every one"; }

// Appends to one of match_cfg's lists, which says how long it may become.
template <class Item, std::size_t size>
void append(std::string_view option, Item (&list)[size], std::uint8_t& count, const Item& item) {
    if (count == size)
        throw Error(ExitCode::usage, std::string(option), fmt::format("more than {} values", size), way_out(item));
    list[count++] = item;
}

match_range to_match_range(std::string_view option, const std::string& text, unsigned lowest, unsigned highest) {
    const auto [first, last] = parse_range(option, text, lowest, highest);
    return {first, last};
}

Prefix parse_prefix(std::string_view option, const std::string& text) {
    const auto prefix = Prefix::parse(text);
    if (!prefix)
        refuse_value(option, text, "not an IPv4 or IPv6 address or prefix like 198.18.0.0/15");
    return *prefix;
}

void append_prefix(std::string_view option, const Prefix& prefix, match_prefix4 (&list4)[MATCH_PREFIXES],
                   std::uint8_t& count4, match_prefix6 (&list6)[MATCH_PREFIXES], std::uint8_t& count6) {
    if (prefix.family == AF_INET)
        append(option, list4, count4, to_match_prefix4(prefix));
    else
        append(option, list6, count6, to_match_prefix6(prefix));
}

// That no frame comes from, or none that is not passed before anything else is looked at (match_is_control()).
match_mac parse_match_mac(const char* option, const std::string& text, bool source) {
    const MacAddress mac = parse_mac(option, text);
    if (mac.is_zero())
        refuse_value(option, text, "this is the address of nobody");
    if (source && mac.is_group())
        refuse_value(option, text, "a group address cannot send");
    if (mac.bytes[0] == 0x01 && mac.bytes[1] == 0x80 && mac.bytes[2] == 0xc2)
        refuse_value(option, text, "link control always goes up the stack");
    match_mac result{};
    std::ranges::copy(mac.bytes, result.bytes);
    return result;
}

unsigned mask_length(const std::uint32_t* mask, int words) {
    unsigned length = 0;
    for (int i = 0; i < words; ++i)
        length += static_cast<unsigned>(__builtin_popcount(mask[i]));
    return length;
}

std::string text_of(const match_range& range) {
    return range.first == range.last ? fmt::format("{}", range.first) : fmt::format("{}-{}", range.first, range.last);
}
std::string text_of(const match_prefix4& prefix) {
    char text[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &prefix.address, text, sizeof(text));
    return fmt::format("{}/{}", text, mask_length(&prefix.mask, 1));
}
std::string text_of(const match_prefix6& prefix) {
    char text[INET6_ADDRSTRLEN];
    inet_ntop(AF_INET6, prefix.address, text, sizeof(text));
    return fmt::format("{}/{}", text, mask_length(prefix.mask, 4));
}
std::string text_of(std::uint16_t ethertype) { return fmt::format("0x{:04x}", ethertype); }
std::string text_of(const match_mac& mac) {
    MacAddress address;
    std::copy(std::begin(mac.bytes), std::end(mac.bytes), address.bytes.begin());
    return to_string(address);
}

template <class Item, std::size_t size>
void collect(std::vector<std::string>& texts, const Item (&list)[size], std::uint8_t count) {
    for (std::size_t i = 0; i < count; ++i)
        texts.push_back(text_of(list[i]));
}

} // namespace

answer_cfg to_answer_cfg(const std::vector<Prefix>& addresses) {
    answer_cfg cfg{};
    for (const Prefix& address : addresses) {
        const bool v4 = address.family == AF_INET;
        (v4 ? cfg.v4 : cfg.v6) = 1;
        std::memcpy(v4 ? &cfg.address4 : cfg.address6, address.bytes.data(), v4 ? 4 : 16);
    }
    return cfg;
}

match_prefix4 to_match_prefix4(const Prefix& prefix) {
    match_prefix4 result{};
    const std::uint32_t mask = prefix.length == 0 ? 0 : ~std::uint32_t{0} << (32 - prefix.length);
    std::memcpy(&result.address, prefix.bytes.data(), 4);
    result.mask = htonl(mask);
    result.address &= result.mask;
    return result;
}

match_prefix6 to_match_prefix6(const Prefix& prefix) {
    match_prefix6 result{};
    std::memcpy(result.address, prefix.bytes.data(), 16);
    for (unsigned word = 0; word < 4; ++word) {
        const unsigned bits = std::clamp<int>(static_cast<int>(prefix.length) - 32 * static_cast<int>(word), 0, 32);
        result.mask[word] = htonl(bits == 0 ? 0 : ~std::uint32_t{0} << (32 - bits));
        result.address[word] &= result.mask[word];
    }
    return result;
}

void append_prefix(std::string_view option, const std::string& text, match_prefix4 (&list4)[MATCH_PREFIXES],
                   std::uint8_t& count4, match_prefix6 (&list6)[MATCH_PREFIXES], std::uint8_t& count6) {
    append_prefix(option, parse_prefix(option, text), list4, count4, list6, count6);
}

void append_source_mac(const char* option, const std::string& text, match_mac (&list)[MATCH_MACS],
                       std::uint8_t& count) {
    append(option, list, count, parse_match_mac(option, text, true));
}

bool MatchOptions::is_usual() const noexcept {
    return !all && ports.empty() && ethertypes.empty() && sources.empty() && destinations.empty();
}

void MatchOptions::add_to(CLI::App& app) {
    const auto list = [&](const char* name, std::vector<std::string>& values, const char* text, const char* type) {
        add_list(app, name, values, text, type)->group("What is test traffic");
    };
    list("--port", ports,
         fmt::format("UDP to this destination port or range ({}, unless another option of this group says what is test "
                     "traffic)",
                     usual.in_help)
             .c_str(),
         "PORT[-PORT]");
    list("--ethertype", ethertypes, "frames of this EtherType", "0xHHHH");
    app.add_flag("--all", all, "every frame but link control, ARP, ND and DHCP: for a port that sees only test traffic")
        ->group("What is test traffic");
    list("--src", sources, "only from these addresses; alone: UDP from them, on any port", "PREFIX");
    list("--dst", destinations, "only to these addresses; alone: UDP to them, on any port", "PREFIX");
    list("--src-mac", source_macs, "only from these MAC addresses", "MAC");
    list("--dst-mac", destination_macs, "only to these MAC addresses, which the NIC is asked to let through", "MAC");
    list("--vlan", vlans, "only with this VLAN id in the outermost tag", "ID[-ID]");
    list("--inner-vlan", inner_vlans, "only with this VLAN id in the second tag", "ID[-ID]");
    app.add_flag(usual.promiscuous, promiscuous, "also frames to other MAC addresses (promiscuous while it runs)")
        ->group("What is test traffic");
}

match_cfg MatchOptions::build(const std::vector<Prefix>& test_addresses) const {
    match_cfg cfg{};
    for (const std::string& text : ports)
        append("--port", cfg.port, cfg.port_count, to_match_range("--port", text, 1, 65535));
    for (const std::string& text : ethertypes)
        append("--ethertype", cfg.ethertype, cfg.ethertype_count, parse_ethertype(text));
    for (const std::string& text : vlans)
        append("--vlan", cfg.vlan, cfg.vlan_count, to_match_range("--vlan", text, 0, 4094));
    for (const std::string& text : inner_vlans)
        append("--inner-vlan", cfg.inner_vlan, cfg.inner_vlan_count, to_match_range("--inner-vlan", text, 0, 4094));
    for (const std::string& text : sources)
        append_prefix("--src", text, cfg.source4, cfg.source4_count, cfg.source6, cfg.source6_count);
    for (const std::string& text : destinations)
        append_prefix("--dst", text, cfg.destination4, cfg.destination4_count, cfg.destination6,
                      cfg.destination6_count);
    for (const std::string& text : source_macs)
        append("--src-mac", cfg.source_mac, cfg.source_mac_count, parse_match_mac("--src-mac", text, true));
    for (const std::string& text : destination_macs)
        append("--dst-mac", cfg.destination_mac, cfg.destination_mac_count, parse_match_mac("--dst-mac", text, false));

    cfg.all = all;
    cfg.any_mac = promiscuous || !destination_macs.empty();
    const bool by_address = !sources.empty() || !destinations.empty();
    if (all && (!ports.empty() || !ethertypes.empty()))
        throw Error(ExitCode::usage, "--all", "takes every frame already", "leave out --port and --ethertype");
    if (by_address && ports.empty() && !ethertypes.empty())
        throw Error(ExitCode::usage, "--ethertype with --src or --dst",
                    "can match nothing: such frames have no IP address",
                    "choose them by --src-mac, --dst-mac or --vlan");
    const auto excludes = [](std::uint8_t source4, std::uint8_t source6, std::uint8_t destination4,
                             std::uint8_t destination6) {
        const bool v4 = (source4 || !source6) && (destination4 || !destination6);
        const bool v6 = (source6 || !source4) && (destination6 || !destination4);
        return !v4 && !v6;
    };
    if (excludes(cfg.source4_count, cfg.source6_count, cfg.destination4_count, cfg.destination6_count))
        throw Error(ExitCode::usage, "--src with --dst", "can match nothing: one is IPv4 and the other IPv6");

    if (all || !ports.empty() || !ethertypes.empty())
        return cfg;
    if (by_address) {
        cfg.any_udp = 1;
        return cfg;
    }
    append("--port", cfg.port, cfg.port_count, match_range{usual.port, usual.port});
    if (!usual.benchmark_networks)
        return cfg;
    for (const std::string_view network : benchmark_networks)
        append_prefix("", *Prefix::parse(network), cfg.network4, cfg.network4_count, cfg.network6, cfg.network6_count);
    for (Prefix address : test_addresses) {
        if (std::ranges::any_of(benchmark_networks,
                                [&](std::string_view network) { return Prefix::parse(network)->contains(address); }))
            continue;
        address.length = address.family == AF_INET ? 32 : 128;
        append_prefix("--address", address, cfg.network4, cfg.network4_count, cfg.network6, cfg.network6_count);
    }
    return cfg;
}

std::vector<MacAddress> wanted_macs(const match_cfg& cfg) {
    std::vector<MacAddress> macs;
    for (std::size_t i = 0; i < cfg.destination_mac_count; ++i) {
        MacAddress mac;
        std::ranges::copy(cfg.destination_mac[i].bytes, mac.bytes.begin());
        macs.push_back(mac);
    }
    return macs;
}

std::string tester_settings(const match_cfg& cfg, const MacAddress& own_mac, const std::vector<Prefix>& addresses) {
    std::vector<std::string> settings;
    const auto any_of = [&](std::string_view what, const auto& items, std::uint8_t count) {
        std::vector<std::string> texts;
        collect(texts, items, count);
        if (count != 0)
            settings.push_back(fmt::format("{} {}", what, fmt::join(texts, " or ")));
    };
    any_of("MAC", cfg.destination_mac, cfg.destination_mac_count);
    if (cfg.destination_mac_count == 0)
        settings.push_back("MAC " + to_string(own_mac));
    for (const Prefix& address : addresses)
        settings.push_back(fmt::format("{} {}", address.v6() ? "IPv6" : "IPv4", address.text()));
    any_of("IPv4", cfg.destination4, cfg.destination4_count);
    any_of("IPv6", cfg.destination6, cfg.destination6_count);
    any_of("UDP port", cfg.port, cfg.port_count);
    any_of("EtherType", cfg.ethertype, cfg.ethertype_count);
    any_of("VLAN", cfg.vlan, cfg.vlan_count);
    any_of("inner VLAN", cfg.inner_vlan, cfg.inner_vlan_count);
    if (cfg.vlan_count + cfg.inner_vlan_count == 0)
        settings.emplace_back("no VLAN");
    return fmt::format("{}", fmt::join(settings, ", "));
}

std::string describe(const match_cfg& cfg) {
    std::vector<std::string> parts;
    const auto part = [&](std::string_view words, auto... lists) {
        std::vector<std::string> texts;
        (lists(texts), ...);
        if (!texts.empty())
            parts.push_back(fmt::format("{} {}", words, fmt::join(texts, ", ")));
    };
    const auto list = [](const auto& items, std::uint8_t count) {
        return [&items, count](std::vector<std::string>& texts) { collect(texts, items, count); };
    };
    if (cfg.all)
        parts.emplace_back("every frame but link control, ARP, ND and DHCP");
    if (cfg.any_udp)
        parts.emplace_back("UDP on any port");
    part("UDP port", list(cfg.port, cfg.port_count));
    part("UDP to", list(cfg.network4, cfg.network4_count), list(cfg.network6, cfg.network6_count));
    part("EtherType", list(cfg.ethertype, cfg.ethertype_count));
    part("only from", list(cfg.source4, cfg.source4_count), list(cfg.source6, cfg.source6_count));
    part("only to", list(cfg.destination4, cfg.destination4_count), list(cfg.destination6, cfg.destination6_count));
    part("only from MAC", list(cfg.source_mac, cfg.source_mac_count));
    part("only to MAC", list(cfg.destination_mac, cfg.destination_mac_count));
    part("only VLAN", list(cfg.vlan, cfg.vlan_count));
    part("only inner VLAN", list(cfg.inner_vlan, cfg.inner_vlan_count));
    if (cfg.any_mac && cfg.destination_mac_count == 0)
        parts.emplace_back("to any MAC address");
    return fmt::format("{}", fmt::join(parts, "; "));
}

} // namespace responder
