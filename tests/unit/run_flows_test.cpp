// SPDX-License-Identifier: GPL-2.0-only
//
// A flow that passes by, in words, with the option that takes it: for every reason that there is.

#include "loader/figures.h"
#include "loader/match_options.h"
#include "loader/run/flows.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>

namespace responder::test {
namespace {

constexpr MacAddress own{{2, 0, 0, 0, 0, 1}}, other{{2, 0, 0, 0, 0, 3}}, group{{1, 0, 0x5e, 0, 0, 9}};

passed_flow_key udp4(count_slot slot, std::uint16_t port) {
    passed_flow_key key{};
    key.ethertype = 0x0800;
    key.protocol = 17;
    key.destination_port = port;
    key.slot = static_cast<__u8>(slot);
    inet_pton(AF_INET, "16.0.0.1", key.source);
    inet_pton(AF_INET, "48.0.0.1", key.destination);
    std::memcpy(key.destination_mac, own.bytes.data(), 6);
    return key;
}

passed_flow_key to_mac(passed_flow_key key, const MacAddress& mac) {
    std::memcpy(key.destination_mac, mac.bytes.data(), 6);
    return key;
}

passed_flow_key tagged(passed_flow_key key, unsigned tags) {
    key.tags = static_cast<__u8>(tags);
    key.vlan[0] = 7;
    key.vlan[1] = tags == 2 ? 8 : 0;
    return key;
}

// With what the port takes by default, unless a test is about something else.
std::string describe_flow(const passed_flow_key& key, double fps, const MacAddress& own_mac,
                          const MatchOptions& options = {}) {
    return responder::describe_flow(key, fps, own_mac, options.build({}), "--promisc");
}

TEST(Silence, BeforeTheFirstFrameIsLookedAtAgainAndAgain) {
    using namespace std::chrono_literals;
    const Clock::time_point begun = Clock::time_point(1h);
    Silence silence;
    silence.read(begun, 0);
    EXPECT_FALSE(silence.is_due(begun + 2900ms, begun));
    EXPECT_TRUE(silence.is_due(begun + 3s, begun));
    silence.looked(begun + 3s);
    EXPECT_FALSE(silence.is_due(begun + 32s, begun));
    EXPECT_TRUE(silence.is_due(begun + 33s, begun));
}

TEST(Silence, AfterTheLastFrameIsLookedAtOnce) {
    using namespace std::chrono_literals;
    const Clock::time_point begun = Clock::time_point(1h);
    Silence silence;
    silence.looked(begun + 3s);
    for (int flow = 1; flow <= 2; ++flow) {
        const Clock::time_point ended = begun + flow * 1min;
        silence.read(ended, static_cast<std::uint64_t>(flow));
        silence.read(ended + 29s, static_cast<std::uint64_t>(flow));
        EXPECT_FALSE(silence.is_due(ended + 29s, begun)) << "a pause between two trials";
        EXPECT_TRUE(silence.is_due(ended + 30s, begun));
        silence.looked(ended + 30s);
        EXPECT_FALSE(silence.is_due(ended + 1h, begun));
    }
}

TEST(DescribeFlow, StampThatIsNotAnsweredInTheDriver) {
    EXPECT_EQ(describe_flow(udp4(SLOT_STAMP_RARE, 862), 10, own),
              "udp 16.0.0.1 to 48.0.0.1:862, 10 fps: STAMP, for the socket to answer");
}

TEST(DescribeFlow, Udp) {
    EXPECT_EQ(describe_flow(udp4(SLOT_UDP, 12), 812'345, own), "udp 16.0.0.1 to 48.0.0.1:12, 812 kfps: add --port 12");
    EXPECT_EQ(describe_flow(to_mac(udp4(SLOT_UDP, 12), group), 5, own),
              "udp 16.0.0.1 to 48.0.0.1:12, 5 fps: add --port 12");
    EXPECT_EQ(describe_flow(to_mac(udp4(SLOT_UDP, 12), other), 5, own),
              "udp 16.0.0.1 to 48.0.0.1:12, 5 fps: add --port 12 --promisc (sent to MAC 02:00:00:00:00:03)");
    EXPECT_EQ(describe_flow(tagged(udp4(SLOT_UDP, 12), 1), 2.5e6, own),
              "udp 16.0.0.1 to 48.0.0.1:12 in VLAN 7, 2.50 Mfps: add --port 12");
    EXPECT_EQ(describe_flow(tagged(udp4(SLOT_UDP, 12), 2), 9999, own),
              "udp 16.0.0.1 to 48.0.0.1:12 in VLAN 7, inner 8, 9999 fps: add --port 12");
}

TEST(DescribeFlow, Udp6) {
    passed_flow_key key = udp4(SLOT_UDP, 5001);
    key.ethertype = 0x86dd;
    inet_pton(AF_INET6, "2001:db8::1", key.source);
    inet_pton(AF_INET6, "2001:db8::2", key.destination);
    EXPECT_EQ(describe_flow(key, 10, own), "udp 2001:db8::1 to [2001:db8::2]:5001, 10 fps: add --port 5001");
}

// It goes where it should, and nothing has to be added.
TEST(DescribeFlow, WatchedIsNotMissing) {
    const auto text = [&](const passed_flow_key& key) {
        return responder::describe_flow(key, 5, own, MatchOptions{}.build({}), "--promisc", "iperf3-64");
    };
    EXPECT_EQ(text(udp4(SLOT_UDP, 12)),
              "udp 16.0.0.1 to 48.0.0.1:12, 5 fps: followed as iperf3-64 on its way up the stack");
    // To another machine: not followed.
    EXPECT_TRUE(text(to_mac(udp4(SLOT_UDP, 12), other)).find(": add --port 12 --promisc") != std::string::npos);
    EXPECT_TRUE(text(udp4(SLOT_OTHER_ADDRESS, 12)).find("followed") == std::string::npos);
}

// Whoever took them would break the datagrams that are followed.
TEST(DescribeFlow, LaterFragmentsOfWhatIsFollowedAreNotMissing) {
    passed_flow_key key = udp4(SLOT_FRAGMENT, 0);
    EXPECT_EQ(describe_flow(key, 5, own), "later fragments of udp 16.0.0.1 to 48.0.0.1, 5 fps: add --dst 48.0.0.1");
    EXPECT_EQ(
        responder::describe_flow(key, 5, own, MatchOptions{}.build({}), "--promisc", "iperf3"),
        "later fragments of udp 16.0.0.1 to 48.0.0.1, 5 fps: the first ones are followed as iperf3 on their way up "
        "the stack");
}

TEST(DescribeFlow, WhatTheReflectorRefuses) {
    EXPECT_EQ(describe_flow(udp4(SLOT_NOT_ALLOWED, 7), 10, own),
              "udp 16.0.0.1 to 48.0.0.1:7, 10 fps: add --allow 16.0.0.1");
    EXPECT_EQ(describe_flow(udp4(SLOT_FROM_REFLECTOR, 7), 10, own),
              "udp 16.0.0.1 to 48.0.0.1:7, 10 fps: add --allow 16.0.0.1");
    EXPECT_EQ(describe_flow(udp4(SLOT_GROUP, 7), 10, own), "udp 16.0.0.1 to 48.0.0.1:7, 10 fps");
}

TEST(DescribeFlow, OtherMac) {
    const std::string text = describe_flow(to_mac(udp4(SLOT_OTHER_MAC, 9), other), 10, own);
    EXPECT_EQ(text, "udp 16.0.0.1 to 48.0.0.1:9, 10 fps: add --promisc (sent to MAC 02:00:00:00:00:03)");
}

TEST(DescribeFlow, OtherMacThatIsOursIsAboutTheMacOptions) {
    const std::string text = describe_flow(udp4(SLOT_OTHER_MAC, 9), 10, own);
    EXPECT_NE(text.find("--src-mac"), std::string::npos) << text;
    EXPECT_EQ(text.find("--promisc"), std::string::npos) << text;
}

TEST(DescribeFlow, OtherVlanNamesTheTagThatIsNotTaken) {
    const MatchOptions outer{.vlans = {"5"}}, both{.vlans = {"5"}, .inner_vlans = {"6"}},
        outer_fits{.vlans = {"7"}, .inner_vlans = {"6"}}, inner_fits{.vlans = {"5"}, .inner_vlans = {"8"}};
    const auto text = [](unsigned tags, const MatchOptions& options) {
        return describe_flow(tagged(udp4(SLOT_OTHER_VLAN, 9), tags), 10, own, options);
    };
    EXPECT_TRUE(text(1, outer).ends_with(": add --vlan 7")) << text(1, outer);
    EXPECT_TRUE(text(2, outer).ends_with(": add --vlan 7")) << text(2, outer);
    EXPECT_TRUE(text(2, both).ends_with(": add --vlan 7 --inner-vlan 8")) << text(2, both);
    EXPECT_TRUE(text(2, outer_fits).ends_with(": add --inner-vlan 8")) << text(2, outer_fits);
    EXPECT_TRUE(text(2, inner_fits).ends_with(": add --vlan 7")) << text(2, inner_fits);
    EXPECT_NE(text(0, outer).find("no tag"), std::string::npos) << text(0, outer);
    const std::string reserved = ": add no VLAN option (none takes VLAN 4095, which is reserved)";
    passed_flow_key key = tagged(udp4(SLOT_OTHER_VLAN, 9), 1);
    key.vlan[0] = 4095;
    EXPECT_TRUE(describe_flow(key, 10, own, outer).ends_with(reserved)) << describe_flow(key, 10, own, outer);
    EXPECT_NE(text(1, outer_fits).find("--inner-vlan"), std::string::npos) << text(1, outer_fits);
    EXPECT_EQ(text(1, outer_fits).find("add --vlan 7"), std::string::npos)
        << "it is taken already: " << text(1, outer_fits);
}

TEST(DescribeFlow, OtherAddressNamesTheOneThatIsNotTaken) {
    const auto text = [](const MatchOptions& options) {
        return describe_flow(udp4(SLOT_OTHER_ADDRESS, 9), 10, own, options);
    };
    EXPECT_TRUE(text({.sources = {"10.9.0.0/16"}}).ends_with(": add --src 16.0.0.1"));
    EXPECT_TRUE(text({.destinations = {"10.9.0.0/16"}}).ends_with(": add --dst 48.0.0.1"));
    EXPECT_TRUE(text({.sources = {"10.9.0.0/16"}, .destinations = {"10.9.0.0/16"}})
                    .ends_with(": add --src 16.0.0.1 --dst 48.0.0.1"));
    EXPECT_TRUE(text({.sources = {"16.0.0.0/8"}, .destinations = {"10.9.0.0/16"}}).ends_with(": add --dst 48.0.0.1"));
    EXPECT_TRUE(text({.sources = {"2001:db8::/32"}}).ends_with(": add --src 16.0.0.1"));
}

TEST(DescribeFlow, FragmentIsTakenByItsDestination) {
    EXPECT_EQ(describe_flow(udp4(SLOT_FRAGMENT, 0), 10, own),
              "later fragments of udp 16.0.0.1 to 48.0.0.1, 10 fps: add --dst 48.0.0.1");
}

// No option names port 0.
TEST(DescribeFlow, PortZeroIsTakenByItsDestination) {
    EXPECT_TRUE(describe_flow(udp4(SLOT_UDP, 0), 10, own).ends_with(": add --dst 48.0.0.1"))
        << describe_flow(udp4(SLOT_UDP, 0), 10, own);
}

TEST(DescribeFlow, WithoutIp) {
    passed_flow_key key{};
    key.slot = SLOT_OTHER_ETHERTYPE;
    key.ethertype = 0x88b5;
    EXPECT_EQ(describe_flow(to_mac(key, own), 100, own), "EtherType 0x88b5, 100 fps: add --ethertype 0x88b5");
    key.ethertype = 46;
    EXPECT_EQ(describe_flow(to_mac(key, group), 100, own), "IEEE 802.3, 100 fps: add --all");
}

TEST(DescribeFlow, OtherIp) {
    passed_flow_key key = udp4(SLOT_OTHER_IP, 0);
    key.protocol = 47;
    EXPECT_EQ(describe_flow(key, 100, own), "IP protocol 47 16.0.0.1 to 48.0.0.1, 100 fps: add --all");
}

// What belongs to the kernel's stack, and what is broken: no word of how to take it.
TEST(DescribeFlow, NoOptionForTheRest) {
    for (const count_slot slot :
         {SLOT_CONTROL, SLOT_ARP, SLOT_ND, SLOT_DHCP, SLOT_MALFORMED, SLOT_TOO_DEEP, SLOT_TCP, SLOT_ICMP}) {
        passed_flow_key key = udp4(slot, 0);
        key.protocol = slot == SLOT_TCP ? 6 : slot == SLOT_ICMP ? 1 : 17;
        const std::string text = describe_flow(to_mac(key, other), 10, own);
        EXPECT_EQ(text.find("add "), std::string::npos) << text;
        EXPECT_EQ(text.find("--"), std::string::npos) << text;
    }
}

TEST(DescribeFlow, EveryReasonIsSaidInOneLine) {
    for (const SlotName& name : reason_names) {
        for (unsigned tags = 0; tags <= 2; ++tags) {
            const std::string text = describe_flow(tagged(udp4(name.slot, 12), tags), 10, own);
            EXPECT_FALSE(text.empty());
            EXPECT_EQ(text.find('\n'), std::string::npos);
        }
    }
}

// What is behind this option in the recommendation, to the end.
std::string recommended(const std::string& text, const std::string& option) {
    const auto at = text.find(": add " + option + " ");
    EXPECT_NE(at, std::string::npos) << "no " << option << " in: " << text;
    return at == std::string::npos ? "" : text.substr(at + 7 + option.size());
}

// Every --port, --ethertype, --vlan, --dst that is recommended is one that the command takes.
TEST(DescribeFlow, RecommendsNothingThatTheCommandRefuses) {
    for (const auto port : std::initializer_list<std::uint16_t>{1, 9, 65535}) {
        const std::string value = recommended(describe_flow(udp4(SLOT_UDP, port), 10, own), "--port");
        EXPECT_NO_THROW(MatchOptions{.ports = {value}}.build({})) << value;
    }
    for (const auto type : std::initializer_list<std::uint16_t>{0x0600, 0x88b5, 0xffff}) {
        passed_flow_key key{};
        key.slot = SLOT_OTHER_ETHERTYPE;
        key.ethertype = type;
        const std::string value = recommended(describe_flow(to_mac(key, own), 10, own), "--ethertype");
        EXPECT_NO_THROW(MatchOptions{.ethertypes = {value}}.build({})) << value;
    }
    for (const auto vlan : std::initializer_list<std::uint16_t>{0, 1, 4094}) {
        passed_flow_key key = tagged(udp4(SLOT_OTHER_VLAN, 9), 1);
        key.vlan[0] = vlan;
        const std::string value = recommended(describe_flow(key, 10, own, {.vlans = {"5"}}), "--vlan");
        EXPECT_NO_THROW(MatchOptions{.vlans = {value}}.build({})) << value;
    }
    passed_flow_key key6 = udp4(SLOT_FRAGMENT, 0);
    key6.ethertype = 0x86dd;
    inet_pton(AF_INET6, "2001:db8::2", key6.destination);
    for (const passed_flow_key& key : {udp4(SLOT_UDP, 0), udp4(SLOT_FRAGMENT, 0), key6}) {
        const std::string value = recommended(describe_flow(key, 10, own), "--dst");
        EXPECT_NO_THROW(MatchOptions{.destinations = {value}}.build({})) << value;
    }
}

} // namespace
} // namespace responder::test
