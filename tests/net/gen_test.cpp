// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-gen where its options meet a port: what it refuses, and what of it arrives.

#include "loader/netlink.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace responder::test {
namespace {

// xdp-gen in the tester that sends nothing; returns its one line on stderr.
std::string refused(const Lab& lab, Arguments arguments, int code) {
    arguments.insert(arguments.begin(), TEST_XDP_GEN);
    Process process(arguments, {.network_namespace = lab.tester.fd()});
    EXPECT_EQ(process.wait().code, code);
    EXPECT_EQ(process.out(), "");
    EXPECT_EQ(count_of(process.err(), "\n"), 1U) << process.err();
    return process.err();
}

TEST(Gen, NamesTheFirstThingThatIsWrong) {
    const Lab lab;
    for (const char* name : {"nope", "../../etc"})
        EXPECT_TRUE(contains(refused(lab, {name}, exit_no_input), std::string(name) + ": no such interface"));
    EXPECT_TRUE(contains(refused(lab, {"nope", "--size", "63"}, exit_usage), "--size 63"));
    EXPECT_TRUE(contains(refused(lab, {"tx1"}, exit_usage), "--dst-mac is missing"));
    EXPECT_TRUE(contains(refused(lab, {"lo", "--dst-mac", to_string(lab.to().mac)}, exit_os),
                         "lo: the loopback interface cannot send XDP frames"));
}

TEST(Gen, FramesToAMulticastGroupCarryItsMacAddress) {
    const Lab lab;
    for (const auto& [group, mac] :
         {std::pair{"239.129.2.3", "01:00:5e:01:02:03"}, {"ff05::1:2345:6789", "33:33:23:45:67:89"}}) {
        Sink sink(lab, {"--dst", group, "--dst-mac", mac});
        Process sender({TEST_XDP_GEN, "tx1", "--dst", group, "--count", "500", "--rate", "50000", "--size", "128"},
                       {.network_namespace = lab.tester.fd()});
        EXPECT_EQ(sender.wait().code, 0) << sender.err();
        EXPECT_TRUE(contains(sender.err(), mac));
        EXPECT_EQ(test_frames(sink.end()), 500U) << group;
    }
}

TEST(Gen, DurationHasUnits) {
    const Lab lab;
    Sink sink(lab, {});
    const Json generated = generate(lab, {"--duration", "200ms", "--rate", "10000"});
    // All 2000, unless the machine was too busy to keep the pace: the time ends it then.
    EXPECT_GT(frames_sent(generated), 100U);
    EXPECT_LE(frames_sent(generated), 2000U);
    EXPECT_EQ(test_frames(sink.end()), frames_sent(generated));
}

TEST(Gen, SummaryThatNobodyReadsIsAnError) {
    const Lab lab;
    Sink sink(lab, {});
    Process sender({TEST_XDP_GEN, "tx1", "--dst-mac", to_string(lab.to().mac), "--count", "10", "--quiet"},
                   {.network_namespace = lab.tester.fd(), .out = Process::Output::pipe_without_reader});
    EXPECT_EQ(sender.wait().code, exit_io);
    EXPECT_TRUE(contains(sender.err(), "standard output")) << sender.err();
    EXPECT_EQ(test_frames(sink.end()), 10U);
}

// A sink is there, but only in generic mode, which a veth's XDP frames do not reach.
TEST(Gen, FarEndInGenericModeTakesNone) {
    const Lab lab;
    Sink sink(lab, {"--mode", "generic"});
    Process sender({TEST_XDP_GEN, "tx1", "--dst-mac", to_string(lab.to().mac), "--count", "1000", "--quiet"},
                   {.network_namespace = lab.tester.fd()});
    EXPECT_EQ(sender.wait().code, exit_os);
    EXPECT_TRUE(contains(sender.out(), "refused   1000 frames of 1000 handed over")) << sender.out();
    EXPECT_TRUE(contains(sender.out(), "only where the far end has a native XDP program")) << sender.out();
    EXPECT_TRUE(contains(sender.err(), "attach a native XDP program to the far end"));
    EXPECT_EQ(test_frames(sink.end()), 0U);
}

// A bridge cannot send XDP frames, and its counter rises with whatever else passes.
TEST(Gen, DriverThatCannotSendIsRefusedAtOnce) {
    const Lab lab;
    lab.tester.ip("link add br0 address 02:00:00:00:00:0b type bridge\nlink set tx1 master br0\nlink set br0 up\n"
                  "link add mv0 link br0 type macvlan\n");
    if (!lab.tester.in([] { return xdp_features(1); }))
        GTEST_SKIP() << "this kernel does not say what a driver can do with XDP (Linux 6.3)";
    PacketSocket far_end(lab.responder, "eth1");
    for (const char* interface : {"br0", "mv0"})
        EXPECT_TRUE(contains(refused(lab, {interface, "--dst-mac", to_string(lab.to().mac), "--count", "100"}, exit_os),
                             std::string(interface) + ": its driver cannot send XDP frames"));
    // The bridge speaks to groups of its own accord.
    const auto& to = lab.to().mac.bytes;
    EXPECT_EQ(
        std::ranges::count_if(far_end.receive_all(),
                              [&](const Octets& frame) { return std::equal(to.begin(), to.end(), frame.begin()); }),
        0);
}

TEST(Gen, LinkThatDoesNotComeBack) {
    const Lab lab;
    Sink sink(lab, {});
    Process sender({TEST_XDP_GEN, "tx1", "--dst-mac", to_string(lab.to().mac), "--rate", "20000", "--json", "--quiet"},
                   {.network_namespace = lab.tester.fd()});
    EXPECT_TRUE(receives(lab, 1000));
    lab.responder.ip("link set eth1 down");
    std::this_thread::sleep_for(300ms);
    sender.signal(SIGINT);
    EXPECT_EQ(sender.wait().code, 0);
    const Json generated = Json::parse(sender.out());
    EXPECT_TRUE(generated["link_was_down"] && generated["link_is_down"]) << sender.out();
    EXPECT_GT(generated["frames_refused"], 0);
}

// Whoever ends it, a broken SSH session too, gets to know how many left; unless nohup(1) wants it to go on.
TEST(Gen, EndsWithItsSummaryByEverySignal) {
    const Lab lab;
    Sink sink(lab, {});
    const Arguments sends{TEST_XDP_GEN, "tx1", "--dst-mac", to_string(lab.to().mac), "--rate", "20000", "--json"};
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        Process sender(sends, {.network_namespace = lab.tester.fd()});
        ASSERT_TRUE(sender.wait_for_err("sending frames"));
        sender.signal(signal);
        EXPECT_EQ(sender.wait().code, 0) << "signal " << signal;
        EXPECT_EQ(Json::parse(sender.out())["end"], "stopped") << signal;
    }
    Arguments with_nohup{"sh", "-c", "trap '' HUP; exec \"$@\"", "sh"};
    with_nohup.insert(with_nohup.end(), sends.begin(), sends.end());
    Process sender(with_nohup, {.network_namespace = lab.tester.fd()});
    ASSERT_TRUE(sender.wait_for_err("sending frames"));
    sender.signal(SIGHUP);
    EXPECT_TRUE(receives(lab, 1000));
    EXPECT_TRUE(sender.running());
    sender.signal(SIGINT);
    EXPECT_EQ(sender.wait().code, 0);
}

TEST(Gen, BroadcastHasItsMacAddress) {
    const Lab lab;
    Sink sink(lab, {});
    Process sender({TEST_XDP_GEN, "tx1", "--dst", "255.255.255.255", "--count", "10"},
                   {.network_namespace = lab.tester.fd()});
    EXPECT_EQ(sender.wait().code, 0);
    EXPECT_TRUE(contains(sender.err(), "ff:ff:ff:ff:ff:ff")) << sender.err();
    EXPECT_EQ(test_frames(sink.end()), 10U);
}

} // namespace
} // namespace responder::test
