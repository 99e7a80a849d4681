// SPDX-License-Identifier: GPL-2.0-only

#include "loader/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>

namespace {
std::atomic<std::uint64_t> allocations{0};
}

// Every allocation by `new` of this program, counted. Not inlined: the compiler would see the one half alone, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size != 0 ? size : 1))
        return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace responder::test {
namespace {

using Json = nlohmann::json;

TEST(JsonWriter, NestsWithCommasWhereTheyBelong) {
    JsonWriter json;
    json.begin_object();
    json.member("a", 1);
    json.begin_object("empty");
    json.end_object();
    json.begin_array("list");
    json.value(1);
    json.value("two");
    json.begin_object();
    json.member("three", true);
    json.end_object();
    json.begin_object();
    json.end_object();
    json.end_array();
    json.begin_array("none");
    json.end_array();
    json.member("last", false);
    json.end_object();
    EXPECT_EQ(json.text(), R"({"a":1,"empty":{},"list":[1,"two",{"three":true},{}],"none":[],"last":false})");
}

TEST(JsonWriter, InAsciiEscapesAllElse) {
    JsonWriter json(true);
    json.begin_object();
    json.member("text", "\u0080 umlaut \u00fc sun \u2600 clef \U0001d11e tab \t no UTF-8 \x9b");
    json.end_object();
    EXPECT_EQ(json.text(),
              R"({"text":"\u0080 umlaut \u00fc sun \u2600 clef \ud834\udd1e tab \u0009 no UTF-8 \ufffd"})");
    EXPECT_EQ(Json::parse(json.text())["text"],
              "\u0080 umlaut \u00fc sun \u2600 clef \U0001d11e tab \t no UTF-8 \ufffd");
}

TEST(JsonWriter, EscapesWhatMustBe) {
    std::string text = "quote \" backslash \\ slash / tab \t line \n return \r bell \a null ";
    text += '\0';
    text += " delete \x7f umlaut \u00fc sun \u2600 clef \U0001d11e";
    JsonWriter json;
    json.begin_object();
    json.member(text, text);
    json.end_object();
    const Json read = Json::parse(json.text());
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read.begin().key(), text);
    EXPECT_EQ(read.begin().value(), text);
}

// argv and the names of interfaces are octets, not text; a document must stay one all the same.
TEST(JsonWriter, OctetsThatAreNoUtf8DoNotSpoilTheDocument) {
    for (const char* octets : {"\xff",
                               "port\xfe"
                               "1",
                               "\xc3", "\xc3(", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80", "\x80", "\xe2\x82"}) {
        JsonWriter json;
        json.begin_object();
        json.member("name", octets);
        json.member("next", 7);
        json.end_object();
        const Json read = Json::parse(json.text(), nullptr, false);
        ASSERT_FALSE(read.is_discarded()) << json.text();
        EXPECT_EQ(read["next"], 7);
    }
}

TEST(JsonWriter, NumbersKeepTheirValue) {
    JsonWriter json;
    json.begin_object();
    json.member("most", std::numeric_limits<std::uint64_t>::max());
    json.member("least", std::numeric_limits<std::int64_t>::min());
    json.member("octet", std::uint8_t{65});
    json.member("tenth", 0.1);
    json.member("large", 1.0e300);
    json.member("whole", 2.0);
    json.member("third", 1.0 / 3);
    json.member("nan", std::numeric_limits<double>::quiet_NaN());
    json.member("infinite", std::numeric_limits<double>::infinity());
    json.member("minus_infinite", -std::numeric_limits<double>::infinity());
    json.end_object();
    const Json read = Json::parse(json.text());
    EXPECT_EQ(read["most"], std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(read["least"], std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(read["octet"], 65);
    EXPECT_EQ(read["tenth"].get<double>(), 0.1);
    EXPECT_EQ(read["large"].get<double>(), 1.0e300);
    EXPECT_EQ(read["whole"].get<double>(), 2.0);
    EXPECT_EQ(read["third"].get<double>(), 1.0 / 3);
    EXPECT_TRUE(read["nan"].is_null());
    EXPECT_TRUE(read["infinite"].is_null());
    EXPECT_TRUE(read["minus_infinite"].is_null());
}

void write_a_line(JsonWriter& json, std::uint64_t number) {
    json.clear();
    json.begin_object();
    json.member("event", "interval");
    for (const char* key : {"frames", "l1_bytes", "l2_bytes", "l3_bytes", "payload_bytes"})
        json.member(key, number);
    for (const char* key : {"frames_per_second", "l1_bps", "line_rate_percent"})
        json.member(key, static_cast<double>(number) / 3);
    json.begin_array("list");
    json.value("text with a \" in it");
    json.end_array();
    json.end_object();
}

TEST(JsonWriter, ALineAllocatesNothingOnceTheBufferHasGrown) {
    JsonWriter json;
    write_a_line(json, std::numeric_limits<std::uint64_t>::max());
    const std::string first(json.text());
    const std::uint64_t before = allocations;
    for (std::uint64_t i = 0; i < 1000; ++i)
        write_a_line(json, i * 1'000'003);
    EXPECT_EQ(allocations, before);
    write_a_line(json, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(json.text(), first) << "nothing is left of the documents before";
    EXPECT_GT(allocations, 0U);
}

} // namespace
} // namespace responder::test
