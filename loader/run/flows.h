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

// When a port without test frames is worth a look. Before the first one: soon, and again and again. When they have
// ended: once, after a time that is no pause between two trials. Knows no clock and no port.
class Silence {
  public:
    static constexpr std::chrono::seconds at_start{3}; // about then people look at the screen and wonder
    static constexpr std::chrono::seconds later{30};

    // So many test frames have come so far.
    void read(Clock::time_point now, std::uint64_t frames) noexcept;
    bool is_due(Clock::time_point now, Clock::time_point begun) const noexcept;
    void looked(Clock::time_point now) noexcept { looked_ = now; }
    std::uint64_t frames() const noexcept { return frames_; }

  private:
    std::uint64_t frames_ = 0;
    Clock::time_point last_frame_;
    std::optional<Clock::time_point> looked_; // since the last frame
};

// Looks at what passes by now and then, on ports to which no test frame comes, and says it.
class FlowWatch {
  public:
    // What a command knows that follows some of what passes; empty where it does not.
    struct Following {
        std::function<std::string(const CountingPort&)> aside; // behind "no test frame"
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

    struct Look {
        CountingPort* port;
        const Silence* silence;
        std::uint64_t frames; // by then, like the slots
        SlotCounts slots;
    };

    void begin(Clock::time_point now, Clock::time_point begun, std::span<CountingPort* const> ports);
    void end(Clock::time_point now);
    void report(const Look& look, std::chrono::duration<double> watched) const;
    std::string followed_as(const CountingPort& port, const std::vector<Flow>& flows, const passed_flow_key& key) const;
    std::vector<std::string> largest_flows(const CountingPort& port, std::chrono::duration<double> watched) const;

    std::string promiscuous_;
    Following following_;
    std::optional<Clock::time_point> watching_since_;
    std::vector<Silence> silences_; // one a port
    std::vector<Look> looks_;       // as long as one is taken
    std::vector<ReceiveFilterMembership> promiscuous_for_the_watch_;
};

} // namespace responder
