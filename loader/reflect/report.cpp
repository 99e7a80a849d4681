// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/report.h"

#include "loader/command.h"

#include <unistd.h>

#include <cmath>

namespace responder {

namespace {

constexpr unsigned rows_between_headings = 20; // a heading stays in sight on a terminal of 24 lines
constexpr std::string_view program = "xdp-reflect";

void print_stamp(Buffer& buffer, const ReflectPort& port, const StampCounts& counts) {
    print_list(buffer, "STAMP socket", stamp_outcome_names,
               [&](const StampOutcomeName& name) { return counts[static_cast<std::size_t>(name.outcome)]; });
    const std::uint64_t passed = port.now().total[SLOT_STAMP_RARE].frames, came = stamp_requests(counts);
    if (passed > came)
        print(
            buffer,
            "  {:<17}{} passed up and did not come to the socket: sent to an address that the interface does not have, "
            "under a VLAN tag, kept back by the firewall, or still on the way\n",
            "", Grouped(passed - came));
}

void put_stamp(JsonWriter& json, const StampCounts& counts) {
    json.begin_object("stamp_socket");
    for (const StampOutcomeName& name : stamp_outcome_names)
        json.member(name.key, counts[static_cast<std::size_t>(name.outcome)]);
    json.end_object();
}

struct ResidencePercentile {
    double percent;
    std::string_view key, text;
};
constexpr ResidencePercentile residence_percentiles[] = {
    {50, "p50", "p50"}, {99, "p99", "p99"}, {99.9, "p99_9", "p99.9"}};

void print_residence(Buffer& buffer, const ReflectPort& port) {
    const Histogram residence = port.residence();
    const std::uint64_t frames = residence.total();
    if (frames == 0)
        return;
    print(buffer, "  {:<17}", "residence time");
    for (const auto& [percent, key, text] : residence_percentiles)
        if (residence.is_telling(percent))
            print(buffer, "{} {}, ", text, time_text(residence.percentile(percent)));
    print(buffer, "at most {}; program only, from its entry {}, of {} frame{}, some fifty a second\n",
          time_text(residence.percentile(100)),
          port.sockets_obtained() ? "until the socket's thread saw the frame sent" : "to its verdict", Grouped(frames),
          frames == 1 ? "" : "s");
}

void put_residence(JsonWriter& json, const ReflectPort& port) {
    const Histogram residence = port.residence();
    json.begin_object("residence_ns");
    json.member("where", "program only");
    json.member("until", port.sockets_obtained() ? "sent" : "verdict");
    json.member("frames", residence.total());
    for (const auto& [percent, key, text] : residence_percentiles)
        if (residence.is_telling(percent))
            json.member(key, residence.percentile(percent));
    if (residence.total() != 0)
        json.member("max", residence.percentile(100));
    json.end_object();
}

void put_port_summary(JsonWriter& json, const ReflectOptions& options, const ReflectPort& port, const Books& books,
                      const StampCounts& stamp) {
    const SlotCounts& slots = port.now().total;
    put_port(json, port, describe_test_traffic(options, port.match()));
    put_counted(json, port);
    put_slots(json, "answered", answer_names, slots);
    put_slots(json, "passed", reason_names, slots);
    put_slots(json, "refused", drop_names, slots);
    put_stamp(json, stamp);
    put_residence(json, port);
    put_queues(json, port);
    put_balance(json, books);
    put_sockets(json, books, true);
    put_nic(json, books);
    put_outages(json, port);
}

void print_ports(Buffer& buffer, const ReflectRun& run) {
    for (std::size_t i = 0; i < run.ports.size(); ++i) {
        const ReflectPort& port = run.ports[i];
        const std::string_view test = port.sockets_obtained() ? "to the sockets" : "sent back";
        const std::optional<SocketStatistics>& sockets = run.books[i].sockets;
        print_counted(buffer, port, run.books[i], test);
        print_slots(buffer, port);
        print_sockets(buffer, port, run.books[i],
                      sockets ? fmt::format("sent back {}", Grouped(sockets->received - sockets->not_sent())) : "");
        if (!run.stamp.empty())
            print_stamp(buffer, port, run.stamp[i]);
        print_residence(buffer, port);
        print_nic(buffer, run.books[i], "");
        print_outages(buffer, port);
        print_books(buffer, port, run.books[i], test);
    }
}

void put_ports(JsonWriter& json, const ReflectRun& run) {
    json.begin_array("ports");
    for (std::size_t i = 0; i < run.ports.size(); ++i) {
        json.begin_object();
        put_port_summary(json, run.options, run.ports[i], run.books[i],
                         run.stamp.empty() ? StampCounts{} : run.stamp[i]);
        json.end_object();
    }
    json.end_array();
}

} // namespace

std::string reflect_text(const ReflectRun& run) {
    Buffer buffer;
    print_ports(buffer, run);
    return {buffer.data(), buffer.size()};
}

std::string reflect_json(const ReflectRun& run) {
    JsonWriter json(true);
    json.begin_object();
    put_program(json, program);
    put_time(json, "started", run.started);
    json.member("duration_seconds", run.duration.count());
    put_ports(json, run);
    json.end_object();
    return std::string(json.text()) + "\n";
}

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
    print_ports(buffer_, run);
    write();
}

void ReflectJson::start(const ReflectOptions& options, std::span<const ReflectPort> ports) {
    if (!output_.is_stream())
        return;
    JsonWriter& json = output_.begin_event("start");
    put_run(json, options, program);
    json.begin_array("ports");
    for (const ReflectPort& port : ports) {
        json.begin_object();
        put_port(json, port, describe_test_traffic(options, port.match()));
        json.end_object();
    }
    json.end_array();
    output_.end();
}

void ReflectJson::interval(const ReflectPort& port, const CountedInterval& interval,
                           std::optional<std::chrono::duration<double>>) {
    if (!output_.is_stream())
        return;
    const Traffic test = test_traffic(interval.slots);
    JsonWriter& json = output_.begin_event("interval");
    json.member("interface", port.netdev().name());
    json.member("elapsed_seconds", port.elapsed().count());
    json.member("interval_seconds", interval.time.count());
    put_frames_and_bytes(json, test);
    put_rates(json, test, interval.time, port.speed_bps());
    json.member("answered_frames", answered_traffic(interval.slots).frames);
    json.member("passed_frames", passed_traffic(interval.slots).frames);
    json.member("refused_frames", dropped_traffic(interval.slots).frames);
    json.member("nic_missed", interval.missed);
    output_.end();
}

void ReflectJson::event(const Port& port, std::string_view text) {
    output_.text_event("link", port.netdev().name(), text);
}

void ReflectJson::summary(const ReflectRun& run) {
    JsonWriter& json = output_.begin_summary();
    put_run(json, run.options, program);
    put_ending(json, run.started, run.ended, run.ended_by, run.duration);
    put_ports(json, run);
    json.member("exit_code", static_cast<int>(run.exit_code));
    output_.end();
}

} // namespace responder
