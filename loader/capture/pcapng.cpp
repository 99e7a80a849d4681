// SPDX-License-Identifier: GPL-2.0-only

#include "loader/capture/pcapng.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <limits>

namespace responder::pcapng {

namespace {

// The draft's numbers.
enum BlockType : std::uint32_t {
    section_header = 0x0a0d0d0a,
    interface_description = 1,
    interface_statistics = 5,
    enhanced_packet = 6,
};
constexpr std::uint32_t byte_order_magic = 0x1a2b3c4d;
constexpr std::uint16_t linktype_ethernet = 1;
enum Option : std::uint16_t {
    end_of_options = 0,
    opt_comment = 1,
    shb_hardware = 2,
    shb_os = 3,
    shb_userappl = 4,
    if_name = 2,
    if_speed = 8,
    if_tsresol = 9,
    if_filter = 11,
    if_hardware = 15,
    epb_flags = 2,
    epb_dropcount = 4,
    epb_queue = 6,
    isb_starttime = 2,
    isb_endtime = 3,
    isb_ifrecv = 4,
    isb_ifdrop = 5,
    isb_osdrop = 7,
    isb_usrdeliv = 8,
};
constexpr std::uint8_t nanoseconds = 9;
constexpr std::uint32_t inbound = 1;

constexpr std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }
constexpr std::size_t option_size(std::size_t size) { return 4 + padded(size); }

// Writes one block into memory that has room for it.
class Writer {
  public:
    Writer(std::uint8_t* to, BlockType type) noexcept : begin_(to), at_(to) {
        u32(type);
        u32(0); // the length, once it is known
    }

    void u16(std::uint16_t value) noexcept { raw(&value, sizeof(value)); }
    void u32(std::uint32_t value) noexcept { raw(&value, sizeof(value)); }
    void u64(std::uint64_t value) noexcept { raw(&value, sizeof(value)); }
    void time(std::uint64_t ns) noexcept {
        u32(static_cast<std::uint32_t>(ns >> 32));
        u32(static_cast<std::uint32_t>(ns));
    }
    void octets(const void* data, std::size_t size) noexcept {
        raw(data, size);
        std::memset(at_, 0, padded(size) - size);
        at_ += padded(size) - size;
    }

    void option(Option code, std::string_view text) noexcept {
        head(code, text.size());
        octets(text.data(), text.size());
    }
    template <std::unsigned_integral Number>
    void option(Option code, Number value) noexcept {
        head(code, sizeof(value));
        octets(&value, sizeof(value));
    }
    void option_time(Option code, std::uint64_t ns) noexcept {
        head(code, 8);
        time(ns);
    }

    std::size_t end() noexcept { // the options', and the block's; its size
        head(end_of_options, 0);
        const auto length = static_cast<std::uint32_t>(at_ - begin_ + 4);
        u32(length);
        std::memcpy(begin_ + 4, &length, sizeof(length));
        return length;
    }

  private:
    void raw(const void* data, std::size_t size) noexcept {
        if (size != 0)
            std::memcpy(at_, data, size);
        at_ += size;
    }
    void head(Option code, std::size_t size) noexcept {
        u16(code);
        u16(static_cast<std::uint16_t>(size));
    }

    std::uint8_t* begin_;
    std::uint8_t* at_;
};

constexpr std::size_t longest_text = 1024; // of a name, a description; what is beyond is cut off

std::string_view cut(std::string_view text, std::size_t longest = longest_text) { return text.substr(0, longest); }

std::string_view kept_comment(const Packet& packet) noexcept { return cut(packet.comment, longest_comment); }

} // namespace

Octets section_block(const Section& section) {
    Octets block(64 + 3 * option_size(longest_text));
    Writer writer(block.data(), section_header);
    writer.u32(byte_order_magic);
    writer.u16(1); // version 1.0
    writer.u16(0);
    writer.u64(std::numeric_limits<std::uint64_t>::max()); // how long the section is, is not known beforehand
    writer.option(shb_hardware, cut(section.hardware));
    writer.option(shb_os, cut(section.os));
    writer.option(shb_userappl, cut(section.application));
    block.resize(writer.end());
    return block;
}

Octets interface_block(const Interface& interface) {
    Octets block(64 + 3 * option_size(longest_text));
    Writer writer(block.data(), interface_description);
    writer.u16(linktype_ethernet);
    writer.u16(0);
    writer.u32(interface.snaplen);
    writer.option(if_name, cut(interface.name));
    if (interface.speed_bps != 0)
        writer.option(if_speed, interface.speed_bps);
    writer.option(if_tsresol, nanoseconds);
    // Its first octet says of which kind it is; 0, a string.
    writer.option(if_filter, cut(std::string(1, '\0') + interface.filter));
    if (!interface.hardware.empty())
        writer.option(if_hardware, cut(interface.hardware));
    block.resize(writer.end());
    return block;
}

Octets statistics_block(std::uint32_t interface, const Statistics& statistics) {
    Octets block(longest_statistics_block);
    Writer writer(block.data(), interface_statistics);
    writer.u32(interface);
    writer.time(statistics.ended_ns);
    writer.option_time(isb_starttime, statistics.started_ns);
    writer.option_time(isb_endtime, statistics.ended_ns);
    if (statistics.received)
        writer.option(isb_ifrecv, *statistics.received);
    if (statistics.dropped_by_interface)
        writer.option(isb_ifdrop, *statistics.dropped_by_interface);
    writer.option(isb_osdrop, statistics.dropped_by_system);
    writer.option(isb_usrdeliv, statistics.delivered);
    block.resize(writer.end());
    return block;
}

std::size_t packet_block_size(const Packet& packet) noexcept {
    constexpr std::size_t fixed = 28, flags_and_queue = 2 * option_size(4), end = 4 + 4;
    return fixed + padded(packet.octets.size()) + flags_and_queue + (packet.lost_before != 0 ? option_size(8) : 0) +
           (packet.comment.empty() ? 0 : option_size(kept_comment(packet).size())) + end;
}

void write_packet_block(const Packet& packet, std::uint8_t* to) noexcept {
    Writer writer(to, enhanced_packet);
    writer.u32(packet.interface);
    writer.time(packet.time_ns);
    writer.u32(static_cast<std::uint32_t>(packet.octets.size()));
    writer.u32(packet.length);
    writer.octets(packet.octets.data(), packet.octets.size());
    if (!packet.comment.empty())
        writer.option(opt_comment, kept_comment(packet));
    writer.option(epb_flags, inbound);
    if (packet.lost_before != 0)
        writer.option(epb_dropcount, packet.lost_before);
    writer.option(epb_queue, packet.queue);
    writer.end();
}

Block first_block(std::span<const std::uint8_t> blocks) noexcept {
    std::uint32_t head[3]; // the shortest block has as much
    std::memcpy(head, blocks.data(), sizeof(head));
    return {.length = head[1], .packet_of = head[0] == enhanced_packet ? std::optional(head[2]) : std::nullopt};
}

} // namespace responder::pcapng
