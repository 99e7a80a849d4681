// SPDX-License-Identifier: GPL-2.0-only

#include "tests/harness/reflect_frames.h"

#include <algorithm>

namespace responder::test {

using namespace packet;

namespace {

constexpr std::size_t stamp_t3 = 4, stamp_error_estimate = 12, stamp_t2 = 16, dmm_t2 = 12, dmm_t3 = 20, time_octets = 8,
                      slr_count = 16;

// Where the UDP payload or the OAM frame lies: the reply is as long as the request, and its headers are plain.
std::size_t behind_tags(const Octets& frame) {
    std::size_t at = 12;
    while (frame.at(at) == 0x81 || frame.at(at) == 0x88)
        at += 4;
    return at + 2;
}

void blank(Octets& frame, std::size_t at, std::size_t octets) {
    std::fill_n(frame.begin() + static_cast<std::ptrdiff_t>(at), octets, std::uint8_t{0});
}

const Ethernet turned{.destination = tester_mac, .source = own_mac};

} // namespace

Packet Shape::packet(const Ends& ends) const {
    Packet frame = Ethernet{.destination = ends.mac[0], .source = ends.mac[1]};
    for (std::size_t i = 0; i < tags.size(); ++i)
        frame /= Vlan{.id = static_cast<unsigned>(5 + i), .priority = 7, .protocol = tags[i]};
    if (ip == 4)
        frame /= Ipv4{.source = ends.ip4[1],
                      .destination = ends.ip4[0],
                      .ttl = 10,
                      .options = options,
                      .tos = 0xb9,
                      .id = 0xffff};
    else
        frame /= Ipv6{.source = ends.ip6[1], .destination = ends.ip6[0], .hop_limit = 10};
    for (const std::uint8_t kind : extensions)
        frame /= Extension{.kind = kind, .size = 16};
    if (tcp)
        frame /= Tcp{.source = ends.port[1], .destination = ends.port[0]};
    else
        frame /= Udp{.source = ends.port[1], .destination = ends.port[0]};
    return frame /= ::responder::test::packet::payload(payload);
}

const std::vector<std::pair<std::string, std::vector<std::uint16_t>>> tag_stacks = {
    {"untagged", {}}, {"one tag", {c_tag}}, {"QinQ", {s_tag, c_tag}}};

std::vector<Shape> shapes(bool tcp) {
    std::vector<Shape> all;
    for (const auto& [name, tags] : tag_stacks) {
        for (const std::size_t payload : {0U, 1U, 18U, 86U, 470U, 1472U})
            all.push_back({.name = name + ", IPv4", .tags = tags, .tcp = tcp, .payload = payload});
        for (unsigned options = 4; options <= 40; options += 12)
            all.push_back({.name = name + ", IPv4 options", .tags = tags, .options = options, .tcp = tcp});
        for (const std::size_t payload : {0U, 18U, 1452U})
            all.push_back({.name = name + ", IPv6", .tags = tags, .ip = 6, .tcp = tcp, .payload = payload});
        all.push_back({.name = name + ", IPv6 options", .tags = tags, .ip = 6, .extensions = {0, 60}, .tcp = tcp});
    }
    return all;
}

Octets our_signature(std::uint32_t sequence) { // built by hand: stream 3, no time
    const std::uint64_t fields = (std::uint64_t{sequence} << 32) ^ std::uint64_t{3 + 1} * 0xbb67ae8584caa73bULL;
    const auto check = static_cast<std::uint16_t>(fields * 0x9e3779b97f4a7c15ULL >> 48);
    Octets octets{0x78, 0x52, static_cast<std::uint8_t>(check >> 8), static_cast<std::uint8_t>(check), 0, 3};
    for (int shift = 24; shift >= 0; shift -= 8)
        octets.push_back(static_cast<std::uint8_t>(sequence >> shift));
    octets.insert(octets.end(), 4, 0);
    return octets;
}

Octets text(const std::string& front, const std::string& signature) {
    const std::string all = front + signature + std::string(20, 'x');
    return {all.begin(), all.end()};
}

Payload StampPacket::payload() const {
    Octets octets;
    const auto put = [&](std::uint64_t value, int bytes) {
        for (int i = bytes - 1; i >= 0; --i)
            octets.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    };
    put(sequence, 4);
    put(sent, 8);
    put(error, 2);
    put(session, 2);
    octets.insert(octets.end(), mbz.begin(), mbz.end());
    octets.insert(octets.end(), more.begin(), more.end());
    return {octets};
}

std::uint64_t get(const Octets& octets, std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
        value = value << 8 | octets.at(at + i);
    return value;
}

Payload stamp_reply(const StampPacket& request, const Octets& came, std::size_t at, unsigned ttl,
                    std::uint32_t sequence) {
    StampPacket reply;
    reply.sequence = sequence;
    reply.sent = get(came, at + 4, 8);
    reply.error = 0x810a; // little-endian 0x0a81 in the test's set-up
    reply.session = request.session;
    Octets& rest = reply.mbz = {};
    const auto put = [&](std::uint64_t value, int bytes) {
        for (int i = bytes - 1; i >= 0; --i)
            rest.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    };
    put(get(came, at + 16, 8), 8);
    put(request.sequence, 4);
    put(request.sent, 8);
    put(request.error, 2);
    put(0, 2);
    put(ttl, 1);
    put(0, 3);
    reply.more = request.more;
    if (reply.more.size() >= 4)
        reply.more[0] &= 0x7f;
    return reply.payload();
}

Packet stamp_frame(const Shape& shape, const Ends& ends, unsigned ttl, const Payload& data, Word checksum) {
    Packet made = Ethernet{.destination = ends.mac[0], .source = ends.mac[1]};
    for (const std::uint16_t tag : shape.tags)
        made /= Vlan{.id = 5, .protocol = tag};
    if (shape.ip == 4)
        made /= Ipv4{.source = ends.ip4[1], .destination = ends.ip4[0], .ttl = ttl};
    else
        made /= Ipv6{.source = ends.ip6[1], .destination = ends.ip6[0], .hop_limit = ttl};
    return made /= Udp{.source = ends.port[1], .destination = ends.port[0], .checksum = checksum} / data;
}

Packet oam(const Ethernet& eth, const std::vector<std::uint16_t>& tags, std::uint8_t opcode, const Octets& body,
           unsigned level) {
    Packet frame = eth;
    for (std::size_t i = 0; i < tags.size(); ++i)
        frame /= Vlan{.id = 9, .protocol = tags[i], .type = i + 1 == tags.size() ? Word{0x8902} : Word{}};
    Octets octets{static_cast<std::uint8_t>(level << 5 | 1), opcode, 0, 4};
    octets.insert(octets.end(), body.begin(), body.end());
    return frame /= Payload{octets};
}

Ethernet with_type(Ethernet eth, const std::vector<std::uint16_t>& tags) {
    if (tags.empty())
        eth.type = 0x8902;
    return eth;
}

void blank_times(Octets& reply, const std::string& slot) {
    if (slot == "stamp_reply") {
        const std::size_t l3 = behind_tags(reply), udp = l3 + (reply.at(l3) >> 4 == 4 ? 20 : 40), stamp = udp + 8;
        blank(reply, udp + 6, 2);
        blank(reply, stamp + stamp_t3, time_octets);
        blank(reply, stamp + stamp_error_estimate, 2);
        blank(reply, stamp + stamp_t2, time_octets);
    } else if (slot == "delay_reply") {
        blank(reply, behind_tags(reply) + dmm_t2, time_octets);
        blank(reply, behind_tags(reply) + dmm_t3, time_octets);
    } else if (slot == "loss_reply") {
        blank(reply, behind_tags(reply) + slr_count, 4);
    }
}

std::vector<ReflectFixture> reflect_fixtures() {
    std::vector<ReflectFixture> all;
    const auto add = [&](std::string name, const Octets& in, const std::string& slot, Octets out = {}) {
        blank_times(out, slot);
        all.push_back({std::move(name), in, slot, std::move(out)});
    };
    for (const Shape& shape : shapes())
        add("echo, " + shape.name, shape.packet({}), "test", shape.packet(Ends{}.back(3)));
    for (const Shape& shape : shapes(true))
        add("TCP, " + shape.name, shape.packet({}), "tcp");
    for (const auto& [tags_name, tags] : tag_stacks) {
        for (const unsigned ip : {4U, 6U}) {
            const std::string where = tags_name + (ip == 4 ? ", IPv4" : ", IPv6");
            const Shape shape{.tags = tags, .ip = ip};
            const auto exchange = [&](const std::string& what, std::uint16_t port, const Octets& data) {
                Ends ends;
                ends.port[0] = port;
                add(what + ", " + where, stamp_frame(shape, ends, 61, {data}), "test",
                    stamp_frame(shape, ends.back(3), 61, {data}));
            };
            exchange("our signature", 40'000, our_signature(77));
            for (const char* signature : {"PROBEOT", "DATA:OT", "LATENCY"})
                exchange(signature, 3842, text("12345", signature));
            Ends ends;
            ends.port[0] = 862;
            for (const std::size_t padding : {0U, 1U, 60U}) {
                const StampPacket request{.more = Octets(padding)};
                const Octets no_times(200);
                add("STAMP, " + where, stamp_frame(shape, ends, 61, request.payload()), "stamp_reply",
                    stamp_frame(shape, ends.back(3), 255, stamp_reply(request, no_times, 0, 61, request.sequence)));
            }
            add("short STAMP, " + where, stamp_frame(shape, ends, 61, zeros(14)), "stamp_rare");
            ends.port[0] = 7;
            Ends far_away = ends;
            far_away.ip4[1] = "11.0.0.1";
            far_away.ip6[1] = "2001:db9::1";
            add("from far away, " + where, stamp_frame(shape, far_away, 61, payload(18)), "not_allowed");
            Packet ping = Ethernet{}, pong = turned;
            for (const std::uint16_t tag : tags) {
                ping /= Vlan{.id = 5, .protocol = tag};
                pong /= Vlan{.id = 5, .protocol = tag};
            }
            if (ip == 4)
                add("ping, " + where, ping / Ipv4{} / Icmp{} / payload(56), "ping_reply",
                    pong / Ipv4{.source = "10.0.0.2", .destination = "10.0.0.1"} / Icmp{.type = 0} / payload(56));
            else
                add("ping, " + where, ping / Ipv6{} / Icmp{.type = 128} / payload(56), "ping_reply",
                    pong / Ipv6{.source = "2001:db8::2", .destination = "2001:db8::1"} / Icmp{.type = 129} /
                        payload(56));
        }
        const Ethernet there = with_type({}, tags), back = with_type(turned, tags);
        add("LBM, " + tags_name, oam(there, tags, 3, payload(64).octets), "loopback_reply",
            oam(back, tags, 2, payload(64).octets));
        add("DMM, " + tags_name, oam(there, tags, 47, Octets(33)), "delay_reply", oam(back, tags, 46, Octets(33)));
        Octets loss(17), loss_back = loss;
        loss_back[3] = 1; // our MEP id
        add("SLM, " + tags_name, oam(there, tags, 55, loss), "loss_reply", oam(back, tags, 54, loss_back));
        add("other EtherType, " + tags_name, oam(there, tags, 1, payload(64).octets), "other_ethertype");
    }
    return all;
}

} // namespace responder::test
