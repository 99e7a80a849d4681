// SPDX-License-Identifier: GPL-2.0-only
//
// What passes a port by while no test frame is counted, and which option would take it.

#pragma once

#include "loader/sink/port.h"

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace responder {

// The largest flows in the map, one sentence each; empties the map. `watched` is how long it was filled, `watches` what
// the port follows.
std::vector<std::string> largest_flows(const SinkPort& port, std::chrono::duration<double> watched,
                                       std::span<const watch_port> watches);

// Pure, for one flow. `match`: what the port takes, so that the option is one that is missing. Nothing is missing where
// one of `watches` follows it.
std::string describe_flow(const sink_flow_key& key, double fps, const MacAddress& own_mac, const match_cfg& match,
                          std::span<const watch_port> watches);

} // namespace responder
