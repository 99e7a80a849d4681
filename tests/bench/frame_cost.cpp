// SPDX-License-Identifier: GPL-2.0-only
//
// The program under test and one that does nothing take turns over the same frame, in batches so short that whatever
// else the machine does falls on both. Each batch must end with the verdict, and leave in the counters the very number
// of frames, that are expected of it; else its time means nothing.

#include "tests/bench/batches.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace responder::bench {

namespace {

using namespace test;
using namespace test::packet;

// What the program has to be told, and what it is then measured with.
struct Case {
    std::string key, title;
    SinkProgram::Options options;
    Octets frame;
    count_slot slot;      // where it must be counted
    bool demanded = true; // "counting at most 10 ns more"
    bool watch_flows = false;
};

Case with(std::string key, std::string title, const Packet& frame, count_slot slot, auto change, bool demanded = true) {
    Case made{.key = std::move(key),
              .title = std::move(title),
              .options = {},
              .frame = frame,
              .slot = slot,
              .demanded = demanded};
    change(made.options.match);
    return made;
}

match_mac mac(const MacAddress& address) {
    match_mac result{};
    std::ranges::copy(address.bytes, result.bytes);
    return result;
}

std::vector<Case> cases() {
    const Packet udp4 = Ethernet{} / Ipv4{} / Udp{} / payload(18);
    const Packet udp6 = Ethernet{} / Ipv6{} / Udp{} / payload(18);
    const Packet vlan = Ethernet{} / Vlan{.id = 5} / Ipv4{} / Udp{} / payload(18);
    const Packet qinq = Ethernet{} / Vlan{.id = 5, .protocol = s_tag} / Vlan{.id = 6} / Ipv4{} / Udp{} / payload(18);
    const SinkProgram::Options answering{.address4 = "198.18.1.2", .address6 = "2001:2::2"};
    const Ipv4 asked4{.source = "198.18.1.1", .destination = "198.18.1.2"};
    const Ipv6 asked6{.source = "2001:2::1", .destination = "2001:2::2", .hop_limit = 255};

    std::vector<Case> list{
        {"ipv4", "IPv4, UDP port 9, 64 B", {}, udp4, SLOT_SIZE_64},
        {"ipv6", "IPv6, UDP port 9, 84 B", {}, udp6, SLOT_SIZE_65},
        {"network4", "IPv4, to 198.18.0.0/15", {}, Ethernet{} / asked4 / Udp{.destination = 7}, SLOT_SIZE_64},
        {"network6", "IPv6, to 2001:2::/48", {}, Ethernet{} / asked6 / Udp{.destination = 7}, SLOT_SIZE_65},
        {"vlan", "IPv4, one VLAN tag", {}, vlan, SLOT_SIZE_65},
        {"qinq", "IPv4, two VLAN tags", {}, qinq, SLOT_SIZE_65},
        {"ipv4_1518", "IPv4, 1518 B", {}, Ethernet{} / Ipv4{} / Udp{} / payload(1472), SLOT_SIZE_1024},
        {"ipv4_options", "IPv4 with options", {}, Ethernet{} / Ipv4{.options = 4} / Udp{}, SLOT_SIZE_64, false},
        {"ipv6_extension",
         "IPv6 with an extension header",
         {},
         Ethernet{} / Ipv6{} / Extension{} / Udp{},
         SLOT_SIZE_65,
         false},
        {"fragment",
         "IPv4, first fragment",
         {},
         Ethernet{} / Ipv4{.more_fragments = true} / Udp{},
         SLOT_SIZE_64,
         false},
        {"passed_tcp", "passed: TCP", {}, Ethernet{} / Ipv4{} / Tcp{}, SLOT_TCP, false},
        {"passed_udp",
         "passed: UDP to another port",
         {},
         Ethernet{} / Ipv4{} / Udp{.destination = 53},
         SLOT_UDP,
         false},
        {"passed_watched", "passed: TCP, flows watched", {}, Ethernet{} / Ipv4{} / Tcp{}, SLOT_TCP, false, true},
        with(
            "ports", "16 port ranges, the last one", udp4, SLOT_SIZE_64,
            [](match_cfg& match) {
                match = {};
                match.port_count = MATCH_PORTS;
                for (match_range& range : match.port)
                    range = {1000, 1001};
                match.port[MATCH_PORTS - 1] = {9, 9};
            },
            false),
        with("ethertype", "--ethertype", Ethernet{} / payload(46), SLOT_SIZE_64,
             [](match_cfg& match) {
                 match = {};
                 match.ethertype_count = 1;
                 match.ethertype[0] = 0x88b5;
             }),
        with("all", "--all, TCP", Ethernet{} / Ipv4{} / Tcp{}, SLOT_SIZE_64,
             [](match_cfg& match) {
                 match = {};
                 match.all = 1;
             }),
        with("vlan_option", "--vlan", vlan, SLOT_SIZE_65,
             [](match_cfg& match) {
                 match.vlan_count = 1;
                 match.vlan[0] = {5, 5};
             }),
        with("inner_vlan_option", "--inner-vlan", qinq, SLOT_SIZE_65,
             [](match_cfg& match) {
                 match.inner_vlan_count = 1;
                 match.inner_vlan[0] = {6, 6};
             }),
        with("src", "--src, IPv4", udp4, SLOT_SIZE_64,
             [](match_cfg& match) {
                 match.source4_count = 1;
                 match.source4[0] = prefix4("10.0.0.0", 8);
                 match.source4[0].address &= match.source4[0].mask;
             }),
        with("dst6", "--dst, IPv6", udp6, SLOT_SIZE_65,
             [](match_cfg& match) {
                 match.destination6_count = 1;
                 match.destination6[0] = prefix6("2001:db8::", 32);
             }),
        with("src_mac", "--src-mac", udp4, SLOT_SIZE_64,
             [](match_cfg& match) {
                 match.source_mac_count = 1;
                 match.source_mac[0] = mac(tester_mac);
             }),
        with("dst_mac", "--dst-mac", Ethernet{.destination = stranger_mac} / Ipv4{} / Udp{}, SLOT_SIZE_64,
             [](match_cfg& match) {
                 match.any_mac = 1;
                 match.destination_mac_count = 1;
                 match.destination_mac[0] = mac(stranger_mac);
             }),
        with("promisc", "--promisc, another MAC", Ethernet{.destination = stranger_mac} / Ipv4{} / Udp{}, SLOT_SIZE_64,
             [](match_cfg& match) { match.any_mac = 1; }),
        // Only where a driver's buffers are too small for its MTU: a helper call a frame.
        {"frags", "frames of several buffers allowed", {.multi_buffer = true}, udp4, SLOT_SIZE_64, false},
        {"address", "--address, test frame", answering, udp4, SLOT_SIZE_64},
        {"arp_reply", "--address, ARP answered", answering,
         Ethernet{.destination = broadcast_mac, .shortest = 96} / Arp{.sender = "198.18.1.1", .target = "198.18.1.2"},
         SLOT_ARP_REPLY, false},
        {"nd_reply", "--address, ND answered", answering,
         Ethernet{.shortest = 96} / asked6 / Icmp{.type = 135, .rest = 0} / address_octets("2001:2::2") /
             Payload{{1, 1, 2, 0, 0, 0, 0, 2}},
         SLOT_ND_REPLY, false},
        {"ping_reply", "--address, ping answered", answering, Ethernet{} / asked4 / Icmp{} / payload(56),
         SLOT_PING_REPLY, false},
    };
    return list;
}

std::uint32_t verdict_of(count_slot slot) {
    return slot < SLOT_SIZE_END ? XDP_DROP : slot < SLOT_ANSWER_END ? XDP_TX : XDP_PASS;
}

class Measurement {
  public:
    explicit Measurement(Case measured)
        : case_(std::move(measured)), verdict_(verdict_of(case_.slot)), sink_(case_.options) {
        sink_->bss->sink_watch_flows = case_.watch_flows;
    }

    void round() {
        nothing_.push_back(time(bpf_program__fd(nothing())));
        sink_.take_change();
        sink_ns_.push_back(time(sink_.fd()));
        check_counted(sink_.take_change(), case_.slot, case_.title);
    }

    Row row() const {
        return {.key = case_.key,
                .title = case_.title,
                .figures = {mean_of_shorter_half(sink_ns_) - mean_of_shorter_half(nothing_), std::ranges::min(sink_ns_),
                            median(sink_ns_), std::ranges::min(nothing_), median(nothing_)},
                .has_limit = case_.demanded};
    }

  private:
    const bpf_program* nothing() const {
        return verdict_ == XDP_DROP ? floor_->progs.xdp_drop
               : verdict_ == XDP_TX ? floor_->progs.xdp_tx
                                    : floor_->progs.xdp_pass;
    }
    double time(int program) { // an answer changes the frame
        return time_batch(verdict_ == XDP_TX ? floor_.restoring(case_.frame, program) : program, case_.frame, verdict_,
                          case_.title);
    }

    Case case_;
    std::uint32_t verdict_;
    SinkProgram sink_;
    Floor floor_;
    std::vector<double> nothing_, sink_ns_;
};

} // namespace

Table frame_cost(const Settings& settings) {
    std::vector<Measurement> measurements;
    for (Case& each : cases())
        measurements.emplace_back(std::move(each));
    take_turns(measurements, settings);
    return {.key = "frame_cost",
            .title = "What the sink's program costs a frame",
            .note =
                fmt::format("Nanoseconds under BPF_PROG_TEST_RUN beside a program that does nothing; {} batches of {} "
                            "frames each, in turns. Sizes with FCS.",
                            settings.rounds, batch),
            .columns = {{.key = "more_ns", .title = "more", .decimals = 1, .at_most = 10},
                        {.key = "sink_min_ns", .title = "sink min"},
                        {.key = "sink_median_ns", .title = "median"},
                        {.key = "nothing_min_ns", .title = "nothing min"},
                        {.key = "nothing_median_ns", .title = "median"}},
            .rows = rows_of(measurements)};
}

} // namespace responder::bench
