// SPDX-License-Identifier: GPL-2.0-only

#include "loader/generate/frame_spec.h"

#include "bpf/signature/ours.h"
#include "bpf/signature/pattern.h"
#include "bpf/signature/pktgen.h"
#include "loader/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

namespace responder {

namespace {

constexpr unsigned ethernet_length = 14;
constexpr unsigned tag_length = 4;
constexpr unsigned ipv4_length = 20;
constexpr unsigned ipv6_length = 40;
constexpr unsigned udp_length = 8;

constexpr unsigned ethertype_ipv4 = 0x0800;
constexpr unsigned ethertype_ipv6 = 0x86DD;
constexpr unsigned ethertype_vlan = 0x8100;
constexpr unsigned ethertype_service_vlan = 0x88A8; // 802.1ad: the outer of two
constexpr std::uint8_t protocol_udp = 17;

unsigned ip_offset(const FrameSpec& spec) {
    return ethernet_length + tag_length * static_cast<unsigned>(spec.vlans.size());
}
unsigned udp_offset(const FrameSpec& spec) { return ip_offset(spec) + (spec.source.v6() ? ipv6_length : ipv4_length); }

void put16(std::uint8_t* at, unsigned value) {
    at[0] = static_cast<std::uint8_t>(value >> 8);
    at[1] = static_cast<std::uint8_t>(value);
}
void put32(std::uint8_t* at, std::uint32_t value) {
    put16(at, value >> 16);
    put16(at + 2, value & 0xFFFF);
}

// RFC 1071, not folded. No frame is long enough to overflow it.
std::uint32_t sum16(std::span<const std::uint8_t> octets) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < octets.size(); ++i)
        sum += i % 2 == 0 ? octets[i] << 8 : octets[i];
    return sum;
}

std::uint32_t fold(std::uint32_t sum) {
    while (sum > 0xFFFF)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return sum;
}

void put_ipv4(std::uint8_t* ip, unsigned length, const FrameSpec& spec) {
    ip[0] = 0x45;
    put16(ip + 2, length);
    ip[8] = spec.ttl;
    ip[9] = protocol_udp;
    std::memcpy(ip + 12, spec.source.bytes.data(), 4);
    std::memcpy(ip + 16, spec.destination.bytes.data(), 4);
    put16(ip + 10, ~fold(sum16({ip, ipv4_length})));
}

void put_ipv6(std::uint8_t* ip, unsigned length, const FrameSpec& spec) {
    ip[0] = 0x60;
    put16(ip + 4, length - ipv6_length);
    ip[6] = protocol_udp;
    ip[7] = spec.ttl;
    std::memcpy(ip + 8, spec.source.bytes.data(), 16);
    std::memcpy(ip + 24, spec.destination.bytes.data(), 16);
}

// Of a UDP datagram over IPv6, with the pseudo header; its checksum field counts as it is.
std::uint32_t udp6_sum(std::span<const std::uint8_t> udp, const FrameSpec& spec) {
    return fold(sum16(udp) + sum16(spec.source.bytes) + sum16(spec.destination.bytes) +
                static_cast<std::uint32_t>(udp.size()) + protocol_udp);
}

// The fields of a signature that change from frame to frame.
struct Numbers {
    std::uint32_t check = 0; // of our own
    std::uint32_t stream = 0;
    std::uint32_t sequence = 0;
};

constexpr std::size_t longest_signature = 16;
static_assert(longest_signature >= OURS_LENGTH && longest_signature >= PKTGEN_LENGTH);

std::span<const std::uint8_t> put_signature(std::array<std::uint8_t, longest_signature>& room, Signature signature,
                                            const Numbers& numbers) {
    room = {};
    if (signature == Signature::pktgen) {
        put32(&room[PKTGEN_MAGIC_OFFSET], PKTGEN_MAGIC);
        put32(&room[PKTGEN_SEQUENCE_OFFSET], numbers.sequence);
        return std::span(room).first<PKTGEN_LENGTH>();
    }
    put16(&room[OURS_MAGIC_OFFSET], OURS_MAGIC);
    put16(&room[OURS_CHECK_OFFSET], numbers.check);
    put16(&room[OURS_STREAM_OFFSET], numbers.stream);
    put32(&room[OURS_SEQUENCE_OFFSET], numbers.sequence);
    return std::span(room).first<OURS_LENGTH>();
}

void put_pattern(std::span<std::uint8_t> octets, const Numbers& numbers) {
    const std::uint64_t begin = pattern_begin(numbers.stream, numbers.sequence);
    for (std::uint32_t i = 0; i < octets.size(); ++i)
        octets[i] = pattern_octet(begin, i);
}

// Without UDP checksum, and without the pattern behind our own signature.
std::vector<std::uint8_t> lay_out(const FrameSpec& spec, unsigned size, unsigned source_port, unsigned destination_port,
                                  const Numbers& numbers) {
    std::vector<std::uint8_t> frame(size - fcs_length);
    const unsigned ip_at = ip_offset(spec);
    const unsigned udp_at = udp_offset(spec);
    const auto length = static_cast<unsigned>(frame.size());

    std::ranges::copy(spec.destination_mac.bytes, frame.begin());
    std::ranges::copy(spec.source_mac.bytes, frame.begin() + 6);
    std::uint8_t* at = frame.data() + 12;
    for (std::size_t tag = 0; tag < spec.vlans.size(); ++tag, at += tag_length) {
        put16(at, tag + 1 < spec.vlans.size() ? ethertype_service_vlan : ethertype_vlan);
        put16(at + 2, spec.vlans[tag]);
    }
    put16(at, spec.source.v6() ? ethertype_ipv6 : ethertype_ipv4);

    if (spec.source.v6())
        put_ipv6(frame.data() + ip_at, length - ip_at, spec);
    else
        put_ipv4(frame.data() + ip_at, length - ip_at, spec);

    std::uint8_t* udp = frame.data() + udp_at;
    put16(udp, source_port);
    put16(udp + 2, destination_port);
    put16(udp + 4, length - udp_at);

    std::array<std::uint8_t, longest_signature> room;
    const std::span signature = put_signature(room, spec.signature, numbers);
    const std::span payload = std::span(frame).subspan(udp_at + udp_length);
    std::copy_n(signature.begin(), std::min(signature.size(), payload.size()), payload.begin());
    if (spec.signature == Signature::pktgen)
        for (std::size_t i = signature.size(); i < payload.size(); ++i)
            payload[i] = static_cast<std::uint8_t>(i);
    return frame;
}

void put_udp6_checksum(std::span<std::uint8_t> udp, const FrameSpec& spec) {
    const std::uint32_t checksum = ~udp6_sum(udp, spec) & 0xFFFF;
    put16(udp.data() + 6, checksum != 0 ? checksum : 0xFFFF); // 0 would say that there is none
}

std::vector<std::uint8_t> frame_with(const FrameSpec& spec, unsigned size, unsigned source_port,
                                     unsigned destination_port, const Numbers& numbers) {
    std::vector<std::uint8_t> frame = lay_out(spec, size, source_port, destination_port, numbers);
    if (spec.signature == Signature::ours)
        put_pattern(std::span(frame).subspan(udp_offset(spec) + udp_length + OURS_LENGTH), numbers);
    if (spec.source.v6())
        put_udp6_checksum(std::span(frame).subspan(udp_offset(spec)), spec);
    return frame;
}

[[noreturn]] void refuse(std::string what, std::string why) {
    throw Error(ExitCode::usage, std::move(what), std::move(why));
}

} // namespace

unsigned FrameSpec::largest_size() const { return *std::ranges::max_element(sizes); }
unsigned FrameSpec::header_size() const noexcept { return udp_offset(*this) + udp_length + fcs_length; }
unsigned FrameSpec::smallest_possible_size() const noexcept {
    const unsigned needed = signature == Signature::ours ? +OURS_LENGTH : +PKTGEN_SEQUENCED_LENGTH;
    return std::max(smallest_frame_size, header_size() + needed);
}

void FrameSpec::validate() const {
    if (sizes.empty() || sizes.size() > GENERATE_SIZES)
        refuse("frame sizes", fmt::format("{} of them; 1 to {} can take turns", sizes.size(), +GENERATE_SIZES));
    if (streams == 0 || streams > 1U << 16 || (streams != 1 && signature != Signature::ours))
        refuse(fmt::format("{} streams", streams), "our own signature tells 1 to 65536 of them apart, pktgen's none");
    if (stamped && signature != Signature::ours)
        refuse("a time of sending", "only our own signature carries one");
    if (vlans.size() > 2)
        refuse("VLAN tags", fmt::format("{} of them; a frame carries at most two", vlans.size()));
    for (const unsigned vlan : vlans)
        if (vlan > 4094)
            refuse(fmt::format("VLAN {}", vlan), "an id is a number from 0 to 4094");
    if (source.v6() != destination.v6())
        refuse("source and destination address", "one is IPv4 and the other IPv6");
    if (source_mac.is_group())
        refuse(fmt::format("source MAC {}", to_string(source_mac)), "a group address cannot send");
    for (const PortRange& ports : {source_ports, destination_ports})
        if (ports.last < ports.first)
            refuse(fmt::format("UDP ports {}-{}", ports.first, ports.last), "the range ends before it begins");
    for (const unsigned size : sizes) {
        if (size < smallest_frame_size || size > largest_frame_size)
            refuse(fmt::format("frame size {}", size),
                   fmt::format("frames have {} to {} bytes, FCS included", smallest_frame_size, largest_frame_size));
        if (size < smallest_possible_size())
            refuse(fmt::format("frame size {}", size),
                   fmt::format("UDP over {} with {} VLAN tags and the signature needs {} bytes, FCS included",
                               source.v6() ? "IPv6" : "IPv4", vlans.size(), smallest_possible_size()));
    }
}

std::vector<std::uint8_t> build_frame(const FrameSpec& spec, std::uint64_t number) {
    const auto source = static_cast<unsigned>(number % spec.source_ports.count());
    const auto destination = static_cast<unsigned>(number % spec.destination_ports.count());
    Numbers numbers{.sequence = static_cast<std::uint32_t>(number)};
    if (spec.signature == Signature::ours) {
        numbers.stream = static_cast<std::uint32_t>(number % spec.streams);
        numbers.sequence = static_cast<std::uint32_t>(number / spec.streams);
        numbers.check = static_cast<std::uint32_t>(ours_check(numbers.stream, numbers.sequence, 0));
    }
    return frame_with(spec, spec.sizes[number % spec.sizes.size()], spec.source_ports.first + source,
                      spec.destination_ports.first + destination, numbers);
}

std::vector<std::uint8_t> template_frame(const FrameSpec& spec) {
    return frame_with(spec, spec.largest_size(), spec.source_ports.first, spec.destination_ports.first, {});
}

generate_cfg generate_config(const FrameSpec& spec) {
    generate_cfg config{};
    // As far as the signature's first 4 octets, behind which it is written anew for each frame.
    const unsigned head_length = spec.header_size() - fcs_length + 4;
    for (std::size_t i = 0; i < spec.sizes.size(); ++i) {
        const std::vector<std::uint8_t> frame =
            lay_out(spec, spec.sizes[i], spec.source_ports.first, spec.destination_ports.first, {});
        generate_size& size = config.size[i];
        std::copy_n(frame.begin(), head_length, size.head);
        if (spec.source.v6())
            size.udp_sum = udp6_sum(std::span(frame).subspan(udp_offset(spec)), spec);
        size.length = static_cast<std::uint16_t>(frame.size());
    }
    config.size_count = static_cast<std::uint8_t>(spec.sizes.size());
    config.head_length = static_cast<std::uint8_t>(head_length);
    config.udp_offset = static_cast<std::uint8_t>(udp_offset(spec));
    config.udp6 = spec.source.v6();
    config.ours = spec.signature == Signature::ours;
    config.stamped = spec.stamped;
    config.streams = spec.streams;
    config.source_ports = spec.source_ports.count();
    config.destination_ports = spec.destination_ports.count();
    return config;
}

std::vector<SizeCount> frames_by_size(const FrameSpec& spec, std::uint64_t frames) {
    std::map<unsigned, std::uint64_t> counts;
    const std::uint64_t rounds = frames / spec.sizes.size();
    const std::uint64_t rest = frames % spec.sizes.size();
    for (std::size_t i = 0; i < spec.sizes.size(); ++i)
        counts[spec.sizes[i]] += rounds + (i < rest ? 1 : 0);
    std::vector<SizeCount> result;
    for (const auto& [size, count] : counts)
        result.push_back({size, count});
    return result;
}

} // namespace responder
