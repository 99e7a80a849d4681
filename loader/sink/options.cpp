// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/options.h"

#include "loader/command_line.h"
#include "loader/error.h"
#include "loader/sink/watch.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace responder {

namespace {

constexpr unsigned most_streams = 1U << 16; // 170 MB of places a queue, which the kernel clears in half a second
constexpr unsigned most_with_histograms = 1U << 12; // 260 MB

std::string lower_case(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

} // namespace

RateCondition RateCondition::parse(std::string_view text) {
    const auto refuse = [&] {
        return Error(
            ExitCode::usage, fmt::format("--expect-rate {}", text),
            "not a rate like 95%, 3.7Mfps, 2.4Gbps (layer 2 with FCS) or 2.3Gbps@payload (also @L1, @L2, @L3)");
    };
    const auto number = split_number(text);
    if (!number || number->first <= 0)
        throw refuse();
    RateCondition condition{.unit = Unit::fps, .value = number->first, .text = std::string(text)};
    std::string unit = lower_case(number->second);
    if (unit == "%") {
        if (condition.value > 100)
            throw refuse();
        condition.unit = Unit::line_percent;
        return condition;
    }
    const auto at = unit.find('@');
    const std::string layer = at == unit.npos ? "" : unit.substr(at + 1);
    unit = unit.substr(0, at);
    constexpr std::pair<char, double> multiples[] = {{'k', 1e3}, {'m', 1e6}, {'g', 1e9}};
    for (const auto& [letter, multiple] : multiples) {
        if (!unit.empty() && unit[0] == letter) {
            condition.value *= multiple;
            unit.erase(0, 1);
            break;
        }
    }
    if ((unit == "fps" || unit == "pps") && layer.empty())
        return condition;
    if (unit != "bps" && unit != "bit/s")
        throw refuse();
    constexpr std::pair<std::string_view, Unit> layers[] = {{"", Unit::l2_bps},
                                                            {"l1", Unit::l1_bps},
                                                            {"l2", Unit::l2_bps},
                                                            {"l3", Unit::l3_bps},
                                                            {"payload", Unit::payload_bps}};
    const auto found = std::ranges::find(layers, layer, &std::pair<std::string_view, Unit>::first);
    if (found == std::end(layers) || (at != text.npos && layer.empty()))
        throw refuse();
    condition.unit = found->second;
    return condition;
}

LossLimit LossLimit::parse(std::string_view text) {
    const auto number = split_number(text);
    const bool share = number && number->second == "%";
    if (!number ||
        !(share ? number->first <= 100 : number->second.empty() && number->first == std::floor(number->first)))
        refuse_value("--max-loss", text, "not a share like 0.1% or a number of frames like 10");
    return {.share = share, .value = share ? number->first / 100 : number->first, .text = std::string(text)};
}

namespace {

// The sink's own options as words, between being asked for and being understood.
struct SinkArguments {
    std::vector<std::string> watches;
    std::optional<std::string> streams, clocks_within;
    std::optional<std::string> expect_rate, expect_frames, max_missed, max_loss, max_jitter, max_delay;

    void add_to(CLI::App& app, SinkOptions& options);
    void build(SinkOptions& options) const;

  private:
    void refuse_without_streams(const SinkOptions& options) const;
};

void SinkArguments::add_to(CLI::App& app, SinkOptions& options) {
    const auto add = [&](const char* group, const char* name, std::optional<std::string>& value, const char* text,
                         const char* type) { app.add_option(name, value, text)->type_name(type)->group(group); };
    constexpr const char *port = "The port", *verdict = "Verdict";
    add(port, "--streams", streams,
        "follow the sequence numbers of this many streams, or some more (4096, shared among the queues); 0: of none",
        "STREAMS");
    add_list(app, "--watch", watches,
             "follow what another's sender sends to this port, and let it go where it goes: also iperf3 on 5201 and "
             "iperf2 on 5001, unless none is said",
             "udp/PORT[:FORMAT]")
        ->group(port);
    add(port, "--clocks-within", clocks_within,
        "the sender's clock and ours agree to within this (20us; 0 if it is one): say one-way delays", "DELAY");
    app.add_flag("--histogram", options.histogram,
                 "count and draw how delays, times between frames and loss periods are distributed")
        ->group("The run");
    add(verdict, "--expect-rate", expect_rate,
        "FAIL (exit 1) below this average while traffic flowed: 95%, 3.7Mfps, 2.4Gbps (L2 with FCS), 2.3Gbps@payload, "
        "or @L1, @L2, @L3",
        "RATE");
    add(verdict, "--expect-frames", expect_frames, "FAIL unless exactly this many test frames were counted", "FRAMES");
    add(verdict, "--max-missed", max_missed, "FAIL if the NIC missed more frames than this", "FRAMES");
    add(verdict, "--max-loss", max_loss,
        "FAIL if more was lost of the streams on a port than this share (0.1%) or number of frames (10), or if there "
        "is no stream",
        "LOSS");
    add(verdict, "--max-jitter", max_jitter,
        "FAIL if the jitter (RFC 3550) of a stream on a port is more than this (500us), or that of one is not known",
        "DELAY");
    add(verdict, "--max-delay", max_delay,
        "FAIL if a frame took longer than this one way (2ms), or that is not known of a stream; takes --clocks-within",
        "DELAY");
}

void SinkArguments::refuse_without_streams(const SinkOptions& options) const {
    struct {
        const char* option;
        bool given;
        const char* why;
    } const take_streams[] = {
        {"--watch", !watches.empty(), "without streams nothing is followed"},
        {"--max-loss", max_loss.has_value(), "without streams no loss is known"},
        {"--histogram", options.histogram, "without streams no delay is known"},
        {"--max-jitter", max_jitter.has_value(), "without streams no delay is known"},
        {"--max-delay", max_delay.has_value(), "without streams no delay is known"},
        {"--clocks-within", clocks_within.has_value(), "without streams no delay is known"},
    };
    for (const auto& [option, given, why] : take_streams)
        if (given)
            throw Error(ExitCode::usage, fmt::format("{} with --streams 0", option), why);
}

void SinkArguments::build(SinkOptions& options) const {
    if (options.capture && options.engine == Engine::xdp)
        throw Error(ExitCode::usage, "--pcap with --engine xdp", "the program in the kernel drops the frames",
                    "leave --engine out, or give --engine af_xdp");
    if (options.capture && options.capture->to_standard_output() && (options.json || options.json_stream))
        throw Error(ExitCode::usage,
                    options.json ? "--pcap to standard output with --json"
                                 : "--pcap to standard output with --json-stream",
                    "both want standard output", "give --pcap a name");
    if (streams)
        options.streams = static_cast<unsigned>(parse_count("--streams", *streams, 0, most_streams));
    if (options.histogram && options.streams > most_with_histograms)
        refuse_value("--streams", *streams, fmt::format("with --histogram there is room for {}", most_with_histograms));
    if (options.streams == 0U)
        refuse_without_streams(options);
    else
        options.watches = parse_watches(watches);
    if (clocks_within)
        options.clocks_within = parse_delay("--clocks-within", *clocks_within);
    if (expect_rate)
        options.expect_rate = RateCondition::parse(*expect_rate);
    if (expect_frames)
        options.expect_frames = parse_count("--expect-frames", *expect_frames, 0);
    if (max_missed)
        options.max_missed = parse_count("--max-missed", *max_missed, 0);
    if (max_loss)
        options.max_loss = LossLimit::parse(*max_loss);
    if (max_jitter)
        options.max_jitter = {.most = parse_delay("--max-jitter", *max_jitter), .text = *max_jitter};
    if (max_delay)
        options.max_delay = {.most = parse_delay("--max-delay", *max_delay), .text = *max_delay};
    if (max_delay && !clocks_within)
        throw Error(ExitCode::usage, "--max-delay without --clocks-within",
                    "a one-way delay is known only where both clocks are in step",
                    "say how well they are, or use --max-jitter");
}

} // namespace

std::optional<SinkOptions> parse_sink_options(int argc, const char* const* argv) {
    SinkOptions options;
    options.argv.assign(argv, argv + argc);
    RunArguments run;
    SinkArguments sink;
    CaptureOptions capture;

    CLI::App app(
        "Receives test traffic by XDP, without the network stack, and says what arrived and how fast. Everything "
        "else on the port goes up the stack as before.\n",
        "xdp-sink");
    app.set_version_flag("--version", "xdp-sink " RESPONDER_VERSION);
    run.add_to(app, options,
               "xdp (the program follows streams in the kernel) or af_xdp (sockets, and a thread for each queue, which "
               "also proves the payload)");
    capture.add_to(app);
    sink.add_to(app, options);
    app.footer(
        "Exit codes: 0 done or PASS, 1 FAIL, 64 wrong option, 66 no such interface, 69 port or queue taken by another\n"
        "program, 70 internal, 71 kernel, 74 output, 75 no carrier, or interface or program gone, 77 no permission.\n"
        "man xdp-sink has examples.");

    if (!parse_command_line(app, argc, argv))
        return std::nullopt;
    options.capture = capture.build();
    run.build(options, options.capture ? Engine::af_xdp : Engine::xdp);
    sink.build(options);
    return options;
}

} // namespace responder
