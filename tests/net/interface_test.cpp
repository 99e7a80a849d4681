// SPDX-License-Identifier: GPL-2.0-only
//
// What can happen to the interface, before a run and during one. Nothing that was counted is lost.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

#include <chrono>

namespace responder::test {
namespace {

using namespace packet;

const Octets test_frame = Ethernet{} / Ipv4{} / Udp{} / payload(18);

TEST(Interface, UnknownNameListsWhatThereIs) {
    const Lab lab({.pairs = 2});
    expect_refused(lab, {}, exit_no_input, {"eth9", "no such interface", "lo, ", "eth1", "eth2"},
                   {.interfaces = {"eth9"}});
    expect_refused(lab, {}, exit_no_input, {"eth9"}, {.interfaces = {"eth1", "eth9"}});
    expect_refused(lab, {}, exit_no_input, {"no such interface"},
                   {.interfaces = {"a-name-that-is-longer-than-15-bytes"}});
}

TEST(Interface, SwitchedOff) {
    const Lab lab;
    lab.responder.ip("link set eth1 down");
    const std::string before = lab.responder.run({"ethtool", "-k", "eth1"});
    expect_refused(lab, {}, exit_temporary, {"eth1", "switched off", "ip link set eth1 up", "--wait"});
    EXPECT_EQ(lab.responder.run({"ethtool", "-k", "eth1"}), before);
}

TEST(Interface, NoCarrier) {
    const Lab lab;
    lab.tester.ip("link set tx1 down");
    ASSERT_TRUE(eventually([&] { return link_of(lab.responder, "eth1").at("operstate") != "UP"; }));
    expect_refused(lab, {}, exit_temporary, {"eth1", "no carrier", "--wait"});
}

TEST(Interface, WaitBeginsTheRunWithTheCarrier) {
    const Lab lab;
    lab.tester.ip("link set tx1 down");
    ASSERT_TRUE(eventually([&] { return link_of(lab.responder, "eth1").at("operstate") != "UP"; }));
    Sink sink(lab, {"--wait", "--duration", "5"});
    EXPECT_TRUE(sink.process().wait_for_err("eth1: no carrier yet; the run begins with the carrier"));
    std::this_thread::sleep_for(1s);
    const auto begin = std::chrono::steady_clock::now();
    lab.tester.ip("link set tx1 up");
    EXPECT_TRUE(sink.process().wait_for_err("eth1: the link is up, after "));
    PacketSocket(lab.tester, "tx1").send(test_frame, 100);
    const Json summary = sink.wait();
    EXPECT_EQ(test_frames(summary), 100U);
    EXPECT_EQ(summary["ended_by"], "duration");
    const std::chrono::duration<double> with_a_link = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(with_a_link.count(), 4.99) << "some of its time ran off without a link";
    EXPECT_LT(summary["ports"][0]["duration_seconds"], with_a_link.count());
    const Json& outages = summary["ports"][0]["outages"];
    ASSERT_EQ(outages.size(), 1U);
    EXPECT_EQ(outages[0]["cause"], "absent_at_start");
    EXPECT_GE(outages[0]["seconds"], 0.9);
}

TEST(Interface, WaitInVainIsSaid) {
    const Lab lab;
    lab.tester.ip("link set tx1 down");
    ASSERT_TRUE(eventually([&] { return link_of(lab.responder, "eth1").at("operstate") != "UP"; }));
    Sink sink(lab, {"--wait"}, {.json = false, .ready = false});
    EXPECT_TRUE(sink.process().wait_for_err("eth1: no carrier yet"));
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    EXPECT_TRUE(contains(sink.process().out(), ", still down, from the start\n")) << sink.process().out();
}

TEST(Interface, WaitInVainPassesNoVerdict) {
    const Lab lab;
    lab.responder.ip("link set eth1 down");
    Sink sink(lab, {"--wait", "--max-missed", "0"});
    EXPECT_TRUE(
        sink.process().wait_for_err("eth1: switched off (`ip link set eth1 up`); the run begins with the carrier"));
    const Json summary = sink.end(SIGINT, exit_verdict_fail);
    EXPECT_EQ(summary["verdict"]["result"], "FAIL");
    EXPECT_EQ(summary["verdict"]["conditions"][0]["measured"], "there was no carrier");
}

TEST(Interface, WaitForOneOfTwo) {
    const Lab lab({.pairs = 2});
    lab.tester.ip("link set tx2 down");
    ASSERT_TRUE(eventually([&] { return link_of(lab.responder, "eth2").at("operstate") != "UP"; }));
    Sink sink(lab, {"--wait"}, {.interfaces = {"eth1", "eth2"}});
    PacketSocket(lab.tester, "tx1").send(test_frame, 100);
    const Json summary = sink.end();
    EXPECT_TRUE(contains(sink.process().err(), "eth2: no carrier yet\n"));
    EXPECT_EQ(test_frames(summary), 100U);
    EXPECT_TRUE(summary["ports"][0]["outages"].empty());
    EXPECT_EQ(summary["ports"][1]["outages"].size(), 1U);
}

TEST(Interface, GoesDownAndComesBack) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    const auto begin = std::chrono::steady_clock::now();
    const auto since = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    Sink sink(lab, {});
    sender.send(test_frame, 100);
    lab.tester.ip("link set tx1 down");
    EXPECT_TRUE(sink.process().wait_for_err("eth1: the link is down"));
    const double down_after = since();
    std::this_thread::sleep_for(300ms);
    lab.tester.ip("link set tx1 up");
    EXPECT_TRUE(sink.process().wait_for_err("eth1: the link is up again"));
    PacketSocket(lab.tester, "tx1").send(test_frame, 50);
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 150U);
    const Json& outages = summary["ports"][0]["outages"];
    ASSERT_EQ(outages.size(), 1U);
    if (down_after < 2) { // unless the machine is very busy
        EXPECT_EQ(outages[0]["cause"], "attach") << "so soon after it was attached that it can be the driver's doing";
    }
    EXPECT_GE(outages[0]["seconds"], 0.25);
    EXPECT_LT(outages[0]["seconds"], since());
}

TEST(Interface, LostLaterIsNotTheDriversDoing) {
    const Lab lab;
    Sink sink(lab, {});
    std::this_thread::sleep_for(2100ms);
    lab.tester.ip("link set tx1 down");
    EXPECT_TRUE(sink.process().wait_for_err("eth1: the link is down"));
    EXPECT_EQ(sink.end()["ports"][0]["outages"][0]["cause"], "lost");
}

TEST(Interface, SwitchedOffAndOnByTheAdministrator) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, {});
    sender.send(test_frame, 100);
    lab.responder.ip("link set eth1 down");
    EXPECT_TRUE(sink.process().wait_for_err("eth1: the link is down (switched off)"));
    lab.responder.ip("link set eth1 up");
    EXPECT_TRUE(sink.process().wait_for_err("eth1: the link is up again"));
    sender.send(test_frame, 50);
    EXPECT_EQ(test_frames(sink.end()), 150U);
}

TEST(Interface, StillDownAtTheEnd) {
    const Lab lab;
    Sink sink(lab, {});
    PacketSocket(lab.tester, "tx1").send(test_frame, 10);
    lab.tester.ip("link set tx1 down");
    EXPECT_TRUE(sink.process().wait_for_err("eth1: the link is down"));
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 10U);
    ASSERT_EQ(summary["ports"][0]["outages"].size(), 1U);
    EXPECT_FALSE(summary["ports"][0]["outages"][0].contains("seconds"));
}

class InterfaceOfEachEngine : public EachEngine {};
INSTANTIATE_TEST_SUITE_P(Engine, InterfaceOfEachEngine, each_engine, engine_name);

TEST_P(InterfaceOfEachEngine, QueuesThatChangeAreSaid) {
    const Lab lab({.queues = 2});
    // A veth with a program keeps as many queues as its peer sends by.
    lab.tester.run({"ethtool", "-L", "tx1", "tx", "1"});
    lab.responder.run({"ethtool", "-L", "eth1", "rx", "1"});
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, with_engine({"--json-stream", "--interval", "100ms"}), {.json = false});
    sender.send(test_frame, 100);
    lab.responder.run({"ethtool", "-L", "eth1", "rx", "2"});
    const std::string text = "eth1: 2 receive queues now, after 1: the driver may lose frames over the change, and the "
                             "program may not see what comes by a new one" +
                             std::string(GetParam() == std::string("af_xdp") ? ", which has no AF_XDP socket" : "");
    EXPECT_TRUE(sink.process().wait_for_err(text + "\n"));
    EXPECT_TRUE(sink.process().wait_for_out("\"text\":\"" + text + "\"")) << sink.process().out();
    lab.responder.run({"ethtool", "-L", "eth1", "rx", "1"});
    EXPECT_TRUE(sink.process().wait_for_err("eth1: 1 receive queue now, after 2: "));
    EXPECT_EQ(count_of(sink.process().err(), "the driver may lose frames"), 2U) << "each change once";
    sender.send(test_frame, 50);
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    EXPECT_EQ(test_frames(summary_of_stream(sink.process().out())), 150U);
}

TEST(Interface, Renamed) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, {"--promisc"});
    sender.send(test_frame, 100);
    // Older kernels rename only what is switched off.
    lab.responder.ip("link set eth1 down\nlink set eth1 name port7\nlink set port7 up");
    EXPECT_TRUE(sink.process().wait_for_err("eth1: renamed to port7"));
    EXPECT_TRUE(sink.process().wait_for_err("port7: the link is up again"));
    EXPECT_NE(xdp_programs(lab.responder, "port7").native, 0U);
    sender.send(test_frame, 50);
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 150U);
    EXPECT_EQ(summary["ports"][0]["interface"], "port7");
    EXPECT_TRUE(xdp_programs(lab.responder, "port7").none());
    EXPECT_TRUE(feature_on(lab.responder, "port7", "rx-vlan-offload"));
    EXPECT_EQ(link_of(lab.responder, "port7").at("promiscuity"), 0);
}

TEST(Interface, Deleted) {
    const Lab lab({.pass = false});
    Sink sink(lab, {});
    PacketSocket(lab.tester, "tx1").send(test_frame, 100);
    lab.tester.ip("link delete tx1");
    const Json summary = sink.wait(exit_temporary);
    EXPECT_EQ(test_frames(summary), 100U);
    EXPECT_EQ(summary["ended_by"], "interface");
    EXPECT_EQ(summary["ports"][0]["balance"]["nic_known"], false);
    EXPECT_TRUE(contains(sink.process().err(), "eth1: the interface is gone"));
}

TEST(Interface, MovedToAnotherNamespace) {
    const Lab lab;
    const Namespace elsewhere;
    Sink sink(lab, {"--promisc"});
    PacketSocket(lab.tester, "tx1").send(test_frame, 100);
    lab.responder.ip("link set eth1 netns " + elsewhere.name());
    const Json summary = sink.wait(exit_temporary);
    EXPECT_EQ(test_frames(summary), 100U);
    EXPECT_EQ(summary["ended_by"], "interface");
    EXPECT_TRUE(contains(sink.process().err(), "eth1: the interface is gone"));
    EXPECT_TRUE(xdp_programs(elsewhere, "eth1").none());
    EXPECT_EQ(link_of(elsewhere, "eth1").at("promiscuity"), 0);
}

TEST(Interface, OneOfTwoDeleted) {
    const Lab lab({.pairs = 2, .pass = false});
    Sink sink(lab, {}, {.interfaces = {"eth1", "eth2"}});
    PacketSocket(lab.tester, "tx1").send(test_frame, 100);
    PacketSocket(lab.tester, "tx2")
        .send(Ethernet{.destination = lab.responder_ports[1].mac} / Ipv4{} / Udp{} / payload(18), 60);
    lab.tester.ip("link delete tx2");
    const Json summary = sink.wait(exit_temporary);
    EXPECT_EQ(test_frames(summary, 0), 100U);
    EXPECT_EQ(test_frames(summary, 1), 60U);
    EXPECT_EQ(summary["ports"][0]["balance"]["nic_known"], true);
    EXPECT_EQ(summary["ports"][1]["balance"]["nic_known"], false);
}

TEST(Interface, DeletedWhileItIsFlooded) {
    const Lab lab({.pass = false});
    Sink sink(lab, {});
    Process sender({TEST_XDP_GEN, "tx1", "--dst-mac", to_string(lab.to().mac), "--duration", "20"},
                   {.network_namespace = lab.tester.fd()});
    ASSERT_TRUE(sender.wait_for_err("sending frames"));
    ASSERT_TRUE(receives(lab, 1001));
    lab.tester.ip("link delete tx1");
    const Json summary = sink.wait(exit_temporary);
    EXPECT_GT(test_frames(summary), 1000U);
}

} // namespace
} // namespace responder::test
