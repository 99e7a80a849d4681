// SPDX-License-Identifier: GPL-2.0-only
//
// The program is on the port while the process lives and not a second longer, and an occupied port is left as it was.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

namespace responder::test {
namespace {

using namespace packet;

class AttachmentSignal : public testing::TestWithParam<std::pair<std::string, int>> {};

TEST_P(AttachmentSignal, TakesTheProgramOffThePort) {
    const Lab lab;
    PacketSocket sender(lab.tester, lab.from().name);
    Sink sink(lab, {});
    EXPECT_NE(xdp_programs(lab.responder, "eth1").native, 0U);
    sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(18), 100);
    const int signal = GetParam().second;
    if (signal == SIGKILL) {
        sink.process().signal(SIGKILL);
        EXPECT_EQ(sink.process().wait().signal, SIGKILL);
    } else {
        const Json summary = sink.end(signal);
        EXPECT_EQ(test_frames(summary), 100U);
        EXPECT_EQ(summary["ended_by"], "signal");
    }
    EXPECT_TRUE(eventually([&] { return xdp_programs(lab.responder, "eth1").none(); }, 1s));
    EXPECT_FALSE(link_of(lab.responder, "eth1").contains("xdp"));
    // And the port is free for the next one.
    Sink next(lab, {});
    sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(18), 7);
    EXPECT_EQ(test_frames(next.end()), 7U);
}

INSTANTIATE_TEST_SUITE_P(, AttachmentSignal,
                         testing::Values(std::pair{"SIGINT", SIGINT}, std::pair{"SIGTERM", SIGTERM},
                                         std::pair{"SIGHUP", SIGHUP}, std::pair{"SIGKILL", SIGKILL}),
                         [](const auto& test) { return test.param.first; });

TEST(Attachment, ASecondSinkIsRefusedAndTheFirstCountsOn) {
    const Lab lab;
    PacketSocket sender(lab.tester, lab.from().name);
    Sink first(lab, {});
    const std::string id = std::to_string(xdp_programs(lab.responder, "eth1").native);
    sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(18), 50);
    for (const Arguments& arguments : std::vector<Arguments>{{}, {"--mode", "native"}, {"--mode", "generic"}})
        expect_refused(lab, arguments, exit_unavailable,
                       {"eth1", "id " + id, "native mode", "name xdp_sink", "bpf_link"});
    sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(18), 50);
    EXPECT_EQ(test_frames(first.end()), 100U);
}

// What the netlink way of attaching leaves behind lives on without a process.
class AttachmentNetlink : public testing::TestWithParam<std::string> {};

TEST_P(AttachmentNetlink, ProgramIsNamedAndStays) {
    const std::string mode = GetParam();
    const Lab lab;
    const std::string id = std::to_string(
        PassProgram(lab.responder, "eth1", mode == "native" ? PassProgram::Mode::native : PassProgram::Mode::generic,
                    false, PassProgram::Hold::netlink)
            .id());
    ASSERT_FALSE(xdp_programs(lab.responder, "eth1").none());
    const Json link_before = link_of(lab.responder, "eth1");
    const std::string features_before = lab.responder.run({"ethtool", "-k", "eth1"});
    const std::string groups_before = lab.responder.run({"ip", "maddr", "show", "dev", "eth1"});
    for (const std::string asked : {"auto", "native", "generic"})
        expect_refused(lab, {"--mode", asked, "--promisc", "--dst-mac", "02:00:00:00:00:55,33:33:00:00:00:55"},
                       exit_unavailable, {"eth1", "id " + id, mode + " mode", "name xdp_pass", "netlink"});
    EXPECT_EQ(link_of(lab.responder, "eth1"), link_before);
    EXPECT_EQ(lab.responder.run({"ethtool", "-k", "eth1"}), features_before);
    EXPECT_EQ(lab.responder.run({"ip", "maddr", "show", "dev", "eth1"}), groups_before);
}

INSTANTIATE_TEST_SUITE_P(, AttachmentNetlink, testing::Values("native", "generic"),
                         [](const auto& test) { return test.param; });

TEST(Attachment, GenericProgramHeldByALinkIsNamed) {
    const Lab lab;
    const PassProgram pass(lab.responder, "eth1", PassProgram::Mode::generic);
    expect_refused(lab, {}, exit_unavailable,
                   {"eth1", "id " + std::to_string(pass.id()), "generic mode", "name xdp_pass", "bpf_link"});
}

TEST(Attachment, OneOccupiedPortOfTwoLeavesBothAlone) {
    const Lab lab({.pairs = 2});
    const PassProgram pass(lab.responder, "eth2");
    const std::string features_before = lab.responder.run({"ethtool", "-k", "eth1"});
    expect_refused(lab, {}, exit_unavailable, {"eth2", "name xdp_pass"}, {.interfaces = {"eth1", "eth2"}});
    EXPECT_TRUE(xdp_programs(lab.responder, "eth1").none());
    EXPECT_EQ(lab.responder.run({"ethtool", "-k", "eth1"}), features_before);
}

} // namespace
} // namespace responder::test
