// SPDX-License-Identifier: GPL-2.0-only
//
// --pcap: what is in the file is what was sent, octet by octet, and what the disk does is no matter of the measurement.

#include "tests/harness/folder.h"
#include "tests/harness/packet.h"
#include "tests/harness/pcapng_reader.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

namespace responder::test {
namespace {

using namespace packet;

std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
}

std::vector<Octets> octets_of(const PcapngFile& file) {
    std::vector<Octets> all;
    for (const PcapngPacket& packet : file.packets)
        all.push_back(packet.octets);
    return all;
}

Arguments capture_into(const std::string& file, Arguments more = {}) {
    more.insert(more.begin(), {"--pcap", file});
    return more;
}

TEST(CaptureOfTestTraffic, EveryFrameOctetByOctetWithItsTime) {
    const Folder folder;
    const Lab lab;
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, capture_into(folder / "a.pcapng"));
    const std::uint64_t begin = now_ns();
    std::vector<Octets> sent;
    for (unsigned i = 0; i < 300; ++i) {
        const Packet inner = i % 2 == 0 ? Ipv4{.id = i} / Udp{} / payload(i * 4) : Ipv6{} / Udp{} / payload(i * 4);
        sent.push_back(i % 3 == 0   ? Ethernet{} / Vlan{.id = 5, .priority = 3} / inner
                       : i % 3 == 1 ? Ethernet{} / Vlan{.id = 7, .protocol = s_tag} / Vlan{.id = 6} / inner
                                    : Ethernet{} / inner);
        sender.send(sent.back());
        sender.send(Ethernet{} / Ipv4{} / Tcp{}); // is no test traffic
    }
    const Json summary = sink.end(SIGTERM);
    const std::uint64_t end = now_ns();
    EXPECT_EQ(test_frames(summary), 300U);
    const PcapngFile file = read_pcapng(folder / "a.pcapng");
    EXPECT_EQ(octets_of(file), sent);
    std::uint64_t last = begin;
    for (const PcapngPacket& packet : file.packets) {
        EXPECT_GT(packet.time_ns, last);
        EXPECT_EQ(packet.length, packet.octets.size());
        EXPECT_EQ(packet.flags, 1U);
        EXPECT_EQ(packet.queue, 0U);
        EXPECT_EQ(packet.lost_before, 0U);
        EXPECT_EQ(packet.comment, "") << "there is nothing to say";
        last = packet.time_ns;
    }
    EXPECT_LT(last, end);
    ASSERT_EQ(file.interfaces.size(), 1U);
    EXPECT_EQ(file.interfaces[0].text(2), lab.to().name);
    EXPECT_EQ(file.section.text(4).substr(0, 9), "xdp-sink ");
    ASSERT_EQ(file.statistics.size(), 1U);
    EXPECT_EQ(file.statistics[0].number(4), 600U) << "NIC received";
    EXPECT_EQ(file.statistics[0].number(5), 0U);
    EXPECT_EQ(file.statistics[0].number(7), 0U);
    EXPECT_EQ(file.statistics[0].number(8), 300U);
    const Json& capture = summary["capture"];
    EXPECT_EQ(capture["file"], folder / "a.pcapng");
    EXPECT_EQ(capture["files"], 1U);
    EXPECT_EQ(capture["bytes"], file.size);
    EXPECT_EQ(capture["written_frames"], 300U);
    EXPECT_EQ(capture["lost_frames"], 0U);
    EXPECT_EQ(capture["why_over"], "");
}

TEST(CaptureOfTestTraffic, SaysBesideAFrameWhatIsUnusualAboutIt) {
    const Folder folder;
    const Lab lab;
    const FrameSpec spec = spec_of(lab);
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, capture_into(folder / "a.pcapng"));
    for (const std::uint64_t number : {0, 1, 2, 5, 5, 6, 4, 8, 9, 5000, 10})
        sender.send(build_frame(spec, number));
    for (const std::uint64_t number : {11, 14}) {
        Octets frame = build_frame(spec, number);
        frame.back() ^= 1;
        sender.send(frame);
    }
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 13U);
    ASSERT_EQ(summary["capture"]["written_frames"], 13U);
    const std::string comments = run({"tshark", "-r", folder / "a.pcapng", "-T", "fields", "-e", "frame.comment"});
    EXPECT_EQ(comments, "\n\n\n"
                        "stream 0: 2 frames missing before this one\n"
                        "stream 0: duplicate\n"
                        "\n"
                        "stream 0: late\n"
                        "stream 0: 1 frame missing before this one\n"
                        "\n"
                        "stream 0: stray\n"
                        "\n"
                        "stream 0: 1 octet of the payload wrong\n"
                        "stream 0: 2 frames missing before this one, 1 octet of the payload wrong\n");
}

TEST(CaptureOfTestTraffic, OfAllQueues) {
    const Folder folder;
    const Lab lab({.queues = 2});
    FrameSpec spec = spec_of(lab);
    spec.source_ports = {1000, 1031}; // by which a flow's queue is chosen
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, capture_into(folder / "a.pcapng"));
    for (std::uint64_t number = 0; number < 400; ++number)
        sender.send(build_frame(spec, number));
    const Json summary = sink.end();
    ASSERT_EQ(summary["capture"]["written_frames"], 400U);
    const PcapngFile file = read_pcapng(folder / "a.pcapng");
    ASSERT_EQ(file.packets.size(), 400U);
    std::array<std::uint64_t, 2> of_queue{}, last{};
    for (const PcapngPacket& packet : file.packets) {
        ASSERT_LT(packet.queue, 2U);
        ++of_queue[packet.queue];
        EXPECT_GT(packet.time_ns, last[packet.queue]);
        last[packet.queue] = packet.time_ns;
    }
    for (const Json& queue : summary["ports"][0]["by_queue"]) {
        EXPECT_GT(queue["test_frames"], 0U);
        EXPECT_EQ(queue["test_frames"], of_queue.at(queue["queue"]));
    }
}

TEST(CaptureOfTestTraffic, KeepsTheBeginningOfEachFrame) {
    const Folder folder;
    const Lab lab;
    Sink sink(lab, capture_into(folder / "a.pcapng", {"--pcap-snaplen", "60"}));
    generate(lab, {"--count", "100", "--size", "64,1518"});
    sink.end();
    const PcapngFile file = read_pcapng(folder / "a.pcapng");
    ASSERT_EQ(file.packets.size(), 100U);
    std::set<std::uint32_t> lengths;
    for (const PcapngPacket& packet : file.packets) {
        EXPECT_EQ(packet.octets.size(), 60U);
        lengths.insert(packet.length);
    }
    EXPECT_EQ(lengths, (std::set<std::uint32_t>{60, 1514}));
}

TEST(CaptureOfAllTraffic, AlsoWhatPassesUp) {
    for (const char* mode : {"native", "generic"}) {
        const Folder folder;
        const Lab lab;
        PacketSocket sender(lab.tester, "tx1");
        Sink sink(lab, capture_into(folder / "a.pcapng", {"--pcap-traffic", "all", "--mode", mode}));
        std::vector<Octets> test, passing;
        for (unsigned i = 0; i < 50; ++i) {
            test.push_back(Ethernet{} / Vlan{.id = 5} / Ipv4{.id = i} / Udp{} / payload(i));
            passing.push_back(Ethernet{} / Vlan{.id = i + 1} / Ipv4{} / Tcp{} / payload(i * 20));
            passing.push_back(Ethernet{.destination = stranger_mac, .type = 0x88b5} / payload(46 + i));
            sender.send(test.back());
            sender.send(passing[2 * i]);
            sender.send(passing[2 * i + 1]);
        }
        const Json summary = sink.end();
        EXPECT_EQ(summary["capture"]["written_frames"], 150U) << mode;
        const PcapngFile file = read_pcapng(folder / "a.pcapng");
        std::vector<Octets> captured_test, captured_passing;
        std::uint64_t last = 0;
        for (const PcapngPacket& packet : file.packets) {
            const bool is_test = std::ranges::find(test, packet.octets) != test.end();
            (is_test ? captured_test : captured_passing).push_back(packet.octets);
            EXPECT_EQ(packet.length, packet.octets.size());
            if (!is_test) {
                EXPECT_GT(packet.time_ns, last) << "in order of their own";
                last = packet.time_ns;
            }
        }
        EXPECT_EQ(captured_test, test) << mode;
        EXPECT_EQ(captured_passing, passing) << mode;
    }
}

// A capture that stands still for a while, until the kernel's buffers are full: the gap is said where it is.
TEST(CaptureOfAllTraffic, SaysHowManyAreMissing) {
    const Folder folder;
    const Lab lab;
    const std::string name = folder / "a.pcapng";
    PacketSocket sender(lab.tester, "tx1");
    Sink sink(lab, capture_into(name, {"--pcap-traffic", "all"}));
    const Octets frame = Ethernet{} / Ipv4{} / Tcp{} / payload(1460);
    constexpr std::uint64_t before_the_gap = 6000, frames = before_the_gap + 1; // of which 2 MiB a CPU find room
    sink.process().signal(SIGSTOP);
    sender.send(frame, before_the_gap);
    ASSERT_TRUE(eventually([&] { return received(lab) >= before_the_gap; }));
    sink.process().signal(SIGCONT);
    ASSERT_TRUE(eventually([&] { return std::filesystem::file_size(name) > 1U << 20; }));
    sender.send(frame);
    const Json summary = sink.end();
    const PcapngFile file = read_pcapng(name);
    ASSERT_GT(file.packets.size(), 1000U);
    ASSERT_LT(file.packets.size(), frames);
    const std::uint64_t lost = frames - file.packets.size();
    std::uint64_t said = 0; // where frames of several CPUs were missed, in several places
    for (const PcapngPacket& packet : file.packets)
        said += packet.lost_before;
    EXPECT_EQ(said, lost);
    EXPECT_EQ(file.statistics.at(0).number(7), lost);
    EXPECT_EQ(summary["capture"]["written_frames"], file.packets.size());
    EXPECT_EQ(summary["capture"]["lost_frames"], lost);
}

TEST(CaptureFiles, KeepsTheNewestOfTheirSize) {
    const Folder folder;
    const Lab lab;
    Sink sink(lab, capture_into(folder / "a.pcapng", {"--pcap-size", "1M", "--pcap-files", "2"}));
    const std::uint64_t sent =
        frames_sent(generate(lab, {"--count", "3000", "--size", "1518", "--rate", "20000", "--streams", "1"}));
    const Json summary = sink.end();
    ASSERT_EQ(sent, 3000U);
    EXPECT_EQ(test_frames(summary), 3000U);
    EXPECT_EQ(summary["capture"]["written_frames"], 3000U);
    EXPECT_EQ(summary["capture"]["files"], 5U);
    EXPECT_EQ(summary["capture"]["files_kept"], 2U);
    const std::vector<std::string> files = folder.files();
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(summary["capture"]["file"], folder / files[1]);
    std::uint64_t numbered = 0;
    for (const std::string& name : files) {
        const PcapngFile file = read_pcapng(folder / name);
        EXPECT_LE(file.size, 1'000'000U);
        EXPECT_FALSE(file.packets.empty());
        numbered += file.packets.size();
    }
    EXPECT_EQ(read_pcapng(folder / files[1]).statistics.at(0).number(8), 3000U);
    EXPECT_GT(numbered, 600U) << "a file but the last is full";
}

TEST(CaptureFiles, WithItsSizeTheCaptureIsOverAndTheRunGoesOn) {
    const Folder folder;
    const Lab lab;
    Sink sink(lab, capture_into(folder / "a.pcapng", {"--pcap-size", "1M"}));
    generate(lab, {"--count", "1000", "--size", "1518", "--rate", "20000"});
    const std::string over = "the capture is over: " + (folder / "a.pcapng") + " has reached --pcap-size 1000000";
    EXPECT_TRUE(sink.process().wait_for_err(over + "; the measurement goes on")) << sink.process().err();
    generate(lab, {"--count", "1000", "--size", "1518", "--rate", "20000"});
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), 2000U);
    const PcapngFile file = read_pcapng(folder / "a.pcapng");
    EXPECT_LE(file.size, 1'000'000U);
    EXPECT_GT(file.packets.size(), 600U);
    const Json& capture = summary["capture"];
    EXPECT_EQ(capture["written_frames"], file.packets.size());
    EXPECT_EQ(capture["written_frames"].get<std::uint64_t>() + capture["lost_frames"].get<std::uint64_t>() +
                  capture["frames_after_it_was_over"].get<std::uint64_t>(),
              2000U);
}

TEST(CaptureFiles, ItsEndIsAnEvent) {
    const Folder folder;
    const Lab lab;
    Sink sink(lab, capture_into(folder / "a.pcapng", {"--pcap-size", "1M", "--json-stream"}), {.json = false});
    generate(lab, {"--count", "1000", "--size", "1518", "--rate", "20000"});
    const std::string over = "the capture is over: " + (folder / "a.pcapng") + " has reached --pcap-size 1000000";
    EXPECT_TRUE(sink.process().wait_for_out(over + "; the measurement goes on\"}")) << sink.process().out();
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    const std::string out = sink.process().out(), event = "\"event\":\"capture\"";
    EXPECT_NE(out.find(event), out.npos);
    EXPECT_EQ(out.find(event), out.rfind(event)) << "said once";
}

TEST(CaptureFiles, AFullDiskIsNoMatterOfTheMeasurement) {
    const Folder folder(1U << 20);
    const Lab lab;
    Sink sink(lab, capture_into(folder / "a.pcapng", {"--expect-frames", "2000"}));
    generate(lab, {"--count", "1000", "--size", "1518", "--rate", "20000"});
    EXPECT_TRUE(sink.process().wait_for_err("the capture is over: write " + (folder / "a.pcapng") +
                                            ": No space left on device; the measurement goes on"));
    generate(lab, {"--count", "1000", "--size", "1518", "--rate", "20000"});
    const Json summary = sink.end();
    EXPECT_EQ(summary["verdict"]["result"], "PASS");
    EXPECT_EQ(summary["ports"][0]["streams"]["list"][0]["frames"], 2000U);
    const Json& capture = summary["capture"];
    EXPECT_EQ(capture["why_over"], "write " + (folder / "a.pcapng") + ": No space left on device");
    EXPECT_EQ(capture["written_frames"].get<std::uint64_t>() + capture["lost_frames"].get<std::uint64_t>() +
                  capture["frames_after_it_was_over"].get<std::uint64_t>(),
              2000U);
    const PcapngFile file = read_pcapng(folder / "a.pcapng"); // whole
    EXPECT_GT(file.packets.size(), 500U);
    EXPECT_EQ(capture["written_frames"], file.packets.size());
}

TEST(CaptureToStandardOutput, TheTextGoesToStandardError) {
    const Lab lab;
    Sink sink(lab, capture_into("-"), {.json = false});
    generate(lab, {"--count", "500", "--rate", "10000"});
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    const std::string out = sink.process().out();
    const PcapngFile file = parse_pcapng({out.begin(), out.end()});
    EXPECT_EQ(file.packets.size(), 500U);
    EXPECT_TRUE(contains(sink.process().err(), "  test frames      500, "));
    EXPECT_TRUE(contains(sink.process().err(), "capture: standard output, 500 frames in ")) << sink.process().err();
}

TEST(CaptureToStandardOutput, AReaderThatIsGoneIsNoMatterOfTheMeasurement) {
    const Lab lab;
    Sink sink(lab, capture_into("-"), {.process = {.out = Process::Output::pipe_without_reader}, .json = false});
    EXPECT_TRUE(sink.process().wait_for_err("the capture is over: write standard output: its reader has gone"));
    generate(lab, {"--count", "500"});
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    EXPECT_TRUE(contains(sink.process().err(), "  test frames      500, "));
}

TEST(CaptureToStandardOutput, ThatIsClosedIsRefused) {
    const Lab lab;
    expect_refused(lab, capture_into("-"), exit_io, {"--pcap: standard output is closed"},
                   {.process = {.out = Process::Output::closed}, .json = false});
}

TEST(CaptureRefused, AFileThatCannotBeMade) {
    const Folder folder;
    const Lab lab;
    expect_refused(lab, capture_into(folder / "none/a.pcapng"), exit_io,
                   {"--pcap: open " + (folder / "none/a.pcapng") + ": No such file or directory"});
}

} // namespace
} // namespace responder::test
