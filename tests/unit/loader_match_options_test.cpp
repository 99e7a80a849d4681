// SPDX-License-Identifier: GPL-2.0-only
//
// From the words of the command line to the program's configuration, and back to words.

#include "loader/match_options.h"
#include "tests/unit/command_line.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace responder::test {
namespace {

std::string words(const MatchOptions& options, const std::vector<Prefix>& addresses = {}) {
    return describe(options.build(addresses));
}

std::string refusal(const MatchOptions& options) {
    return test::refusal([&] { options.build({}); });
}

TEST(MatchOptions, DefaultIsDiscardAndTheBenchmarkNetworks) {
    EXPECT_EQ(words({}), "UDP port 9; UDP to 198.18.0.0/15, 2001:2::/48");
    const match_cfg cfg = MatchOptions{}.build({});
    EXPECT_EQ(cfg.port_count, 1);
    EXPECT_EQ(cfg.port[0].first, 9);
    EXPECT_EQ(cfg.port[0].last, 9);
    ASSERT_EQ(cfg.network4_count, 1);
    EXPECT_EQ(cfg.network4[0].address, inet_addr("198.18.0.0"));
    EXPECT_EQ(cfg.network4[0].mask, inet_addr("255.254.0.0"));
    ASSERT_EQ(cfg.network6_count, 1);
    EXPECT_EQ(cfg.network6[0].address[0], htonl(0x20010002));
    EXPECT_EQ(cfg.network6[0].mask[0], htonl(0xffffffff));
    EXPECT_EQ(cfg.network6[0].mask[1], htonl(0xffff0000));
    EXPECT_EQ(cfg.network6[0].mask[2], 0U);
    EXPECT_FALSE(cfg.all || cfg.any_udp || cfg.any_mac);
}

TEST(MatchOptions, AddressesOfTheTestIdentifyUnlessSomethingElseDoes) {
    const std::vector<Prefix> addresses{*Prefix::parse("10.5.0.2/24"), *Prefix::parse("2001:db8::2/64")};
    EXPECT_EQ(words({}, addresses), "UDP port 9; UDP to 198.18.0.0/15, 10.5.0.2/32, 2001:2::/48, 2001:db8::2/128");
    EXPECT_EQ(words({.ports = {"12"}}, addresses), "UDP port 12");
}

TEST(MatchOptions, WhatIdentifies) {
    EXPECT_EQ(words({.ports = {"12", "5000-5002", "65535", "1"}}), "UDP port 12, 5000-5002, 65535, 1");
    EXPECT_EQ(words({.ports = {"7-7"}}), "UDP port 7");
    EXPECT_EQ(words({.ethertypes = {"0x88b5", "0X9000", "35000"}}), "EtherType 0x88b5, 0x9000, 0x88b8");
    EXPECT_EQ(words({.ports = {"12"}, .ethertypes = {"0x88b5"}}), "UDP port 12; EtherType 0x88b5");
    EXPECT_EQ(words({.sources = {"10.0.0.0/8", "2001:db8::/32"}}),
              "UDP on any port; only from 10.0.0.0/8, 2001:db8::/32");
    EXPECT_EQ(words({.destinations = {"10.1.2.3"}}), "UDP on any port; only to 10.1.2.3/32");
    EXPECT_EQ(words({.ports = {"12"}, .sources = {"10.0.0.0/8"}, .destinations = {"10.9.0.0/16"}}),
              "UDP port 12; only from 10.0.0.0/8; only to 10.9.0.0/16");
    EXPECT_EQ(words({.all = true}), "every frame but link control, ARP, ND and DHCP");
}

TEST(MatchOptions, WhatRestrictsKeepsTheDefault) {
    EXPECT_EQ(words({.vlans = {"5", "100-102", "0", "4094"}}),
              "UDP port 9; UDP to 198.18.0.0/15, 2001:2::/48; only VLAN 5, 100-102, 0, 4094");
    EXPECT_EQ(words({.inner_vlans = {"6"}}), "UDP port 9; UDP to 198.18.0.0/15, 2001:2::/48; only inner VLAN 6");
    EXPECT_EQ(words({.source_macs = {"02-00-00-00-00-0A"}}),
              "UDP port 9; UDP to 198.18.0.0/15, 2001:2::/48; only from MAC 02:00:00:00:00:0a");
    EXPECT_EQ(words({.promiscuous = true}), "UDP port 9; UDP to 198.18.0.0/15, 2001:2::/48; to any MAC address");
    EXPECT_EQ(words({.vlans = {"5"}, .all = true}), "every frame but link control, ARP, ND and DHCP; only VLAN 5");
}

TEST(MatchOptions, DestinationMacsAreLetThrough) {
    const MatchOptions options{.destination_macs = {"02:00:00:00:00:03", "01:00:5e:00:00:09"}};
    const match_cfg cfg = options.build({});
    EXPECT_EQ(describe(cfg),
              "UDP port 9; UDP to 198.18.0.0/15, 2001:2::/48; only to MAC 02:00:00:00:00:03, 01:00:5e:00:00:09");
    EXPECT_TRUE(cfg.any_mac);
    EXPECT_EQ(wanted_macs(cfg), (std::vector<MacAddress>{{{2, 0, 0, 0, 0, 3}}, {{1, 0, 0x5e, 0, 0, 9}}}));
    EXPECT_TRUE(wanted_macs(MatchOptions{}.build({})).empty());
}

TEST(MatchOptions, HostBitsOfAPrefixAreCutOff) {
    const match_cfg cfg = MatchOptions{.sources = {"10.1.2.3/8", "0.0.0.0/0"},
                                       .destinations = {"2001:db8:ffff:ffff::1/33", "10.0.0.1/31"}}
                              .build({});
    EXPECT_EQ(cfg.source4[0].address, inet_addr("10.0.0.0"));
    EXPECT_EQ(cfg.source4[0].mask, inet_addr("255.0.0.0"));
    EXPECT_EQ(cfg.source4[1].mask, 0U);
    EXPECT_EQ(cfg.destination4[0].address, inet_addr("10.0.0.0"));
    EXPECT_EQ(cfg.destination6[0].address[1], htonl(0x80000000));
    EXPECT_EQ(cfg.destination6[0].mask[1], htonl(0x80000000));
    EXPECT_EQ(cfg.destination6[0].address[3], 0U);
}

TEST(MatchOptions, RefusesWhatCanMatchNothing) {
    EXPECT_EQ(refusal({.ports = {"12"}, .all = true}).substr(0, 5), "--all");
    EXPECT_EQ(refusal({.ethertypes = {"0x88b5"}, .all = true}).substr(0, 5), "--all");
    for (const MatchOptions& options : {MatchOptions{.ethertypes = {"0x88b5"}, .sources = {"10.0.0.1"}},
                                        MatchOptions{.ethertypes = {"0x88b5"}, .destinations = {"10.0.0.1"}}}) {
        EXPECT_NE(refusal(options).find("can match nothing"), std::string::npos) << refusal(options);
    }
    EXPECT_NE(refusal({.sources = {"10.0.0.1"}, .destinations = {"2001:db8::1"}}).find("can match nothing"),
              std::string::npos);
    EXPECT_EQ(refusal({.sources = {"10.0.0.1", "2001:db8::9"}, .destinations = {"2001:db8::1"}}), "not refused");
}

TEST(MatchOptions, RefusesMacAddressesThatNoTestFrameHas) {
    const std::string nobody = "this is the address of nobody";
    EXPECT_EQ(refusal({.source_macs = {"00:00:00:00:00:00"}}), "--src-mac 00:00:00:00:00:00: " + nobody);
    EXPECT_EQ(refusal({.destination_macs = {"00:00:00:00:00:00"}}), "--dst-mac 00:00:00:00:00:00: " + nobody);
    for (const char* mac : {"01:00:5e:00:00:01", "ff:ff:ff:ff:ff:ff"})
        EXPECT_EQ(refusal({.source_macs = {mac}}), std::string("--src-mac ") + mac + ": a group address cannot send");
    for (const char* mac : {"01:80:c2:00:00:00", "01:80:c2:ff:ff:ff"})
        EXPECT_EQ(refusal({.destination_macs = {mac}, .all = true}),
                  std::string("--dst-mac ") + mac + ": link control always goes up the stack");
    EXPECT_EQ(refusal({.destination_macs = {"ff:ff:ff:ff:ff:ff"}}), "not refused");
}

template <class Make>
void expect_limit(std::size_t most, const char* option, const std::string& hint, Make make) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < most; ++i)
        values.push_back(make(i));
    MatchOptions options;
    auto& list = std::string_view(option) == "--port"         ? options.ports
                 : std::string_view(option) == "--ethertype"  ? options.ethertypes
                 : std::string_view(option) == "--vlan"       ? options.vlans
                 : std::string_view(option) == "--inner-vlan" ? options.inner_vlans
                 : std::string_view(option) == "--src"        ? options.sources
                 : std::string_view(option) == "--dst"        ? options.destinations
                 : std::string_view(option) == "--src-mac"    ? options.source_macs
                                                              : options.destination_macs;
    list = values;
    EXPECT_EQ(refusal(options), "not refused") << option;
    list.push_back(make(most));
    EXPECT_EQ(refusal(options), std::string(option) + ": more than " + std::to_string(most) + " values; " + hint);
}

TEST(MatchOptions, EveryListHasItsLimit) {
    const auto number = [](std::size_t i) { return std::to_string(i + 1); };
    const std::string range = "join neighbouring ones to a range";
    const std::string prefix = "join neighbouring ones to a shorter prefix";
    const std::string others = "choose by --src, --dst or --vlan instead";
    const auto mac = [](std::size_t i) { return "02:00:00:00:00:0" + std::to_string(i); };
    expect_limit(MATCH_PORTS, "--port", range, number);
    expect_limit(MATCH_ETHERTYPES, "--ethertype", "--all takes every one",
                 [](std::size_t i) { return std::to_string(35000 + i); });
    expect_limit(MATCH_VLANS, "--vlan", range, number);
    expect_limit(MATCH_VLANS, "--inner-vlan", range, number);
    expect_limit(MATCH_PREFIXES, "--src", prefix, [](std::size_t i) { return "10.0.0." + std::to_string(i); });
    expect_limit(MATCH_PREFIXES, "--dst", prefix, [](std::size_t i) { return "2001:db8::" + std::to_string(i); });
    expect_limit(MATCH_MACS, "--src-mac", others, mac);
    expect_limit(MATCH_MACS, "--dst-mac", others, mac);
}

TEST(TesterSettings, NameWhatTheFramesMustHave) {
    const MacAddress own{{2, 0, 0, 0, 0, 1}};
    EXPECT_EQ(tester_settings(MatchOptions{}.build({}), own, {}), "MAC 02:00:00:00:00:01, UDP port 9, no VLAN");
    MatchOptions options;
    options.ports = {"12", "5000-5010"};
    options.destination_macs = {"02:00:00:00:00:07", "02:00:00:00:00:08"};
    options.vlans = {"5"};
    options.inner_vlans = {"6-9"};
    const Prefix address = *Prefix::parse("198.18.1.2/24");
    EXPECT_EQ(tester_settings(options.build({address}), own, {address}),
              "MAC 02:00:00:00:00:07 or 02:00:00:00:00:08, IPv4 198.18.1.2/24, UDP port 12 or 5000-5010, VLAN 5, "
              "inner VLAN 6-9");
    MatchOptions by_address;
    by_address.destinations = {"192.0.2.0/24"};
    EXPECT_EQ(tester_settings(by_address.build({}), own, {}), "MAC 02:00:00:00:00:01, IPv4 192.0.2.0/24, no VLAN");
}

} // namespace
} // namespace responder::test
