// SPDX-License-Identifier: GPL-2.0-only
//
// The clocks behind every delay: CLOCK_TAI of the sender, read where its program makes a frame, and of this machine.
// What this one is good for, and whether the two may be held against each other (--clocks-within).

#pragma once

#include "loader/sink/streams.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace responder {

// Where stamps are taken, as it is said of every delay. `of_tai`: see DelayFigures.
constexpr std::string_view stamps_sent(bool of_tai) {
    return of_tai ? "the sender's program, before its driver" : "another's sender, where it takes the time";
}
constexpr std::string_view stamps_sent_clock(bool of_tai) { return of_tai ? "CLOCK_TAI" : "a clock of its own"; }
constexpr std::string_view stamps_received(bool by_reader) {
    return by_reader ? "the reader of an AF_XDP socket" : "XDP, behind the interrupt";
}
inline constexpr std::string_view stamps_received_clock = "CLOCK_TAI";

struct ClockFloor {
    std::chrono::nanoseconds reading{}; // the shortest time between two readings that differ
    // As adjtimex(2) has it.
    bool synchronised = false;
    std::chrono::microseconds maximum_error{};
};
ClockFloor measure_clock(); // takes well under a millisecond

// A one-way delay (RFC 7679) of these figures; or why there is none, in words.
struct OneWayDelay {
    std::optional<Spread> delay; // in ns
    std::string unknown_because;
};
OneWayDelay one_way_delay(const DelayFigures& figures, std::chrono::nanoseconds clocks_within);

} // namespace responder
