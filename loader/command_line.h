// SPDX-License-Identifier: GPL-2.0-only
//
// How our commands read their command line: CLI11 tells the words apart, what is wrong with them is said in our
// sentences, and the values that several commands know are read here. Whatever is wrong throws Error(usage), which
// names the option and the value.

#pragma once

#include "loader/mac_address.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace responder {

// An option that takes several values, between commas or by repeating it.
CLI::Option* add_list(CLI::App& app, const char* name, std::vector<std::string>& values, const char* text,
                      const char* type);

// `app` has a positional INTERFACE. False: --help or --version was answered on stdout.
bool parse_command_line(CLI::App& app, int argc, const char* const* argv);

[[noreturn]] void refuse_value(std::string_view option, std::string_view value, std::string why, std::string hint = {});

std::uint64_t parse_count(std::string_view option, const std::string& text, std::uint64_t lowest,
                          std::uint64_t highest = std::numeric_limits<std::uint64_t>::max());

// "5" or "5-7".
std::pair<std::uint16_t, std::uint16_t> parse_range(std::string_view option, const std::string& text, unsigned lowest,
                                                    unsigned highest);

MacAddress parse_mac(std::string_view option, const std::string& text);

// "10", "10s", "500ms", "2m", "1h".
std::chrono::milliseconds parse_duration(std::string_view option, std::string_view text,
                                         std::chrono::milliseconds shortest = std::chrono::milliseconds(1));

// "500ns", "20us", "2ms", "1s"; "0" needs no unit.
std::chrono::nanoseconds parse_delay(std::string_view option, std::string_view text);

// A number in front and what follows it; nullopt where there is no finite, non-negative number.
std::optional<std::pair<double, std::string_view>> split_number(std::string_view text);

} // namespace responder
