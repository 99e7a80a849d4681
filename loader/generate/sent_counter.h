// SPDX-License-Identifier: GPL-2.0-only
//
// What really left an interface. The kernel does not tell a sender of XDP frames that its driver refused some or all of
// them; the interface's own counters do:
//  - `xdp_xmit` of `ethtool -S`, where the driver has it: these frames and no others;
//  - else `tx_packets`, which counts everybody's frames, so that it can be too high and never too low.

#pragma once

#include "loader/netdev.h"
#include "loader/netlink.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace responder {

class SentCounter {
  public:
    enum class Kind { xdp_xmit, tx_packets };

    explicit SentCounter(const Netdev& netdev); // throws Error

    Kind kind() const noexcept { return kind_; }

    // Brings value() and link() up to date; false, and both as they were, where the interface is gone.
    bool read();
    std::uint64_t value() const noexcept { return value_; }
    const LinkState& link() const noexcept { return link_; }

  private:
    Netdev netdev_;
    NetlinkSocket netlink_;
    Kind kind_;
    std::uint64_t value_ = 0;
    LinkState link_;
};

// The sum of a driver's xdp_xmit counters over its queues, or nullopt where it has none. Drivers name them as they like
// (tx_queue_0_xdp_xmit, tx_xdp_xmit); of one that counts both by queue and in all, only the latter is taken.
std::optional<std::uint64_t> xdp_xmit_total(const std::vector<std::pair<std::string, std::uint64_t>>& driver_counters);

} // namespace responder
