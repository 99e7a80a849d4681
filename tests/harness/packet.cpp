// SPDX-License-Identifier: GPL-2.0-only

#include "tests/harness/packet.h"

#include <arpa/inet.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace responder::test::packet {

namespace {

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};

class Writer {
  public:
    Writer& u8(unsigned value) {
        octets_.push_back(static_cast<std::uint8_t>(value));
        return *this;
    }
    Writer& u16(unsigned value) { return u8(value >> 8).u8(value); }
    Writer& u32(std::uint32_t value) { return u16(value >> 16).u16(value & 0xffff); }
    Writer& all(std::span<const std::uint8_t> octets) {
        octets_.insert(octets_.end(), octets.begin(), octets.end());
        return *this;
    }
    Writer& zeros(std::size_t count) {
        octets_.resize(octets_.size() + count);
        return *this;
    }
    Octets& octets() { return octets_; }

  private:
    Octets octets_;
};

void put16(Octets& octets, std::size_t at, unsigned value) {
    octets.at(at) = static_cast<std::uint8_t>(value >> 8);
    octets.at(at + 1) = static_cast<std::uint8_t>(value);
}

// What a layer is called in the EtherType field of the layer around it; 0x88b5 is IEEE's for local experiments.
std::uint16_t ethertype_of(const Layer* layer) {
    if (!layer)
        return 0x88b5;
    return std::visit(Overloaded{
                          [](const Vlan& vlan) -> std::uint16_t { return vlan.protocol; },
                          [](const Ipv4&) -> std::uint16_t { return 0x0800; },
                          [](const Ipv6&) -> std::uint16_t { return 0x86dd; },
                          [](const Arp&) -> std::uint16_t { return 0x0806; },
                          [](const auto&) -> std::uint16_t { return 0x88b5; },
                      },
                      *layer);
}

// Likewise in IP's; 59 is "no next header", 253 for experiments.
std::uint8_t protocol_of(const Layer* layer, bool v6) {
    if (!layer)
        return v6 ? 59 : 253;
    return std::visit(Overloaded{
                          [](const Extension& extension) -> std::uint8_t { return extension.kind; },
                          [](const Fragment&) -> std::uint8_t { return 44; },
                          [](const Udp&) -> std::uint8_t { return 17; },
                          [](const Tcp&) -> std::uint8_t { return 6; },
                          [v6](const Icmp&) -> std::uint8_t { return v6 ? 58 : 1; },
                          [](const auto&) -> std::uint8_t { return 253; },
                      },
                      *layer);
}

struct Addresses {
    Octets source, destination;
    bool v6() const { return source.size() == 16; }
};

// Of the IP header that is closest around a layer.
Addresses addresses_around(std::span<const Layer> outer) {
    for (std::size_t i = outer.size(); i-- > 0;) {
        if (const auto* ip4 = std::get_if<Ipv4>(&outer[i]))
            return {address_octets(ip4->source).octets, address_octets(ip4->destination).octets};
        if (const auto* ip6 = std::get_if<Ipv6>(&outer[i]))
            return {address_octets(ip6->source).octets, address_octets(ip6->destination).octets};
    }
    return {};
}

// One layer in front of the octets of what it carries.
class Serializer {
  public:
    Serializer(std::span<const Layer> outer, const Layer* inner, const Octets& body)
        : outer_(outer), inner_(inner), body_(body) {}

    Octets operator()(const Ethernet& eth) const {
        Writer w;
        w.all(eth.destination.bytes).all(eth.source.bytes).u16(eth.type.value_or(ethertype_of(inner_))).all(body_);
        w.octets().resize(std::max(w.octets().size(), eth.shortest));
        return w.octets();
    }
    Octets operator()(const Vlan& vlan) const {
        return Writer()
            .u16(vlan.priority << 12 | vlan.id)
            .u16(vlan.type.value_or(ethertype_of(inner_)))
            .all(body_)
            .octets();
    }
    Octets operator()(const Ipv4& ip) const {
        const std::size_t header = 20 + ip.options;
        const unsigned flags = ip.dont_fragment << 14 | ip.more_fragments << 13 | ip.fragment_offset;
        Writer w;
        w.u8(ip.version << 4 | ip.ihl.value_or(static_cast<std::uint8_t>(header / 4))).u8(ip.tos);
        w.u16(ip.length.value_or(static_cast<std::uint16_t>(header + body_.size()))).u16(ip.id).u16(flags);
        w.u8(ip.ttl).u8(ip.protocol.value_or(protocol_of(inner_, false))).u16(ip.checksum.value_or(0));
        w.all(address_octets(ip.source).octets).all(address_octets(ip.destination).octets).zeros(ip.options);
        std::fill(w.octets().begin() + 20, w.octets().end(), std::uint8_t{1}); // "no operation"
        if (!ip.checksum)
            put16(w.octets(), 10, internet_checksum(w.octets()));
        return w.all(body_).octets();
    }
    Octets operator()(const Ipv6& ip) const {
        Writer w;
        w.u8(ip.version << 4).zeros(3).u16(ip.length.value_or(static_cast<std::uint16_t>(body_.size())));
        w.u8(ip.next.value_or(protocol_of(inner_, true))).u8(ip.hop_limit);
        return w.all(address_octets(ip.source).octets).all(address_octets(ip.destination).octets).all(body_).octets();
    }
    Octets operator()(const Extension& extension) const {
        const std::size_t length = extension.kind == 51 ? extension.size / 4 - 2 : extension.size / 8 - 1;
        Writer w;
        w.u8(extension.next.value_or(protocol_of(inner_, true)));
        w.u8(extension.length.value_or(static_cast<std::uint8_t>(length))).zeros(extension.size - 2);
        return w.all(body_).octets();
    }
    Octets operator()(const Fragment& fragment) const {
        Writer w;
        w.u8(fragment.next.value_or(protocol_of(inner_, true))).u8(fragment.reserved);
        w.u16(fragment.offset << 3 | fragment.more).u32(0x12345678);
        return w.all(body_).octets();
    }
    Octets operator()(const Udp& udp) const {
        Writer w;
        w.u16(udp.source).u16(udp.destination);
        w.u16(udp.length.value_or(static_cast<std::uint16_t>(8 + body_.size())))
            .u16(udp.checksum.value_or(0))
            .all(body_);
        return summed(w.octets(), 17, 6, udp.checksum);
    }
    Octets operator()(const Tcp& tcp) const {
        Writer w;
        w.u16(tcp.source).u16(tcp.destination).u32(1).u32(2).u8(0x50).u8(0x10).u16(512).u16(0).u16(0).all(body_);
        return summed(w.octets(), 6, 16, {});
    }
    Octets operator()(const Icmp& icmp) const {
        Writer w;
        w.u8(icmp.type).u8(icmp.code).u16(icmp.checksum.value_or(0)).u32(icmp.rest).all(body_);
        if (addresses_around(outer_).v6())
            return summed(w.octets(), 58, 2, icmp.checksum);
        if (!icmp.checksum)
            put16(w.octets(), 2, internet_checksum(w.octets()));
        return w.octets();
    }
    Octets operator()(const Arp& arp) const {
        Writer w;
        w.u16(arp.hardware_type)
            .u16(arp.protocol_type)
            .u8(arp.hardware_length)
            .u8(arp.protocol_length)
            .u16(arp.operation);
        w.all(arp.sender_mac.bytes).all(address_octets(arp.sender).octets);
        return w.all(arp.target_mac.bytes).all(address_octets(arp.target).octets).all(body_).octets();
    }
    Octets operator()(const Payload& own) const { return Writer().all(own.octets).all(body_).octets(); }

  private:
    Octets summed(Octets upper, std::uint8_t protocol, std::size_t at, Word given) const {
        const Addresses addresses = addresses_around(outer_);
        if (given || addresses.source.empty())
            return upper;
        const unsigned sum = pseudo_checksum(addresses.source, addresses.destination, protocol, upper);
        put16(upper, at, sum == 0 && protocol == 17 ? 0xffff : sum); // RFC 768: 0 says that there is none
        return upper;
    }

    std::span<const Layer> outer_;
    const Layer* inner_;
    const Octets& body_;
};

} // namespace

Payload payload(std::size_t size) {
    Octets octets(size);
    for (std::size_t i = 0; i < size; ++i)
        octets[i] = static_cast<std::uint8_t>(i);
    return {octets};
}

Payload zeros(std::size_t size) { return {Octets(size)}; }

Payload address_octets(const std::string& address) {
    Octets octets(16);
    if (inet_pton(AF_INET6, address.c_str(), octets.data()) == 1)
        return {octets};
    octets.resize(4);
    if (inet_pton(AF_INET, address.c_str(), octets.data()) != 1)
        throw std::invalid_argument("no IP address: " + address);
    return {octets};
}

Payload mac_octets(const MacAddress& mac) { return {Octets(mac.bytes.begin(), mac.bytes.end())}; }

Packet& Packet::operator/=(const Packet& inner) {
    std::ranges::copy(inner.layers_, std::back_inserter(layers_));
    return *this;
}

Octets Packet::octets() const {
    Octets body;
    for (std::size_t i = layers_.size(); i-- > 0;) {
        const Layer* inner = i + 1 < layers_.size() ? &layers_[i + 1] : nullptr;
        body = std::visit(Serializer(std::span(layers_).first(i), inner, body), layers_[i]);
    }
    return body;
}

std::uint16_t internet_checksum(std::span<const std::uint8_t> octets) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < octets.size(); ++i)
        sum += i % 2 == 0 ? octets[i] * 256u : octets[i];
    while (sum > 0xffff)
        sum = sum / 0x10000 + sum % 0x10000;
    return static_cast<std::uint16_t>(0xffff - sum);
}

std::uint16_t pseudo_checksum(std::span<const std::uint8_t> source, std::span<const std::uint8_t> destination,
                              std::uint8_t protocol, std::span<const std::uint8_t> upper) {
    // IPv4's and IPv6's pseudo-headers hold the same words, in another order and width.
    Writer w;
    w.all(source).all(destination).u16(protocol).u32(static_cast<std::uint32_t>(upper.size())).all(upper);
    return internet_checksum(w.octets());
}

std::string hex(std::span<const std::uint8_t> octets) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < octets.size(); ++i) {
        if (i != 0 && i % 2 == 0)
            text += i % 16 == 0 ? '\n' : ' ';
        text += digits[octets[i] >> 4];
        text += digits[octets[i] & 0xf];
    }
    return text;
}

} // namespace responder::test::packet
