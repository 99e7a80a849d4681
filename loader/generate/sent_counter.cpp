// SPDX-License-Identifier: GPL-2.0-only

#include "loader/generate/sent_counter.h"

#include "loader/error.h"
#include "loader/ethtool.h"

#include <algorithm>

namespace responder {

std::optional<std::uint64_t> xdp_xmit_total(const std::vector<std::pair<std::string, std::uint64_t>>& driver_counters) {
    std::optional<std::uint64_t> in_all;
    std::optional<std::uint64_t> by_queue;
    for (const auto& [name, value] : driver_counters) {
        const auto has = [&name = name](std::string_view part) { return name.find(part) != std::string::npos; };
        if (!has("xdp_xmit") || has("err") || has("drop") || has("full") || has("bytes"))
            continue;
        const bool numbered = std::ranges::any_of(name, [](char c) { return c >= '0' && c <= '9'; });
        std::optional<std::uint64_t>& sum = numbered ? by_queue : in_all;
        sum = sum.value_or(0) + value;
    }
    return in_all ? in_all : by_queue;
}

SentCounter::SentCounter(const Netdev& netdev)
    : netdev_(netdev), kind_(xdp_xmit_total(ethtool::statistics(netdev.index())) ? Kind::xdp_xmit : Kind::tx_packets) {
    if (!read())
        throw Error(ExitCode::temporary, netdev.name(), "the interface went away");
}

bool SentCounter::read() {
    LinkState link;
    if (!netlink_.read_link(netdev_.index(), link))
        return false;
    link_ = link;
    if (kind_ == Kind::tx_packets) {
        value_ = link.counters.tx_packets;
        return true;
    }
    // Empty when the interface went away since the line above; what was read last then stays.
    if (const auto total = xdp_xmit_total(ethtool::statistics(netdev_.index())))
        value_ = *total;
    return true;
}

} // namespace responder
