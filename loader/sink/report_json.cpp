// SPDX-License-Identifier: GPL-2.0-only

#include "loader/command.h"
#include "loader/sink/report.h"
#include "loader/sink/watch.h"
#include "loader/wire.h"

#include <unistd.h>

namespace responder {

namespace {

constexpr std::string_view program = "xdp-sink";

void put_spread(JsonWriter& json, const Spread& spread, const std::array<std::string_view, 3>& keys) {
    json.member(keys[0], spread.least);
    json.member(keys[1], spread.mean);
    json.member(keys[2], spread.most);
}

void put_histogram(JsonWriter& json, std::string_view key, const Histogram& histogram) {
    json.begin_object(key);
    json.begin_array("percentiles");
    for (const double percent : shown_percentiles) {
        json.begin_object();
        json.member("percent", percent);
        json.member("ns", histogram.percentile(percent));
        json.end_object();
    }
    json.end_array();
    json.begin_array("buckets");
    for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; ++bucket) {
        if (histogram.count(bucket) == 0)
            continue;
        json.begin_object();
        json.member("first_ns", Histogram::first_of(bucket));
        json.member("last_ns", Histogram::last_of(bucket));
        json.member("frames", histogram.count(bucket));
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

void put_delay(JsonWriter& json, const DelayFigures& delay, const SinkOptions& options) {
    json.member("sent", stamps_sent(delay.of_tai));
    json.member("sent_clock", stamps_sent_clock(delay.of_tai));
    json.member("jitter_ns", delay.jitter);
    json.member("delay_variation_mean_ns", delay.variation_mean);
    json.member("delay_variation_max_ns", delay.variation_most);
    json.member("ipdv_pairs", delay.pairs);
    if (delay.pairs != 0)
        put_spread(json, delay.ipdv, {"ipdv_min_ns", "ipdv_mean_ns", "ipdv_max_ns"});
    if (options.clocks_within) {
        const OneWayDelay one_way = one_way_delay(delay, *options.clocks_within);
        if (one_way.delay)
            put_spread(json, *one_way.delay, {"one_way_delay_min_ns", "one_way_delay_mean_ns", "one_way_delay_max_ns"});
        else
            json.member("one_way_delay_unknown", one_way.unknown_because);
    }
    json.member("clock_steps", delay.clock_steps);
    json.member("wild_times", delay.wild);
    if (delay.histogram)
        put_histogram(json, delay.histogram_is_of_transit ? "one_way_delay_histogram" : "delay_variation_histogram",
                      *delay.histogram);
}

void put_stream(JsonWriter& json, const StreamFigures& stream, const SinkOptions& options) {
    json.begin_object();
    json.member("name", stream_name(stream.key));
    json.member("format", format_name(static_cast<stream_format>(stream.key.format)));
    if (stream_is_numbered(stream.key.format))
        json.member("stream", stream.key.stream);
    json.member("frames", stream.frames);
    json.member("left_out", stream.left_out);
    if (stream.lost) {
        json.member("lost", *stream.lost);
        json.member("loss_ratio", stream.loss_ratio());
    }
    json.member("duplicate", stream.duplicate);
    json.member("stray", stream.stray);
    json.member("restarts", stream.restarts);
    json.member("queues", stream.queues);
    if (stream.late) {
        json.member("late", stream.late->count);
        json.member("late_extent_known", stream.late->extent_known);
        json.member("late_extent_sum", stream.late->extent_sum);
        json.member("late_extent_max", stream.late->extent_max);
    }
    if (stream.delay) {
        json.member("stamped_frames", stream.delay->frames);
        put_delay(json, *stream.delay, options);
    }
    if (stream.gaps) {
        put_spread(json, stream.gaps->gap, {"gap_min_ns", "gap_mean_ns", "gap_max_ns"});
        if (stream.gaps->histogram)
            put_histogram(json, "gap_histogram", *stream.gaps->histogram);
    }
    if (stream.payload.proved != 0) {
        json.member("payload_proved_frames", stream.payload.proved);
        json.member("payload_wrong_frames", stream.payload.wrong_frames);
        json.member("payload_wrong_octets", stream.payload.wrong_octets);
    }
    if (stream.iperf) {
        json.begin_object("iperf");
        json.member("packets", stream.iperf->packets);
        json.member("lost_packets", stream.iperf->lost);
        json.member("out_of_order", stream.iperf->out_of_order);
        json.member("jitter_ms", stream.iperf->jitter_ms);
        json.member("first_fragments", stream.iperf->fragmented);
        json.end_object();
    }
    if (stream.periods) {
        json.member("loss_periods", stream.periods->count);
        json.member("longest_loss_period", stream.periods->longest);
        json.begin_array("loss_periods_by_length");
        for (std::size_t i = 0; i < stream.periods->by_length.size(); ++i) {
            if (stream.periods->by_length[i] == 0)
                continue;
            json.begin_object();
            json.member("longest", std::uint64_t{1} << i); // and longer than half of it
            json.member("periods", stream.periods->by_length[i]);
            json.end_object();
        }
        json.end_array();
    }
    json.end_object();
}

void put_streams(JsonWriter& json, const SinkPort& port, const RunReport& run) {
    const StreamReport& report = port.streams();
    json.begin_object("streams");
    json.begin_object("stamps");
    json.member("received", stamps_received(port.stamped_by_reader()));
    json.member("received_clock", stamps_received_clock);
    json.member("clock_reading_ns", run.clock.reading.count());
    json.member("clock_synchronised", run.clock.synchronised);
    json.member("clock_maximum_error_ns", std::chrono::nanoseconds(run.clock.maximum_error).count());
    if (run.options.clocks_within)
        json.member("clocks_within_ns", run.options.clocks_within->count());
    json.end_object();
    json.member("damaged_frames", report.damaged);
    json.member("no_room_frames", report.no_room);
    json.begin_array("list");
    for (const StreamFigures& stream : report.streams)
        put_stream(json, stream, run.options);
    json.end_array();
    json.end_object();
}

void put_losses(JsonWriter& json, const std::vector<LossPlace>& places) {
    json.begin_array("lost_where");
    for (const LossPlace& place : places) {
        json.begin_object();
        json.member("place", place.key);
        if (place.frames)
            json.member("frames", *place.frames);
        if (place.of_all_sockets)
            json.member("all_sockets_frames", *place.of_all_sockets);
        json.member("says", place.text);
        json.end_object();
    }
    json.end_array();
}

void put_port_summary(JsonWriter& json, const SinkPort& port, const Books& books, const RunReport& run) {
    const SlotCounts& slots = port.now().total;
    put_port(json, port, describe(port.match()));
    put_counted(json, port);
    put_slots(json, "answered", sink_answer_names, slots);
    put_slots(json, "passed", sink_reason_names, slots);
    if (port.sockets_obtained())
        json.member("arrival_stamped_by", port.stamped_by_reader() ? "reader" : "program");
    if (port.follows_streams()) {
        put_streams(json, port, run);
        put_losses(json, loss_places(port.streams(), books));
    }
    put_queues(json, port);
    put_balance(json, books);
    put_sockets(json, books, false);
    put_nic(json, books);
    put_outages(json, port);
}

void put_capture(JsonWriter& json, const CaptureFigures& capture) {
    json.begin_object("capture");
    json.member("file", capture.file);
    json.member("files", capture.files);
    json.member("files_kept", capture.kept);
    json.member("bytes", capture.octets);
    json.member("written_frames", capture.written);
    json.member("lost_frames", capture.lost);
    json.member("frames_after_it_was_over", capture.after_it_was_over);
    json.member("why_over", capture.why_over);
    json.end_object();
}

} // namespace

void JsonReporter::start(const SinkOptions& options, std::span<const SinkPort> ports) {
    if (!output_.is_stream())
        return;
    JsonWriter& json = output_.begin_event("start");
    put_run(json, options, program);
    json.member("watches", describe(options.watches));
    json.begin_array("ports");
    for (const SinkPort& port : ports) {
        json.begin_object();
        put_port(json, port, describe(port.match()));
        json.end_object();
    }
    json.end_array();
    output_.end();
}

void JsonReporter::interval(std::span<const IntervalReport> reports) {
    if (!output_.is_stream())
        return;
    for (const IntervalReport& report : reports) {
        const SinkPort::Interval& interval = report.interval;
        const Traffic test = test_traffic(interval.slots);
        JsonWriter& json = output_.begin_event("interval");
        json.member("interface", report.port.netdev().name());
        json.member("elapsed_seconds", report.port.elapsed().count());
        json.member("interval_seconds", interval.time.count());
        put_frames_and_bytes(json, test);
        put_rates(json, test, interval.time, report.port.speed_bps());
        json.member("answered_frames", answered_traffic(interval.slots).frames);
        json.member("passed_frames", passed_traffic(interval.slots).frames);
        json.member("nic_missed", interval.missed);
        if (report.port.sockets_obtained())
            json.member("socket_lost", interval.socket_lost);
        if (interval.lost)
            json.member("lost", *interval.lost);
        output_.end();
    }
}

void JsonReporter::event(const Port& port, std::string_view text) {
    output_.text_event("link", port.netdev().name(), text);
}

void JsonReporter::capture_over(std::string_view text) { output_.text_event("capture", {}, text); }

void JsonReporter::summary(const RunReport& run) {
    JsonWriter& json = output_.begin_summary();
    put_run(json, run.options, program);
    json.member("watches", describe(run.options.watches));
    put_ending(json, run.started, run.ended, run.ended_by, run.duration);
    json.begin_array("ports");
    for (std::size_t i = 0; i < run.ports.size(); ++i) {
        json.begin_object();
        put_port_summary(json, run.ports[i], run.books[i], run);
        json.end_object();
    }
    json.end_array();
    if (run.stack)
        put_losses(json, loss_places_behind(*run.stack));
    if (run.capture != nullptr)
        put_capture(json, *run.capture);
    if (run.verdict) {
        json.begin_object("verdict");
        json.member("result", run.verdict->pass() ? "PASS" : "FAIL");
        json.begin_array("conditions");
        for (const Condition& condition : run.verdict->conditions) {
            json.begin_object();
            json.member("wanted", condition.wanted);
            json.member("measured", condition.measured);
            json.member("holds", condition.holds);
            json.end_object();
        }
        json.end_array();
        json.end_object();
    }
    json.member("exit_code", static_cast<int>(run.exit_code));
    output_.end();
}

} // namespace responder
