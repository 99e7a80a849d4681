// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/flows.h"

#include "loader/command.h"
#include "loader/error.h"
#include "loader/figures.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/if_ether.h>
#include <linux/in.h>

#include <algorithm>
#include <cstring>

namespace responder {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t shown_flows = 5;
constexpr auto watch_time = 1s;

std::string address_text(const passed_flow_key& key, const __be32* address) {
    char text[INET6_ADDRSTRLEN];
    inet_ntop(key.ethertype == ETH_P_IP ? AF_INET : AF_INET6, address, text, sizeof(text));
    return text;
}

bool is_ip(const passed_flow_key& key) { return key.protocol != 0; }

std::string protocol_text(const passed_flow_key& key) {
    if (!is_ip(key))
        return key.ethertype < 0x600 ? "IEEE 802.3" : fmt::format("EtherType 0x{:04x}", key.ethertype);
    switch (key.protocol) {
    case IPPROTO_UDP:
        return "udp";
    case IPPROTO_TCP:
        return "tcp";
    case IPPROTO_ICMP:
    case IPPROTO_ICMPV6:
        return "icmp";
    default:
        return fmt::format("IP protocol {}", key.protocol);
    }
}

std::string tags_text(const passed_flow_key& key) {
    if (key.tags == 0)
        return "";
    return key.tags == 1 ? fmt::format(" in VLAN {}", key.vlan[0])
                         : fmt::format(" in VLAN {}, inner {}", key.vlan[0], key.vlan[1]);
}

std::string rate_text(double fps) {
    if (fps >= 1e6)
        return fmt::format("{:.2f} Mfps", fps / 1e6);
    if (fps >= 1e4)
        return fmt::format("{:.0f} kfps", fps / 1e3);
    return fmt::format("{:.0f} fps", fps);
}

bool in_ranges(const match_range (&ranges)[MATCH_VLANS], std::uint8_t count, std::uint16_t id) {
    return std::any_of(ranges, ranges + count, [&](const match_range& r) { return id >= r.first && id <= r.last; });
}

bool in_prefixes(const match_prefix4 (&list4)[MATCH_PREFIXES], std::uint8_t count4,
                 const match_prefix6 (&list6)[MATCH_PREFIXES], std::uint8_t count6, const passed_flow_key& key,
                 const __be32* address) {
    if (key.ethertype == ETH_P_IP)
        return std::any_of(list4, list4 + count4,
                           [&](const match_prefix4& p) { return (*address & p.mask) == p.address; });
    return std::any_of(list6, list6 + count6, [&](const match_prefix6& p) {
        for (int i = 0; i < 4; ++i)
            if ((address[i] & p.mask[i]) != p.address[i])
                return false;
        return true;
    });
}

// Of the restrictions by VLAN, those that leave the flow out.
std::string vlan_option(const passed_flow_key& key, const match_cfg& match) {
    if (key.tags == 0)
        return "no VLAN option (these frames have no tag)";
    if (key.vlan[0] == 4095 || key.vlan[1] == 4095)
        return "no VLAN option (none takes VLAN 4095, which is reserved)";
    std::string options;
    if (match.vlan_count != 0 && !in_ranges(match.vlan, match.vlan_count, key.vlan[0]))
        options = fmt::format("--vlan {}", key.vlan[0]);
    if (match.inner_vlan_count == 0 ||
        (key.tags == 2 && in_ranges(match.inner_vlan, match.inner_vlan_count, key.vlan[1])))
        return options;
    options += options.empty() ? "" : " ";
    return options + (key.tags == 2 ? fmt::format("--inner-vlan {}", key.vlan[1])
                                    : "no --inner-vlan (these frames have one tag)");
}

std::string address_option(const passed_flow_key& key, const match_cfg& match) {
    std::string options;
    if (match.source4_count + match.source6_count != 0 &&
        !in_prefixes(match.source4, match.source4_count, match.source6, match.source6_count, key, key.source))
        options = fmt::format("--src {}", address_text(key, key.source));
    if (match.destination4_count + match.destination6_count != 0 &&
        !in_prefixes(match.destination4, match.destination4_count, match.destination6, match.destination6_count, key,
                     key.destination))
        options += fmt::format("{}--dst {}", options.empty() ? "" : " ", address_text(key, key.destination));
    return options;
}

// What to add to the command line; empty where nothing takes it.
std::string option_text(const passed_flow_key& key, bool other_mac, const match_cfg& match) {
    switch (key.slot) {
    case SLOT_UDP:
        if (key.destination_port != 0)
            return fmt::format("--port {}", key.destination_port);
        [[fallthrough]]; // port 0 is no port to ask for
    case SLOT_FRAGMENT:
        return fmt::format("--dst {}", address_text(key, key.destination));
    case SLOT_OTHER_ETHERTYPE:
        return key.ethertype < 0x600 ? "--all" : fmt::format("--ethertype 0x{:04x}", key.ethertype);
    case SLOT_OTHER_MAC:
        return other_mac ? "" : "another --src-mac or --dst-mac";
    case SLOT_OTHER_VLAN:
        return vlan_option(key, match);
    case SLOT_OTHER_ADDRESS:
        return address_option(key, match);
    case SLOT_OTHER_IP:
        return "--all";
    case SLOT_NOT_ALLOWED:
    case SLOT_FROM_REFLECTOR:
        return fmt::format("--allow {}", address_text(key, key.source));
    default:
        return "";
    }
}

} // namespace

std::string describe_flow(const passed_flow_key& key, double fps, const MacAddress& own_mac, const match_cfg& match,
                          std::string_view promiscuous, std::string_view followed_as) {
    std::string text = (key.slot == SLOT_FRAGMENT ? "later fragments of " : "") + protocol_text(key);
    if (is_ip(key)) {
        const std::string destination = address_text(key, key.destination);
        text += fmt::format(" {} to ", address_text(key, key.source));
        if (key.destination_port == 0)
            text += destination;
        else if (key.ethertype == ETH_P_IP)
            text += fmt::format("{}:{}", destination, key.destination_port);
        else
            text += fmt::format("[{}]:{}", destination, key.destination_port);
    }
    text += tags_text(key) + ", " + rate_text(fps);

    MacAddress mac;
    std::ranges::copy(key.destination_mac, mac.bytes.begin());
    // The kernel's stack owns the protected kinds and TCP and ICMP: no word on those.
    const bool takeable = key.slot == SLOT_UDP || key.slot == SLOT_FRAGMENT || key.slot == SLOT_OTHER_ETHERTYPE ||
                          key.slot == SLOT_OTHER_IP || key.slot >= SLOT_OTHER_MAC;
    const bool other_mac = takeable && !mac.is_group() && mac != own_mac;
    if (key.slot == SLOT_UDP && !other_mac && !followed_as.empty())
        return fmt::format("{}: followed as {} on its way up the stack", text, followed_as);
    if (key.slot == SLOT_FRAGMENT && !other_mac && !followed_as.empty())
        return fmt::format("{}: the first ones are followed as {} on their way up the stack", text, followed_as);
    if (key.slot == SLOT_STAMP_RARE)
        return text + ": STAMP, for the socket to answer";
    std::string option = option_text(key, other_mac, match);
    if (other_mac)
        option += (option.empty() ? "" : " ") + std::string(promiscuous);
    if (!option.empty())
        text += ": add " + option;
    if (other_mac)
        text += fmt::format(" (sent to MAC {})", to_string(mac));
    return text;
}

std::string FlowWatch::followed_as(const CountingPort& port, const std::vector<Flow>& flows,
                                   const passed_flow_key& key) const {
    if (key.slot != SLOT_FRAGMENT)
        return following_.followed_as(port, key);
    // Without ports: whatever is followed between the same two, of which taking the rest would leave no datagram.
    for (const Flow& other : flows)
        if (other.key.ethertype == key.ethertype && std::ranges::equal(other.key.source, key.source) &&
            std::ranges::equal(other.key.destination, key.destination))
            if (const std::string format = following_.followed_as(port, other.key); !format.empty())
                return format;
    return "";
}

std::vector<std::string> FlowWatch::largest_flows(const CountingPort& port,
                                                  std::chrono::duration<double> watched) const {
    std::vector<Flow> flows;
    const int map = port.flows_map();
    // Taken out one by one: what is not looked at again cannot grow old in there.
    for (Flow next; bpf_map_get_next_key(map, nullptr, &next.key) == 0 && flows.size() < PASSED_FLOWS;) {
        if (bpf_map_lookup_elem(map, &next.key, &next.frames) == 0)
            flows.push_back(next);
        if (bpf_map_delete_elem(map, &next.key) != 0)
            break;
    }
    std::ranges::sort(flows, std::greater(), &Flow::frames);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min(flows.size(), shown_flows); ++i)
        texts.push_back(describe_flow(flows[i].key, static_cast<double>(flows[i].frames) / watched.count(), port.mac(),
                                      port.match(), promiscuous_, followed_as(port, flows, flows[i].key)));
    return texts;
}

void Silence::read(Clock::time_point now, std::uint64_t frames) noexcept {
    if (frames == frames_)
        return;
    frames_ = frames;
    last_frame_ = now;
    looked_.reset();
}

bool Silence::is_due(Clock::time_point now, Clock::time_point begun) const noexcept {
    if (frames_ != 0)
        return !looked_ && now - last_frame_ >= later;
    return now - begun >= at_start && (!looked_ || now - *looked_ >= later);
}

void FlowWatch::begin(Clock::time_point now, Clock::time_point begun, std::span<CountingPort* const> ports) {
    for (std::size_t i = 0; i < ports.size(); ++i) {
        CountingPort* port = ports[i];
        if (!silences_[i].is_due(now, begun))
            continue;
        watching_since_ = now;
        silences_[i].looked(now);
        looks_.push_back(
            {.port = port, .silence = &silences_[i], .frames = silences_[i].frames(), .slots = port->now().total});
        // A NIC keeps back what is sent to another MAC address: only so can it be seen that there is any.
        try {
            promiscuous_for_the_watch_.emplace_back(port->netdev()).promiscuous();
        } catch (const Error&) {
            // The interface has just gone, which the session will say; the watch is help, no measurement.
        }
        port->watch_flows(true);
    }
}

void FlowWatch::report(const Look& look, std::chrono::duration<double> watched) const {
    const CountingPort& port = *look.port;
    std::vector<std::string> answered;
    for (const SlotName& name : answer_names)
        if (const std::uint64_t frames = port.now().total[name.slot].frames - look.slots[name.slot].frames; frames != 0)
            answered.push_back(fmt::format("{} {}", frames, name.text));
    const std::vector<std::string> flows = largest_flows(port, watched);
    const std::string passed = answered.empty()
                                   ? "What passed by in the last second:"
                                   : fmt::format("What passed by in the last second, beside what was answered ({}):",
                                                 fmt::join(answered, ", "));
    const std::string nothing =
        answered.empty() ? "Nothing else arrives either"
                         : fmt::format("Nothing else arrives but what is answered ({})", fmt::join(answered, ", "));
    say(fmt::format("{}: no test frame {}{}. {}", port.netdev().name(),
                    look.frames == 0 ? std::string("yet") : fmt::format("for {} s", Silence::later.count()),
                    following_.aside(port), flows.empty() ? nothing : passed));
    for (const std::string& flow : flows)
        say("  " + flow);
}

void FlowWatch::end(Clock::time_point now) {
    const std::chrono::duration<double> watched = now - *watching_since_;
    watching_since_.reset();
    promiscuous_for_the_watch_.clear();
    for (const Look& look : looks_) {
        look.port->watch_flows(false);
        if (look.silence->frames() == look.frames)
            report(look, watched);
    }
    looks_.clear();
}

void FlowWatch::tick(Clock::time_point now, Clock::time_point begun, std::span<CountingPort* const> ports) {
    silences_.resize(ports.size());
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const SlotCounts& slots = ports[i]->now().total;
        silences_[i].read(now, test_traffic(slots).frames + dropped_traffic(slots).frames);
    }
    if (!watching_since_)
        begin(now, begun, ports);
    else if (now - *watching_since_ >= watch_time)
        end(now);
}

} // namespace responder
