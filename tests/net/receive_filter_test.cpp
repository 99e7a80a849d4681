// SPDX-License-Identifier: GPL-2.0-only
//
// What the sink changes on an interface for the time of the test, and that all of it is put back.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

namespace responder::test {
namespace {

using namespace packet;

int promiscuity(const Lab& lab) { return link_of(lab.responder, "eth1").at("promiscuity"); }

TEST(ReceiveFilter, PromiscuousAsLongAsItRuns) {
    const Lab lab;
    EXPECT_EQ(promiscuity(lab), 0);
    Sink sink(lab, {"--promisc"});
    EXPECT_EQ(promiscuity(lab), 1);
    sink.end();
    EXPECT_EQ(promiscuity(lab), 0);
}

TEST(ReceiveFilter, NotPromiscuousUnlessAsked) {
    const Lab lab;
    Sink sink(lab, {});
    EXPECT_EQ(promiscuity(lab), 0);
    sink.end();
}

TEST(ReceiveFilter, NotPromiscuousAfterAKill) {
    const Lab lab;
    Sink sink(lab, {"--promisc"});
    EXPECT_EQ(promiscuity(lab), 1);
    sink.process().signal(SIGKILL);
    sink.process().wait();
    EXPECT_TRUE(eventually([&] { return promiscuity(lab) == 0; }, 1s));
}

TEST(ReceiveFilter, NicIsAskedForTheMacAddressesOfTheTest) {
    const Lab lab;
    const auto filters = [&] {
        return lab.responder.run({"ip", "maddress", "show", "dev", "eth1"}) +
               lab.responder.run({"bridge", "fdb", "show", "dev", "eth1"});
    };
    const std::string before = filters();
    Sink sink(lab, {"--dst-mac", "02:00:00:00:00:55,01:00:5e:00:00:09", "--address", "2001:2::ab:cdef/64"});
    const std::string during = filters();
    EXPECT_TRUE(contains(during, "01:00:5e:00:00:09")) << during;
    EXPECT_TRUE(contains(during, "33:33:ff:ab:cd:ef")) << "where neighbours ask for the address: " << during;
    sink.end();
    EXPECT_EQ(filters(), before);
}

TEST(ReceiveFilter, VlanStrippingIsOffAsLongAsItRuns) {
    const Lab lab;
    ASSERT_TRUE(feature_on(lab.responder, "eth1", "rx-vlan-offload"));
    const std::string before = lab.responder.run({"ethtool", "-k", "eth1"});
    Sink sink(lab, {});
    EXPECT_FALSE(feature_on(lab.responder, "eth1", "rx-vlan-offload"));
    EXPECT_FALSE(feature_on(lab.responder, "eth1", "rx-vlan-stag-hw-parse"));
    sink.end();
    EXPECT_EQ(lab.responder.run({"ethtool", "-k", "eth1"}), before);
}

TEST(ReceiveFilter, VlanStrippingThatWasOffStaysOff) {
    const Lab lab;
    lab.responder.run({"ethtool", "-K", "eth1", "rxvlan", "off"});
    const std::string before = lab.responder.run({"ethtool", "-k", "eth1"});
    Sink sink(lab, {});
    sink.end();
    EXPECT_EQ(lab.responder.run({"ethtool", "-k", "eth1"}), before);
}

TEST(ReceiveFilter, FollowsTheInterfacesMacAddress) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, {});
    const Octets to_old = Ethernet{} / Ipv4{} / Udp{} / payload(18);
    const Octets to_new = Ethernet{.destination = stranger_mac} / Ipv4{} / Udp{} / payload(18);
    sender.send(to_old, 3);
    sender.send(to_new, 5);
    lab.responder.run({"ip", "link", "set", "dev", "eth1", "address", to_string(stranger_mac)});
    EXPECT_TRUE(sink.process().wait_for_err("the MAC address is now 02:00:00:00:00:03"));
    sender.send(to_old, 7);
    sender.send(to_new, 11);
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 3U + 11U);
    EXPECT_EQ(passed(summary), (Reasons{{"other_mac", 5 + 7}}));
    EXPECT_EQ(summary["ports"][0]["mac"], "02:00:00:00:00:03");
}

} // namespace
} // namespace responder::test
