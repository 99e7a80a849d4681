// SPDX-License-Identifier: GPL-2.0-only

#include "loader/capture/capture_options.h"

#include "loader/command_line.h"
#include "loader/error.h"

#include <CLI/CLI.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace responder {

namespace {

constexpr std::uint64_t shortest_snaplen = 14; // an Ethernet header
constexpr std::uint64_t longest_snaplen = 65535;
constexpr double smallest_size = 1e6; // holds the longest frame many times over
constexpr double largest_size = 1e15;

std::uint64_t parse_size(const std::string& text) {
    constexpr std::pair<std::string_view, double> units[] = {{"", 1},    {"k", 1e3}, {"K", 1e3},
                                                             {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};
    const auto number = split_number(text);
    const auto unit =
        std::ranges::find(units, number ? number->second : "?", &std::pair<std::string_view, double>::first);
    if (unit == std::end(units))
        refuse_value("--pcap-size", text, "not a size like 100M or 2G (k, M, G and T are powers of 1000)");
    const double size = number->first * unit->second;
    if (size < smallest_size || size > largest_size)
        refuse_value("--pcap-size", text, "not a size from 1M to 1000T");
    return static_cast<std::uint64_t>(size);
}

// Also /dev/stdout, and the file or pipe that it goes to.
bool is_standard_output(const std::string& file) {
    struct stat named {
    }, output{};
    return file == "-" ||
           (file != "/dev/null" && stat(file.c_str(), &named) == 0 && fstat(STDOUT_FILENO, &output) == 0 &&
            named.st_dev == output.st_dev && named.st_ino == output.st_ino);
}

} // namespace

void CaptureOptions::add_to(CLI::App& app) {
    const auto add = [&app](const char* name, std::optional<std::string>& value, const char* text, const char* type) {
        app.add_option(name, value, text)->type_name(type)->group("Capture");
    };
    add("--pcap", file, "write the test frames into this file, as pcapng; -: to standard output", "FILE");
    add("--pcap-size", size, "of a file, at most, like 100M; with it the capture is over, or the next file begins",
        "SIZE");
    add("--pcap-files", files, "begin a next file whenever one has its size, and keep this many", "FILES");
    add("--pcap-snaplen", snaplen, "keep only so many octets of each frame (65535)", "OCTETS");
    add("--pcap-traffic", traffic, "test, or all: also the frames that pass up the stack", "TRAFFIC");
}

std::optional<CapturePlan> CaptureOptions::build() const {
    if (!file) {
        for (const auto& [name, value] : {std::pair{"--pcap-size", &size}, std::pair{"--pcap-files", &files},
                                          std::pair{"--pcap-snaplen", &snaplen}, std::pair{"--pcap-traffic", &traffic}})
            if (*value)
                refuse_value(name, **value, "there is no capture", "add --pcap FILE");
        return std::nullopt;
    }
    CapturePlan plan{.file = is_standard_output(*file) ? "-" : *file, .limits = {}, .snaplen = longest_snaplen};
    if (size)
        plan.limits.size = parse_size(*size);
    if (files) {
        plan.limits.files = static_cast<unsigned>(parse_count("--pcap-files", *files, 1, 100'000));
        if (!size)
            refuse_value("--pcap-files", *files, "no size is given at which the next file begins", "add --pcap-size");
        if (plan.to_standard_output())
            refuse_value("--pcap-files", *files, "standard output is one file", "give --pcap a name");
    }
    if (snaplen)
        plan.snaplen =
            static_cast<std::uint32_t>(parse_count("--pcap-snaplen", *snaplen, shortest_snaplen, longest_snaplen));
    if (traffic == "all")
        plan.passed = true;
    else if (traffic && *traffic != "test")
        refuse_value("--pcap-traffic", *traffic, "not test or all");
    return plan;
}

} // namespace responder
