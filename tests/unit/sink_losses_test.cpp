// SPDX-License-Identifier: GPL-2.0-only
//
// The table of where it was lost: no frame on two lines, and nothing made up where a counter is not known.

#include "loader/sink/losses.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace responder::test {
namespace {

StreamReport missing(std::optional<std::uint64_t> lost) {
    StreamReport report;
    report.streams.push_back(
        {.frames = 1000, .lost = lost, .late = LateFrames{}, .periods = LossPeriods{}, .delay = {}});
    return report;
}

Books known() {
    Books books;
    books.nic_known = true;
    return books;
}

LossPlace place(const std::vector<LossPlace>& places, std::string_view key) {
    const auto found = std::ranges::find(places, key, &LossPlace::key);
    EXPECT_NE(found, places.end()) << key;
    return found == places.end() ? LossPlace{} : *found;
}

TEST(Losses, InTheOrderInWhichAFrameComesBy) {
    std::vector<std::string_view> keys;
    Books books = known();
    books.sockets.emplace();
    for (const LossPlace& each : loss_places(missing(0), books))
        keys.push_back(each.key);
    for (const LossPlace& each : loss_places_behind(StackLosses{}))
        keys.push_back(each.key);
    EXPECT_EQ(keys, (std::vector<std::string_view>{"wire", "NIC", "program", "ring", "stack", "socket"}));
    EXPECT_EQ(loss_places(missing(0), known()).size(), 3U) << "of no ring without sockets";
}

TEST(Losses, WhatTheNicSaysItLostIsNotTheWires) {
    Books books = known();
    EXPECT_EQ(place(loss_places(missing(30), books), "wire").frames, 30U);
    books.nic.rx_missed = 10;
    books.nic.rx_fifo_errors = 3;
    books.nic.rx_over_errors = 3;
    books.nic.rx_errors = 5;
    books.nic.rx_crc_errors = 4;
    books.nic.rx_length_errors = 1;
    const auto places = loss_places(missing(30), books);
    EXPECT_EQ(place(places, "NIC").frames, 18U);
    EXPECT_EQ(place(places, "wire").frames, 12U);
    EXPECT_NE(place(places, "wire").text.find("at least"), std::string::npos);
    EXPECT_EQ(place(loss_places(missing(7), books), "wire").frames, 0U) << "the NIC lost other frames too";
}

TEST(Losses, WhatTheSocketsLostIsTheRings) {
    Books books = known();
    books.sockets.emplace();
    books.sockets->rx_ring_full = 5;
    books.not_delivered = 2;
    const auto places = loss_places(missing(30), books);
    EXPECT_EQ(place(places, "ring").frames, 7U);
    EXPECT_EQ(place(places, "wire").frames, 23U);
    books.not_delivered = -2;
    EXPECT_EQ(place(loss_places(missing(30), books), "ring").frames, 5U);
}

TEST(Losses, UnknownIsSaidAsUnknown) {
    EXPECT_FALSE(place(loss_places(missing({}), known()), "wire").frames);
    const auto places = loss_places(missing(30), Books{});
    for (const std::string_view key : {"wire", "NIC", "program"})
        EXPECT_FALSE(place(places, key).frames) << key;
    EXPECT_NE(place(places, "wire").text.find("30"), std::string::npos);
}

TEST(Losses, OfTheProgramIsWhatTimeDoesNotExplain) {
    Books books = known();
    books.left_over = 9;
    books.in_flight = 10;
    EXPECT_EQ(place(loss_places(missing(0), books), "program").frames, 0U);
    books.in_flight = 8;
    EXPECT_EQ(place(loss_places(missing(0), books), "program").frames, 9U);
    EXPECT_EQ(place(loss_places(missing(9), books), "wire").frames, 0U) << "the same ones";
    EXPECT_EQ(place(loss_places(missing(30), books), "wire").frames, 21U);
    books.left_over = -9;
    EXPECT_EQ(place(loss_places(missing(0), books), "program").frames, 0U);
}

// veth counts each frame that a ring had no room for in rx_dropped.
TEST(Losses, WhatTheDriverDropsOfTheRingsIsTheRingsAlone) {
    Books books = known();
    books.sockets.emplace();
    books.sockets->rx_ring_full = 5;
    books.nic.rx_dropped = 5;
    const auto places = loss_places(missing(5), books);
    EXPECT_EQ(place(places, "ring").frames, 5U);
    for (const std::string_view key : {"wire", "NIC", "program"})
        EXPECT_EQ(place(places, key).frames, 0U) << key;
}

TEST(Losses, OfStackAndSocketsOnce) {
    StackLosses stack;
    stack.receive_buffer = 71;
    stack.checksum = 12;
    stack.in_errors = 90;
    stack.watched_sockets = 71;
    stack.reassembly = 200;
    auto places = loss_places_behind(stack);
    EXPECT_EQ(place(places, "socket").frames, 71U);
    EXPECT_EQ(place(places, "stack").frames, 12U + (90U - 71U - 12U) + 200U);
    EXPECT_EQ(place(places, "socket").text.find("all sockets"), std::string::npos) << "no other dropped any";
    stack.watched_sockets = 72; // one of them for its checksum
    EXPECT_EQ(place(loss_places_behind(stack), "socket").frames, 71U);
}

TEST(Losses, OfSocketsThatHaveNothingToDoWithTheTestIsSaidApart) {
    StackLosses stack;
    stack.receive_buffer = 19'996;
    stack.in_errors = 19'996;
    stack.watched_sockets = 70;
    const LossPlace socket = place(loss_places_behind(stack), "socket");
    EXPECT_EQ(socket.frames, 70U);
    EXPECT_EQ(socket.of_all_sockets, 19'996U);
    EXPECT_NE(socket.text.find("all sockets of this network namespace: 19996"), std::string::npos) << socket.text;
}

} // namespace
} // namespace responder::test
