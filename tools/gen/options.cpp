// SPDX-License-Identifier: GPL-2.0-only

#include "tools/gen/options.h"

#include "loader/command.h"
#include "loader/error.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

namespace responder::gen {

namespace {

// The command line as it was written, before any of it means something.
struct Words {
    std::vector<std::string> sizes{"64"};
    std::vector<std::string> vlans;
    std::string count, duration, rate;
    std::string destination_mac, source_mac, source, destination, source_ports, destination_ports;
};

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string why) {
    throw Error(ExitCode::usage, fmt::format("{} {}", option, text), std::move(why));
}

// The whole text as a number of type T; nullopt for anything else.
template <class T>
std::optional<T> number(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::uint64_t parse_count(const std::string& text) {
    const auto count = number<std::uint64_t>(text);
    if (!count || *count == 0)
        refuse("--count", text, "not a whole number from 1");
    return *count;
}

double parse_double(std::string_view option, const std::string& text, double least, double most) {
    const auto value = number<double>(text);
    if (!value || !(*value >= least && *value <= most))
        refuse(option, text, fmt::format("not a number from {} to {}", least, most));
    return *value;
}

MacAddress parse_mac(std::string_view option, const std::string& text) {
    const auto mac = MacAddress::parse(text);
    if (!mac)
        refuse(option, text, "not a MAC address; it has six pairs of hexadecimal digits between colons");
    return *mac;
}

IpAddress parse_address(std::string_view option, const std::string& text) {
    const auto address = IpAddress::parse(text);
    if (!address)
        refuse(option, text, "neither an IPv4 nor an IPv6 address");
    return *address;
}

PortRange parse_ports(std::string_view option, const std::string& text) {
    const auto dash = text.find('-');
    const auto first = number<std::uint16_t>(std::string_view(text).substr(0, dash));
    const auto last = dash == text.npos ? first : number<std::uint16_t>(std::string_view(text).substr(dash + 1));
    if (!first || !last)
        refuse(option, text, "neither a UDP port nor two of them with a dash between, each from 0 to 65535");
    return {*first, *last};
}

std::optional<Options> interpret(const Words& words, Options options) {
    FrameSpec& frames = options.frames;
    if (words.destination_mac.empty())
        throw Error(ExitCode::usage, "--dst-mac is missing", "frames need a receiver",
                    "give the MAC address of the port that shall receive them, which `ip link` shows over there");
    frames.destination_mac = parse_mac("--dst-mac", words.destination_mac);
    options.has_source_mac = !words.source_mac.empty();
    if (options.has_source_mac)
        frames.source_mac = parse_mac("--src-mac", words.source_mac);

    frames.sizes.clear();
    for (const std::string& word : words.sizes) {
        const auto size = number<unsigned>(word);
        if (!size)
            refuse("--size", word, "not a frame size in bytes, FCS included");
        frames.sizes.push_back(*size);
    }
    for (const std::string& word : words.vlans) {
        const auto vlan = number<std::uint16_t>(word);
        if (!vlan)
            refuse("--vlan", word, "an id is a number from 0 to 4094");
        frames.vlans.push_back(*vlan);
    }

    // Where only one address is given, the other is the default of its family.
    std::optional<IpAddress> source;
    std::optional<IpAddress> destination;
    if (!words.source.empty())
        source = parse_address("--src", words.source);
    if (!words.destination.empty())
        destination = parse_address("--dst", words.destination);
    const bool v6 = (source && source->v6) || (!source && destination && destination->v6);
    frames.source = source ? *source : *IpAddress::parse(v6 ? "2001:2::1" : "198.18.0.1");
    frames.destination = destination ? *destination : *IpAddress::parse(v6 ? "2001:2::2" : "198.18.0.2");
    if (!words.source_ports.empty())
        frames.source_ports = parse_ports("--src-port", words.source_ports);
    if (!words.destination_ports.empty())
        frames.destination_ports = parse_ports("--port", words.destination_ports);
    frames.validate();

    if (!words.count.empty())
        options.plan.frames = parse_count(words.count);
    if (!words.duration.empty())
        options.plan.duration =
            std::chrono::nanoseconds(std::llround(1e9 * parse_double("--duration", words.duration, 0.001, 30 * 86400)));
    if (!words.rate.empty())
        options.plan.rate_fps = parse_double("--rate", words.rate, 0.01, 1e8);
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
    CLI::Option* count = app.add_option("--count", words.count, "end after this many frames")->type_name("FRAMES");
    app.add_option("--duration", words.duration, "end after this many seconds")->type_name("SECONDS")->excludes(count);
    app.add_option("--size", words.sizes, "frame size in bytes, FCS and tags included (64); several take turns")
        ->type_name("BYTES")
        ->delimiter(',')
        ->expected(1)
        ->take_all();
    app.add_option("--dst-mac", words.destination_mac, "MAC address of the receiver")->type_name("MAC");
    app.add_option("--src-mac", words.source_mac, "MAC address of the sender (the interface's own)")->type_name("MAC");
    app.add_option("--src", words.source, "IPv4 or IPv6 address of the sender (198.18.0.1, 2001:2::1)")
        ->type_name("ADDRESS");
    app.add_option("--dst", words.destination, "IPv4 or IPv6 address of the receiver (198.18.0.2, 2001:2::2)")
        ->type_name("ADDRESS");
    app.add_option("--src-port", words.source_ports, "UDP port of the sender (49184), or a range P-Q, which take turns")
        ->type_name("PORT[-PORT]");
    app.add_option("--port", words.destination_ports, "UDP port of the receiver (9), or a range P-Q, which take turns")
        ->type_name("PORT[-PORT]");
    app.add_option("--vlan", words.vlans, "VLAN id, or the outer and the inner one: 100,200")
        ->type_name("ID[,ID]")
        ->delimiter(',')
        ->expected(1)
        ->take_all();
    app.add_option("--rate", words.rate, "frames a second (as fast as can be)")->type_name("FPS");
    app.add_flag("--json", options.json, "the summary as one JSON document");
    app.add_flag("--quiet", options.quiet, "nothing on stderr but errors");
    app.add_flag("--verbose", options.verbose, "also what libbpf and the kernel's verifier say");
    app.footer(
        "Without --count and --duration it ends with Ctrl-C. Exit status: 0 done, 64 a wrong option, 66 no such\n"
        "interface, 70 internal, 71 the kernel or the driver cannot do it, 74 output, 75 no link, 77 no permission.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        write_all(STDOUT_FILENO, app.help());
        return std::nullopt;
    } catch (const CLI::CallForVersion& version) {
        write_all(STDOUT_FILENO, std::string(version.what()) + '\n');
        return std::nullopt;
    } catch (const CLI::ParseError& error) {
        throw Error(ExitCode::usage, error.what(), "", "xdp-gen --help lists the options");
    }
    return interpret(words, std::move(options));
}

} // namespace responder::gen
