// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-gen's command line. What it shares with xdp-sink's is in sink_options_test.cpp.

#include "tests/unit/command_line.h"
#include "tools/gen/options.h"

namespace responder::test {
namespace {

using namespace std::chrono_literals;

gen::Options options_of(Arguments arguments) {
    arguments.insert(arguments.begin(), "eth1");
    return parse_words(gen::parse_options, arguments).value();
}

std::string refused(const Arguments& arguments) {
    return refusal([&] { parse_words(gen::parse_options, arguments); });
}

std::string refused_value(const std::string& option, const std::string& value) {
    const std::string sentence = refused({"eth1", option + "=" + value}), begin = option + " " + value + ": ";
    EXPECT_TRUE(sentence.starts_with(begin)) << sentence;
    return sentence.substr(std::min(begin.size(), sentence.size()));
}

TEST(GenOptions, DefaultsOfABareCommand) {
    const gen::Options options = options_of({});
    EXPECT_EQ(options.interface, "eth1");
    EXPECT_FALSE(options.source_mac || options.destination_mac) << "the command asks for it once all else is right";
    EXPECT_EQ(options.frames.sizes, std::vector<unsigned>{64});
    EXPECT_EQ(options.frames.source.address_text(), "198.18.0.1");
    EXPECT_EQ(options.frames.destination.address_text(), "198.18.0.2");
    EXPECT_EQ(options.frames.destination_ports, (PortRange{9, 9}));
    EXPECT_EQ(options.plan.frames, 0U);
    EXPECT_EQ(options.plan.duration, 0ns);
}

TEST(GenOptions, SizeIsTheSmallestWithASignature) {
    EXPECT_EQ(options_of({"--vlan", "1"}).frames.sizes, std::vector<unsigned>{64});
    EXPECT_EQ(options_of({"--vlan", "1,2"}).frames.sizes, std::vector<unsigned>{68});
    EXPECT_EQ(options_of({"--dst", "2001:2::2"}).frames.sizes, std::vector<unsigned>{80});
    EXPECT_EQ(options_of({"--dst", "2001:2::2", "--signature", "pktgen"}).frames.sizes, std::vector<unsigned>{74});
}

TEST(GenOptions, AStreamHasASourcePortOfItsOwn) {
    const gen::Options options = options_of({"--streams", "100"});
    EXPECT_EQ(options.frames.streams, 100U);
    EXPECT_EQ(options.frames.source_ports, (PortRange{49184, 49283}));
    EXPECT_EQ(options_of({"--streams", "4", "--src-port", "7"}).frames.source_ports, (PortRange{7, 10}));
    EXPECT_EQ(options_of({"--streams", "65536", "--src-port", "0"}).frames.source_ports, (PortRange{0, 65535}));
    EXPECT_EQ(refused({"eth1", "--streams=2", "--src-port=7-8"}),
              "--streams with a range of --src-port: each stream has a port of its own; name the first of them");
    EXPECT_EQ(refused_value("--streams", "0"), "not a whole number from 1 to 16352");
    EXPECT_EQ(refused_value("--signature", "theirs"), "neither ours nor pktgen");
    EXPECT_EQ(refused({"eth1", "--streams=2", "--signature=pktgen"}),
              "--streams with --signature pktgen: pktgen's signature tells no streams apart");
}

TEST(GenOptions, EveryOption) {
    const gen::Options options = options_of({"--size",     "88,128",
                                             "--size",     "1518",
                                             "--vlan",     "100,200",
                                             "--dst-mac",  "02:00:00:00:00:02",
                                             "--src-mac",  "02-00-00-00-00-01",
                                             "--src",      "2001:2::9",
                                             "--src-port", "0-5",
                                             "--port",     "7",
                                             "--rate",     "0.5",
                                             "--duration", "2m",
                                             "--json",     "--quiet",
                                             "--verbose"});
    EXPECT_EQ(options.frames.sizes, (std::vector<unsigned>{88, 128, 1518}));
    EXPECT_EQ(options.frames.vlans, (std::vector<std::uint16_t>{100, 200}));
    EXPECT_EQ(options.destination_mac, (MacAddress{{2, 0, 0, 0, 0, 2}}));
    EXPECT_EQ(options.source_mac, (MacAddress{{2, 0, 0, 0, 0, 1}}));
    EXPECT_EQ(options.frames.source.address_text(), "2001:2::9");
    EXPECT_EQ(options.frames.destination.address_text(), "2001:2::2") << "the default of the family";
    EXPECT_EQ(options.frames.source_ports, (PortRange{0, 5}));
    EXPECT_EQ(options.frames.destination_ports, (PortRange{7, 7}));
    EXPECT_EQ(options.plan.rate_fps, 0.5);
    EXPECT_EQ(options.plan.duration, 2min);
    EXPECT_TRUE(options.json && options.quiet && options.verbose);
    EXPECT_EQ(options_of({"--count", "7"}).plan.frames, 7U);
    for (const auto& [text, time] : {std::pair{"10", 10'000ms}, {"500ms", 500ms}, {"1h", 3'600'000ms}, {"0.5", 500ms}})
        EXPECT_EQ(options_of({"--duration", text}).plan.duration, time) << text;
}

TEST(GenOptions, WrongWordsAndValuesAreNamed) {
    const std::string hint = "; xdp-gen --help lists the options";
    EXPECT_EQ(refused({}), "INTERFACE is missing" + hint);
    EXPECT_EQ(refused({"--bogus"}), "--bogus: no such option" + hint);
    EXPECT_EQ(refused({""}), "INTERFACE: its value is empty");
    EXPECT_EQ(refused({"eth1", "--dst", ""}), "--dst: its value is empty");
    EXPECT_EQ(refused({"eth1", "eth2"}), "eth2: a second interface; it takes one");
    for (const Arguments& arguments : {Arguments{"eth1", "--size", "64", "128"}, {"--size", "64", "128", "eth1"}})
        EXPECT_EQ(refused(arguments),
                  "128: this is no interface; several values of an option go between commas, like 1,2");
    EXPECT_EQ(refused({"eth1", "--count", "5", "--duration", "3"}),
              "--count with --duration: both say when to end; choose one");
    EXPECT_EQ(refused({"eth1", "--rate", "5", "--rate", "6"}), "--rate: given 2 times; it takes one value");
    for (const char* value : {"63", "9217", "abc", "64.5"})
        EXPECT_EQ(refused_value("--size", value), "not a whole number from 64 to 9216");
    for (const char* value : {"4095", "-1", "abc"})
        EXPECT_EQ(refused_value("--vlan", value), "not a whole number from 0 to 4094");
    for (const char* value : {"0", "-1", "1.5"})
        EXPECT_EQ(refused_value("--count", value), "not a whole number from 1 on");
    for (const char* value : {"5x", "nan", "-1"})
        EXPECT_EQ(refused_value("--duration", value), "not a time like 10, 500ms, 2m or 1h");
    for (const char* value : {"0", "-1", "nan", "1e9", "5k"})
        EXPECT_EQ(refused_value("--rate", value), "not a number from 0.01 to 100000000");
    for (const char* value : {"0", "0-5", "65536", "5-", "abc"})
        EXPECT_EQ(refused_value("--port", value), "not a number from 1 to 65535, or two of them with a dash between");
    EXPECT_EQ(refused_value("--src-port", "0-65536"),
              "not a number from 0 to 65535, or two of them with a dash between");
    EXPECT_EQ(refused_value("--dst-mac", "02:00"), "not a MAC address like 02:00:00:00:00:01");
    EXPECT_EQ(refused_value("--src-mac", "01:00:5e:00:00:01"), "a group address cannot send");
    for (const char* option : {"--src-mac", "--dst-mac"})
        EXPECT_EQ(refused_value(option, "00:00:00:00:00:00"), "this is the address of nobody");
}

TEST(GenOptions, AddressesThatNobodyHas) {
    for (const char* option : {"--src", "--dst"}) {
        for (const char* value : {"0.0.0.0", "::"})
            EXPECT_EQ(refused_value(option, value), "this is the address of nobody");
        for (const char* value : {"127.0.0.1", "127.255.255.255", "::1"})
            EXPECT_EQ(refused_value(option, value), "a loopback address is for no wire");
        for (const char* value : {"198.18.0", "2001:2::1%eth1", "198.18.0.1/24"})
            EXPECT_EQ(refused_value(option, value), "neither an IPv4 nor an IPv6 address");
    }
    for (const char* value : {"224.0.0.1", "255.255.255.255", "ff02::1"})
        EXPECT_EQ(refused_value("--src", value), "a group address cannot send");
}

TEST(GenOptions, AGroupHasItsMacAddress) {
    EXPECT_EQ(options_of({"--dst", "239.129.2.3"}).destination_mac, (MacAddress{{1, 0, 0x5e, 1, 2, 3}}));
    EXPECT_EQ(options_of({"--dst", "ff05::1:2345:6789", "--size", "128"}).destination_mac,
              (MacAddress{{0x33, 0x33, 0x23, 0x45, 0x67, 0x89}}));
    const MacAddress given{{2, 0, 0, 0, 0, 2}};
    EXPECT_EQ(options_of({"--dst", "239.1.2.3", "--dst-mac", to_string(given)}).destination_mac, given);
    EXPECT_EQ(options_of({"--dst", "255.255.255.255"}).destination_mac,
              (MacAddress{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}));
}

} // namespace
} // namespace responder::test
