// SPDX-License-Identifier: GPL-2.0-only
//
// Random words into every parser, the same ones in each run: a value or Error(usage), never anything else.

#include "loader/command_line.h"
#include "loader/mac_address.h"
#include "loader/match_options.h"
#include "loader/sink/options.h"
#include "tests/unit/command_line.h"
#include "tools/gen/options.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <sstream>
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
                                                        "02:00:00:00:00:01",
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

constexpr const char* too_strange = "the words are too strange to reach what lies behind the first check";

bool refused(const std::function<void()>& act) { return refusal(act) != "not refused"; }

TEST(RandomWords, IntoAddresses) {
    Words words;
    unsigned prefixes = 0, macs = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::string word = words.next();
        if (const auto prefix = Prefix::parse(word)) {
            const auto again = Prefix::parse(prefix->text());
            ASSERT_TRUE(again) << word;
            EXPECT_EQ(again->bytes, prefix->bytes);
            EXPECT_EQ(again->length, prefix->length);
            ++prefixes;
        }
        if (const auto mac = MacAddress::parse(word)) {
            EXPECT_EQ(MacAddress::parse(to_string(*mac)), *mac);
            ++macs;
        }
    }
    EXPECT_GT(prefixes, 50U) << too_strange;
    EXPECT_GT(macs, 20U) << too_strange;
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
    EXPECT_GT(taken, 100U) << too_strange;
}

TEST(RandomWords, IntoMatchOptions) {
    Words words;
    unsigned taken = 0;
    for (int i = 0; i < 10'000; ++i) {
        MatchOptions options;
        bool given = false;
        for (auto* list : {&options.ports, &options.ethertypes, &options.vlans, &options.inner_vlans, &options.sources,
                           &options.destinations, &options.source_macs, &options.destination_macs}) {
            // One word, or more than fit.
            for (unsigned n = words.below(12) == 0 ? words.below(words.below(2) == 0 ? 20 : 2) : 0; n > 0; --n)
                list->push_back(words.next());
            given |= !list->empty();
        }
        options.all = words.below(8) == 0;
        if (!refused([&] { EXPECT_FALSE(describe(options.build({})).empty()); }) && given)
            ++taken;
    }
    EXPECT_GT(taken, 20U) << too_strange;
}

TEST(RandomWords, IntoTheCommandLines) {
    Arguments known{"eth1", "eth2", "native", "9", "10s", "5", "198.18.1.2/24", "02:00:00:00:00:02", "--size"};
    testing::internal::CaptureStdout();
    parse_words(parse_sink_options, {"--help"});
    std::istringstream help(testing::internal::GetCapturedStdout());
    for (std::string word; help >> word;)
        if (word.starts_with("--"))
            known.push_back(word.substr(0, word.find_first_of(",;:.")));
    EXPECT_GT(known.size(), 30U);
    Words words;
    unsigned taken = 0;
    testing::internal::CaptureStdout();
    for (int i = 0; i < 1000; ++i) {
        Arguments arguments(words.below(2), "eth1");
        for (unsigned n = words.below(8); n > 0; --n) {
            std::string word =
                words.below(4) == 0 ? words.next() : known[words.below(static_cast<unsigned>(known.size()))];
            if (words.below(6) == 0)
                word += "=" + words.next();
            arguments.push_back(word);
        }
        const auto with_options = [](const auto& options) { return options && options->argv.size() > 2; };
        refused([&] { taken += with_options(parse_words(parse_sink_options, arguments)); });
        refused([&] { parse_words(gen::parse_options, arguments); });
    }
    testing::internal::GetCapturedStdout();
    EXPECT_GT(taken, 20U) << too_strange;
}

} // namespace
} // namespace responder::test
