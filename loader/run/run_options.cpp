// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/run_options.h"

#include "loader/command_line.h"
#include "loader/error.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace responder {

namespace {

constexpr std::chrono::milliseconds shortest_interval{100}; // some ticks: less would show the ticks, not the traffic

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

std::string refusal_hint(const RunOptions& options, std::string usual) {
    if (options.dispatcher && options.engine == Engine::af_xdp)
        return "newer kernels let no program that hands frames to sockets share a port: leave --dispatcher out, or "
               "--engine af_xdp and --pcap";
    return usual;
}

void RunArguments::add_to(CLI::App& app, RunOptions& options, const std::string& engines) {
    app.add_option("INTERFACE", options.interfaces, "port to receive on; several share one run")
        ->required()
        ->type_name("");
    options.match.add_to(app);

    constexpr const char* port = "The port";
    add_list(app, "--address", addresses_,
             "answer ARP, ND and ping for this address while it runs; the interface's configuration stays as it is",
             "ADDRESS/LENGTH")
        ->group(port);
    app.add_option("--mode", mode_, "auto (native, else generic), native or generic XDP")
        ->type_name("MODE")
        ->group(port);
    app.add_flag("--require-native", require_native_,
                 "fail where the driver has no native XDP (the same as --mode native)")
        ->group(port);
    app.add_option("--engine", engine_, engines)->type_name("ENGINE")->group(port);
    app.add_flag("--require-zerocopy", options.require_zerocopy,
                 "with --engine af_xdp, fail where the driver does not put frames into the sockets' memory itself")
        ->group(port);
    app.add_flag("--dispatcher", options.dispatcher, "share the port with other XDP programs through libxdp")
        ->group(port);
    app.add_flag("--wait", options.wait, "start on a port without carrier, and wait for it")->group(port);
    app.add_flag("--force", options.force, "everything even on the port that carries this SSH session")->group(port);

    constexpr const char* run = "The run";
    app.add_option("--duration", duration_, "end after this time (10, 500ms, 2m, 1h)")->type_name("TIME")->group(run);
    app.add_option("--count", count_, "end as soon as this many test frames are counted")
        ->type_name("FRAMES")
        ->group(run);
    app.add_option("--interval", interval_, "time between two lines (1)")->type_name("TIME")->group(run);
    app.add_flag("--quiet", options.quiet, "no start lines and no line an interval: only the summary, and warnings")
        ->group(run);
    app.add_flag("--json", options.json, "one JSON document at the end")->group(run);
    app.add_flag("--json-stream", options.json_stream, "a JSON line for each event, from start to summary")->group(run);
    app.add_flag("--verbose", options.verbose,
                 "show libbpf's and the kernel verifier's log, and which CPU reads the socket of a queue")
        ->group(run);
}

void RunArguments::build_mode(RunOptions& options) const {
    if (mode_ == "native" || require_native_)
        options.mode = ModeChoice::native;
    else if (mode_ == "generic")
        options.mode = ModeChoice::generic;
    else if (mode_ != "auto")
        refuse_value("--mode", mode_, "not auto, native or generic");
    if (require_native_ && mode_ == "generic")
        throw Error(ExitCode::usage, "--require-native with --mode generic", "ask for opposite things");
    if (options.require_zerocopy && options.engine == Engine::xdp)
        throw Error(ExitCode::usage, "--require-zerocopy", "only AF_XDP sockets have zero-copy", "add --engine af_xdp");
    if (options.require_zerocopy && options.mode == ModeChoice::generic)
        throw Error(ExitCode::usage, "--require-zerocopy with --mode generic", "ask for opposite things");
}

void RunArguments::build(RunOptions& options, Engine usual) const {
    options.addresses = parse_addresses(addresses_);
    if (engine_ && engine_ != "xdp" && engine_ != "af_xdp")
        refuse_value("--engine", *engine_, "not xdp or af_xdp");
    options.engine = !engine_ ? usual : engine_ == "xdp" ? Engine::xdp : Engine::af_xdp;
    build_mode(options);
    if (duration_)
        options.duration = parse_duration("--duration", *duration_);
    if (interval_)
        options.interval = parse_duration("--interval", *interval_, shortest_interval);
    if (count_)
        options.count = parse_count("--count", *count_, 1);
    if (options.json && options.json_stream)
        throw Error(ExitCode::usage, "--json with --json-stream", "both want standard output", "choose one");
    auto sorted = options.interfaces;
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
        throw Error(ExitCode::usage, *twice, "named twice");
    options.match.build(options.addresses); // so that a wrong value is said before anything is touched
}

} // namespace responder
