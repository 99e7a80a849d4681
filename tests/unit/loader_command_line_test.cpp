// SPDX-License-Identifier: GPL-2.0-only
//
// The values that both commands read.

#include "loader/command.h"
#include "loader/command_line.h"
#include "tests/unit/command_line.h"

namespace responder::test {
namespace {

using namespace std::chrono_literals;

TEST(CommandLine, DurationInEveryUnit) {
    struct Row {
        const char* text;
        std::chrono::milliseconds time;
    };
    for (const Row& row :
         {Row{"10", 10s}, Row{"10s", 10s}, Row{"500ms", 500ms}, Row{"2m", 2min}, Row{"2min", 2min}, Row{"1h", 1h},
          Row{"0.5", 500ms}, Row{"1.5h", 90min}, Row{"1ms", 1ms}, Row{"0.001", 1ms}, Row{"168h", 168h}})
        EXPECT_EQ(parse_duration("--duration", row.text), row.time) << row.text;
}

TEST(CommandLine, DurationHasARange) {
    for (const char* text : {"0", "0.9ms", "100001h", "1e300"})
        EXPECT_EQ(refusal([&] { parse_duration("--duration", text); }),
                  std::string("--duration ") + text + ": not a time from 1ms to 100000h");
    EXPECT_EQ(parse_duration("--duration", "100000h"), 100'000h);
}

TEST(CommandLine, DelayInEveryUnit) {
    struct Row {
        const char* text;
        std::chrono::nanoseconds time;
    };
    for (const Row& row :
         {Row{"0", 0ns}, Row{"0us", 0ns}, Row{"500ns", 500ns}, Row{"20us", 20us}, Row{"1.5ms", 1500us}, Row{"1s", 1s}})
        EXPECT_EQ(parse_delay("--max-delay", row.text), row.time) << row.text;
    for (const char* text : {"", "5", "-1us", "1m", "us", "1 ms"})
        EXPECT_EQ(refusal([&] { parse_delay("--max-delay", text); }),
                  std::string("--max-delay ") + text + ": not a time like 500ns, 20us, 2ms or 1s");
    EXPECT_EQ(refusal([] { parse_delay("--max-delay", "1001ms"); }), "--max-delay 1001ms: more than a second");
}

// An argument that holds an escape sequence, a line of its own, or UTF-8.
TEST(RunCommand, ErrorIsOneLineWithoutControlCharacters) {
    testing::internal::CaptureStderr();
    const int code = run_command("xdp-gen", []() -> ExitCode {
        throw Error(ExitCode::usage, "--size \x1b[31m6\n3\x7f\xc2\x9b\xc3\xa4", "why");
    });
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "xdp-gen: --size ?[31m6?3???\xc3\xa4: why\n");
    EXPECT_EQ(code, 64);
}

TEST(CommandLine, CountsAndRangesHaveLimits) {
    EXPECT_EQ(parse_count("--size", "64", 64, 9216), 64U);
    EXPECT_EQ(parse_count("--size", "9216", 64, 9216), 9216U);
    for (const char* text : {"63", "9217", "", "64 ", "6e1", "-64"})
        EXPECT_EQ(refusal([&] { parse_count("--size", text, 64, 9216); }),
                  std::string("--size ") + text + ": not a whole number from 64 to 9216");
    EXPECT_EQ(refusal([] { parse_count("--count", "0", 1); }), "--count 0: not a whole number from 1 on");
    using Range = std::pair<std::uint16_t, std::uint16_t>;
    EXPECT_EQ(parse_range("--port", "5", 1, 65535), (Range{5, 5}));
    EXPECT_EQ(parse_range("--port", "1-65535", 1, 65535), (Range{1, 65535}));
    EXPECT_EQ(refusal([] { parse_range("--port", "0-5", 1, 65535); }),
              "--port 0-5: not a number from 1 to 65535, or two of them with a dash between");
    EXPECT_EQ(refusal([] { parse_range("--port", "5-3", 1, 65535); }), "--port 5-3: the range ends before it begins");
}

} // namespace
} // namespace responder::test
