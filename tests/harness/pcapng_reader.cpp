// SPDX-License-Identifier: GPL-2.0-only

#include "tests/harness/pcapng_reader.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

namespace responder::test {

namespace {

using View = std::span<const std::uint8_t>;

[[noreturn]] void wrong(const std::string& what) { throw std::runtime_error("pcapng: " + what); }

View take(View& from, std::size_t size) {
    if (size > from.size())
        wrong("it ends within a block");
    const View taken = from.first(size);
    from = from.subspan(size);
    return taken;
}

template <class T>
T take(View& from) {
    T value;
    std::memcpy(&value, take(from, sizeof(T)).data(), sizeof(T));
    return value;
}

std::uint64_t take_time(View& from) {
    const std::uint64_t high = take<std::uint32_t>(from);
    return high << 32 | take<std::uint32_t>(from);
}

void take_padding(View& from, std::size_t size) {
    for (const std::uint8_t octet : take(from, -size % 4))
        if (octet != 0)
            wrong("padding that is not zero");
}

void take_options(View& from, PcapngBlock& block) {
    for (bool ended = false; !from.empty();) {
        if (ended)
            wrong("something behind the end of the options");
        const auto code = take<std::uint16_t>(from);
        const auto size = take<std::uint16_t>(from);
        const View value = take(from, size);
        take_padding(from, size);
        if (code == 0)
            ended = true;
        else
            block.options.emplace(code, std::vector(value.begin(), value.end()));
    }
}

} // namespace

std::string PcapngBlock::text(std::uint16_t option) const {
    const auto found = options.find(option);
    return found == options.end() ? "" : std::string(found->second.begin(), found->second.end());
}

std::uint64_t PcapngBlock::number(std::uint16_t option) const {
    const auto found = options.find(option);
    if (found == options.end())
        return 0;
    View octets(found->second);
    return octets.size() == 8 ? take<std::uint64_t>(octets) : take<std::uint32_t>(octets);
}

PcapngFile parse_pcapng(const Octets& octets) {
    PcapngFile file;
    file.size = octets.size();
    View rest(octets);
    if (rest.empty())
        wrong("empty");
    while (!rest.empty()) {
        View head = rest;
        PcapngBlock block;
        block.type = take<std::uint32_t>(head);
        const auto length = take<std::uint32_t>(head);
        if (length < 12 || length % 4 != 0)
            wrong("a block's length");
        View body = take(rest, length).subspan(8);
        View tail = body.last(4);
        if (take<std::uint32_t>(tail) != length)
            wrong("a block's two lengths differ");
        body = body.first(body.size() - 4);
        const auto take_body = [&](std::size_t size) {
            const View taken = take(body, size);
            block.body.assign(taken.begin(), taken.end());
        };
        if ((block.type == 0x0a0d0d0a) != (file.section.type == 0))
            wrong("not one section, and that first");
        if (block.type == 0x0a0d0d0a) {
            take_body(16);
            take_options(body, block);
            file.section = std::move(block);
        } else if (block.type == 1) {
            take_body(8);
            take_options(body, block);
            file.interfaces.push_back(std::move(block));
        } else if (block.type == 5) {
            take_body(12);
            take_options(body, block);
            View of(block.body);
            if (take<std::uint32_t>(of) != file.statistics.size())
                wrong("statistics out of order");
            file.statistics.push_back(std::move(block));
        } else if (block.type == 6) {
            PcapngPacket packet;
            packet.interface = take<std::uint32_t>(body);
            packet.time_ns = take_time(body);
            const auto captured = take<std::uint32_t>(body);
            packet.length = take<std::uint32_t>(body);
            const View data = take(body, captured);
            packet.octets.assign(data.begin(), data.end());
            take_padding(body, captured);
            take_options(body, block);
            packet.comment = block.text(1);
            packet.flags = static_cast<std::uint32_t>(block.number(2));
            packet.lost_before = block.number(4);
            packet.queue = static_cast<std::uint32_t>(block.number(6));
            if (packet.interface >= file.interfaces.size() || packet.length < captured)
                wrong("a packet of no interface, or shorter than what is kept of it");
            file.packets.push_back(std::move(packet));
        } else {
            wrong("a block of type " + std::to_string(block.type));
        }
    }
    return file;
}

PcapngFile read_pcapng(const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    if (!in)
        throw std::runtime_error("cannot open " + name);
    return parse_pcapng({std::istreambuf_iterator<char>(in), {}});
}

} // namespace responder::test
