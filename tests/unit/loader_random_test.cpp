// SPDX-License-Identifier: GPL-2.0-only
//
// Random words into every parser, the same ones in each run: a value or Error(usage), never anything else.

#include "loader/error.h"
#include "loader/mac_address.h"
#include "loader/match_options.h"
#include "loader/sink/options.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace responder::test {
namespace {

class Words {
  public:
    // Pieces that the parsers know, and octets that they do not.
    std::string next() {
        static const std::vector<std::string> pieces = {"0",
                                                        "1",
                                                        "9",
                                                        "10",
                                                        "255",
                                                        "256",
                                                        "4095",
                                                        "65535",
                                                        "65536",
                                                        "4294967296",
                                                        "18446744073709551616",
                                                        "-",
                                                        "--",
                                                        ".",
                                                        ",",
                                                        "/",
                                                        ":",
                                                        "::",
                                                        "%",
                                                        "@",
                                                        "e",
                                                        "E",
                                                        "x",
                                                        "0x",
                                                        "nan",
                                                        "inf",
                                                        "ms",
                                                        "s",
                                                        "m",
                                                        "h",
                                                        "min",
                                                        "fps",
                                                        "pps",
                                                        "bps",
                                                        "bit/s",
                                                        "k",
                                                        "M",
                                                        "G",
                                                        "L1",
                                                        "payload",
                                                        "02",
                                                        "ff",
                                                        "10.0.0.1",
                                                        "2001:db8::1",
                                                        "\xff",
                                                        "\x01",
                                                        " ",
                                                        "\t",
                                                        "a",
                                                        "=",
                                                        "\"",
                                                        "{}",
                                                        "{0}",
                                                        "\\"};
        std::string word;
        for (unsigned i = below(6); i > 0; --i)
            word += pieces[below(static_cast<unsigned>(pieces.size()))];
        return word;
    }
    unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_); }

  private:
    std::minstd_rand random_{2544};
};

// True if it threw Error(usage); any other exception fails the test.
bool refused(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
        EXPECT_STRNE(error.what(), "");
        return true;
    }
    return false;
}

TEST(RandomWords, IntoAddresses) {
    Words words;
    for (int i = 0; i < 20'000; ++i) {
        const std::string word = words.next();
        if (const auto prefix = Prefix::parse(word)) {
            const auto again = Prefix::parse(prefix->text());
            ASSERT_TRUE(again) << word;
            EXPECT_EQ(again->bytes, prefix->bytes);
            EXPECT_EQ(again->length, prefix->length);
        }
        if (const auto mac = MacAddress::parse(word)) {
            EXPECT_EQ(MacAddress::parse(to_string(*mac)), *mac);
        }
    }
}

TEST(RandomWords, IntoTimesAndRates) {
    Words words;
    unsigned taken = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::string word = words.next();
        if (!refused([&] { EXPECT_GE(parse_duration("--duration", word).count(), 1) << word; }))
            ++taken;
        if (!refused([&] { EXPECT_GT(RateCondition::parse(word).value, 0) << word; }))
            ++taken;
    }
    EXPECT_GT(taken, 100U) << "the words are too strange to reach what lies behind the first check";
}

TEST(RandomWords, IntoMatchOptions) {
    Words words;
    for (int i = 0; i < 3000; ++i) {
        MatchOptions options;
        for (auto* list : {&options.ports, &options.ethertypes, &options.vlans, &options.inner_vlans, &options.sources,
                           &options.destinations, &options.source_macs, &options.destination_macs}) {
            for (unsigned n = words.below(12) == 0 ? words.below(20) : 0; n > 0; --n)
                list->push_back(words.next());
        }
        options.all = words.below(8) == 0;
        refused([&] { EXPECT_FALSE(describe(options.build({})).empty()); });
    }
}

TEST(RandomWords, IntoTheCommandLine) {
    static const std::vector<std::string> known = {"--port",
                                                   "--ethertype",
                                                   "--all",
                                                   "--src",
                                                   "--dst",
                                                   "--src-mac",
                                                   "--dst-mac",
                                                   "--vlan",
                                                   "--inner-vlan",
                                                   "--promisc",
                                                   "--address",
                                                   "--mode",
                                                   "--require-native",
                                                   "--dispatcher",
                                                   "--wait",
                                                   "--force",
                                                   "--duration",
                                                   "--count",
                                                   "--interval",
                                                   "--quiet",
                                                   "--json",
                                                   "--json-stream",
                                                   "--verbose",
                                                   "--expect-rate",
                                                   "--expect-frames",
                                                   "--max-missed",
                                                   "eth1",
                                                   "eth2",
                                                   "native",
                                                   "9",
                                                   "10s",
                                                   "5",
                                                   "198.18.1.2/24"};
    Words words;
    testing::internal::CaptureStdout();
    for (int i = 0; i < 500; ++i) {
        std::vector<std::string> arguments{"xdp-sink"};
        for (unsigned n = words.below(8); n > 0; --n) {
            std::string word =
                words.below(4) == 0 ? words.next() : known[words.below(static_cast<unsigned>(known.size()))];
            if (words.below(6) == 0)
                word += "=" + words.next();
            arguments.push_back(word);
        }
        std::vector<const char*> argv;
        for (const std::string& argument : arguments)
            argv.push_back(argument.c_str());
        refused([&] { parse_sink_options(static_cast<int>(argv.size()), argv.data()); });
    }
    testing::internal::GetCapturedStdout();
}

} // namespace
} // namespace responder::test
