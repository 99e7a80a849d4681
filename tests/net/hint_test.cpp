// SPDX-License-Identifier: GPL-2.0-only
//
// When nothing counts, the sink says what passes by and which option takes it; and that option does take it.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

namespace responder::test {
namespace {

using namespace packet;

struct Case {
    std::string name;
    Octets frame;
    Arguments options; // of the first run, which counts nothing
    std::string hint;  // a part of the line
    Arguments taking;  // of the second run
    friend std::ostream& operator<<(std::ostream& out, const Case& given) { return out << given.name; }
};

class Hint : public testing::TestWithParam<Case> {};

TEST_P(Hint, IsGivenAndHolds) {
    const Case& given = GetParam();
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    {
        Sink sink(lab, given.options);
        for (int i = 0; i < 2000 && !contains(sink.process().err(), "no test frame yet"); ++i) {
            sender.send(given.frame);
            std::this_thread::sleep_for(5ms);
        }
        const auto says = [&](const char* end) { return contains(sink.process().err(), given.hint + end); };
        EXPECT_TRUE(eventually([&] { return says("\n") || says(" ("); })) << sink.process().err();
        EXPECT_EQ(link_of(lab.responder, "eth1").at("promiscuity"), 0) << "promiscuous only for the look";
        EXPECT_EQ(test_frames(sink.end()), 0U);
    }
    Sink sink(lab, given.taking);
    sender.send(given.frame, 50);
    EXPECT_EQ(test_frames(sink.end()), 50U);
}

INSTANTIATE_TEST_SUITE_P(
    , Hint,
    testing::Values(Case{"Port",
                         Ethernet{} / Ipv4{.source = "16.0.0.1", .destination = "48.0.0.1"} / Udp{.destination = 12} /
                             payload(18),
                         {},
                         ": add --port 12",
                         {"--port", "12"}},
                    Case{"Port6",
                         Ethernet{} / Vlan{.id = 3} / Ipv6{} / Udp{.destination = 5002} / payload(18),
                         {},
                         ": add --port 5002",
                         {"--port", "5002"}},
                    Case{"OtherMac",
                         Ethernet{.destination = stranger_mac} / Ipv4{} / Udp{} / payload(18),
                         {},
                         ": add --promisc",
                         {"--promisc"}},
                    Case{"PortAndOtherMac",
                         Ethernet{.destination = stranger_mac} / Ipv4{} / Udp{.destination = 12} / payload(18),
                         {},
                         ": add --port 12 --promisc",
                         {"--port", "12", "--promisc"}},
                    Case{"Ethertype",
                         Ethernet{.type = 0x88b5} / payload(46),
                         {},
                         ": add --ethertype 0x88b5",
                         {"--ethertype", "0x88b5"}},
                    Case{"OtherIp",
                         Ethernet{} / Ipv4{.protocol = std::uint8_t{47}} / payload(40),
                         {},
                         ": add --all",
                         {"--all", "--force"}},
                    Case{"Fragment",
                         Ethernet{} / Ipv4{.protocol = std::uint8_t{17}, .fragment_offset = 4} / payload(40),
                         {},
                         ": add --dst 10.0.0.2",
                         {"--dst", "10.0.0.2"}},
                    Case{"Vlan",
                         Ethernet{} / Vlan{.id = 7} / Ipv4{} / Udp{} / payload(18),
                         {"--vlan", "5"},
                         ": add --vlan 7",
                         {"--vlan", "5", "--vlan", "7"}},
                    Case{"InnerVlan",
                         Ethernet{} / Vlan{.id = 5} / Vlan{.id = 6} / Ipv4{} / Udp{} / payload(18),
                         {"--vlan", "5", "--inner-vlan", "9"},
                         ": add --inner-vlan 6",
                         {"--vlan", "5", "--inner-vlan", "9", "--inner-vlan", "6"}},
                    Case{"Untagged", Ethernet{} / Ipv4{} / Udp{} / payload(18), {"--vlan", "5"}, "no VLAN option", {}},
                    Case{"Source",
                         Ethernet{} / Ipv4{} / Udp{.destination = 12} / payload(18),
                         {"--src", "10.9.0.0/16"},
                         ": add --src 10.0.0.1",
                         {"--src", "10.9.0.0/16", "--src", "10.0.0.1"}},
                    Case{"Destination",
                         Ethernet{} / Ipv4{} / Udp{.destination = 12} / payload(18),
                         {"--dst", "10.9.0.0/16"},
                         ": add --dst 10.0.0.2",
                         {"--dst", "10.9.0.0/16", "--dst", "10.0.0.2"}},
                    // No UDP service has port 0, and no option names it.
                    Case{"PortZero",
                         Ethernet{} / Ipv4{} / Udp{.destination = 0} / payload(18),
                         {},
                         ": add --dst 10.0.0.2",
                         {"--dst", "10.0.0.2"}}),
    [](const auto& test) { return test.param.name; });

TEST(HintOf, NothingAtAll) {
    const Lab lab;
    Sink sink(lab, {});
    EXPECT_TRUE(sink.process().wait_for_err("eth1: no test frame yet. Nothing else arrives either"));
    sink.end();
}

TEST(HintOf, FiveLargestFlowsByTheirSize) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, {});
    for (int i = 0; i < 2000 && !contains(sink.process().err(), "no test frame yet"); ++i) {
        for (std::uint16_t port = 20; port < 27; ++port)
            sender.send(Ethernet{} / Ipv4{} / Udp{.destination = port} / payload(18), port - 19U);
        std::this_thread::sleep_for(20ms);
    }
    ASSERT_TRUE(sink.process().wait_for_err("--port 22"));
    const std::string err = sink.process().err();
    std::size_t at = 0;
    for (const char* option : {"--port 26", "--port 25", "--port 24", "--port 23", "--port 22"}) {
        const std::size_t next = err.find(option);
        EXPECT_NE(next, std::string::npos) << option << " in " << err;
        EXPECT_GT(next, at) << option << " in " << err;
        at = next;
    }
    EXPECT_FALSE(contains(err, "--port 21")) << err;
    sink.end();
}

TEST(HintOf, OneTagTooFewIsNoMatterOfTheTagThatIsThere) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, {"--vlan", "5", "--inner-vlan", "6"});
    for (int i = 0; i < 2000 && !contains(sink.process().err(), "no test frame yet"); ++i) {
        sender.send(Ethernet{} / Vlan{.id = 5} / Ipv4{} / Udp{} / payload(18));
        std::this_thread::sleep_for(5ms);
    }
    ASSERT_TRUE(sink.process().wait_for_err(" in VLAN 5, "));
    const std::string err = sink.process().err();
    EXPECT_FALSE(contains(err, "add --vlan 5\n")) << "it is given already: " << err;
    EXPECT_TRUE(contains(err.substr(err.find("no test frame yet")), "--inner-vlan")) << err;
    sink.end();
}

TEST(HintOf, NoneWhereTestTrafficFlows) {
    const Lab lab;
    Traffic traffic(lab, {"--rate", "1000"}); // there already when the three seconds until the hint begin
    Sink sink(lab, {"--duration", "4500ms"});
    EXPECT_TRUE(receives(lab, 1));
    traffic.end();
    sink.wait();
    EXPECT_FALSE(contains(sink.process().err(), "no test frame yet"));
}

} // namespace
} // namespace responder::test
