// SPDX-License-Identifier: GPL-2.0-only
//
// What the reports of all commands on ports have in common, as text and as JSON.

#pragma once

#include "loader/figures.h"
#include "loader/json.h"
#include "loader/run/counting_port.h"
#include "loader/run/session.h"

#include <fmt/format.h>

#include <chrono>
#include <span>
#include <string_view>

namespace responder {

// ---- text: each line begins with a label of this width ----

// "label  TCP 1,200, ARP 34" for what is not zero.
template <class Names, class Value>
void print_list(Buffer& buffer, std::string_view label, const Names& names, Value value) {
    bool first = true;
    for (const auto& name : names) {
        const std::uint64_t count = value(name);
        if (count == 0)
            continue;
        if (first)
            print(buffer, "  {:<17}", label);
        print(buffer, "{}{} {}", first ? "" : ", ", name.text, Grouped(count));
        first = false;
    }
    if (!first)
        buffer.push_back('\n');
}

// What the AF_XDP sockets say, if there are any; `more`: between how they copy and what they read.
void print_sockets(Buffer& buffer, const CountingPort& port, const Books& books, std::string_view more);

// The port itself, its test frames, their rates and sizes.
void print_counted(Buffer& buffer, const CountingPort& port, const Books& books, std::string_view test_frames);
void print_slots(Buffer& buffer, const CountingPort& port); // by queue; answered, passed, refused
// `dropped_too`: what else may be in the NIC's word for dropped.
void print_nic(Buffer& buffer, const Books& books, std::string_view dropped_too);
void print_outages(Buffer& buffer, const Port& port);
void print_books(Buffer& buffer, const CountingPort& port, const Books& books, std::string_view test);

// The columns of a live table that are about rates.
void print_rate_headings(Buffer& buffer);
void print_rate_columns(Buffer& buffer, const Rates& rates, std::uint64_t speed_bps);

// ---- JSON ----

// To stdout: one document at the end, or with --json-stream a line for each event.
class JsonOutput {
  public:
    explicit JsonOutput(bool stream) : stream_(stream) {}
    bool is_stream() const noexcept { return stream_; }

    // An object that is open. Of an event, only in a stream.
    JsonWriter& begin_event(std::string_view event);
    JsonWriter& begin_summary();
    void end(); // closes it and writes it

    // A whole event of a stream, else nothing. `interface`: empty where it is of none.
    void text_event(std::string_view event, std::string_view interface, std::string_view text);

  private:
    bool stream_;
    JsonWriter json_;
};

// Members of an object that is open.

void put_time(JsonWriter& json, std::string_view key, std::chrono::system_clock::time_point time);
void put_frames_and_bytes(JsonWriter& json, const Traffic& traffic);
void put_rates(JsonWriter& json, const Traffic& traffic, std::chrono::duration<double> time, std::uint64_t speed_bps);
void put_program(JsonWriter& json, std::string_view program);
void put_run(JsonWriter& json, const RunOptions& options,
             std::string_view program); // the program, and what it was told
void put_port(JsonWriter& json, const Port& port, std::string_view takes);
void put_counted(JsonWriter& json, const CountingPort& port);
void put_slots(JsonWriter& json, std::string_view key, std::span<const SlotName> names, const SlotCounts& slots);
void put_queues(JsonWriter& json, const CountingPort& port);
void put_balance(JsonWriter& json, const Books& books);
void put_sockets(JsonWriter& json, const Books& books, bool send_back);
void put_nic(JsonWriter& json, const Books& books);
void put_outages(JsonWriter& json, const Port& port);
void put_ending(JsonWriter& json, std::chrono::system_clock::time_point started,
                std::chrono::system_clock::time_point ended, Ending by, std::chrono::duration<double> duration);

} // namespace responder
