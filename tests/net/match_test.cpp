// SPDX-License-Identifier: GPL-2.0-only
//
// What each match option takes and what it leaves, to the frame.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

#include <vector>

namespace responder::test {
namespace {

using namespace packet;

constexpr const char* taken = "test";

struct Expected {
    Octets frame;
    std::string where; // "test", or the reason that it passes
};

// Sends every frame a different number of times: no two mistakes can cancel out.
void expect_taken(const Arguments& options, const std::vector<Expected>& frames) {
    const Lab lab;
    PacketSocket sender(lab.tester, lab.from().name);
    Sink sink(lab, options);
    std::uint64_t test = 0, bytes = 0;
    Reasons reasons;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const unsigned times = 1U << i;
        sender.send(frames[i].frame, times);
        if (frames[i].where == taken) {
            test += times;
            bytes += times * (frames[i].frame.size() + 4);
        } else {
            reasons[frames[i].where] += times;
        }
    }
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), test);
    EXPECT_EQ(summary["ports"][0]["test"]["l2_bytes"], bytes);
    EXPECT_EQ(passed(summary), reasons);
}

Packet udp4(std::uint16_t port, const std::string& destination = "10.0.0.2") {
    return Ipv4{.destination = destination} / Packet(Udp{.destination = port}) / payload(18);
}
Packet udp6(std::uint16_t port, const std::string& destination = "2001:db8::2") {
    return Ipv6{.destination = destination} / Packet(Udp{.destination = port}) / payload(18);
}

TEST(Match, Default) {
    expect_taken({}, {{Ethernet{} / udp4(9), taken},
                      {Ethernet{} / udp6(9), taken},
                      {Ethernet{} / udp4(10), "udp"},
                      {Ethernet{} / udp4(5001, "198.18.0.0"), taken},
                      {Ethernet{} / udp4(5001, "198.19.255.255"), taken},
                      {Ethernet{} / udp4(5001, "198.20.0.0"), "udp"},
                      {Ethernet{} / udp4(5001, "198.17.255.255"), "udp"},
                      {Ethernet{} / udp6(5001, "2001:2::ffff"), taken},
                      {Ethernet{} / udp6(5001, "2001:2:0:1::1"), taken},
                      {Ethernet{} / udp6(5001, "2001:2:1::1"), "udp"},
                      {Ethernet{.destination = broadcast_mac} / udp4(9), taken},
                      {Ethernet{.destination = stranger_mac} / udp4(9), "other_mac"}});
}

TEST(Match, Port) {
    expect_taken({"--port", "12,5000-5002"},
                 {{Ethernet{} / udp4(12), taken},
                  {Ethernet{} / udp4(4999), "udp"},
                  {Ethernet{} / udp4(5000), taken},
                  {Ethernet{} / udp6(5002), taken},
                  {Ethernet{} / udp4(5003), "udp"},
                  {Ethernet{} / udp4(9), "udp"},
                  {Ethernet{} / udp4(5, "198.18.0.1"), "udp"},
                  {Ethernet{} / Ipv4{} / Tcp{.destination = 12}, "tcp"},
                  {Ethernet{} / Ipv4{.options = 40} / Udp{.destination = 12} / payload(18), taken}});
}

TEST(Match, PortGivenTwice) {
    expect_taken({"--port", "12", "--port", "65535"},
                 {{Ethernet{} / udp4(12), taken}, {Ethernet{} / udp4(65535), taken}, {Ethernet{} / udp4(9), "udp"}});
}

TEST(Match, Ethertype) {
    expect_taken({"--ethertype", "0x88b5,0x9000"}, {{Ethernet{.type = 0x88b5} / payload(46), taken},
                                                    {Ethernet{.type = 0x9000} / payload(200), taken},
                                                    {Ethernet{.type = 0x88b6} / payload(46), "other_ethertype"},
                                                    {Ethernet{} / Vlan{.id = 3, .type = 0x88b5} / payload(46), taken},
                                                    {Ethernet{} / udp4(9), "udp"},
                                                    {Ethernet{} / Arp{}, "arp"}});
}

TEST(Match, Vlan) {
    expect_taken({"--vlan", "5,100-102"}, {{Ethernet{} / Vlan{.id = 5} / udp4(9), taken},
                                           {Ethernet{} / Vlan{.id = 5, .priority = 15} / udp4(9), taken},
                                           {Ethernet{} / Vlan{.id = 102, .protocol = 0x88a8} / udp4(9), taken},
                                           {Ethernet{} / Vlan{.id = 103} / udp4(9), "other_vlan"},
                                           {Ethernet{} / udp4(9), "other_vlan"},
                                           {Ethernet{} / Vlan{.id = 5} / Vlan{.id = 9} / udp6(9), taken},
                                           {Ethernet{} / Vlan{.id = 9} / Vlan{.id = 5} / udp4(9), "other_vlan"},
                                           {Ethernet{} / Vlan{.id = 5} / udp4(53), "udp"}});
}

TEST(Match, InnerVlan) {
    expect_taken({"--inner-vlan", "6", "--vlan", "5"},
                 {{Ethernet{} / Vlan{.id = 5} / Vlan{.id = 6} / udp4(9), taken},
                  {Ethernet{} / Vlan{.id = 6} / Vlan{.id = 5} / udp4(9), "other_vlan"},
                  {Ethernet{} / Vlan{.id = 5} / Vlan{.id = 7} / udp4(9), "other_vlan"},
                  {Ethernet{} / Vlan{.id = 5} / udp4(9), "other_vlan"},
                  {Ethernet{} / udp4(9), "other_vlan"}});
}

TEST(Match, SourceAlone) {
    const auto from = [](const std::string& source, std::uint16_t port) {
        return Ethernet{} / Ipv4{.source = source} / Udp{.destination = port} / payload(18);
    };
    expect_taken(
        {"--src", "10.1.0.0/16,2001:db8:1::/48"},
        {{from("10.1.2.3", 1234), taken},
         {from("10.2.2.3", 1234), "other_address"},
         {from("10.1.255.255", 53), taken},
         {from("10.1.2.3", 67), "dhcp"},
         {Ethernet{} / Ipv6{.source = "2001:db8:1::9"} / Udp{.destination = 77} / payload(18), taken},
         {Ethernet{} / Ipv6{.source = "2001:db8:2::9"} / Udp{.destination = 77} / payload(18), "other_address"},
         {Ethernet{} / Ipv4{.source = "10.1.2.3"} / Tcp{}, "tcp"},
         {Ethernet{.type = 0x88b5} / payload(46), "other_ethertype"}});
}

TEST(Match, SourceAndDestinationWithPort) {
    const auto frame = [](const std::string& source, const std::string& destination, std::uint16_t port) {
        return Ethernet{} / Ipv4{.source = source, .destination = destination} / Udp{.destination = port} / payload(18);
    };
    expect_taken({"--src", "10.1.2.3", "--dst", "10.9.0.0/24", "--port", "12"},
                 {{frame("10.1.2.3", "10.9.0.1", 12), taken},
                  {frame("10.1.2.4", "10.9.0.1", 12), "other_address"},
                  {frame("10.1.2.3", "10.9.1.1", 12), "other_address"},
                  {frame("10.1.2.3", "10.9.0.1", 13), "udp"},
                  {Ethernet{} / udp6(12), "other_address"}});
}

TEST(Match, DestinationAloneAlsoTakesLaterFragments) {
    expect_taken({"--dst", "10.9.0.1"},
                 {{Ethernet{} / Ipv4{.destination = "10.9.0.1", .more_fragments = true} /
                       Udp{.destination = 3, .length = 3000} / payload(992),
                   taken},
                  {Ethernet{} / Ipv4{.destination = "10.9.0.1", .protocol = std::uint8_t{17}, .fragment_offset = 125} /
                       payload(500),
                   taken},
                  {Ethernet{} / Ipv4{.destination = "10.9.0.2", .protocol = std::uint8_t{17}, .fragment_offset = 125} /
                       payload(500),
                   "other_address"}});
}

TEST(Match, SourceMac) {
    expect_taken({"--src-mac", "02:00:00:00:00:02"}, {{Ethernet{} / udp4(9), taken},
                                                      {Ethernet{.source = stranger_mac} / udp4(9), "other_mac"},
                                                      {Ethernet{} / udp4(10), "udp"}});
}

TEST(Match, DestinationMac) {
    expect_taken({"--dst-mac", "02:00:00:00:00:03,01:00:5e:00:00:09"},
                 {{Ethernet{.destination = stranger_mac} / udp4(9), taken},
                  {Ethernet{.destination = MacAddress{{0x01, 0, 0x5e, 0, 0, 9}}} / udp4(9), taken},
                  {Ethernet{} / udp4(9), "other_mac"},
                  {Ethernet{.destination = broadcast_mac} / udp4(9), "other_mac"}});
}

TEST(Match, Promiscuous) {
    expect_taken({"--promisc"}, {{Ethernet{.destination = stranger_mac} / udp4(9), taken},
                                 {Ethernet{} / udp4(9), taken},
                                 {Ethernet{.destination = stranger_mac} / udp4(53), "udp"}});
}

TEST(Match, All) {
    const MacAddress stp{{0x01, 0x80, 0xc2, 0, 0, 0}};
    expect_taken(
        {"--all"},
        {{Ethernet{} / Ipv4{} / Tcp{}, taken},
         {Ethernet{} / Ipv4{} / Icmp{} / payload(56), taken},
         {Ethernet{} / Ipv6{.hop_limit = 255} / Icmp{.type = 135, .rest = 0} / address_octets("2001:db8::7"), "nd"},
         {Ethernet{} / Arp{}, "arp"},
         {Ethernet{.destination = stp, .type = 38} / payload(46), "control"},
         {Ethernet{} / Ipv4{} / Udp{.destination = 68} / payload(240), "dhcp"},
         {Ethernet{.type = 0x88b5} / payload(46), taken},
         {Ethernet{} / Ipv4{.length = 1400} / Udp{} / payload(18), taken},
         {Ethernet{} / Vlan{} / Vlan{} / Vlan{} / Ipv4{} / Udp{} / payload(18), taken},
         {Ethernet{.destination = stranger_mac} / Ipv4{} / Tcp{}, "other_mac"}});
}

TEST(Match, AllInOneVlan) {
    expect_taken({"--all", "--vlan", "5"},
                 {{Ethernet{} / Vlan{.id = 5} / Ipv4{} / Tcp{}, taken}, {Ethernet{} / Ipv4{} / Tcp{}, "other_vlan"}});
}

TEST(Match, AddressesOfTheTestIdentifyToo) {
    expect_taken({"--address", "10.5.0.2/24"}, {{Ethernet{} / udp4(4444, "10.5.0.2"), taken},
                                                {Ethernet{} / udp4(4444, "10.5.0.3"), "udp"},
                                                {Ethernet{} / udp4(9), taken}});
}

TEST(Match, SixteenPortsAndEightVlans) {
    expect_taken({"--port", "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31", "--vlan", "1,3,5,7,9,11,13,15"},
                 {{Ethernet{} / Vlan{.id = 15} / udp4(31), taken},
                  {Ethernet{} / Vlan{.id = 1} / udp4(1), taken},
                  {Ethernet{} / Vlan{.id = 9} / udp4(17), taken},
                  {Ethernet{} / Vlan{.id = 15} / udp4(32), "udp"},
                  {Ethernet{} / Vlan{.id = 15} / udp4(16), "udp"},
                  {Ethernet{} / Vlan{.id = 16} / udp4(31), "other_vlan"},
                  {Ethernet{} / Vlan{.id = 8} / udp4(1), "other_vlan"}});
}

} // namespace
} // namespace responder::test
