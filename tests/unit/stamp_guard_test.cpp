// SPDX-License-Identifier: GPL-2.0-only
//
// The guards of the STAMP socket: what it does not answer, though the stack hands it over.

#include "loader/ip_address.h"
#include "loader/reflect/options.h"
#include "loader/reflect/stamp_guard.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <vector>

namespace responder::test {
namespace {

reflect_cfg cfg_of(std::initializer_list<const char*> arguments) {
    std::vector<const char*> argv{"xdp-reflect", "eth1"};
    argv.insert(argv.end(), arguments);
    return parse_reflect_options(static_cast<int>(argv.size()), argv.data()).value().program;
}

reflect_live live_on_link() {
    reflect_live live{};
    std::memset(live.on_link4, 0xff, sizeof(live.on_link4));
    std::memset(live.on_link6, 0xff, sizeof(live.on_link6));
    live.on_link4[0] = to_match_prefix4(*Prefix::parse("192.0.2.0/24"));
    live.on_link6[0] = to_match_prefix6(*Prefix::parse("2001:db8::/64"));
    return live;
}

unsigned guard(const char* source, const char* destination, std::uint16_t port, const reflect_cfg& cfg,
               const reflect_live& live = live_on_link()) {
    stamp_endpoints endpoints{};
    endpoints.v6 = std::strchr(source, ':') != nullptr;
    const int family = endpoints.v6 ? AF_INET6 : AF_INET;
    inet_pton(family, source, endpoints.source);
    inet_pton(family, destination, endpoints.destination);
    endpoints.source_port = htons(port);
    endpoints.destination_port = htons(862);
    return stamp_guard(&endpoints, &cfg, &live);
}

TEST(StampGuard, WhoIsAnsweredAndWhoIsNot) {
    const struct {
        const char *source, *destination;
        std::uint16_t port;
        unsigned slot;
    } cases[] = {
        {"192.0.2.1", "192.0.2.2", 50'000, 0},
        {"2001:db8::1", "2001:db8::2", 50'000, 0},
        {"203.0.113.1", "192.0.2.2", 50'000, SLOT_NOT_ALLOWED},
        {"2001:db9::1", "2001:db8::2", 50'000, SLOT_NOT_ALLOWED},
        {"192.0.2.1", "192.0.2.2", 862, SLOT_FROM_REFLECTOR},
        {"2001:db8::1", "2001:db8::2", 862, SLOT_FROM_REFLECTOR},
        {"192.0.2.1", "224.0.0.1", 50'000, SLOT_GROUP},
        {"192.0.2.1", "255.255.255.255", 50'000, SLOT_GROUP},
        {"2001:db8::1", "ff02::1", 50'000, SLOT_GROUP},
        {"127.0.0.1", "192.0.2.2", 50'000, SLOT_SOURCE_ADDRESS},
        {"192.0.2.2", "192.0.2.2", 50'000, SLOT_SOURCE_ADDRESS},
        {"ff02::1", "2001:db8::2", 50'000, SLOT_SOURCE_ADDRESS},
    };
    const reflect_cfg cfg = cfg_of({});
    for (const auto& [source, destination, port, slot] : cases)
        EXPECT_EQ(guard(source, destination, port, cfg), slot) << source << ' ' << destination << ' ' << port;
}

TEST(StampGuard, WhatOptionsAllowAndRestrict) {
    EXPECT_EQ(guard("203.0.113.1", "192.0.2.2", 862, cfg_of({"--allow", "203.0.113.0/24"})), 0U);
    EXPECT_EQ(guard("2001:db9::1", "2001:db8::2", 862, cfg_of({"--tester", "2001:db9::1"})), 0U);
    const reflect_cfg restricted = cfg_of({"--port", "7", "--src", "192.0.2.1"});
    EXPECT_EQ(guard("192.0.2.1", "192.0.2.2", 50'000, restricted), 0U);
    EXPECT_EQ(guard("192.0.2.3", "192.0.2.2", 50'000, restricted), unsigned{SLOT_OTHER_ADDRESS});
    reflect_live over = live_on_link();
    over.refuse = SLOT_EXPIRED;
    EXPECT_EQ(guard("192.0.2.1", "192.0.2.2", 50'000, cfg_of({}), over), unsigned{SLOT_EXPIRED});
}

} // namespace
} // namespace responder::test
