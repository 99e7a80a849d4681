// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/report.h"

#include "loader/command.h"

#include <unistd.h>

#include <cmath>

namespace responder {

namespace {

constexpr unsigned rows_between_headings = 20; // a heading stays in sight on a terminal of 24 lines
constexpr std::string_view program = "xdp-reflect";

void put_port_summary(JsonWriter& json, const ReflectPort& port, const Books& books) {
    const SlotCounts& slots = port.now().total;
    put_port(json, port);
    put_counted(json, port);
    put_slots(json, "answered", answer_names, slots);
    put_slots(json, "passed", reason_names, slots);
    put_slots(json, "refused", drop_names, slots);
    put_queues(json, port);
    put_balance(json, books);
    put_nic(json, books);
    put_outages(json, port);
}

} // namespace

void ReflectText::write() {
    write_all(STDOUT_FILENO, {buffer_.data(), buffer_.size()});
    buffer_.clear();
}

void ReflectText::interval(const ReflectPort& port, const CountedInterval& interval,
                           std::optional<std::chrono::duration<double>> left) {
    if (!lines_)
        return;
    if (rows_since_heading_++ % rows_between_headings == 0) {
        print(buffer_, "{:>9}  {:<10}", "time", "port");
        print_rate_headings(buffer_);
        print(buffer_, "{:>12}{:>12}{:>12}{:>12}\n", "answered/s", "refused/s", "passed/s", "NIC missed");
    }
    const auto fps = [&](const Traffic& traffic) { return Grouped(rates(traffic, interval.time).fps, 0); };
    print(buffer_, "{:>7.1f} s  {:<10}", port.elapsed().count(), port.netdev().name());
    print_rate_columns(buffer_, rates(test_traffic(interval.slots), interval.time), port.speed_bps());
    print(buffer_, "{:>12}{:>12}{:>12}{:>12}", fps(answered_traffic(interval.slots)),
          fps(dropped_traffic(interval.slots)), fps(passed_traffic(interval.slots)), Grouped(interval.missed));
    if (left && left->count() > 0)
        print(buffer_, "   {:.0f} s left", std::ceil(left->count()));
    buffer_.push_back('\n');
    write();
}

void ReflectText::summary(const ReflectRun& run) {
    for (std::size_t i = 0; i < run.ports.size(); ++i) {
        const ReflectPort& port = run.ports[i];
        print_counted(buffer_, port, "sent back");
        print_slots(buffer_, port);
        print_nic(buffer_, run.books[i], "");
        print_outages(buffer_, port);
        print_books(buffer_, port, run.books[i], "sent back");
    }
    write();
}

void ReflectJson::write() {
    write_all(STDOUT_FILENO, json_.text());
    write_all(STDOUT_FILENO, "\n");
}

void ReflectJson::begin_event(std::string_view event) {
    json_.clear();
    json_.begin_object();
    json_.member("event", event);
    put_time(json_, "time", std::chrono::system_clock::now());
}

void ReflectJson::start(const ReflectOptions& options, std::span<const ReflectPort> ports) {
    if (!stream_)
        return;
    begin_event("start");
    put_run(json_, options, program);
    json_.begin_array("ports");
    for (const ReflectPort& port : ports) {
        json_.begin_object();
        put_port(json_, port);
        json_.end_object();
    }
    json_.end_array();
    json_.end_object();
    write();
}

void ReflectJson::interval(const ReflectPort& port, const CountedInterval& interval,
                           std::optional<std::chrono::duration<double>>) {
    if (!stream_)
        return;
    const Traffic test = test_traffic(interval.slots);
    begin_event("interval");
    json_.member("interface", port.netdev().name());
    json_.member("elapsed_seconds", port.elapsed().count());
    json_.member("interval_seconds", interval.time.count());
    put_frames_and_bytes(json_, test);
    put_rates(json_, test, interval.time, port.speed_bps());
    json_.member("answered_frames", answered_traffic(interval.slots).frames);
    json_.member("passed_frames", passed_traffic(interval.slots).frames);
    json_.member("refused_frames", dropped_traffic(interval.slots).frames);
    json_.member("nic_missed", interval.missed);
    json_.end_object();
    write();
}

void ReflectJson::event(const Port& port, std::string_view text) {
    if (!stream_)
        return;
    begin_event("link");
    json_.member("interface", port.netdev().name());
    json_.member("text", text);
    json_.end_object();
    write();
}

void ReflectJson::summary(const ReflectRun& run) {
    if (stream_) {
        begin_event("summary");
    } else {
        json_.clear();
        json_.begin_object();
    }
    put_run(json_, run.options, program);
    put_ending(json_, run.started, run.ended, run.ended_by, run.duration);
    json_.begin_array("ports");
    for (std::size_t i = 0; i < run.ports.size(); ++i) {
        json_.begin_object();
        put_port_summary(json_, run.ports[i], run.books[i]);
        json_.end_object();
    }
    json_.end_array();
    json_.member("exit_code", static_cast<int>(run.exit_code));
    json_.end_object();
    write();
}

} // namespace responder
