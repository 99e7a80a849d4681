// SPDX-License-Identifier: GPL-2.0-only
//
// The AF_XDP engine: that sockets get what the program counts, whatever its form and mode, and that what they do not
// get has a counter. What the streams of their frames come to is in streams_test.cpp, for both engines.

#include "loader/netdev.h"
#include "loader/xsk.h"
#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace responder::test {
namespace {

using namespace packet;

const Arguments af_xdp{"--engine", "af_xdp"};

Arguments af_xdp_and(Arguments more) {
    more.insert(more.end(), af_xdp.begin(), af_xdp.end());
    return more;
}

const Json& port_of(const Json& summary) { return summary["ports"][0]; }
std::uint64_t of_sockets(const Json& summary, const char* key) { return port_of(summary)["sockets"][key]; }

// Every frame that the program counted was read, or has a counter that says why not.
void expect_adds_up(const Json& summary) {
    EXPECT_EQ(test_frames(summary), of_sockets(summary, "received") + of_sockets(summary, "rx_ring_full") +
                                        of_sockets(summary, "rx_dropped"));
    EXPECT_EQ(of_sockets(summary, "not_delivered"), 0U);
}

TEST(Engine, SaysWhatItObtained) {
    const Lab lab;
    Sink sink(lab, af_xdp_and({"--verbose"}));
    const std::string err = sink.process().err();
    EXPECT_TRUE(contains(err, "eth1: test frames go to an AF_XDP socket for each queue, copied by the kernel"));
    EXPECT_TRUE(contains(err, "eth1: queue 0 is read on "));
    const Json summary = sink.end();
    EXPECT_EQ(port_of(summary)["engine"], "af_xdp");
    EXPECT_EQ(port_of(summary)["zero_copy"], false);
    EXPECT_EQ(port_of(summary)["arrival_stamped_by"], "program");
    Sink other(lab, {});
    const Json of_other = other.end();
    EXPECT_EQ(port_of(of_other)["engine"], "xdp");
    EXPECT_FALSE(port_of(of_other).contains("sockets"));
}

// The CPUs that each thread of a process may run on, as proc(5) lists them.
std::multiset<std::string> cpus_of_threads(pid_t pid) {
    std::multiset<std::string> all;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        std::ifstream status(thread.path() / "status");
        for (std::string word; status >> word;)
            if (word == "Cpus_allowed_list:" && status >> word)
                all.insert(word);
    }
    return all;
}

// From the last CPU downwards, as far as there are CPUs beyond the first, which serves interrupts.
TEST(Engine, AReaderHasACpuOfItsOwn) {
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    std::vector<std::string> cpus;
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set))
            cpus.push_back(std::to_string(cpu));
    if (cpus.size() < 2)
        GTEST_SKIP() << "one CPU";
    const std::size_t queues = cpus.size(); // one more than there are CPUs for
    const Lab lab({.queues = static_cast<unsigned>(queues)});
    Sink sink(lab, af_xdp_and({"--verbose"}));
    const std::multiset<std::string> of_threads = cpus_of_threads(sink.process().pid());
    EXPECT_GT(of_threads.size(), queues) << "a reader a queue, and the one that reports";
    for (std::size_t queue = 0; queue + 1 < queues; ++queue) {
        const std::string& cpu = cpus[cpus.size() - 1 - queue];
        EXPECT_EQ(of_threads.count(cpu), 1U) << "of queue " << queue;
        EXPECT_TRUE(contains(sink.process().err(), "eth1: queue " + std::to_string(queue) + " is read on CPU " + cpu +
                                                       ", which has no other reader\n"));
    }
    EXPECT_EQ(of_threads.count(cpus.front()), 0U);
    EXPECT_TRUE(contains(sink.process().err(), "eth1: queue " + std::to_string(queues - 1) + " is read on any CPU"));
    sink.end();
}

int socket_option(const UniqueFd& socket, int option) {
    int value = -1;
    socklen_t size = sizeof(value);
    getsockopt(socket.get(), SOL_SOCKET, option, &value, &size);
    return value;
}

// The very files of a process.
std::vector<UniqueFd> files_of(pid_t pid) {
    const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    std::vector<UniqueFd> files;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
        const int number = std::stoi(entry.path().filename());
        files.emplace_back(static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), number, 0)));
    }
    return files;
}

std::vector<UniqueFd> xdp_sockets_of(pid_t pid) {
    std::vector<UniqueFd> sockets = files_of(pid);
    std::erase_if(sockets, [](const UniqueFd& file) { return socket_option(file, SO_DOMAIN) != AF_XDP; });
    return sockets;
}

// Out of the map in which its program finds them: the one of queue 0.
void take_socket_from(pid_t pid) {
    for (const UniqueFd& file : files_of(pid)) {
        bpf_map_info info{};
        std::uint32_t size = sizeof(info), queue = 0;
        if (file && bpf_obj_get_info_by_fd(file.get(), &info, &size) == 0 && info.type == BPF_MAP_TYPE_XSKMAP &&
            bpf_map_delete_elem(file.get(), &queue) == 0)
            return;
    }
    ADD_FAILURE() << "it has no such map";
}

TEST(Engine, ItsSocketsPollTheirQueuesThemselves) {
    const Lab lab({.queues = 2});
    Sink sink(lab, af_xdp);
    EXPECT_TRUE(contains(sink.process().err(), ", need_wakeup, busy polling\n")) << sink.process().err();
    const std::vector<UniqueFd> sockets = xdp_sockets_of(sink.process().pid());
    EXPECT_EQ(sockets.size(), 2U);
    for (const UniqueFd& socket : sockets) {
        EXPECT_EQ(socket_option(socket, SO_PREFER_BUSY_POLL), 1);
        EXPECT_EQ(socket_option(socket, SO_BUSY_POLL), 20);
    }
    sink.end();
}

TEST(Engine, TwoQueuesHaveASocketEach) {
    const Lab lab({.queues = 2});
    FrameSpec spec = spec_of(lab);
    spec.source_ports = {1000, 1031}; // by which a flow's queue is chosen
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, af_xdp);
    for (std::uint64_t number = 0; number < 640; ++number)
        sender.send(build_frame(spec, number));
    const Json summary = sink.end();
    for (const Json& queue : port_of(summary)["by_queue"])
        EXPECT_GT(queue["test_frames"], 0U);
    EXPECT_EQ(of_sockets(summary, "received"), 640U);
    EXPECT_EQ(port_of(summary)["streams"]["list"][0]["payload_proved_frames"], 640U);
    expect_adds_up(summary);
}

TEST(Engine, PassesAndAnswersWhatTheOtherDoes) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, af_xdp_and({"--address", "198.18.1.2/24"}));
    sender.send(Ethernet{} / Ipv4{} / Udp{} / payload(18), 100);
    sender.send(Ethernet{} / Ipv4{} / Tcp{} / payload(18), 10);
    const Json summary = sink.end();
    EXPECT_EQ(of_sockets(summary, "received"), 100U);
    EXPECT_EQ(passed(summary), (Reasons{{"tcp", 10}}));
    EXPECT_TRUE(port_of(summary)["streams"]["list"].empty());
    expect_adds_up(summary);
}

TEST(Engine, FindsEachOctetThatIsWrong) {
    const Lab lab;
    FrameSpec spec = spec_of(lab);
    spec.sizes = {256};
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, af_xdp, {.json = false});
    for (std::uint64_t number = 0; number < 200; ++number) {
        Octets frame = build_frame(spec, number);
        if (number % 20 == 3)
            frame.back() ^= 0x01;
        if (number == 23)
            frame[42 + 14] ^= 0x80; // the first one behind the signature
        sender.send(frame);
    }
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    EXPECT_TRUE(contains(sink.process().out(), ", payload wrong in 10 frames (11 octets)\n")) << sink.process().out();
}

TEST(Engine, Ipv6) {
    const Lab lab;
    FrameSpec spec = spec_of(lab, "2001:2::1", "2001:2::2");
    spec.sizes = {128};
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, af_xdp);
    for (std::uint64_t number = 0; number < 100; ++number)
        sender.send(build_frame(spec, number));
    const Json summary = sink.end();
    const Json& stream = port_of(summary)["streams"]["list"][0];
    EXPECT_EQ(stream["name"], "stream 0 from [2001:2::1]");
    EXPECT_EQ(stream["payload_proved_frames"], 100U);
    EXPECT_EQ(stream["payload_wrong_frames"], 0U);
}

// A frame of xdp-gen's with tags put in.
Octets tagged(Octets frame, unsigned tags) {
    for (unsigned i = 0; i < tags; ++i) {
        const Octets tag{static_cast<std::uint8_t>(i == 0 ? 0x81 : 0x88), static_cast<std::uint8_t>(i == 0 ? 0 : 0xa8),
                         0, 7};
        frame.insert(frame.begin() + 12, tag.begin(), tag.end());
    }
    return frame;
}

TEST(Engine, TaggedFrames) {
    const Lab lab;
    const FrameSpec spec = spec_of(lab);
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, af_xdp);
    for (std::uint64_t number = 0; number < 90; ++number)
        sender.send(tagged(build_frame(spec, number), static_cast<unsigned>(number % 3)));
    const Json summary = sink.end();
    const Json& stream = port_of(summary)["streams"]["list"][0];
    EXPECT_EQ(stream["frames"], 90U);
    EXPECT_EQ(stream["lost"], 0U);
    EXPECT_EQ(stream["payload_proved_frames"], 90U);
    EXPECT_EQ(stream["payload_wrong_frames"], 0U);
}

// Longer than a page: the program gets them in pieces, and the socket too.
TEST(Engine, JumboFrames) {
    const Lab lab({.mtu = 9000});
    FrameSpec spec = spec_of(lab);
    spec.sizes = {9018};
    FrameSpec small = spec;
    small.sizes = {64};
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, af_xdp);
    for (std::uint64_t number = 0; number < 100; ++number)
        sender.send(build_frame(number % 2 == 0 ? spec : small, number));
    const Json summary = sink.end();
    EXPECT_EQ(port_of(summary)["multi_buffer"], true);
    const Json& stream = port_of(summary)["streams"]["list"][0];
    EXPECT_EQ(stream["frames"], 100U);
    EXPECT_EQ(stream["lost"], 0U);
    EXPECT_EQ(stream["payload_proved_frames"], 100U);
    EXPECT_EQ(stream["payload_wrong_frames"], 0U);
    expect_adds_up(summary);
}

TEST(Engine, GenericMode) {
    const Lab lab;
    const FrameSpec spec = spec_of(lab);
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, af_xdp_and({"--mode", "generic"}));
    for (std::uint64_t number = 0; number < 100; ++number)
        sender.send(build_frame(spec, number));
    const Json summary = sink.end();
    EXPECT_EQ(port_of(summary)["mode"], "generic");
    EXPECT_EQ(port_of(summary)["streams"]["list"][0]["payload_proved_frames"], 100U);
    expect_adds_up(summary);
}

// A reader that stands still: what no longer fits into the ring is counted, and what waited there is read afterwards.
TEST(Engine, AFullRingIsCounted) {
    const Lab lab;
    Sink sink(lab, af_xdp);
    sink.process().signal(SIGSTOP);
    const std::uint64_t sent = frames_sent(generate(lab, {"--count", "20000", "--rate", "200000"}));
    sink.process().signal(SIGCONT);
    const Json summary = sink.end();
    ASSERT_EQ(sent, 20'000U);
    EXPECT_EQ(test_frames(summary), sent);
    EXPECT_EQ(of_sockets(summary, "received"), XskSocket::ring_size);
    EXPECT_EQ(of_sockets(summary, "rx_ring_full"), sent - XskSocket::ring_size);
    expect_adds_up(summary);
    EXPECT_EQ(port_of(summary)["streams"]["list"][0]["frames"], XskSocket::ring_size);
}

TEST(Engine, WhatTheSocketsLoseIsInTheSummaryForPeople) {
    const Lab lab;
    Sink sink(lab, af_xdp, {.json = false});
    sink.process().signal(SIGSTOP);
    generate(lab, {"--count", "20000", "--rate", "200000"});
    sink.process().signal(SIGCONT);
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    const std::string out = sink.process().out();
    EXPECT_TRUE(contains(out, "; read 4,096, lost 15,904\n"
                              "  sockets lost     ring full (its reader was too slow) 15,904\n"))
        << out;
    EXPECT_FALSE(contains(out, "\n  not delivered")) << out;
}

// Taken out of the map behind the program's back.
TEST(Engine, WhatNoSocketGetsIsNotDelivered) {
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    const FrameSpec spec = spec_of(lab);
    for (const bool json : {true, false}) {
        Sink sink(lab, af_xdp, {.json = json});
        const std::uint64_t before = received(lab);
        for (std::uint64_t number = 0; number < 30; ++number)
            sender.send(build_frame(spec, number));
        ASSERT_TRUE(eventually([&] { return received(lab) >= before + 30; }));
        take_socket_from(sink.process().pid());
        sender.send(build_frame(spec, 30), 70);
        sink.process().signal(SIGINT);
        if (json) {
            const Json summary = sink.wait();
            EXPECT_EQ(test_frames(summary), 100U);
            EXPECT_EQ(of_sockets(summary, "received"), 30U);
            EXPECT_EQ(of_sockets(summary, "not_delivered"), 70U);
            continue;
        }
        EXPECT_EQ(sink.process().wait().code, 0);
        const std::string out = sink.process().out();
        EXPECT_TRUE(contains(out, "; read 30, lost 0\n")) << out;
        EXPECT_TRUE(contains(out, "\n  not delivered    70 test frames that the kernel gave to no socket\n")) << out;
    }
}

TEST(Engine, WithoutStreamsItCounts) {
    const Lab lab;
    Sink sink(lab, af_xdp_and({"--streams", "0"}));
    const std::uint64_t sent = frames_sent(generate(lab, {"--count", "1000", "--rate", "50000"}));
    const Json summary = sink.end();
    EXPECT_EQ(of_sockets(summary, "received"), sent);
    EXPECT_FALSE(port_of(summary).contains("streams"));
    expect_adds_up(summary);
}

TEST(Engine, EndsInTheMidstOfTraffic) {
    const Lab lab;
    Sink sink(lab, af_xdp);
    Traffic traffic(lab);
    ASSERT_TRUE(eventually([&] { return !xdp_programs(lab.responder, "eth1").none(); }));
    const Json summary = sink.end(SIGTERM);
    traffic.end();
    EXPECT_TRUE(xdp_programs(lab.responder, "eth1").none());
    EXPECT_EQ(summary["ended_by"], "signal");
    expect_adds_up(summary);
}

// The program, the sockets and the streams end with the same frame, also where more comes.
TEST(Engine, APlannedEndIsTheSameForAllFigures) {
    const Lab lab;
    Traffic traffic(lab, {"--rate", "50000"});
    for (const Arguments& end : {Arguments{"--count", "1000"}, Arguments{"--duration", "300ms"}}) {
        EXPECT_TRUE(once_in_ten([&] {
            Sink sink(lab, af_xdp_and(end), {.ready = false});
            const Json summary = sink.wait();
            expect_adds_up(summary);
            const std::uint64_t frames = test_frames(summary);
            EXPECT_EQ(frames == 0 ? 0 : streams_of(summary).at(0)["frames"].get<std::uint64_t>(),
                      of_sockets(summary, "received"));
            return frames >= 1000 && port_of(summary)["balance"]["after_the_end"] > 0U;
        })) << "the traffic was over each time";
    }
    traffic.end();
}

TEST(Engine, TheInterfaceGoesAway) {
    const Lab lab;
    Sink sink(lab, af_xdp);
    generate(lab, {"--count", "1000", "--rate", "50000"});
    lab.responder.ip("link delete eth1");
    const Json summary = sink.wait(exit_temporary);
    EXPECT_EQ(summary["ended_by"], "interface");
    EXPECT_EQ(test_frames(summary), 1000U);
    EXPECT_EQ(of_sockets(summary, "received"), 1000U);
}

TEST(Engine, AQueueThatAnotherSocketHolds) {
    const Lab lab;
    const auto socket = lab.responder.in([&] {
        return std::make_unique<XskSocket>(Netdev::find(lab.to().name), 0, XskUse::receive, XskCopy::kernel_decides,
                                           1518);
    });
    expect_refused(lab, af_xdp, exit_unavailable, {"eth1: AF_XDP socket on queue 0", "another AF_XDP socket holds"});
}

TEST(Engine, LockedMemoryIsLimited) {
    const Lab lab;
    expect_refused(lab, af_xdp, exit_os, {"16384 KiB", "may lock 1024 KiB", "LimitMEMLOCK=", "CAP_IPC_LOCK"},
                   {.prefix = {"setpriv", "--bounding-set", "-ipc_lock", "--inh-caps", "-ipc_lock", "prlimit",
                               "--memlock=1048576"}});
}

TEST(Engine, ZeroCopyWhereThereIsNone) {
    const Lab lab;
    expect_refused(lab, af_xdp_and({"--require-zerocopy"}), exit_os, {"eth1", "no zero-copy", "--require-zerocopy"});
}

} // namespace
} // namespace responder::test
