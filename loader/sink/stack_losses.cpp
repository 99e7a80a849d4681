// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/stack_losses.h"

#include "loader/error.h"
#include "loader/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace responder {

namespace {

// The next word of `text`, which is taken off; empty at the end.
std::string_view take_word(std::string_view& text) noexcept {
    const auto first = text.find_first_not_of(" \t");
    if (first == text.npos)
        return text = {};
    const auto end = std::min(text.find_first_of(" \t", first), text.size());
    const std::string_view word = text.substr(first, end - first);
    text.remove_prefix(end);
    return word;
}

std::string_view take_line(std::string_view& text) noexcept {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

template <class Integer>
Integer number_of(std::string_view word, int base = 10) noexcept {
    Integer value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value, base);
    return value;
}

// Of /proc/net/snmp: a line of names and one of values, both beginning with "Udp:".
std::uint64_t snmp_value(std::string_view text, std::string_view protocol, std::string_view name) noexcept {
    while (!text.empty()) {
        std::string_view names = take_line(text), values = take_line(text);
        if (take_word(names) != protocol)
            continue;
        take_word(values);
        while (!names.empty()) {
            const std::string_view value = take_word(values);
            if (take_word(names) == name)
                return number_of<std::uint64_t>(value);
        }
    }
    return 0;
}

std::uint64_t snmp6_value(std::string_view text, std::string_view name) noexcept {
    while (!text.empty()) {
        std::string_view line = take_line(text);
        if (take_word(line) == name)
            return number_of<std::uint64_t>(take_word(line));
    }
    return 0;
}

std::string_view word_at(std::string_view line, unsigned index) noexcept {
    std::string_view word = take_word(line);
    while (index-- > 0)
        word = take_word(line);
    return word;
}

// In the namespace of the process. False where there is no such file: a kernel without IPv6 has no udp6.
bool read_file(const char* name, std::string& text) {
    const UniqueFd file(open(name, O_RDONLY | O_CLOEXEC));
    text.clear();
    if (!file)
        return false;
    constexpr std::size_t step = 16384;
    for (;;) {
        const std::size_t had = text.size();
        text.resize(had + step);
        const ssize_t got = read(file.get(), text.data() + had, step);
        text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got <= 0)
            return got == 0;
    }
}

StackCounters read_stack_counters() {
    std::string snmp, snmp6, softnet;
    read_file("/proc/self/net/snmp", snmp);
    read_file("/proc/self/net/snmp6", snmp6);
    read_file("/proc/self/net/softnet_stat", softnet);
    return stack_counters(snmp, snmp6, softnet);
}

} // namespace

StackCounters stack_counters(std::string_view snmp, std::string_view snmp6, std::string_view softnet) noexcept {
    StackCounters counters{
        .receive_buffer = snmp_value(snmp, "Udp:", "RcvbufErrors") + snmp6_value(snmp6, "Udp6RcvbufErrors"),
        .checksum = snmp_value(snmp, "Udp:", "InCsumErrors") + snmp6_value(snmp6, "Udp6InCsumErrors"),
        .in_errors = snmp_value(snmp, "Udp:", "InErrors") + snmp6_value(snmp6, "Udp6InErrors"),
        .no_port = snmp_value(snmp, "Udp:", "NoPorts") + snmp6_value(snmp6, "Udp6NoPorts"),
        .reassembly = snmp_value(snmp, "Ip:", "ReasmFails") + snmp6_value(snmp6, "Ip6ReasmFails"),
    };
    while (!softnet.empty()) // a line for each CPU
        counters.backlog += number_of<std::uint32_t>(word_at(take_line(softnet), 1), 16);
    return counters;
}

void find_udp_sockets(std::string_view text, const std::vector<std::uint16_t>& ports, std::vector<UdpSocket>& found) {
    take_line(text); // names
    while (!text.empty()) {
        const std::string_view line = take_line(text), local = word_at(line, 1);
        const auto port = number_of<std::uint16_t>(local.substr(std::min(local.find(':') + 1, local.size())), 16);
        if (std::ranges::find(ports, port) != ports.end())
            found.push_back({.port = port,
                             .inode = number_of<std::uint64_t>(word_at(line, 9)),
                             .drops = number_of<std::uint32_t>(word_at(line, 12))});
    }
}

StackWatch::StackWatch(std::vector<std::uint16_t> ports) : ports_(std::move(ports)), before_(read_stack_counters()) {
    read_sockets();
    followed_.swap(found_);
}

void StackWatch::read_sockets() {
    found_.clear();
    for (const char* name : {"/proc/self/net/udp", "/proc/self/net/udp6"})
        if (read_file(name, text_))
            find_udp_sockets(text_, ports_, found_);
}

void StackWatch::poll() {
    read_sockets();
    for (const UdpSocket& socket : found_) {
        const auto known = std::ranges::find(followed_, socket.inode, &UdpSocket::inode);
        // One that is new began with 0.
        watched_sockets_ += socket.drops - (known == followed_.end() ? 0 : known->drops);
    }
    followed_.swap(found_);
}

StackLosses StackWatch::losses() {
    poll();
    const StackCounters now = read_stack_counters();
    StackLosses rise;
    for (const auto counter : {&StackCounters::receive_buffer, &StackCounters::checksum, &StackCounters::in_errors,
                               &StackCounters::no_port, &StackCounters::reassembly, &StackCounters::backlog})
        rise.*counter = now.*counter - before_.*counter;
    rise.watched_sockets = watched_sockets_;
    return rise;
}

} // namespace responder
