// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/watch.h"

#include "loader/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace responder {

namespace {

constexpr watch_port default_watches[] = {{.port = 5201, .format = STREAM_IPERF3},
                                          {.port = 5001, .format = STREAM_IPERF2}};

struct FormatName {
    stream_format format;
    std::string_view name;
};
constexpr FormatName format_names[] = {
#define X(id, name) {STREAM_##id, name},
    STREAM_FORMATS(X)
#undef X
};

std::string all_format_names() {
    std::vector<std::string_view> names;
    for (const FormatName& each : format_names)
        names.push_back(each.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

watch_port parse_watch(const std::string& text) {
    constexpr std::string_view protocol = "udp/";
    const std::size_t colon = std::min(text.find(':'), text.size());
    std::uint16_t port = 0;
    const char* end = nullptr;
    if (text.starts_with(protocol))
        end = std::from_chars(text.data() + protocol.size(), text.data() + colon, port).ptr;
    if (port == 0 || end != text.data() + colon)
        refuse_value("--watch", text, "not a port like udp/5201, udp/5201:iperf3-64, or none");
    watch_port watch{.port = port, .format = STREAM_IPERF3};
    const auto* usual = std::ranges::find(default_watches, watch.port, &watch_port::port);
    if (colon != text.size()) {
        const std::string_view name = std::string_view(text).substr(colon + 1);
        if (name.empty())
            refuse_value("--watch", std::string_view(text).substr(0, colon), "no format behind the colon",
                         "there are " + all_format_names());
        const auto* found = std::ranges::find(format_names, name, &FormatName::name);
        if (found == std::end(format_names))
            refuse_value("--watch", text, "knows no such format", "there are " + all_format_names());
        watch.format = static_cast<__u16>(found->format);
    } else if (usual != std::end(default_watches)) {
        watch.format = usual->format;
    }
    return watch;
}

} // namespace

std::string_view format_name(stream_format format) noexcept {
    const auto* found = std::ranges::find(format_names, format, &FormatName::format);
    return found == std::end(format_names) ? "" : found->name;
}

std::vector<watch_port> parse_watches(const std::vector<std::string>& texts) {
    std::vector<watch_port> watches;
    for (const std::string& text : texts) {
        if (text == "none")
            continue;
        const watch_port watch = parse_watch(text);
        if (std::ranges::find(watches, watch.port, &watch_port::port) != watches.end())
            refuse_value("--watch", text, "this port is watched already", "a port has one format");
        watches.push_back(watch);
    }
    if (std::ranges::find(texts, "none") == texts.end())
        std::ranges::copy_if(default_watches, std::back_inserter(watches), [&](const watch_port& usual) {
            return std::ranges::find(watches, usual.port, &watch_port::port) == watches.end();
        });
    if (watches.size() > WATCH_PORTS)
        refuse_value("--watch", texts.back(), fmt::format("more than {} ports", int{WATCH_PORTS}));
    return watches;
}

std::string describe(std::span<const watch_port> watches) {
    std::vector<std::string> texts;
    for (const watch_port& watch : watches)
        texts.push_back(
            fmt::format("{} on UDP port {}", format_name(static_cast<stream_format>(watch.format)), watch.port));
    return fmt::format("{}", fmt::join(texts, ", "));
}

} // namespace responder
