// SPDX-License-Identifier: GPL-2.0-only

#include "loader/command.h"
#include "loader/sink/report.h"
#include "loader/sink/watch.h"
#include "loader/wire.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace responder {

namespace {

constexpr unsigned rows_between_headings = 20; // a heading stays in sight on a terminal of 24 lines

void print_delay(Buffer& buffer, const DelayFigures& delay, std::optional<std::chrono::nanoseconds> clocks_within) {
    print(buffer, ", jitter {}, delay varies by up to {} (mean {})", time_text(delay.jitter),
          time_text(delay.variation_most), time_text(delay.variation_mean));
    if (delay.pairs != 0)
        print(buffer, ", IPDV {} to {} (mean {})", time_text(delay.ipdv.least), time_text(delay.ipdv.most),
              time_text(delay.ipdv.mean));
    if (clocks_within) {
        const OneWayDelay one_way = one_way_delay(delay, *clocks_within);
        if (one_way.delay)
            print(buffer, ", one-way delay {} to {} (mean {})", time_text(one_way.delay->least),
                  time_text(one_way.delay->most), time_text(one_way.delay->mean));
        else
            print(buffer, ", one-way delay unknown: {}", one_way.unknown_because);
    }
    if (delay.clock_steps != 0)
        print(buffer, ", a clock was set {}",
              delay.clock_steps == 1 ? "once" : fmt::format("{} times", delay.clock_steps));
    if (delay.wild != 0)
        print(buffer, ", wild times {}", Grouped(delay.wild));
}

void print_stream(Buffer& buffer, const StreamFigures& stream, std::optional<std::chrono::nanoseconds> clocks_within,
                  std::string_view between_frames = "a frame every") {
    print(buffer, "{}", Grouped(stream.frames));
    if (stream.left_out) {
        print(buffer, " frames, not numbered as a sender of {} does: left out\n",
              format_name(static_cast<stream_format>(stream.key.format)));
        return;
    }
    print(buffer, " frames, lost ");
    if (!stream.lost)
        print(buffer, "unknown");
    else
        print(buffer, "{}", Grouped(*stream.lost));
    if (stream.lost && *stream.lost != 0) {
        const double percent = 100 * stream.loss_ratio();
        if (percent < 0.01)
            print(buffer, " (under 0.01 %)");
        else
            print(buffer, " ({:.2f} %)", percent);
    }
    if (stream.periods && stream.periods->count != 0)
        print(buffer, " in {} period{} of up to {}", Grouped(stream.periods->count),
              stream.periods->count == 1 ? "" : "s", Grouped(stream.periods->longest));
    if (stream.late) {
        print(buffer, ", late {}", Grouped(stream.late->count));
        if (stream.late->extent_known != 0)
            print(buffer, " by up to {}", Grouped(stream.late->extent_max));
    }
    print(buffer, ", duplicate {}", Grouped(stream.duplicate));
    for (const auto& [text, count] : {std::pair{"stray", stream.stray}, std::pair{"restarts", stream.restarts}}) {
        if (count == 0)
            continue;
        print(buffer, ", {} {}", text, Grouped(count));
    }
    if (stream.delay)
        print_delay(buffer, *stream.delay, clocks_within);
    if (stream.gaps)
        print(buffer, ", {} {} ({} to {})", between_frames, time_text(stream.gaps->gap.mean),
              time_text(stream.gaps->gap.least), time_text(stream.gaps->gap.most));
    if (stream.payload.wrong_frames != 0) {
        print(buffer, ", payload wrong in {} frames ({} octets)", Grouped(stream.payload.wrong_frames),
              Grouped(stream.payload.wrong_octets));
    } else if (stream.payload.proved != 0) {
        print(buffer, ", payload as sent");
    }
    if (stream.iperf)
        print(buffer, "; as iperf reckons: lost {}/{}, out of order {}, jitter {:.3f} ms", stream.iperf->lost,
              stream.iperf->packets, stream.iperf->out_of_order, stream.iperf->jitter_ms);
    if (stream.iperf && stream.iperf->fragmented != 0)
        print(buffer, "; {} were first fragments, whose rest is not looked at: iperf may have lost more",
              Grouped(stream.iperf->fragmented));
    if (stream.queues > 1)
        print(buffer, "; it came by {} queues, so its order is not known", stream.queues);
    buffer.push_back('\n');
}

// Where the stamps behind the delays are taken, and what can be told from them.
void print_stamps(Buffer& buffer, const SinkPort& port, const RunReport& run) {
    print(buffer, "  {:<17}", "stamps");
    bool first = true;
    for (const bool of_tai : {true, false})
        if (std::ranges::any_of(port.streams().streams, [&](const StreamFigures& stream) {
                return stream.delay && stream.delay->of_tai == of_tai;
            }))
            print(buffer, "{}{} ({})", std::exchange(first, false) ? "" : ", or ", stamps_sent(of_tai),
                  stamps_sent_clock(of_tai));
    print(buffer, ", to {} ({}, which takes {} to read here)", stamps_received(port.stamped_by_reader()),
          stamps_received_clock, time_text(static_cast<double>(run.clock.reading.count())));
    if (run.options.clocks_within)
        print(buffer, ", the two clocks agree to within {}",
              time_text(static_cast<double>(run.options.clocks_within->count())));
    buffer.push_back('\n');
}

void print_histograms(Buffer& buffer, const StreamFigures& all, Glyphs glyphs) {
    if (all.delay && all.delay->histogram) {
        const bool in_step = all.delay->histogram_is_of_transit;
        print(buffer, "  {:<17}of {} frames{}\n", in_step ? "one-way delay" : "delay variation",
              Grouped(all.delay->frames), in_step ? "" : ", beyond the fastest of each stream so far");
        draw_times(buffer, *all.delay->histogram, in_step ? all.delay->transit.most : all.delay->variation_most,
                   glyphs);
    }
    if (all.gaps && all.gaps->histogram) {
        print(buffer, "  {:<17}of {} pairs, as they came in each stream\n", "between frames", Grouped(all.gaps->count));
        draw_times(buffer, *all.gaps->histogram, all.gaps->gap.most, glyphs);
    }
    if (all.periods && all.periods->count != 0) {
        print(buffer, "  {:<17}{}, by their length\n", "loss periods", Grouped(all.periods->count));
        draw_loss_periods(buffer, *all.periods, glyphs);
    }
}

void print_streams(Buffer& buffer, const SinkPort& port, const RunReport& run) {
    constexpr std::size_t most_shown = 10;
    const StreamReport& report = port.streams();
    if (!report.streams.empty()) {
        const std::size_t followed = report.streams.size() - report.left_out();
        print(buffer, "  {:<17}{}", report.streams.size() == 1 ? "stream" : "streams", Grouped(report.streams.size()));
        if (report.left_out() != 0)
            print(buffer, ", {} left out of these sums", followed == 0 ? "all" : Grouped(report.left_out()).text());
        const StreamFigures all = report.sum();
        if (followed != 0) {
            print(buffer, ": ");
            print_stream(buffer, all, run.options.clocks_within,
                         followed == 1 ? "a frame every" : "in each stream a frame every");
        } else {
            buffer.push_back('\n');
        }
        // Where not all can be shown, those that lost most.
        std::vector<const StreamFigures*> shown;
        for (const StreamFigures& stream : report.streams)
            shown.push_back(&stream);
        if (shown.size() > most_shown)
            std::ranges::stable_sort(shown, std::greater(), [](const StreamFigures* stream) {
                return stream->lost.value_or(stream->left_out ? 0 : ~std::uint64_t{0});
            });
        for (std::size_t i = 0; i < std::min(shown.size(), most_shown); ++i) {
            print(buffer, "    {}: ", stream_name(shown[i]->key));
            print_stream(buffer, *shown[i], run.options.clocks_within);
        }
        if (shown.size() > most_shown)
            print(buffer, "    and {} more, which lost no more than these; --json has them all\n",
                  shown.size() - most_shown);
        if (all.delay)
            print_stamps(buffer, port, run);
        if (run.options.histogram)
            print_histograms(buffer, all, glyphs_of_locale());
    }
    if (report.no_room != 0)
        print(buffer, "  {:<17}{} frames of more streams than --streams has places for\n", "no room",
              Grouped(report.no_room));
    if (report.damaged != 0)
        print(buffer, "  {:<17}{} frames with our signature and a wrong check\n", "damaged", Grouped(report.damaged));
}

void print_losses(Buffer& buffer, const std::vector<LossPlace>& places) {
    print(buffer, "  {:<17}", "lost where");
    for (std::size_t i = 0; i < places.size(); ++i) {
        print(buffer, "{}{} ", i == 0 ? "" : ", ", places[i].key);
        if (places[i].frames)
            print(buffer, "{}", Grouped(*places[i].frames));
        else
            print(buffer, "unknown");
    }
    buffer.push_back('\n');
    for (const LossPlace& place : places)
        if (place.frames != 0U || place.of_all_sockets.value_or(0) != 0)
            print(buffer, "    {}: {}\n", place.key, place.text);
}

void print_port(Buffer& buffer, const SinkPort& port, const Books& books, const RunReport& run) {
    print_counted(buffer, port, books, "test frames");
    print_streams(buffer, port, run);
    print_sockets(buffer, port, books,
                  port.stamped_by_reader() ? "frames stamped by the sockets' readers"
                                           : "frames stamped in the program");
    if (!port.streams().streams.empty())
        print_losses(buffer, loss_places(port.streams(), books));
    print_slots(buffer, port);
    print_nic(buffer, books,
              books.sockets && books.sockets->lost() != 0 ? " (some count what the sockets lost here too)" : "");
    print_outages(buffer, port);
    print_books(buffer, port, books, "test");
}

void print_capture(Buffer& buffer, const CaptureFigures& capture) {
    print(buffer, "\ncapture: {}{}, {} frames in {} octets, lost {}", capture.file,
          capture.files > 1 ? fmt::format(", the last of {} files, of which {} are kept", capture.files, capture.kept)
                            : "",
          Grouped(capture.written), Grouped(capture.octets), Grouped(capture.lost));
    if (!capture.why_over.empty())
        print(buffer, "; it was over before the end: {}; {} frames came after that", capture.why_over,
              Grouped(capture.after_it_was_over));
    buffer.push_back('\n');
}

} // namespace

void TextReporter::write() {
    const std::string_view text(buffer_.data(), buffer_.size());
    if (!is_talk_)
        write_all(STDOUT_FILENO, text);
    else if (!text.empty())
        say(text.substr(0, text.size() - 1));
    buffer_.clear();
}

TextReporter::TextReporter(To to, bool lines)
    : is_talk_(to == To::talk), lines_(lines),
      draws_(isatty(is_talk_ ? STDERR_FILENO : STDOUT_FILENO) && glyphs_of_locale() == Glyphs::utf8) {}

void TextReporter::start(const SinkOptions&, std::span<const SinkPort> ports) { sparklines_.resize(ports.size()); }

void TextReporter::heading(bool sockets) {
    print(buffer_, "{:>9}  {:<10}", "time", "port");
    print_rate_headings(buffer_);
    print(buffer_, "{:>12}{:>12}{}{:>12}\n", "passed/s", "NIC missed", sockets ? " socket lost" : "", "lost");
}

void TextReporter::interval(std::span<const IntervalReport> reports) {
    if (!lines_)
        return;
    const bool sockets = reports.front().port.sockets_obtained().has_value();
    if (rows_since_heading_ == 0)
        heading(sockets);
    rows_since_heading_ += reports.size();
    if (rows_since_heading_ >= rows_between_headings)
        rows_since_heading_ = 0;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const IntervalReport& report = reports[i];
        const SinkPort::Interval& interval = report.interval;
        const Rates now = rates(test_traffic(interval.slots), interval.time);
        print(buffer_, "{:>7.1f} s  {:<10}", report.port.elapsed().count(), report.port.netdev().name());
        print_rate_columns(buffer_, now, report.port.speed_bps());
        print(buffer_, "{:>12}{:>12}", Grouped(rates(passed_traffic(interval.slots), interval.time).fps, 0),
              Grouped(interval.missed));
        if (sockets)
            print(buffer_, "{:>12}", Grouped(interval.socket_lost));
        if (interval.lost)
            print(buffer_, "{:>12}", Grouped(*interval.lost));
        else
            print(buffer_, "{:>12}", "-");
        sparklines_[i].push(now.fps);
        if (draws_) {
            print(buffer_, "   ");
            sparklines_[i].draw(buffer_);
        }
        if (report.left && report.left->count() > 0)
            print(buffer_, "   {:.0f} s left", std::ceil(report.left->count()));
        buffer_.push_back('\n');
    }
    write();
}

void TextReporter::summary(const RunReport& run) {
    for (std::size_t i = 0; i < run.ports.size(); ++i)
        print_port(buffer_, run.ports[i], run.books[i], run);
    if (run.stack &&
        std::ranges::any_of(run.ports, [](const SinkPort& port) { return !port.streams().streams.empty(); })) {
        print(buffer_, "\nbehind the program, of all ports together:\n");
        print_losses(buffer_, loss_places_behind(*run.stack));
    }
    if (run.capture != nullptr)
        print_capture(buffer_, *run.capture);
    if (run.verdict) {
        buffer_.push_back('\n');
        for (const Condition& condition : run.verdict->conditions)
            print(buffer_, "{} {}: {}\n", condition.holds ? "ok    " : "not ok", condition.wanted, condition.measured);
        print(buffer_, "{}\n", run.verdict->pass() ? "PASS" : "FAIL");
    }
    write();
}

} // namespace responder
