// SPDX-License-Identifier: GPL-2.0-only
//
// The ethtool ioctl (linux/ethtool.h), the part that we ask. By index, so that a rename does not matter: each call
// looks the name up. Everything that a driver may not offer comes back empty or as 0.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace responder::ethtool {

struct DriverInfo {
    std::string driver;
    std::string firmware;
};

struct LinkSettings {
    std::uint64_t speed_bps = 0;     // 0: unknown, or no link
    std::uint64_t max_speed_bps = 0; // of the modes that the port supports; 0: unknown
    bool half_duplex = false;
};

struct Feature {
    std::string name; // as in `ethtool -k`'s long list: "rx-vlan-hw-parse"
    bool active = false;
    bool changeable = false;
};

DriverInfo driver_info(int ifindex);
LinkSettings link_settings(int ifindex);
unsigned receive_ring_size(int ifindex);             // descriptors in a queue's ring
std::optional<unsigned> receive_queues(int ifindex); // that are in use; a driver that does not say has one
std::vector<std::pair<std::string, std::uint64_t>> statistics(int ifindex);
std::vector<Feature> features(int ifindex);
bool set_feature(int ifindex, const std::string& name, bool on); // false: refused, or did not take effect

} // namespace responder::ethtool
