// SPDX-License-Identifier: GPL-2.0-only
//
// The program is on the port while the process lives and not a second longer, and an occupied port is left as it was.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <bpf/bpf.h>
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
    EXPECT_TRUE(eventually([&] { return xdp_programs(lab.responder, "eth1").none(); }));
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

TEST(Attachment, ASignalInTheStartEndsTheStart) {
    const Lab lab;
    // Pending before the program is: the first step that looks finds it.
    const Arguments pending = {"env", "--block-signal=TERM", "sh", "-c", "kill -TERM $$; exec \"$@\"", "sh"};
    for (const char* engine : {"xdp", "af_xdp"})
        expect_refused(lab, {"--engine", engine}, exit_temporary, {"the start: a signal has ended it"},
                       {.prefix = pending});
    EXPECT_TRUE(xdp_programs(lab.responder, "eth1").none());
    EXPECT_EQ(link_of(lab.responder, "eth1")["promiscuity"], 0);
}

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

void detach_link_of(std::uint32_t program) {
    for (std::uint32_t id = 0; bpf_link_get_next_id(id, &id) == 0;) {
        const UniqueFd link(bpf_link_get_fd_by_id(id));
        bpf_link_info info{};
        std::uint32_t length = sizeof(info);
        if (link && bpf_obj_get_info_by_fd(link.get(), &info, &length) == 0 && info.prog_id == program) {
            EXPECT_EQ(bpf_link_detach(link.get()), 0);
        }
    }
}

TEST(Attachment, TakenOffByAnotherEndsTheRunWithWhatWasCounted) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, {});
    sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(18), 40);
    detach_link_of(xdp_programs(lab.responder, "eth1").native);
    ASSERT_TRUE(xdp_programs(lab.responder, "eth1").none());
    const Json summary = sink.wait(exit_temporary);
    EXPECT_EQ(test_frames(summary), 40U);
    EXPECT_EQ(summary["ended_by"], "program");
    EXPECT_TRUE(contains(sink.process().err(), "eth1: somebody has taken the XDP program off the port"));
}

// Between two looks, and before the next one the run is over.
TEST(Attachment, TakenOffInTheLastIntervalIsNoWholeRun) {
    const Lab lab;
    for (const bool by_signal : {false, true}) {
        Sink sink(lab, {"--interval", "1h", "--max-missed", "0", "--duration", by_signal ? "1h" : "1"});
        detach_link_of(xdp_programs(lab.responder, "eth1").native);
        if (by_signal)
            sink.process().signal(SIGINT);
        const Json summary = sink.wait(exit_temporary);
        EXPECT_EQ(summary["ended_by"], "program");
        EXPECT_EQ(summary["verdict"]["result"], "FAIL");
    }
}

TEST(Attachment, TakenOffWhileItWaitsForACarrier) {
    const Lab lab;
    lab.tester.ip("link set tx1 down");
    ASSERT_TRUE(eventually([&] { return link_of(lab.responder, "eth1").at("operstate") != "UP"; }));
    Sink sink(lab, {"--wait", "--interval", "200ms"});
    detach_link_of(xdp_programs(lab.responder, "eth1").native);
    EXPECT_EQ(sink.wait(exit_temporary)["ended_by"], "program");
}

TEST(AttachmentDispatcher, NeedsToLookProgramsUp) {
    const Lab lab;
    expect_refused(lab, {"--dispatcher"}, exit_no_permission, {"--dispatcher", "CAP_SYS_ADMIN"},
                   {.prefix = {"setpriv", "--bounding-set=-all,+bpf,+perfmon,+net_admin,+net_raw", "--inh-caps=-all"}});
    EXPECT_TRUE(xdp_programs(lab.responder, "eth1").none());
}

// Where the kernel has what libxdp's dispatcher needs, the case in tests/vm shows how the port is shared.
TEST(AttachmentDispatcher, SaysWhetherOthersCanJoin) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, {"--dispatcher"});
    const Json port = link_of(lab.responder, "eth1").at("xdp");
    const bool shared = port.at("prog").at("name") == "xdp_dispatcher";
    EXPECT_TRUE(sink.process().wait_for_err(shared ? "through libxdp's dispatcher on"
                                                   : "eth1: this kernel gives libxdp no dispatcher"));
    if (!shared)
        expect_refused(lab, {"--dispatcher"}, exit_unavailable,
                       {"eth1", "name xdp_sink", "`ip link set dev eth1 xdpdrv off` takes it off"});
    sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(18), 30);
    lab.responder.ip("link set dev eth1 xdpdrv off");
    const Json summary = sink.wait(exit_temporary);
    EXPECT_EQ(summary["ports"][0]["dispatcher"], shared);
    EXPECT_EQ(test_frames(summary), 30U);
    EXPECT_EQ(summary["ended_by"], "program");
}

} // namespace
} // namespace responder::test
