// SPDX-License-Identifier: GPL-2.0-only
//
// The pictures, to the character.

#include "loader/sink/picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <string>
#include <string_view>

namespace responder::test {
namespace {

struct Times {
    std::uint64_t ns, count;
};

Histogram histogram_of(std::initializer_list<Times> times) {
    histogram counted{};
    for (const Times& each : times)
        counted.count[histogram_index(each.ns)] += each.count;
    return Histogram(counted);
}

std::string drawn(const Histogram& times, double largest_ns, Glyphs glyphs) {
    Buffer buffer;
    draw_times(buffer, times, largest_ns, glyphs);
    return to_string(buffer);
}

// In columns, of which a UTF-8 character takes one.
std::size_t widest_line(std::string_view text) {
    std::size_t widest = 0, width = 0;
    for (const char c : text) {
        if (c == '\n')
            width = 0;
        else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80)
            widest = std::max(widest, ++width);
    }
    return widest;
}

const Histogram few_times = histogram_of({{100, 1000}, {101, 500}, {102, 10}, {105, 250}, {50, 1}, {9'000'000, 1}});

TEST(Picture, OfTimesInAscii) {
    EXPECT_EQ(drawn(few_times, 9'000'123, Glyphs::ascii), R"(        below 100 ns               1  #
         from 100 ns           1,000  ########################################
         from 101 ns             500  ####################
         from 102 ns              10  #
         from 103 ns               0
         from 104 ns               0
         from 105 ns             250  ##########
     106 ns and more               1  #
    50 % 100 ns, 90 % 105 ns, 99 % 105 ns,
    99.9 % 105 ns, 99.99 % 8.978 ms, largest 9.000 ms
)");
}

TEST(Picture, OfTimesInUtf8) {
    EXPECT_EQ(drawn(few_times, 9'000'123, Glyphs::utf8), R"(        below 100 ns               1  ▏
         from 100 ns           1,000  ████████████████████████████████████████
         from 101 ns             500  ████████████████████
         from 102 ns              10  ▍
         from 103 ns               0
         from 104 ns               0
         from 105 ns             250  ██████████
     106 ns and more               1  ▏
    50 % 100 ns, 90 % 105 ns, 99 % 105 ns,
    99.9 % 105 ns, 99.99 % 8.978 ms, largest 9.000 ms
)");
}

TEST(Picture, OfOneTimeIsOneRow) {
    EXPECT_EQ(drawn(histogram_of({{12'500, 3}}), 12'500, Glyphs::ascii),
              R"(        from 12.4 us               3  ########################################
    50 % 12.5 us, 90 % 12.5 us, 99 % 12.5 us,
    99.9 % 12.5 us, 99.99 % 12.5 us, largest 12.5 us
)");
}

// Rows of nanoseconds and of microseconds side by side would not be seen as one scale.
TEST(Picture, RowsOfMicrosecondsAreAllInMicroseconds) {
    EXPECT_EQ(drawn(histogram_of({{8192, 1}, {16'384, 1}}), 16'384, Glyphs::ascii).find(" ns"), std::string::npos);
}

// Whatever the times are, it fits on a screen, and no time is left out.
TEST(Picture, FitsOnAScreen) {
    for (const std::uint64_t widest : {2U, 100U, 10'000U, 1'000'000'000U}) {
        histogram counted{};
        for (std::uint64_t i = 0; i < 1000; ++i)
            histogram_take(&counted, 1 + widest * i * i / 100'000);
        const std::string text = drawn(Histogram(counted), 1e13, Glyphs::utf8);
        EXPECT_LE(widest_line(text), 80U) << text;
        EXPECT_LE(std::ranges::count(text, '\n'), 18) << text;
    }
}

TEST(Picture, OfLossPeriods) {
    LossPeriods periods{.count = 14, .longest = 7};
    periods.by_length = {10, 0, 3, 1};
    Buffer buffer;
    draw_loss_periods(buffer, periods, Glyphs::ascii);
    EXPECT_EQ(to_string(buffer), R"(              1 lost              10  ########################################
              2 lost               0
            3-4 lost               3  ############
            5-8 lost               1  ####
)");
}

TEST(Sparkline, ShowsTheLastValuesByTheHighest) {
    Sparkline line;
    const auto shown = [&] {
        Buffer buffer;
        line.draw(buffer);
        return to_string(buffer);
    };
    EXPECT_EQ(shown(), "");
    for (const double value : {0.0, 1.0, 50.0, 100.0, 800.0})
        line.push(value);
    EXPECT_EQ(shown(), " ▁▁▁█");
    for (int i = 0; i < 20; ++i)
        line.push(i);
    EXPECT_EQ(shown(), "▂▂▃▃▃▄▄▅▅▅▆▆▇▇██");
    for (int i = 0; i < 16; ++i)
        line.push(0);
    EXPECT_EQ(shown(), "                ");
}

TEST(Glyphs, AreThoseOfTheLocale) {
    setenv("LC_ALL", "C", 1);
    EXPECT_EQ(glyphs_of_locale(), Glyphs::ascii);
    setenv("LC_ALL", "C.UTF-8", 1);
    EXPECT_EQ(glyphs_of_locale(), Glyphs::utf8);
    setenv("LC_ALL", "none_such.UTF-8", 1);
    EXPECT_EQ(glyphs_of_locale(), Glyphs::ascii);
    unsetenv("LC_ALL");
}

} // namespace
} // namespace responder::test
