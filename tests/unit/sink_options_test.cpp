// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-sink's command line: every option, every kind of wrong value, every combination that is refused.

#include "loader/sink/options.h"
#include "loader/sink/watch.h"
#include "tests/unit/command_line.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace responder::test {
namespace {

using namespace std::chrono_literals;

std::optional<SinkOptions> parse(const Arguments& arguments) { return parse_words(parse_sink_options, arguments); }

SinkOptions options_of(Arguments arguments) {
    arguments.insert(arguments.begin(), "eth1");
    return parse(arguments).value();
}

void expect_refused(const Arguments& arguments, const std::vector<std::string>& words) {
    expect_words(refusal([&] { parse(arguments); }), words);
}

std::string refused(const Arguments& arguments) {
    return refusal([&] { parse(arguments); });
}

TEST(SinkOptions, DefaultsOfABareCommand) {
    const SinkOptions options = options_of({});
    EXPECT_EQ(options.interfaces, Arguments{"eth1"});
    EXPECT_EQ(options.mode, ModeChoice::automatic);
    EXPECT_EQ(options.interval, 1000ms);
    EXPECT_FALSE(options.duration || options.count || options.expect_rate || options.expect_frames ||
                 options.max_missed);
    EXPECT_FALSE(options.quiet || options.json || options.json_stream || options.verbose || options.dispatcher ||
                 options.wait || options.force);
    EXPECT_TRUE(options.addresses.empty());
    EXPECT_EQ(options.argv, (Arguments{"command", "eth1"}));
}

TEST(SinkOptions, EveryOption) {
    const SinkOptions options = parse({"eth1",
                                       "--port",
                                       "12,13",
                                       "eth2",
                                       "--port=20-30",
                                       "--ethertype",
                                       "0x88b5",
                                       "--src-mac",
                                       "02:00:00:00:00:01",
                                       "--dst-mac",
                                       "02:00:00:00:00:02",
                                       "--vlan",
                                       "5",
                                       "--inner-vlan",
                                       "6,7",
                                       "--promisc",
                                       "--address",
                                       "198.18.1.2/24,2001:2::2/64",
                                       "--mode",
                                       "generic",
                                       "--dispatcher",
                                       "--wait",
                                       "--force",
                                       "--duration",
                                       "90",
                                       "--count",
                                       "1000",
                                       "--interval",
                                       "250ms",
                                       "--quiet",
                                       "--json",
                                       "--verbose",
                                       "--expect-rate",
                                       "95%",
                                       "--expect-frames",
                                       "0",
                                       "--max-missed",
                                       "7"})
                                    .value();
    EXPECT_EQ(options.interfaces, (Arguments{"eth1", "eth2"}));
    EXPECT_EQ(options.match.ports, (Arguments{"12", "13", "20-30"}));
    EXPECT_EQ(options.match.ethertypes, Arguments{"0x88b5"});
    EXPECT_EQ(options.match.source_macs, Arguments{"02:00:00:00:00:01"});
    EXPECT_EQ(options.match.destination_macs, Arguments{"02:00:00:00:00:02"});
    EXPECT_EQ(options.match.vlans, Arguments{"5"});
    EXPECT_EQ(options.match.inner_vlans, (Arguments{"6", "7"}));
    EXPECT_TRUE(options.match.promiscuous);
    ASSERT_EQ(options.addresses.size(), 2U);
    EXPECT_EQ(options.addresses[0].text(), "198.18.1.2/24");
    EXPECT_EQ(options.addresses[1].text(), "2001:2::2/64");
    EXPECT_EQ(options.mode, ModeChoice::generic);
    EXPECT_TRUE(options.dispatcher && options.wait && options.force && options.quiet && options.json &&
                options.verbose);
    EXPECT_EQ(options.duration, 90'000ms);
    EXPECT_EQ(options.count, 1000U);
    EXPECT_EQ(options.interval, 250ms);
    EXPECT_EQ(options.expect_rate->unit, RateCondition::Unit::line_percent);
    EXPECT_EQ(options.expect_frames, 0U);
    EXPECT_EQ(options.max_missed, 7U);
    EXPECT_TRUE(options_of({"--json-stream"}).json_stream);
    EXPECT_TRUE(options_of({"--all"}).match.all);
    EXPECT_EQ(options_of({"--src", "10.0.0.0/8", "--dst", "10.9.0.1"}).match.destinations, Arguments{"10.9.0.1"});
    EXPECT_EQ(options_of({"--mode", "native"}).mode, ModeChoice::native);
    EXPECT_EQ(options_of({"--mode", "auto"}).mode, ModeChoice::automatic);
    EXPECT_EQ(options_of({"--require-native"}).mode, ModeChoice::native);
    EXPECT_EQ(options_of({"--require-native", "--mode", "native"}).mode, ModeChoice::native);
    EXPECT_EQ(options_of({}).engine, Engine::xdp);
    EXPECT_EQ(options_of({"--engine", "xdp"}).engine, Engine::xdp);
    EXPECT_EQ(options_of({"--engine", "af_xdp"}).engine, Engine::af_xdp);
    EXPECT_FALSE(options_of({"--engine", "af_xdp"}).require_zerocopy);
    EXPECT_TRUE(options_of({"--engine", "af_xdp", "--require-zerocopy"}).require_zerocopy);
    EXPECT_EQ(options_of({"--count", "18446744073709551615"}).count, 18446744073709551615ULL);
}

TEST(SinkOptions, SharingAPortIsNamedWhereItIsWhyTheSocketsProgramIsRefused) {
    EXPECT_EQ(refusal_hint(options_of({"--dispatcher"}), "usual"), "usual");
    EXPECT_EQ(refusal_hint(options_of({"--engine", "af_xdp"}), "usual"), "usual");
    for (const char* option : {"--engine=af_xdp", "--pcap=file"})
        expect_words(refusal_hint(options_of({"--dispatcher", option}), "usual"),
                     {"newer kernels", "leave --dispatcher out"});
}

TEST(SinkOptions, HelpNamesEveryOptionAndEveryExitCode) {
    testing::internal::CaptureStdout();
    const bool nothing_to_do = !parse({"--help"});
    const std::string help = testing::internal::GetCapturedStdout();
    EXPECT_TRUE(nothing_to_do);
    expect_words(help, {"--version", "64", "66", "69", "70", "71", "74", "75", "77"});
}

TEST(SinkOptions, VersionIsOneLine) {
    testing::internal::CaptureStdout();
    const bool nothing_to_do = !parse({"--version"});
    const std::string version = testing::internal::GetCapturedStdout();
    EXPECT_TRUE(nothing_to_do);
    EXPECT_TRUE(version.starts_with("xdp-sink 0.") || version.starts_with("xdp-sink 1.")) << version;
    EXPECT_EQ(version.find('\n'), version.size() - 1);
}

struct Wrong {
    std::string option;
    std::vector<std::string> values;
    friend std::ostream& operator<<(std::ostream& out, const Wrong& wrong) { return out << wrong.option; }
};

// Written as one word, so that a value that begins with a dash is a value.
class SinkOptionsWrong : public testing::TestWithParam<Wrong> {};

TEST_P(SinkOptionsWrong, ValueIsRefusedInASentenceThatNamesIt) {
    const auto& [option, values] = GetParam();
    for (const std::string& value : values)
        expect_refused({"eth1", option + "=" + value}, {option, value});
}

TEST_P(SinkOptionsWrong, EmptyAndMissingValuesAreRefused) {
    const std::string& option = GetParam().option;
    expect_refused({"eth1", option, ""}, {option});
    expect_refused({"eth1", option + "="}, {option});
    expect_refused({"eth1", option}, {option});
}

const std::vector<std::string> wrong_macs{"02:00:00:00:00", "02:00:00:00:00:gg", "020000000001", "eth1",
                                          "02:00:00:00:00:01:02"};
const std::vector<std::string> wrong_prefixes{"10.0.0",    "10.0.0.1/33", "::1/129",     "example.org",
                                              "10.0.0.1/", "/24",         "10.0.0.1/-1", "10.0.0.1/8/8"};
const std::vector<std::string> wrong_counts{"-1", "1.5", "abc", "18446744073709551616", "0x10", "1e3", "5 "};
const std::vector<std::string> wrong_vlans{"4095", "-1", "abc", "7-5", "5-", "-5", "1-2-3", "0x5"};
const std::vector<std::string> wrong_times{"0", "-1", "abc", "10x", "nan", "inf", "1e300", "10 s", "s", "1.5.5", "ms"};

INSTANTIATE_TEST_SUITE_P(
    , SinkOptionsWrong,
    testing::Values(Wrong{"--port",
                          {"0", "65536", "-1", "abc", "5-3", "5-", "-5", "1-2-3", "0x10", "9.5", " 9", "9 ",
                           "4294967305", "0-5", "9-65536"}},
                    Wrong{"--ethertype",
                          {"0x5ff", "1535", "0x10000", "xyz", "0x", "0x0800", "0x86dd", "0x0806", "0x8100", "0x88a8",
                           "-1", "88b5"}},
                    Wrong{"--vlan", wrong_vlans}, Wrong{"--inner-vlan", wrong_vlans}, Wrong{"--src", wrong_prefixes},
                    Wrong{"--dst", wrong_prefixes}, Wrong{"--src-mac", wrong_macs}, Wrong{"--dst-mac", wrong_macs},
                    Wrong{"--address",
                          {"198.18.1.2", "2001:2::2", "198.18.1.2/33", "198.18.1.2/0", "2001:2::2/0",
                           "::ffff:198.18.1.2/120", "127.0.0.1/8", "224.0.0.1/4", "0.0.0.0/0", "255.255.255.255/32",
                           "ff02::1/64", "::/64", "::1/128", "abc"}},
                    Wrong{"--watch",
                          {"5201", "udp/", "udp/0", "udp/65536", "udp/52x1", "tcp/5201", "udp/5201:", "udp/5201:iperf4",
                           "udp/-1", "none5", "udp/5201:iperf3:2"}},
                    Wrong{"--mode", {"fast", "NATIVE", "xdp"}}, Wrong{"--engine", {"dpdk", "AF_XDP"}},
                    Wrong{"--duration", wrong_times},
                    Wrong{"--interval", {"0", "50ms", "99ms", "0.05", "abc", "-1", "1e300"}},
                    Wrong{"--count", {"0", "-1", "1.5", "abc", "18446744073709551616"}},
                    Wrong{"--expect-frames", wrong_counts}, Wrong{"--max-missed", wrong_counts},
                    Wrong{"--expect-rate",
                          {"5", "0fps", "-1fps", "0%", "Mbps", "5Gfps@L1", "5Gbps@", "5Gbps@L4", "5Tbps", "nan%",
                           "inf%", "5%%", "5 Mfps", "5kkfps", "5bps@l2@l3"}}),
    [](const auto& test) {
        std::string name;
        for (const char c : test.param.option)
            if (c != '-')
                name += c;
        return name;
    });

std::string watched(Arguments arguments) { return describe(options_of(std::move(arguments)).watches); }

TEST(SinkOptions, WatchedPorts) {
    EXPECT_EQ(watched({}), "iperf3 on UDP port 5201, iperf2 on UDP port 5001");
    EXPECT_EQ(watched({"--watch", "none"}), "");
    EXPECT_EQ(watched({"--streams", "0"}), "") << "nothing is followed";
    EXPECT_EQ(watched({"--watch", "udp/7000", "--watch", "udp/65535:iperf3-32"}),
              "iperf3 on UDP port 7000, iperf3-32 on UDP port 65535, iperf3 on UDP port 5201, iperf2 on UDP port 5001");
    EXPECT_EQ(watched({"--watch", "none,udp/5001,udp/5201:iperf3-64"}),
              "iperf2 on UDP port 5001, iperf3-64 on UDP port 5201");
    std::string most = "none";
    for (int port = 1; port <= WATCH_PORTS; ++port)
        most += ",udp/" + std::to_string(port) + ":pktgen";
    EXPECT_EQ(options_of({"--watch", most}).watches.size(), std::size_t{WATCH_PORTS});
    expect_refused({"eth1", "--watch", most + ",udp/99"}, {"--watch", "udp/99", "more than 16"});
}

TEST(SinkOptions, ALimitIsTheSameWhateverIsBelowIt) {
    for (const char* interval : {"0", "99ms"})
        expect_refused({"eth1", "--interval", interval}, {"not a time from 100ms to 100000h"});
    EXPECT_TRUE(
        refused({"eth1", "--watch", "udp/5201:"}).starts_with("--watch udp/5201: no format behind the colon; "));
}

TEST(SinkOptions, OneWrongValueAmongRightOnesIsNamed) {
    expect_refused({"eth1", "--port", "12,0,13"}, {"--port", "0"});
    expect_refused({"eth1", "--port", "12", "--port", "70000"}, {"--port", "70000"});
}

TEST(SinkOptions, ListWithAnEmptyItemIsRefused) {
    for (const char* list : {"9,,10", ",9", "9,", ",", ",,"}) {
        const std::string sentence = std::string("--port ") + list + ": a value is missing beside a comma";
        EXPECT_EQ(refused({"eth1", "--port", list}), sentence);
        EXPECT_EQ(refused({"--port", "5", std::string("--port=") + list, "eth1"}), sentence);
    }
    EXPECT_EQ(refused({"eth1", "--vlan", "1,"}), "--vlan 1,: a value is missing beside a comma");
}

TEST(SinkOptions, TwoDashesEndTheOptions) {
    EXPECT_EQ(options_of({"--", "eth2"}).interfaces, (Arguments{"eth1", "eth2"}));
    EXPECT_EQ(parse({"--port", "12", "--", "eth1", "-x", "--quiet"})->interfaces, (Arguments{"eth1", "-x", "--quiet"}));
    EXPECT_EQ(refused({"--bogus", "--", "eth1"}), "--bogus: no such option; xdp-sink --help lists the options");
    EXPECT_EQ(refused({"--"}), "INTERFACE is missing; xdp-sink --help lists the options");
}

TEST(SinkOptions, CombinationsThatAreRefused) {
    expect_refused({"eth1", "--all", "--port", "12"}, {"--all", "--port"});
    expect_refused({"eth1", "--all", "--ethertype", "0x88b5"}, {"--all", "--ethertype"});
    expect_refused({"eth1", "--ethertype", "0x88b5", "--src", "10.0.0.1"}, {"--ethertype", "--src"});
    expect_refused({"eth1", "--ethertype", "0x88b5", "--dst", "10.0.0.1"}, {"--ethertype", "--dst"});
    expect_refused({"eth1", "--src", "10.0.0.1", "--dst", "2001:db8::1"}, {"--src", "--dst", "IPv4", "IPv6"});
    expect_refused({"eth1", "--mode", "generic", "--require-native"}, {"--require-native", "--mode generic"});
    expect_refused({"eth1", "--require-zerocopy"}, {"--require-zerocopy", "--engine af_xdp"});
    expect_refused({"eth1", "--engine", "af_xdp", "--mode", "generic", "--require-zerocopy"},
                   {"--require-zerocopy", "--mode generic"});
    expect_refused({"eth1", "--json", "--json-stream"}, {"--json", "--json-stream"});
    expect_refused({"eth1", "--address", "10.0.0.1/24", "--address", "10.0.0.2/24"}, {"--address", "10.0.0.2/24"});
    expect_refused({"eth1", "--address", "2001:2::1/64,2001:2::2/64"}, {"--address", "2001:2::2/64"});
    expect_refused({"eth1", "eth2", "eth1"}, {"eth1", "twice"});
    expect_refused({"eth1", "--streams", "65537"}, {"--streams 65537", "65536"});
    expect_refused({"eth1", "--histogram", "--streams", "4097"}, {"--streams 4097", "--histogram", "4096"});
    expect_refused({"eth1", "--watch", "none", "--streams", "0"}, {"--watch", "--streams 0"});
    expect_refused({"eth1", "--watch", "udp/7000,udp/7000:iperf2"}, {"--watch", "udp/7000:iperf2", "already"});
    // Flags take no value.
    for (const char* flag :
         {"--all", "--promisc", "--wait", "--force", "--dispatcher", "--quiet", "--json", "--json-stream", "--verbose"})
        expect_refused({"eth1", std::string(flag) + "=perhaps"}, {flag});
}

TEST(SinkOptions, Capture) {
    EXPECT_FALSE(options_of({}).capture);
    const SinkOptions bare = options_of({"--pcap", "a.pcapng"});
    EXPECT_EQ(bare.engine, Engine::af_xdp) << "it takes that one";
    EXPECT_EQ(bare.capture->file, "a.pcapng");
    EXPECT_EQ(bare.capture->limits.size, 0U);
    EXPECT_EQ(bare.capture->limits.files, 0U);
    EXPECT_EQ(bare.capture->snaplen, 65535U);
    EXPECT_FALSE(bare.capture->passed);
    const SinkOptions all = options_of(
        {"--pcap", "-", "--pcap-size", "1.5G", "--pcap-snaplen", "128", "--pcap-traffic", "all", "--engine", "af_xdp"});
    EXPECT_TRUE(all.capture->to_standard_output());
    EXPECT_EQ(all.capture->limits.size, 1'500'000'000U);
    EXPECT_EQ(all.capture->snaplen, 128U);
    EXPECT_TRUE(all.capture->passed);
    EXPECT_FALSE(options_of({"--pcap", "a", "--pcap-traffic", "test"}).capture->passed);
    EXPECT_EQ(options_of({"--pcap", "a", "--pcap-size", "1000000", "--pcap-files", "3"}).capture->limits.files, 3U);

    EXPECT_EQ(refused({"eth1", "--pcap", "a", "--engine", "xdp"}),
              "--pcap with --engine xdp: the program in the kernel drops the frames; leave --engine out, or give "
              "--engine af_xdp");
    EXPECT_EQ(refused({"eth1", "--pcap", "-", "--json"}),
              "--pcap to standard output with --json: both want standard output; give --pcap a name");
    EXPECT_EQ(refused({"eth1", "--pcap", "/dev/stdout", "--json"}), refused({"eth1", "--pcap", "-", "--json"}));
    EXPECT_EQ(refused({"eth1", "--pcap", "-", "--json-stream"}),
              "--pcap to standard output with --json-stream: both want standard output; give --pcap a name");
    for (const Arguments& option :
         {Arguments{"--pcap-size", "1M"}, {"--pcap-files", "2"}, {"--pcap-snaplen", "60"}, {"--pcap-traffic", "all"}})
        EXPECT_EQ(refused({"eth1", option[0], option[1]}),
                  option[0] + " " + option[1] + ": there is no capture; add --pcap FILE");
    EXPECT_EQ(refused({"eth1", "--pcap", "a", "--pcap-files", "2"}),
              "--pcap-files 2: no size is given at which the next file begins; add --pcap-size");
    EXPECT_EQ(refused({"eth1", "--pcap", "-", "--pcap-size", "1M", "--pcap-files", "2"}),
              "--pcap-files 2: standard output is one file; give --pcap a name");
    for (const char* size : {"0", "999999", "1001T", "1e16"})
        EXPECT_EQ(refused({"eth1", "--pcap", "a", "--pcap-size", size}),
                  std::string("--pcap-size ") + size + ": not a size from 1M to 1000T");
    for (const char* size : {"M", "1MB", "10%", "-5M", "nan"})
        expect_refused({"eth1", "--pcap", "a", std::string("--pcap-size=") + size}, {"--pcap-size", size, "100M"});
    for (const char* octets : {"13", "65536", "1k"})
        expect_refused({"eth1", "--pcap", "a", "--pcap-snaplen", octets}, {"--pcap-snaplen", octets, "14 to 65535"});
    expect_refused({"eth1", "--pcap", "a", "--pcap-traffic", "some"}, {"--pcap-traffic some", "test or all"});
}

TEST(SinkOptions, WordsThatAreNoOptionAndNoInterface) {
    const std::string hint = "; xdp-sink --help lists the options";
    EXPECT_EQ(refused({}), "INTERFACE is missing" + hint);
    for (const Arguments& arguments :
         {Arguments{"--bogus"}, {"eth1", "--bogus"}, {"--bogus=5", "eth1"}, {"eth1", "--bogus", "5"}})
        EXPECT_EQ(refused(arguments), "--bogus: no such option" + hint);
    EXPECT_EQ(refused({"eth1", "-x"}), "-x: no such option" + hint);
    EXPECT_EQ(refused({""}), "INTERFACE: its value is empty");
    for (const char* value : {"10", "20-30", "1,2", "0x88b5", "10.0.0.0/8", "2001:2::1", "02:00:00:00:00:02"})
        EXPECT_EQ(refused({"eth1", "--port", "12", value}),
                  std::string(value) +
                      ": this is no interface; several values of an option go between commas, like 1,2");
    // What is no value may be an interface; that there is none of the name is said by who looks for it.
    EXPECT_EQ(options_of({"2g5", "10gb-lan", "../../etc"}).interfaces,
              (Arguments{"eth1", "2g5", "10gb-lan", "../../etc"}));
}

TEST(SinkOptions, ValuesThatAreMissingOrTooMany) {
    EXPECT_EQ(refused({"eth1", "--duration"}), "--duration: its value is missing; xdp-sink --help lists the options");
    EXPECT_EQ(refused({"eth1", "--dst-mac", "--quiet"}), "--dst-mac: its value is missing: --quiet follows");
    EXPECT_EQ(refused({"eth1", "--dst", ""}), "--dst: its value is empty");
    EXPECT_EQ(refused({"--dst=", "eth1"}), "--dst=: its value is empty") << "the interface is no address";
    EXPECT_EQ(refused({"eth1", "--mode", "native", "--mode", "generic"}), "--mode: given 2 times; it takes one value");
    EXPECT_EQ(refused({"eth1", "--all=perhaps"}), "--all=perhaps: --all takes no value");
    EXPECT_TRUE(options_of({"--quiet", "--quiet"}).quiet) << "said twice is said";
}

TEST(SinkOptions, AddressIsAHosts) {
    EXPECT_EQ(refused({"eth1", "--address", "198.18.0.0/24"}),
              "--address 198.18.0.0/24: this is the address of the network itself; give one of a host in it");
    EXPECT_EQ(refused({"eth1", "--address", "198.18.0.255/24"}),
              "--address 198.18.0.255/24: this is the network's broadcast address; give one of a host in it");
    EXPECT_EQ(refused({"eth1", "--address", "2001:2::/64"}),
              "--address 2001:2::/64: this is the address of any router in that network (RFC 4291); give one of a host "
              "in it");
    for (const char* address : {"198.18.0.0/31", "198.18.0.1/31", "198.18.0.0/32", "198.18.0.255/23", "198.18.1.0/23",
                                "2001:2::/127", "2001:2::/128", "2001:2::ffff:ffff:ffff:ffff/64", "fe80::2/64"})
        EXPECT_EQ(options_of({"--address", address}).addresses.at(0).text(), address);
}

TEST(RateCondition, EveryUnitAndLayer) {
    using Unit = RateCondition::Unit;
    struct Row {
        const char* text;
        Unit unit;
        double value;
    };
    for (const Row& row :
         {Row{"95%", Unit::line_percent, 95}, Row{"99.9%", Unit::line_percent, 99.9}, Row{"100fps", Unit::fps, 100},
          Row{"3.7Mfps", Unit::fps, 3.7e6}, Row{"3.7mpps", Unit::fps, 3.7e6}, Row{"12kfps", Unit::fps, 12e3},
          Row{"1Gfps", Unit::fps, 1e9}, Row{"2.4Gbps", Unit::l2_bps, 2.4e9}, Row{"2.4Gbit/s", Unit::l2_bps, 2.4e9},
          Row{"100bps", Unit::l2_bps, 100}, Row{"2.5Gbps@L1", Unit::l1_bps, 2.5e9},
          Row{"2.4Gbps@l2", Unit::l2_bps, 2.4e9}, Row{"900Mbps@L3", Unit::l3_bps, 900e6},
          Row{"2.3Gbps@payload", Unit::payload_bps, 2.3e9}, Row{"1e3kbps", Unit::l2_bps, 1e6}}) {
        const RateCondition condition = RateCondition::parse(row.text);
        EXPECT_EQ(condition.unit, row.unit) << row.text;
        EXPECT_DOUBLE_EQ(condition.value, row.value) << row.text;
        EXPECT_EQ(condition.text, row.text);
    }
}

} // namespace
} // namespace responder::test
