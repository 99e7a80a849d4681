// SPDX-License-Identifier: GPL-2.0-only
//
// As an unprivileged user with the capabilities that a command needs, and with one of them missing.

#include "tests/harness/folder.h"
#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace responder::test {
namespace {

using namespace packet;

const std::vector<std::string> four{"bpf", "net_admin", "net_raw", "perfmon"};

// The commands where every user can reach them: a build tree may lie in root's home.
class Capabilities : public testing::Test {
  protected:
    Capabilities() {
        chmod(folder_.path().c_str(), 0755);
        for (const std::filesystem::path command : {TEST_XDP_SINK, TEST_XDP_REFLECT, TEST_XDP_GEN}) {
            std::filesystem::copy(command, folder_.path());
            chmod((folder_ / command.filename().string()).c_str(), 0755);
        }
    }

    Arguments as_nobody(const std::vector<std::string>& capabilities, const char* command = "xdp-sink") const {
        std::string list = "-all";
        for (const std::string& capability : capabilities)
            list += ",+" + capability;
        // `sh` drops the path of the command under test in favour of the copy.
        return {"setpriv",
                "--reuid",
                "65534",
                "--regid",
                "65534",
                "--clear-groups",
                "--inh-caps",
                list,
                "--ambient-caps",
                list,
                "--bounding-set",
                list,
                "sh",
                "-c",
                "shift; exec \"$0\" \"$@\"",
                folder_ / command};
    }

  private:
    Folder folder_;
};

void count_some(const Lab& lab, Sink& sink) {
    PacketSocket sender(lab.tester, "tx1");
    sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(18), 1000);
    sender.send(Ethernet{} / Ipv4{} / Tcp{} / payload(18), 100);
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 1000U);
    EXPECT_EQ(passed(summary), (Reasons{{"tcp", 100}}));
}

TEST_F(Capabilities, FourAreEnough) {
    const Lab lab;
    Sink sink(lab, {"--promisc", "--address", "198.18.1.2/24"}, {.prefix = as_nobody(four)});
    EXPECT_TRUE(
        contains(run({"cat", "/proc/" + std::to_string(sink.process().pid()) + "/status"}), "Uid:\t65534\t65534"));
    EXPECT_EQ(link_of(lab.responder, "eth1").at("promiscuity"), 1);
    count_some(lab, sink);
}

// Port 862 is a privileged one: without the fifth the program answers alone.
TEST_F(Capabilities, TheReflectorsSocketNeedsAFifth) {
    const Lab lab({.addresses = true});
    std::vector<std::string> five = four;
    five.emplace_back("net_bind_service");
    for (const auto& [capabilities, replies] : {std::pair(four, 0U), std::pair(five, 3U)}) {
        Reflector reflector(lab, {}, {.prefix = as_nobody(capabilities, "xdp-reflect")});
        EXPECT_EQ(contains(reflector.process().err(), "CAP_NET_BIND_SERVICE is missing"), replies == 0);
        PacketSocket tester(lab.tester, "tx1");
        tester.send(Ethernet{} / Ipv4{.source = "192.0.2.1", .destination = "192.0.2.2"} /
                        Udp{.source = 50'000, .destination = 862} / zeros(14),
                    3);
        const Json summary = reflector.end();
        EXPECT_EQ(passed(summary, "stamp_rare"), 3U);
        EXPECT_EQ(summary["ports"][0]["stamp_socket"].at("replies"), replies);
    }
}

TEST_F(Capabilities, TheSenderNeedsNoRawSocket) {
    const Lab lab;
    Sink sink(lab, {});
    Arguments argv = as_nobody({"bpf", "net_admin", "perfmon"}, "xdp-gen");
    const Arguments words{TEST_XDP_GEN, "tx1", "--dst-mac", to_string(lab.to().mac), "--count", "1000"};
    argv.insert(argv.end(), words.begin(), words.end());
    Process sender(argv, {.network_namespace = lab.tester.fd()});
    EXPECT_EQ(sender.wait().code, 0) << sender.err();
    EXPECT_GT(test_frames(sink.end()), 0U);
}

// At whichever descriptor it fails, it is no fault of the program.
TEST(Limits, TooFewDescriptorsAreSaid) {
    const Lab lab;
    unsigned refused = 0;
    for (unsigned most = 8; most < 24; ++most) {
        const std::string limit = std::to_string(most);
        Process sink({"prlimit", "--nofile=" + limit + ":" + limit, TEST_XDP_SINK, "eth1", "--duration", "1ms"},
                     {.network_namespace = lab.responder.fd()});
        if (sink.wait().code == 0)
            continue;
        EXPECT_EQ(sink.wait().code, exit_os) << most;
        EXPECT_TRUE(contains(sink.err(), "Too many open files")) << most << ": " << sink.err();
        ++refused;
    }
    EXPECT_GT(refused, 0U);
    EXPECT_TRUE(xdp_programs(lab.responder, "eth1").none());
}

TEST(Limits, WithoutSysItIsSaidWhatIsMissing) {
    const Lab lab;
    expect_refused(lab, {}, exit_os, {"/sys/devices/system/cpu/possible", "is /sys mounted?"},
                   {.prefix = {"unshare", "-m", "sh", "-c", "umount -l /sys; exec \"$@\"", "sh"}});
}

TEST_F(Capabilities, NoThreadToBeHadIsSaid) {
    const Lab lab;
    const auto expect_said = [](Process& process) {
        EXPECT_EQ(process.wait().code, exit_os) << process.err();
        EXPECT_TRUE(contains(process.err(), "start a thread for ")) << process.err();
        EXPECT_TRUE(contains(process.err(), "`ulimit -u`")) << process.err();
    };
    const auto limited = [&](const std::vector<std::string>& capabilities, const char* command, Arguments words) {
        Arguments argv = as_nobody(capabilities, command);
        const auto shell = std::ranges::find(argv, "sh");
        argv.insert(shell, {"prlimit", "--nproc=1:1"}); // its own
        argv.insert(argv.end(), words.begin(), words.end());
        return argv;
    };
    std::vector<std::string> five = four;
    five.emplace_back("ipc_lock");
    Process sink(limited(five, "xdp-sink", {TEST_XDP_SINK, "eth1", "--engine", "af_xdp", "--duration", "1ms"}),
                 {.network_namespace = lab.responder.fd()});
    expect_said(sink);
    EXPECT_TRUE(xdp_programs(lab.responder, "eth1").none());
    Process sender(limited(four, "xdp-gen", {TEST_XDP_GEN, "tx1", "--dst-mac", to_string(lab.to().mac)}),
                   {.network_namespace = lab.tester.fd()});
    expect_said(sender);
}

TEST_F(Capabilities, OccupiedPortIsStillExplained) {
    const Lab lab;
    const PassProgram pass(lab.responder, "eth1");
    expect_refused(lab, {}, exit_unavailable,
                   {"eth1", "id " + std::to_string(pass.id()), "native mode", "CAP_SYS_ADMIN"},
                   {.prefix = as_nobody(four)});
}

TEST_F(Capabilities, EachOneThatIsMissingIsNamed) {
    for (const std::string& missing : four) {
        std::vector<std::string> three;
        for (const std::string& capability : four) {
            if (capability != missing)
                three.push_back(capability);
        }
        std::string name = "CAP_";
        for (const char c : missing)
            name += static_cast<char>(std::toupper(c));
        const Lab lab;
        expect_refused(lab, {}, exit_no_permission, {name}, {.prefix = as_nobody(three)});
    }
}

TEST_F(Capabilities, WithoutAnyAllFourAreNamedAtOnce) {
    const Lab lab;
    expect_refused(lab, {}, exit_no_permission, {"CAP_BPF", "CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_PERFMON"},
                   {.prefix = as_nobody({})});
}

} // namespace
} // namespace responder::test
