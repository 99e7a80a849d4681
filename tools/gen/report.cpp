// SPDX-License-Identifier: GPL-2.0-only

#include "tools/gen/report.h"

#include "loader/command.h"
#include "loader/json.h"
#include "loader/wire.h"

#include <fmt/format.h>

namespace responder::gen {

namespace {

const char* name(Sent::End end) {
    switch (end) {
    case Sent::End::planned:
        return "planned";
    case Sent::End::stopped:
        return "stopped";
    case Sent::End::interface_gone:
        return "interface_gone";
    case Sent::End::nothing_leaves:
        return "nothing_leaves";
    }
    return "";
}

const char* name(SentCounter::Kind counter) {
    return counter == SentCounter::Kind::xdp_xmit ? "xdp_xmit" : "tx_packets";
}

// Of frames whose fate the counter cannot tell any more we do not say that they were refused.
bool fate_known(const Report& report) { return report.sent.end != Sent::End::interface_gone; }

const char* unsent(const Report& report) { return fate_known(report) ? "refused" : "unknown"; }

std::string why_unsent(const Report& report) {
    if (!fate_known(report))
        return ": the interface went away";
    if (report.sent.link_was_down)
        return fmt::format(", by the driver of {}: {}", report.interface,
                           report.sent.link_is_down ? "the link is down" : "there was no link at times");
    // Which of these it was, the kernel does not tell.
    std::string why = fmt::format(", by the driver of {}: ", report.interface);
    if (report.driver == "veth")
        why += "a veth takes a frame only where the far end has a native XDP program or GRO, an MTU as large, and room "
               "in its ring";
    else if (report.sent.left() == 0)
        why += "it cannot send XDP frames (ndo_xdp_xmit), or not as the port is set up";
    else if (report.sent.counter == SentCounter::Kind::xdp_xmit)
        why += "its ring was full";
    else
        why += "its ring was full, or it cannot send XDP frames (ndo_xdp_xmit) and others' are counted";
    return why + (report.sent.left() != 0 ? "; --rate sends slower" : "");
}

} // namespace

double Report::mean_size() const {
    double bytes = 0;
    for (const auto& [size, frames] : handed_over_by_size)
        bytes += static_cast<double>(size) * static_cast<double>(frames);
    return sent.handed_over != 0 ? bytes / static_cast<double>(sent.handed_over) : 0;
}

std::optional<double> Report::rate_fps() const {
    if (!sent.seconds)
        return std::nullopt;
    return static_cast<double>(sent.left()) / *sent.seconds;
}
std::optional<double> Report::l2_bps() const {
    const auto rate = rate_fps();
    return rate ? std::optional(8 * *rate * mean_size()) : std::nullopt;
}
std::optional<double> Report::l1_bps() const {
    const auto rate = rate_fps();
    return rate ? std::optional(8 * *rate * (mean_size() + wire::preamble_and_gap_bytes)) : std::nullopt;
}

std::string render_text(const Report& report) {
    const Sent& sent = report.sent;
    fmt::memory_buffer text;
    const auto out = fmt::appender(text);
    // Of a counter of everybody's frames some may be others' in place of ours.
    const bool exact = sent.counter == SentCounter::Kind::xdp_xmit;
    fmt::format_to(out, "sent      {}{} frame{}{} (counted by {} of {}{})\n", exact ? "" : "at most ", sent.left(),
                   sent.left() == 1 ? "" : "s", sent.seconds ? fmt::format(" in {:.3f} s", *sent.seconds) : "",
                   name(sent.counter), report.interface, exact ? "" : ", which counts all traffic");
    if (const auto rate = report.rate_fps()) {
        fmt::format_to(out, "rate      {:.0f} frames/s   L2 {:.3f} Mb/s   L1 {:.3f} Mb/s", *rate,
                       1e-6 * *report.l2_bps(), 1e-6 * *report.l1_bps());
        if (report.rate_requested_fps > 0)
            fmt::format_to(out, "   asked for: {} frames/s", report.rate_requested_fps);
        fmt::format_to(out, "\n");
    }
    fmt::format_to(out, "sizes    ");
    for (const auto& [size, frames] : report.handed_over_by_size)
        fmt::format_to(out, " {} x {} bytes", frames, size);
    fmt::format_to(out, ", FCS included\n");
    if (sent.refused() != 0)
        fmt::format_to(out, "{}   {} frames of {} handed over{}\n", unsent(report), sent.refused(), sent.handed_over,
                       why_unsent(report));
    if (sent.counted > sent.handed_over)
        fmt::format_to(out, "others    {} frames that were not made here\n", sent.counted - sent.handed_over);
    return fmt::to_string(text);
}

std::string render_json(const Report& report) {
    const Sent& sent = report.sent;
    char time[32];
    JsonWriter json;
    const auto member_or_null = [&](std::string_view key, const auto& value) {
        if (value)
            json.member(key, *value);
        else
            json.member(key, nullptr);
    };
    json.begin_object();
    json.member("schema_version", 1);
    json.member("program", "xdp-gen");
    json.member("version", RESPONDER_VERSION);
    json.begin_array("argv");
    for (const std::string& word : report.argv)
        json.value(word);
    json.end_array();
    json.member("kernel", kernel_description());
    json.member("interface", report.interface);
    json.member("driver", report.driver);
    json.member("started", rfc3339(report.started, time));
    member_or_null("duration_seconds", sent.seconds);
    json.member("end", name(sent.end));
    if (report.frames_requested != 0)
        json.member("frames_requested", report.frames_requested);
    else
        json.member("frames_requested", nullptr);
    if (report.rate_requested_fps > 0)
        json.member("rate_requested_fps", report.rate_requested_fps);
    else
        json.member("rate_requested_fps", nullptr);
    json.member("frames_handed_over", sent.handed_over);
    json.member("frames_sent", sent.left());
    if (fate_known(report))
        json.member("frames_refused", sent.refused());
    else
        json.member("frames_refused", nullptr);
    json.member("counter", name(sent.counter));
    json.member("counter_rise", sent.counted);
    json.member("link_was_down", sent.link_was_down);
    json.member("link_is_down", sent.link_is_down);
    member_or_null("frames_per_second", report.rate_fps());
    member_or_null("l2_bps", report.l2_bps());
    member_or_null("l1_bps", report.l1_bps());
    json.begin_array("handed_over_by_size");
    for (const auto& [size, frames] : report.handed_over_by_size) {
        json.begin_object();
        json.member("frame_size_with_fcs", size);
        json.member("frames", frames);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return std::string(json.text()) + '\n';
}

} // namespace responder::gen
