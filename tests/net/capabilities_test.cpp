// SPDX-License-Identifier: GPL-2.0-only
//
// As an unprivileged user with four capabilities, and with one of them missing.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>

namespace responder::test {
namespace {

using namespace packet;

const std::vector<std::string> four{"bpf", "net_admin", "net_raw", "perfmon"};

// The command where every user can reach it: a build tree may lie in root's home.
class Capabilities : public testing::Test {
  protected:
    Capabilities() {
        std::string pattern = "/tmp/xdp-sink-test.XXXXXX";
        folder_ = mkdtemp(pattern.data());
        std::filesystem::copy(TEST_XDP_SINK, folder_ / "xdp-sink");
        chmod(folder_.c_str(), 0755);
        chmod((folder_ / "xdp-sink").c_str(), 0755);
    }
    ~Capabilities() override { std::filesystem::remove_all(folder_); }

    Arguments as_nobody(const std::vector<std::string>& capabilities) const {
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
                (folder_ / "xdp-sink").string()};
    }

  private:
    std::filesystem::path folder_;
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

TEST_F(Capabilities, OccupiedPortIsStillExplained) {
    const Lab lab;
    const PassProgram pass(lab.responder, "eth1");
    expect_refused(lab, {}, exit_unavailable,
                   {"eth1", "id " + std::to_string(pass.id()), "native mode", "CAP_SYS_ADMIN"},
                   {.prefix = as_nobody(four)});
}

TEST_F(Capabilities, EachOneThatIsMissingIsNamed) {
    for (const std::string missing : {"bpf", "net_admin", "net_raw"}) {
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

// Which kernels need CAP_PERFMON for this program differs: either it counts, or it says what is missing.
TEST_F(Capabilities, WithoutPerfmonItCountsOrSaysSo) {
    const Lab lab;
    Sink sink(lab, {}, {.prefix = as_nobody({"bpf", "net_admin", "net_raw"}), .ready = false});
    if (sink.wait_ready()) {
        count_some(lab, sink);
        return;
    }
    EXPECT_EQ(sink.process().wait().code, exit_no_permission);
    EXPECT_TRUE(contains(sink.process().err(), "CAP_PERFMON"));
    EXPECT_TRUE(xdp_programs(lab.responder, "eth1").none());
}

TEST_F(Capabilities, WithoutAnyAllFourAreNamedAtOnce) {
    const Lab lab;
    expect_refused(lab, {}, exit_no_permission, {"CAP_BPF", "CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_PERFMON"},
                   {.prefix = as_nobody({})});
}

} // namespace
} // namespace responder::test
