// SPDX-License-Identifier: GPL-2.0-only

#include "loader/command_line.h"

#include "loader/command.h"
#include "loader/error.h"
#include "loader/ip_address.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

namespace responder {

namespace {

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

void check_list(const std::string& name, std::string_view list) {
    if (list.starts_with(',') || list.ends_with(',') || list.find(",,") != list.npos)
        refuse_value(name, list, "a value is missing beside a comma");
}

// What CLI11 takes without a word: `--option=` (it goes on to the next word for a value), `--flag=value`, and lists
// with empty items, which it drops.
void check_words(const CLI::App& app, int argc, const char* const* argv) {
    for (int i = 1; i < argc && argv[i] != std::string_view("--"); ++i) {
        const std::string word = argv[i];
        if (!word.starts_with("--"))
            continue;
        const auto equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const CLI::Option* option = app.get_option_no_throw(name);
        if (option == nullptr)
            continue;
        if (equals != word.npos && is_flag(*option))
            throw Error(ExitCode::usage, word, fmt::format("{} takes no value", name));
        if (equals + 1 == word.size())
            throw Error(ExitCode::usage, word, "its value is empty");
        if (option->get_delimiter() != ',')
            continue;
        if (equals != word.npos)
            check_list(name, std::string_view(word).substr(equals + 1));
        else if (i + 1 < argc)
            check_list(name, argv[++i]);
    }
}

void check_values(const CLI::App& app, const CLI::Option& option) {
    if (is_flag(option))
        return;
    const std::string name = option.get_name();
    for (const std::string& value : option.results()) {
        if (value.empty())
            throw Error(ExitCode::usage, name, "its value is empty");
        if (option.nonpositional() && value.starts_with("-") && app.get_option_no_throw(value) != nullptr)
            throw Error(ExitCode::usage, name, fmt::format("its value is missing: {} follows", value));
    }
    if (option.get_items_expected_max() == 1 && option.count() > 1)
        throw Error(ExitCode::usage, name, fmt::format("given {} times; it takes one value", option.count()));
}

// What only a value looks like, and no interface is called.
void check_interface(const std::string& word) {
    const bool number = word.find_first_not_of("0123456789-.,%") == word.npos || word.starts_with("0x");
    if ((number || Prefix::parse(word) || MacAddress::parse(word)) && if_nametoindex(word.c_str()) == 0)
        throw Error(ExitCode::usage, word, "this is no interface",
                    "several values of an option go between commas, like 1,2");
}

} // namespace

CLI::Option* add_list(CLI::App& app, const char* name, std::vector<std::string>& values, const char* text,
                      const char* type) {
    return app.add_option(name, values, text)->delimiter(',')->allow_extra_args(false)->type_name(type);
}

bool parse_command_line(CLI::App& app, int argc, const char* const* argv) {
    const std::string hint = fmt::format("{} --help lists the options", app.get_name());
    // Ours to name: words too many before any that is missing, and an option given twice.
    app.allow_extras();
    const CLI::Option* const interface = app.get_option("INTERFACE");
    for (CLI::Option* option : app.get_options())
        if (option->get_items_expected_max() == 1)
            option->take_last();
    check_words(app, argc, argv);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        write_all(STDOUT_FILENO, app.help());
        return false;
    } catch (const CLI::CallForVersion& version) {
        write_all(STDOUT_FILENO, std::string(version.what()) + "\n");
        return false;
    } catch (const CLI::ArgumentMismatch& error) { // "--option: 1 required TYPE missing"
        const std::string text = error.what();
        throw Error(ExitCode::usage, text.substr(0, text.find(':')), "its value is missing", hint);
    } catch (const CLI::RequiredError&) { // said at the end
    } catch (const CLI::ParseError& error) {
        throw Error(ExitCode::usage, error.what(), "", hint);
    }
    std::vector<std::string> extras = app.remaining();
    // CLI11 leaves the mark that ends the options among them; what follows it are names, whatever they begin with.
    const auto mark = std::ranges::find(extras, "--");
    const auto options_end = mark - extras.begin();
    if (mark != extras.end())
        extras.erase(mark);
    for (const std::string& word : std::span(extras).first(static_cast<std::size_t>(options_end)))
        if (word.starts_with("-"))
            throw Error(ExitCode::usage, word.substr(0, word.find('=')), "no such option", hint);
    for (const CLI::Option* option : app.get_options())
        check_values(app, *option);
    std::ranges::for_each(interface->results(), check_interface);
    std::ranges::for_each(extras, check_interface);
    if (!extras.empty())
        throw Error(ExitCode::usage, extras.front(), "a second interface; it takes one");
    if (interface->empty())
        throw Error(ExitCode::usage, "INTERFACE is missing", "", hint);
    return true;
}

void refuse_value(std::string_view option, std::string_view value, std::string why, std::string hint) {
    throw Error(ExitCode::usage, fmt::format("{} {}", option, value), std::move(why), std::move(hint));
}

namespace {

// The whole text as a number; nullopt for anything else.
template <class T>
std::optional<T> whole_number(std::string_view text) {
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

} // namespace

std::uint64_t parse_count(std::string_view option, const std::string& text, std::uint64_t lowest,
                          std::uint64_t highest) {
    const auto number = whole_number<std::uint64_t>(text);
    if (!number || *number < lowest || *number > highest)
        refuse_value(option, text,
                     highest == std::numeric_limits<std::uint64_t>::max()
                         ? fmt::format("not a whole number from {} on", lowest)
                         : fmt::format("not a whole number from {} to {}", lowest, highest));
    return *number;
}

std::pair<std::uint16_t, std::uint16_t> parse_range(std::string_view option, const std::string& text, unsigned lowest,
                                                    unsigned highest) {
    const auto dash = text.find('-');
    const auto first = whole_number<unsigned>(std::string_view(text).substr(0, dash));
    const auto last = dash == text.npos ? first : whole_number<unsigned>(std::string_view(text).substr(dash + 1));
    if (!first || !last || *first < lowest || *last > highest)
        refuse_value(option, text,
                     fmt::format("not a number from {} to {}, or two of them with a dash between", lowest, highest));
    if (*first > *last)
        refuse_value(option, text, "the range ends before it begins");
    return {static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
}

MacAddress parse_mac(std::string_view option, const std::string& text) {
    const auto mac = MacAddress::parse(text);
    if (!mac)
        refuse_value(option, text, "not a MAC address like 02:00:00:00:00:01");
    return *mac;
}

std::optional<std::pair<double, std::string_view>> split_number(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !std::isfinite(number) || number < 0)
        return std::nullopt;
    return std::pair{number, text.substr(static_cast<std::size_t>(end - text.data()))};
}

std::chrono::milliseconds parse_duration(std::string_view option, std::string_view text,
                                         std::chrono::milliseconds shortest) {
    constexpr std::pair<std::string_view, double> units[] = {{"", 1e3},   {"s", 1e3},    {"ms", 1},
                                                             {"m", 60e3}, {"min", 60e3}, {"h", 3600e3}};
    constexpr double longest = 100'000 * 3600e3; // 11 years: well inside what a clock can add
    const auto number = split_number(text);
    const auto unit =
        std::ranges::find(units, number ? number->second : "?", &std::pair<std::string_view, double>::first);
    if (unit == std::end(units))
        refuse_value(option, text, "not a time like 10, 500ms, 2m or 1h");
    const double time = number->first * unit->second;
    if (time < static_cast<double>(shortest.count()) || time > longest)
        refuse_value(option, text, fmt::format("not a time from {}ms to 100000h", shortest.count()));
    return std::chrono::milliseconds(std::llround(time));
}

std::chrono::nanoseconds parse_delay(std::string_view option, std::string_view text) {
    constexpr std::pair<std::string_view, double> units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const auto number = split_number(text);
    if (number && number->first == 0 && number->second.empty())
        return {};
    const auto unit =
        std::ranges::find(units, number ? number->second : "?", &std::pair<std::string_view, double>::first);
    if (unit == std::end(units))
        refuse_value(option, text, "not a time like 500ns, 20us, 2ms or 1s");
    if (number->first * unit->second > 1e9)
        refuse_value(option, text, "more than a second");
    return std::chrono::nanoseconds(std::llround(number->first * unit->second));
}

} // namespace responder
