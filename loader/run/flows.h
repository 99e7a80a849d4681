// SPDX-License-Identifier: GPL-2.0-only
//
// What passes a port by while no test frame is counted, and which option would take it.

#pragma once

#include "loader/netdev.h"
#include "loader/run/counting_port.h"

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace responder {

// Pure, for one flow. `match`: what the port takes, so that the option is one that is missing; `promiscuous`: the name
// of one of them. Nothing is missing where the port follows the flow, or the datagrams of these fragments, as
// something.
std::string describe_flow(const passed_flow_key& key, double fps, const MacAddress& own_mac, const match_cfg& match,
                          std::string_view promiscuous, std::string_view followed_as = {});

// Looks at what passes by now and then, on ports that have counted nothing, and says it.
class FlowWatch {
  public:
    // What a command knows that follows some of what passes; empty where it does not.
    struct Following {
        std::function<std::string(const CountingPort&)> aside; // behind "no test frame yet"
        std::function<std::string(const CountingPort&, const passed_flow_key&)> followed_as;
    };
    FlowWatch(std::string_view promiscuous, Following following)
        : promiscuous_(promiscuous), following_(std::move(following)) {}
    explicit FlowWatch(std::string_view promiscuous)
        : FlowWatch(promiscuous,
                    {.aside = [](const CountingPort&) { return std::string(); },
                     .followed_as = [](const CountingPort&, const passed_flow_key&) { return std::string(); }}) {}

    void tick(Clock::time_point now, Clock::time_point begun, std::span<CountingPort* const> ports);

  private:
    struct Flow {
        passed_flow_key key;
        std::uint64_t frames;
    };

    void begin(Clock::time_point now, std::span<CountingPort* const> ports);
    void end(Clock::time_point now, std::span<CountingPort* const> ports);
    std::string followed_as(const CountingPort& port, const std::vector<Flow>& flows, const passed_flow_key& key) const;
    std::vector<std::string> largest_flows(const CountingPort& port, std::chrono::duration<double> watched) const;

    std::string promiscuous_;
    Following following_;
    std::optional<Clock::time_point> watching_since_;
    Clock::time_point next_watch_;
    std::vector<ReceiveFilterMembership> promiscuous_for_the_watch_;
};

} // namespace responder
