// SPDX-License-Identifier: GPL-2.0-only

#include "tools/gen/options.h"

#include "loader/command_line.h"
#include "loader/error.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <vector>

namespace responder::gen {

namespace {

// The command line as it was written, before any of it means something.
struct Words {
    std::vector<std::string> sizes, vlans;
    std::optional<std::string> count, duration, rate, streams, signature;
    bool stamp = false;
    std::optional<std::string> destination_mac, source_mac, source, destination, source_ports, destination_ports;
};

double parse_rate(const std::string& text) {
    const auto number = split_number(text);
    if (!number || !number->second.empty() || number->first < 0.01 || number->first > 1e8)
        refuse_value("--rate", text, "not a number from 0.01 to 100000000");
    return number->first;
}

IpAddress parse_address(std::string_view option, const std::string& text) {
    const auto address = IpAddress::parse(text);
    if (!address)
        refuse_value(option, text, "neither an IPv4 nor an IPv6 address");
    if (address->is_unspecified())
        refuse_value(option, text, "this is the address of nobody");
    if (address->is_loopback())
        refuse_value(option, text, "a loopback address is for no wire");
    return *address;
}

IpAddress parse_source(const std::string& text) {
    const IpAddress address = parse_address("--src", text);
    if (address.is_multicast() || address.is_broadcast())
        refuse_value("--src", text, "a group address cannot send");
    return address;
}

MacAddress parse_station(std::string_view option, const std::string& text) {
    const MacAddress mac = parse_mac(option, text);
    if (mac.is_zero())
        refuse_value(option, text, "this is the address of nobody");
    return mac;
}

PortRange parse_ports(std::string_view option, const std::string& text, unsigned lowest) {
    const auto [first, last] = parse_range(option, text, lowest, 65535);
    return {first, last};
}

// RFC 919, RFC 1112 section 6.4 and RFC 2464 section 7.
MacAddress group_mac(const IpAddress& group) {
    const auto& b = group.bytes;
    if (group.is_broadcast())
        return {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
    if (group.v6())
        return {{0x33, 0x33, b[12], b[13], b[14], b[15]}};
    return {{0x01, 0x00, 0x5e, static_cast<std::uint8_t>(b[1] & 0x7f), b[2], b[3]}};
}

Options interpret(const Words& words, Options options) {
    FrameSpec& frames = options.frames;
    if (words.destination_mac)
        options.destination_mac = parse_station("--dst-mac", *words.destination_mac);
    if (words.source_mac)
        options.source_mac = parse_station("--src-mac", *words.source_mac);
    if (options.source_mac && options.source_mac->is_group())
        refuse_value("--src-mac", *words.source_mac, "a group address cannot send");

    frames.sizes.clear();
    for (const std::string& word : words.sizes)
        frames.sizes.push_back(
            static_cast<unsigned>(parse_count("--size", word, smallest_frame_size, largest_frame_size)));
    for (const std::string& word : words.vlans)
        frames.vlans.push_back(static_cast<std::uint16_t>(parse_count("--vlan", word, 0, 4094)));

    // Where only one address is given, the other is the default of its family.
    std::optional<IpAddress> source;
    std::optional<IpAddress> destination;
    if (words.source)
        source = parse_source(*words.source);
    if (words.destination)
        destination = parse_address("--dst", *words.destination);
    const bool v6 = source ? source->v6() : destination && destination->v6();
    frames.source = source ? *source : *IpAddress::parse(v6 ? "2001:2::1" : "198.18.0.1");
    frames.destination = destination ? *destination : *IpAddress::parse(v6 ? "2001:2::2" : "198.18.0.2");
    if ((frames.destination.is_multicast() || frames.destination.is_broadcast()) && !options.destination_mac)
        options.destination_mac = group_mac(frames.destination);
    if (words.signature == "pktgen")
        frames.signature = Signature::pktgen;
    else if (words.signature && words.signature != "ours")
        refuse_value("--signature", *words.signature, "neither ours nor pktgen");
    frames.stamped = words.stamp;
    if (frames.stamped && frames.signature == Signature::pktgen)
        throw Error(ExitCode::usage, "--stamp with --signature pktgen", "only our own signature is stamped");
    if (words.source_ports)
        frames.source_ports = parse_ports("--src-port", *words.source_ports, 0); // RFC 768: from nobody
    if (words.streams) {
        // A source port each, as NICs spread flows over their queues by it.
        if (frames.source_ports.count() > 1)
            throw Error(ExitCode::usage, "--streams with a range of --src-port", "each stream has a port of its own",
                        "name the first of them");
        const unsigned most = std::numeric_limits<std::uint16_t>::max() - frames.source_ports.first + 1U;
        frames.streams = static_cast<unsigned>(parse_count("--streams", *words.streams, 1, most));
        frames.source_ports.last = static_cast<std::uint16_t>(frames.source_ports.first + frames.streams - 1);
    }
    if (frames.streams > 1 && frames.signature == Signature::pktgen)
        throw Error(ExitCode::usage, "--streams with --signature pktgen", "pktgen's signature tells no streams apart");
    if (words.destination_ports)
        frames.destination_ports = parse_ports("--port", *words.destination_ports, 1);
    if (frames.sizes.empty())
        frames.sizes = {frames.smallest_possible_size()};
    frames.validate();

    if (words.count && words.duration)
        throw Error(ExitCode::usage, "--count with --duration", "both say when to end", "choose one");
    if (words.count)
        options.plan.frames = parse_count("--count", *words.count, 1);
    if (words.duration)
        options.plan.duration = parse_duration("--duration", *words.duration);
    if (words.rate)
        options.plan.rate_fps = parse_rate(*words.rate);
    return options;
}

} // namespace

std::optional<Options> parse_options(int argc, const char* const* argv) {
    Options options;
    Words words;
    CLI::App app("Sends UDP test frames (RFC 2544) from an interface as fast as one CPU can make them, each with a\n"
                 "sequence number, and says how many really left.",
                 "xdp-gen");
    app.set_version_flag("--version", "xdp-gen " RESPONDER_VERSION);
    app.add_option("INTERFACE", options.interface, "interface to send from")->required()->type_name("");
    app.add_option("--dst-mac", words.destination_mac,
                   "MAC address of the receiver (required, unless --dst is multicast or 255.255.255.255)")
        ->type_name("MAC");
    app.add_option("--count", words.count, "end after this many frames")->type_name("FRAMES");
    app.add_option("--duration", words.duration, "end after this time (10, 500ms, 2m, 1h)")->type_name("TIME");
    add_list(app, "--size", words.sizes,
             "frame size in bytes, FCS and tags included (64, or what IPv6 needs); several take turns. 64 to 9216, "
             "as far as MTU and kernel allow",
             "BYTES");
    app.add_option("--src-mac", words.source_mac, "MAC address of the sender (the interface's own)")->type_name("MAC");
    app.add_option("--src", words.source, "IPv4 or IPv6 address of the sender (198.18.0.1, 2001:2::1)")
        ->type_name("ADDRESS");
    app.add_option("--dst", words.destination, "IPv4 or IPv6 address of the receiver (198.18.0.2, 2001:2::2)")
        ->type_name("ADDRESS");
    app.add_option("--src-port", words.source_ports, "UDP port of the sender (49184), or a range P-Q, which take turns")
        ->type_name("PORT[-PORT]");
    app.add_option("--port", words.destination_ports, "UDP port of the receiver (9), or a range P-Q, which take turns")
        ->type_name("PORT[-PORT]");
    add_list(app, "--vlan", words.vlans, "VLAN id, or the outer and the inner one: 100,200", "ID[,ID]");
    app.add_option(
           "--streams", words.streams,
           "streams, which take turns, each with sequence numbers and a source port of its own, from --src-port on (1)")
        ->type_name("STREAMS");
    app.add_option("--signature", words.signature,
                   "what carries the sequence number: ours, or pktgen for that of the kernel's pktgen (ours)")
        ->type_name("NAME");
    app.add_flag("--stamp", words.stamp,
                 "write the time of sending into every frame, for xdp-sink to say jitter and delay variation");
    app.add_option("--rate", words.rate, "frames a second (as fast as can be)")->type_name("FPS");
    app.add_flag("--json", options.json, "the summary as one JSON document");
    app.add_flag("--quiet", options.quiet, "nothing on stderr but errors");
    app.add_flag("--verbose", options.verbose, "also what libbpf and the kernel's verifier say");
    app.footer(
        "Without --count and --duration it ends with Ctrl-C. Exit status: 0 done, 64 a wrong option, 66 no such\n"
        "interface, 70 internal, 71 kernel or driver cannot send live frames, or not one frame left, 74 output,\n"
        "75 no link, 77 no permission.");
    if (!parse_command_line(app, argc, argv))
        return std::nullopt;
    return interpret(words, std::move(options));
}

} // namespace responder::gen
