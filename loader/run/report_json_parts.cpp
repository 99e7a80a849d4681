// SPDX-License-Identifier: GPL-2.0-only
//
// Schema version 1. Counters are integers, rates numbers, and the unit stands in the key. A later version may add keys;
// one that changes or drops a key counts up.

#include "loader/command.h"
#include "loader/run/report_parts.h"
#include "loader/wire.h"

#include <unistd.h>

namespace responder {

namespace {

constexpr int schema_version = 1;

std::string_view ending_name(Ending ending) {
    switch (ending) {
    case Ending::duration:
        return "duration";
    case Ending::count:
        return "count";
    case Ending::signal:
        return "signal";
    case Ending::interface_gone:
        return "interface";
    case Ending::program_gone:
        return "program";
    }
    return "";
}

std::string_view cause_name(Outage::Cause cause) {
    switch (cause) {
    case Outage::Cause::absent_at_start:
        return "absent_at_start";
    case Outage::Cause::attach:
        return "attach";
    case Outage::Cause::lost:
        return "lost";
    }
    return "";
}

} // namespace

JsonWriter& JsonOutput::begin_event(std::string_view event) {
    json_.clear();
    json_.begin_object();
    json_.member("event", event);
    put_time(json_, "time", std::chrono::system_clock::now());
    return json_;
}

JsonWriter& JsonOutput::begin_summary() {
    if (stream_)
        return begin_event("summary");
    json_.clear();
    json_.begin_object();
    return json_;
}

void JsonOutput::end() {
    json_.end_object();
    write_all(STDOUT_FILENO, json_.text());
    write_all(STDOUT_FILENO, "\n");
}

void JsonOutput::text_event(std::string_view event, std::string_view interface, std::string_view text) {
    if (!stream_)
        return;
    begin_event(event);
    if (!interface.empty())
        json_.member("interface", interface);
    json_.member("text", text);
    end();
}

void put_time(JsonWriter& json, std::string_view key, std::chrono::system_clock::time_point time) {
    char room[32];
    json.member(key, rfc3339(time, room));
}

void put_frames_and_bytes(JsonWriter& json, const Traffic& traffic) {
    json.member("frames", traffic.frames);
    json.member("l1_bytes", traffic.l1_bytes_on_wire());
    json.member("l2_bytes", traffic.l2_bytes_with_fcs());
    json.member("l3_bytes", traffic.l3_bytes);
    json.member("payload_bytes", traffic.payload_bytes);
}

void put_rates(JsonWriter& json, const Traffic& traffic, std::chrono::duration<double> time, std::uint64_t speed_bps) {
    const Rates average = rates(traffic, time);
    for (const RateField& field : rate_fields)
        json.member(field.key, average.*field.value);
    if (const double percent = line_rate_percent(average, speed_bps); percent >= 0)
        json.member("line_rate_percent", percent);
}

void put_slots(JsonWriter& json, std::string_view key, std::span<const SlotName> names, const SlotCounts& slots) {
    json.begin_object(key);
    for (const SlotName& name : names)
        json.member(name.key, slots[name.slot].frames);
    json.end_object();
}

void put_port(JsonWriter& json, const Port& port, std::string_view takes) {
    json.member("interface", port.netdev().name());
    json.member("ifindex", port.netdev().index());
    json.member("driver", port.driver());
    json.member("mac", to_string(port.mac()));
    json.member("mtu", port.mtu());
    json.member("speed_bps", port.speed_bps());
    json.member("queues", port.queues());
    json.member("mode", to_string(port.obtained().mode));
    json.member("native_refused", port.obtained().native_refused);
    json.member("multi_buffer", port.obtained().multi_buffer);
    json.member("dispatcher", port.obtained().dispatcher);
    json.member("takes", takes);
    json.member("engine", port.sockets_obtained() ? "af_xdp" : "xdp");
    if (const auto& sockets = port.sockets_obtained()) {
        json.member("zero_copy", sockets->zero_copy);
        json.member("busy_polling", sockets->busy_polling);
        json.member("largest_frame_with_fcs", sockets->largest_frame + wire::fcs_bytes);
    }
}

void put_program(JsonWriter& json, std::string_view program) {
    json.member("schema_version", schema_version);
    json.member("program", program);
    json.member("version", RESPONDER_VERSION);
    json.member("kernel", kernel_description());
}

void put_run(JsonWriter& json, const RunOptions& options, std::string_view program) {
    put_program(json, program);
    json.begin_array("argv");
    for (const std::string& argument : options.argv)
        json.value(argument);
    json.end_array();
}

void put_balance(JsonWriter& json, const Books& books) {
    json.begin_object("balance");
    json.member("nic_known", books.nic_known);
    json.member("program_saw", books.program_saw);
    json.member("after_the_end", books.after_the_end);
    if (books.nic_known) {
        json.member("nic_received", books.nic_received);
        json.member("nic_leaves_out_dropped", books.nic_leaves_out_dropped);
        json.member("left_over", books.left_over);
        json.member("in_flight", books.in_flight);
    }
    json.member("settled", books.settled);
    json.end_object();
}

void put_sockets(JsonWriter& json, const Books& books, bool send_back) {
    if (!books.sockets)
        return;
    json.begin_object("sockets");
    json.member("received", books.sockets->received);
    for (const SocketField& field : socket_fields)
        json.member(field.key, *books.sockets.*field.value);
    json.member("not_delivered", books.not_delivered);
    if (send_back)
        json.member("not_sent", books.sockets->not_sent());
    json.end_object();
}

void put_nic(JsonWriter& json, const Books& books) {
    if (!books.nic_known)
        return;
    json.begin_object("nic");
    json.member("rx_packets", books.nic.rx_packets);
    json.member("rx_bytes", books.nic.rx_bytes);
    for (const NicField& field : nic_loss_fields)
        json.member(field.key, books.nic.*field.value);
    json.member("rx_dropped", books.nic.rx_dropped);
    json.end_object();
    json.begin_object("driver_counters");
    for (const auto& [name, rise] : books.driver)
        json.member(name, rise);
    json.end_object();
}

void put_counted(JsonWriter& json, const CountingPort& port) {
    const SlotCounts& slots = port.now().total;
    const Traffic test = test_traffic(slots);
    json.member("duration_seconds", port.elapsed().count());
    json.begin_object("test");
    put_frames_and_bytes(json, test);
    json.member("flowed_seconds", port.busy().time.count());
    json.member("flowed_at_most", port.busy().at_most);
    json.begin_object("while_it_flowed");
    put_rates(json, test, port.busy().time, port.speed_bps());
    json.end_object();
    json.begin_object("over_the_run");
    put_rates(json, test, port.elapsed(), port.speed_bps());
    json.end_object();
    json.begin_array("sizes");
    for (const SizeBin& bin : size_bins) {
        json.begin_object();
        json.member("first", bin.first);
        if (bin.last != 0)
            json.member("last", bin.last);
        json.member("frames", slots[bin.slot].frames);
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

void put_queues(JsonWriter& json, const CountingPort& port) {
    json.begin_array("by_queue");
    for (std::size_t queue = 0; queue < port.now().queues.size(); ++queue) {
        const SlotCounts& counts = port.now().queues[queue];
        json.begin_object();
        json.member("queue", queue);
        json.member("test_frames", test_traffic(counts).frames);
        json.member("test_l2_bytes", test_traffic(counts).l2_bytes_with_fcs());
        json.member("answered_frames", answered_traffic(counts).frames);
        json.member("passed_frames", passed_traffic(counts).frames);
        json.end_object();
    }
    json.end_array();
}

void put_outages(JsonWriter& json, const Port& port) {
    json.begin_array("outages");
    for (const Outage& outage : port.outages()) {
        json.begin_object();
        put_time(json, "began", outage.began);
        if (outage.lasted)
            json.member("seconds", outage.lasted->count());
        json.member("cause", cause_name(outage.cause));
        json.end_object();
    }
    json.end_array();
}

void put_ending(JsonWriter& json, std::chrono::system_clock::time_point started,
                std::chrono::system_clock::time_point ended, Ending by, std::chrono::duration<double> duration) {
    put_time(json, "started", started);
    put_time(json, "ended", ended);
    json.member("ended_by", ending_name(by));
    json.member("duration_seconds", duration.count());
}

} // namespace responder
