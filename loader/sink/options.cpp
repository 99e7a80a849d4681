// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/options.h"

#include "loader/error.h"
#include "loader/sink/watch.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace responder {

namespace {

constexpr unsigned most_streams = 1U << 16; // 300 MB of places a queue, which the kernel clears in half a second
constexpr unsigned most_with_histograms = 1U << 12; // as many octets

constexpr std::chrono::milliseconds shortest_interval{100}; // two ticks: less would show the ticks, not the traffic

std::string lower_case(std::string_view text) {
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

std::vector<Prefix> parse_addresses(const std::vector<std::string>& texts) {
    std::vector<Prefix> addresses;
    for (const std::string& text : texts) {
        const auto address = Prefix::parse(text);
        if (!address || !address->is_host() || text.find('/') == text.npos)
            refuse_value("--address", text,
                         "not a host's address with its prefix length, like 198.18.1.2/24 or 2001:2::2/64");
        if (address->is_first())
            refuse_value("--address", text,
                         address->v6() ? "this is the address of any router in that network (RFC 4291)"
                                       : "this is the address of the network itself",
                         "give one of a host in it");
        if (!address->v6() && address->is_last())
            refuse_value("--address", text, "this is the network's broadcast address", "give one of a host in it");
        if (std::ranges::any_of(addresses, [&](const Prefix& other) { return other.family == address->family; }))
            refuse_value("--address", text, "only one IPv4 and one IPv6 address can be answered for");
        addresses.push_back(*address);
    }
    return addresses;
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

std::optional<SinkOptions> parse_sink_options(int argc, const char* const* argv) {
    SinkOptions options;
    options.argv.assign(argv, argv + argc);
    std::vector<std::string> addresses, watches;
    std::string mode = "auto";
    std::optional<std::string> engine;
    CaptureOptions capture;
    std::optional<std::string> duration, interval, count, streams, expect_rate, expect_frames, max_missed, max_loss;
    std::optional<std::string> clocks_within, max_jitter, max_delay;
    bool require_native = false;

    CLI::App app(
        "Receives test traffic by XDP, without the network stack, and says what arrived and how fast. Everything "
        "else on the port goes up the stack as before.\n",
        "xdp-sink");
    app.set_version_flag("--version", "xdp-sink " RESPONDER_VERSION);
    app.add_option("INTERFACE", options.interfaces, "port to receive on; several share one run")
        ->required()
        ->type_name("");
    options.match.add_to(app);
    add_list(app, "--address", addresses,
             "answer ARP, ND and ping for this address while it runs; the interface's configuration stays as it is",
             "ADDRESS/LENGTH")
        ->group("The port");
    app.add_option("--mode", mode, "auto (native, else generic), native or generic XDP")
        ->type_name("MODE")
        ->group("The port");
    app.add_flag("--require-native", require_native,
                 "fail where the driver has no native XDP (the same as --mode native)")
        ->group("The port");
    app.add_option(
           "--engine", engine,
           "xdp (the program follows streams in the kernel) or af_xdp (sockets, and a thread for each queue, which "
           "also proves the payload)")
        ->type_name("ENGINE")
        ->group("The port");
    app.add_flag("--require-zerocopy", options.require_zerocopy,
                 "with --engine af_xdp, fail where the driver does not put frames into the sockets' memory itself")
        ->group("The port");
    app.add_option(
           "--streams", streams,
           "follow the sequence numbers of this many streams, or some more (4096, shared among the queues); 0: of none")
        ->type_name("STREAMS")
        ->group("The port");
    add_list(app, "--watch", watches,
             "follow what another's sender sends to this port, and let it go where it goes: also iperf3 on 5201 and "
             "iperf2 on 5001, unless none is said",
             "udp/PORT[:FORMAT]")
        ->group("The port");
    app.add_option("--clocks-within", clocks_within,
                   "the sender's clock and ours agree to within this (20us; 0 if it is one): say one-way delays")
        ->type_name("DELAY")
        ->group("The port");
    app.add_flag("--dispatcher", options.dispatcher, "share the port with other XDP programs through libxdp")
        ->group("The port");
    app.add_flag("--wait", options.wait, "start on a port without carrier, and wait for it")->group("The port");
    app.add_flag("--force", options.force, "--all even on the port that carries this SSH session")->group("The port");
    app.add_option("--duration", duration, "end after this time (10, 500ms, 2m, 1h)")
        ->type_name("TIME")
        ->group("The run");
    app.add_option("--count", count, "end as soon as this many test frames are counted")
        ->type_name("FRAMES")
        ->group("The run");
    app.add_option("--interval", interval, "time between two lines (1)")->type_name("TIME")->group("The run");
    app.add_flag("--quiet", options.quiet, "no start lines and no line an interval: only the summary, and warnings")
        ->group("The run");
    app.add_flag("--histogram", options.histogram,
                 "count and draw how delays, times between frames and loss periods are distributed")
        ->group("The run");
    app.add_flag("--json", options.json, "one JSON document at the end")->group("The run");
    app.add_flag("--json-stream", options.json_stream, "a JSON line for each event: start, interval, link, summary")
        ->group("The run");
    app.add_flag("--verbose", options.verbose, "show libbpf's and the kernel verifier's log")->group("The run");
    capture.add_to(app);
    app.add_option("--expect-rate", expect_rate,
                   "FAIL (exit 1) below this average while traffic flowed: 95%, 3.7Mfps, "
                   "2.4Gbps (L2 with FCS), 2.3Gbps@payload, or @L1, @L2, @L3")
        ->type_name("RATE")
        ->group("Verdict");
    app.add_option("--expect-frames", expect_frames, "FAIL unless exactly this many test frames were counted")
        ->type_name("FRAMES")
        ->group("Verdict");
    app.add_option("--max-missed", max_missed, "FAIL if the NIC missed more frames than this")
        ->type_name("FRAMES")
        ->group("Verdict");
    app.add_option("--max-loss", max_loss,
                   "FAIL if more was lost of the streams on a port than this share (0.1%) or number of frames (10), or "
                   "if there is no stream")
        ->type_name("LOSS")
        ->group("Verdict");
    app.add_option(
           "--max-jitter", max_jitter,
           "FAIL if the jitter (RFC 3550) of a stream on a port is more than this (500us), or that of one is not "
           "known")
        ->type_name("DELAY")
        ->group("Verdict");
    app.add_option("--max-delay", max_delay,
                   "FAIL if a frame took longer than this one way (2ms), or that is not known of a stream; takes "
                   "--clocks-within")
        ->type_name("DELAY")
        ->group("Verdict");
    app.footer(
        "Exit codes: 0 done or PASS, 1 FAIL, 64 wrong option, 66 no such interface, 69 port or queue taken by another\n"
        "program, 70 internal, 71 kernel, 74 output, 75 no carrier, or interface or program gone, 77 no permission.\n"
        "man xdp-sink has examples.");

    if (!parse_command_line(app, argc, argv))
        return std::nullopt;

    options.addresses = parse_addresses(addresses);
    if (mode == "native" || require_native)
        options.mode = ModeChoice::native;
    else if (mode == "generic")
        options.mode = ModeChoice::generic;
    else if (mode != "auto")
        refuse_value("--mode", mode, "not auto, native or generic");
    if (require_native && mode == "generic")
        throw Error(ExitCode::usage, "--require-native with --mode generic", "ask for opposite things");
    options.capture = capture.build();
    if (engine == "af_xdp" || (options.capture && !engine))
        options.engine = Engine::af_xdp;
    else if (engine && engine != "xdp")
        refuse_value("--engine", *engine, "not xdp or af_xdp");
    if (options.capture && options.engine == Engine::xdp)
        throw Error(ExitCode::usage, "--pcap with --engine xdp", "the program in the kernel drops the frames",
                    "leave --engine out, or give --engine af_xdp");
    if (options.require_zerocopy && options.engine == Engine::xdp)
        throw Error(ExitCode::usage, "--require-zerocopy", "only AF_XDP sockets have zero-copy", "add --engine af_xdp");
    if (options.require_zerocopy && options.mode == ModeChoice::generic)
        throw Error(ExitCode::usage, "--require-zerocopy with --mode generic", "ask for opposite things");
    if (duration)
        options.duration = parse_duration("--duration", *duration);
    if (interval) {
        options.interval = parse_duration("--interval", *interval);
        if (options.interval < shortest_interval)
            refuse_value("--interval", *interval, "shorter than 100ms");
    }
    if (count)
        options.count = parse_count("--count", *count, 1);
    if (expect_frames)
        options.expect_frames = parse_count("--expect-frames", *expect_frames, 0);
    if (max_missed)
        options.max_missed = parse_count("--max-missed", *max_missed, 0);
    if (streams)
        options.streams = static_cast<unsigned>(
            parse_count("--streams", *streams, 0, options.histogram ? most_with_histograms : most_streams));
    if (options.streams == 0U && !watches.empty())
        throw Error(ExitCode::usage, "--watch with --streams 0", "without streams nothing is followed");
    if (options.streams != 0U)
        options.watches = parse_watches(watches);
    if (max_loss)
        options.max_loss = LossLimit::parse(*max_loss);
    if (options.max_loss && options.streams == 0U)
        throw Error(ExitCode::usage, "--max-loss with --streams 0", "without streams no loss is known");
    if (clocks_within)
        options.clocks_within = parse_delay("--clocks-within", *clocks_within);
    if (max_jitter)
        options.max_jitter = {.most = parse_delay("--max-jitter", *max_jitter), .text = *max_jitter};
    if (max_delay)
        options.max_delay = {.most = parse_delay("--max-delay", *max_delay), .text = *max_delay};
    if (options.streams == 0U && (options.histogram || max_jitter || max_delay || clocks_within))
        throw Error(ExitCode::usage,
                    fmt::format("{} with --streams 0", options.histogram ? "--histogram"
                                                       : max_jitter      ? "--max-jitter"
                                                       : max_delay       ? "--max-delay"
                                                                         : "--clocks-within"),
                    "without streams no delay is known");
    if (options.max_delay && !options.clocks_within)
        throw Error(ExitCode::usage, "--max-delay without --clocks-within",
                    "a one-way delay is known only where both clocks are in step",
                    "say how well they are, or use --max-jitter");
    if (expect_rate)
        options.expect_rate = RateCondition::parse(*expect_rate);
    if (options.json && options.json_stream)
        throw Error(ExitCode::usage, "--json with --json-stream", "both want standard output", "choose one");
    if (options.capture && options.capture->to_standard_output() && (options.json || options.json_stream))
        throw Error(ExitCode::usage,
                    options.json ? "--pcap to standard output with --json"
                                 : "--pcap to standard output with --json-stream",
                    "both want standard output", "give --pcap a name");
    auto sorted = options.interfaces;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        throw Error(ExitCode::usage, *twice, "named twice");
    options.match.build(options.addresses); // so that a wrong value is said before anything is touched
    return options;
}

} // namespace responder
