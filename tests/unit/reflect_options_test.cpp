// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-reflect's command line, and what its replies say of the clock.

#include "loader/error.h"
#include "loader/reflect/options.h"
#include "loader/reflect/stamp_state.h"
#include "tests/unit/command_line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

namespace responder::test {
namespace {

ReflectOptions parsed(std::initializer_list<const char*> arguments) {
    std::vector<const char*> argv{"xdp-reflect", "eth1"};
    argv.insert(argv.end(), arguments);
    return parse_reflect_options(static_cast<int>(argv.size()), argv.data()).value();
}

TEST(ReflectOptions, WhatAsksWhenNothingIsSaid) {
    const reflect_cfg cfg = parsed({}).program;
    EXPECT_EQ(cfg.match.port_count, 1);
    EXPECT_EQ(cfg.match.port[0].first, 7);
    EXPECT_EQ(cfg.match.network4_count, 0);
    EXPECT_EQ(cfg.ours, 1);
    EXPECT_EQ(cfg.signature_count, 3);
    EXPECT_EQ(cfg.stamp_count, 1);
    EXPECT_EQ(cfg.stamp_port[0], 862);
    EXPECT_EQ(cfg.oam, 1);
    EXPECT_EQ(cfg.oam_level, OAM_ANY_LEVEL);
    EXPECT_EQ(cfg.icmp, 0);
    EXPECT_EQ(cfg.highest_port, 3842);
    EXPECT_FALSE(parsed({}).expire);
}

// As in the sink: who says what is test traffic, says all of it.
TEST(ReflectOptions, WhatIsSaidTakesTheDefaultsPlace) {
    const reflect_cfg cfg = parsed({"--port", "5000-6000"}).program;
    EXPECT_EQ(cfg.match.port[0].first, 5000);
    EXPECT_EQ(cfg.ours, 0);
    EXPECT_EQ(cfg.signature_count, 0);
    EXPECT_EQ(cfg.stamp_count, 1);
    EXPECT_EQ(cfg.highest_port, 6000);
    EXPECT_EQ(parsed({"--signature", "none"}).program.signature_count, 0);
    EXPECT_EQ(parsed({"--stamp", "none"}).program.stamp_count, 0);
    EXPECT_EQ(parsed({"--stamp", "862,50000"}).program.highest_port, 50'000);
    EXPECT_EQ(parsed({"--oam", "3"}).program.oam_level, 3);
    EXPECT_EQ(parsed({"--oam", "none"}).program.oam, 0);
}

TEST(ReflectOptions, ALoopIsBoundedWhereItCannotBeTold) {
    using namespace std::chrono_literals;
    EXPECT_EQ(parsed({"--tester", "02:00:00:00:00:05"}).expire, 1h);
    EXPECT_EQ(parsed({"--any-mac"}).expire, 1h);
    EXPECT_EQ(parsed({"--all"}).expire, 1h);
    EXPECT_EQ(parsed({"--all", "--expire", "5s"}).expire, 5s);
    EXPECT_FALSE(parsed({"--all", "--expire", "0"}).expire);
}

TEST(ReflectOptions, Caps) {
    EXPECT_EQ(parsed({}).program.frame_cost, 0U);
    EXPECT_EQ(parsed({"--max-fps", "1000"}).program.frame_cost, 64'000'000U); // a millisecond
    EXPECT_EQ(parsed({"--max-bps", "8M"}).program.octet_cost, 65'536'000U);   // a microsecond
    EXPECT_EQ(parsed({"--max-bps", "8000000"}).program.octet_cost, 65'536'000U);
    for (const char* wrong : {"0", "-1", "1.5", "", "1k", "100000001"})
        EXPECT_THROW(parsed({"--max-fps", wrong}), Error) << wrong;
    for (const char* wrong : {"0", "-1M", "M", "", "1T", "999", "1001G", "nan"})
        EXPECT_THROW(parsed({"--max-bps", wrong}), Error) << wrong;
    for (const char* wrong : {"0", "x", ""})
        EXPECT_THROW(parsed({"--loop-probe", wrong}), Error) << wrong;
    EXPECT_EQ(parsed({"--loop-probe", "2m"}).loop_probe, std::chrono::minutes(2));
}

TEST(ReflectOptions, ShowTakesNoOptionOfARun) {
    EXPECT_TRUE(parsed({"--show"}).show);
    EXPECT_TRUE(parsed({"--show", "eth2", "--json"}).json);
    for (const Arguments& words : std::vector<Arguments>{{"--tester", "198.18.0.1"},
                                                         {"--duration", "wrong"},
                                                         {"--max-fps", "5"},
                                                         {"--stamp-key", "/none"},
                                                         {"--json-stream"},
                                                         {"--quiet"},
                                                         {"--verbose"},
                                                         {"--port", "7"},
                                                         {"--address", "198.18.0.2/24"}}) {
        Arguments arguments{"eth1", "--show"};
        arguments.insert(arguments.end(), words.begin(), words.end());
        expect_words(refusal([&] { parse_words(parse_reflect_options, arguments); }),
                     {"--show with " + words[0], "--json"});
    }
}

TEST(ReflectOptions, SaysAllThatIsSentBack) {
    const auto said = [](std::initializer_list<const char*> arguments) {
        const ReflectOptions options = parsed(arguments);
        return describe_test_traffic(options, options.program.match);
    };
    EXPECT_EQ(said({}), "UDP port 7; xdp-gen's signature on any lower UDP port; udp/3842@5:PROBEOT, "
                        "udp/3842@5:DATA:OT, udp/3842@5:LATENCY");
    EXPECT_EQ(said({"--port", "5000", "--tester", "198.18.0.1"}), "UDP port 5000; everything from 198.18.0.1");
    EXPECT_EQ(said({"--port", "5000", "--signature", "udp/9@0:X"}), "UDP port 5000; udp/9@0:X");
}

TEST(ReflectOptions, TestersByEitherAddress) {
    const reflect_cfg cfg = parsed({"--tester", "02:00:00:00:00:05,10.0.0.9,2001:db8::9"}).program;
    EXPECT_EQ(cfg.tester_mac_count, 1);
    EXPECT_EQ(cfg.tester4_count, 1);
    EXPECT_EQ(cfg.tester6_count, 1);
}

TEST(ReflectOptions, Signatures) {
    const reflect_signature text = parse_signature("udp/3842@5:DATA:OT");
    EXPECT_EQ(text.port, 3842);
    EXPECT_EQ(text.offset, 5);
    EXPECT_EQ(std::string(text.octets, text.octets + text.length), "DATA:OT");
    const reflect_signature octets = parse_signature("udp/1@0:0x00ff");
    ASSERT_EQ(octets.length, 2);
    EXPECT_EQ(octets.octets[1], 0xff);
    for (const char* wrong : {"", "3842@5:X", "udp/3842:X", "udp/3842@5", "udp/0@5:X", "udp/1@256:X",
                              "udp/1@0:", "udp/1@0:0x", "udp/1@0:0x0", "udp/1@0:0x0g", "udp/1@0:12345678901234567"})
        EXPECT_THROW(parse_signature(wrong), Error) << wrong;
}

// RFC 4656 section 4.1.2: multiplier * 2^(scale - 32) seconds, never less than the error and at most two times it.
TEST(StampClock, ErrorEstimate) {
    using namespace std::chrono_literals;
    EXPECT_EQ(error_estimate(false, STAMP_NTP, 0us), 1);
    EXPECT_EQ(error_estimate(true, STAMP_NTP, 0us), 0x8001);
    EXPECT_EQ(error_estimate(false, STAMP_PTP, 0us), 0x4001);
    for (std::int64_t us = 1; us < 100'000'000; us = us * 3 / 2 + 1) {
        const std::uint16_t estimate = error_estimate(true, STAMP_NTP, std::chrono::microseconds(us));
        const double seconds = (estimate & 0xff) * std::ldexp(1.0, (estimate >> 8 & 0x3f) - 32);
        EXPECT_EQ(estimate & 0xc000, 0x8000);
        EXPECT_GE(seconds, static_cast<double>(us) * 1e-6 * 0.999999999) << us;
        EXPECT_LE(seconds, static_cast<double>(us) * 1e-6 * 1.02 + 1e-9) << us;
    }
    EXPECT_GT(error_estimate(false, STAMP_NTP, std::chrono::microseconds(INT64_MAX)), 0);
    EXPECT_EQ(error_estimate(false, STAMP_NTP, -5us), 1);
}

} // namespace
} // namespace responder::test
