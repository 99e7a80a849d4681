// SPDX-License-Identifier: GPL-2.0-only
//
// The capture without a network: the blocks, the ring, the file with its limits, a disk that takes no more.

#include "loader/capture/capture.h"
#include "loader/error.h"
#include "tests/harness/folder.h"
#include "tests/harness/pcapng_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

namespace responder::test {
namespace {

namespace fs = std::filesystem;
using pcapng::Octets;

Octets some_octets(std::size_t size, unsigned seed = 0) {
    Octets octets(size);
    std::iota(octets.begin(), octets.end(), static_cast<std::uint8_t>(seed));
    return octets;
}

Octets header(unsigned interfaces = 1) {
    Octets blocks = pcapng::section_block({.hardware = "x86_64", .os = "Linux 6.1", .application = "xdp-sink 1"});
    for (unsigned i = 0; i < interfaces; ++i) {
        const Octets one = pcapng::interface_block({.name = "eth" + std::to_string(i),
                                                    .hardware = "r8169",
                                                    .filter = "UDP port 9",
                                                    .speed_bps = 2'500'000'000,
                                                    .snaplen = 65535});
        blocks.insert(blocks.end(), one.begin(), one.end());
    }
    return blocks;
}

Octets packet_block(const pcapng::Packet& packet) {
    Octets block(pcapng::packet_block_size(packet) + 4, 0xa5);
    pcapng::write_packet_block(packet, block.data());
    EXPECT_EQ(Octets(block.end() - 4, block.end()), Octets(4, 0xa5)) << "wrote beyond its size";
    block.resize(block.size() - 4);
    return block;
}

Octets blocks_of(unsigned packets, std::size_t size, std::uint32_t interface = 0) {
    Octets blocks;
    for (unsigned i = 0; i < packets; ++i) {
        const Octets octets = some_octets(size, i);
        const Octets block = packet_block({.interface = interface,
                                           .time_ns = 1'000'000'000ULL + i,
                                           .length = static_cast<std::uint32_t>(size),
                                           .octets = octets});
        blocks.insert(blocks.end(), block.begin(), block.end());
    }
    return blocks;
}

TEST(Pcapng, SectionAndInterfaceSayWhoCapturedWhere) {
    const PcapngFile file = parse_pcapng(header());
    EXPECT_EQ(file.section.text(2), "x86_64");
    EXPECT_EQ(file.section.text(3), "Linux 6.1");
    EXPECT_EQ(file.section.text(4), "xdp-sink 1");
    ASSERT_EQ(file.interfaces.size(), 1U);
    const PcapngBlock& interface = file.interfaces[0];
    EXPECT_EQ(interface.text(2), "eth0");
    EXPECT_EQ(interface.number(8), 2'500'000'000U);
    EXPECT_EQ(interface.text(9), "\x09");
    EXPECT_EQ(interface.text(11), std::string(1, '\0') + "UDP port 9");
    EXPECT_EQ(interface.text(15), "r8169");
    EXPECT_EQ(interface.body, (Octets{1, 0, 0, 0, 0xff, 0xff, 0, 0})) << "Ethernet, and the longest that is kept";
}

TEST(Pcapng, AFrameOfAnyLengthWithAnyOptions) {
    for (const std::size_t size : {0U, 1U, 2U, 3U, 4U, 60U, 1514U, 9014U}) {
        for (const std::size_t comment : {0U, 1U, 4U, 255U, 256U, 300U}) {
            for (const std::uint64_t lost : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40}) {
                const Octets octets = some_octets(size);
                const std::string text(comment, 'c');
                Octets blocks = header(2);
                const Octets block = packet_block({.interface = 1,
                                                   .queue = 7,
                                                   .time_ns = 0x123456789abcdef0,
                                                   .length = static_cast<std::uint32_t>(size + 10),
                                                   .octets = octets,
                                                   .lost_before = lost,
                                                   .comment = text});
                blocks.insert(blocks.end(), block.begin(), block.end());
                const PcapngFile file = parse_pcapng(blocks);
                ASSERT_EQ(file.packets.size(), 1U);
                const PcapngPacket& packet = file.packets[0];
                EXPECT_EQ(packet.interface, 1U);
                EXPECT_EQ(packet.queue, 7U);
                EXPECT_EQ(packet.time_ns, 0x123456789abcdef0U);
                EXPECT_EQ(packet.length, size + 10);
                EXPECT_EQ(packet.octets, octets);
                EXPECT_EQ(packet.lost_before, lost);
                EXPECT_EQ(packet.flags, 1U) << "inbound";
                EXPECT_EQ(packet.comment, text.substr(0, 256));
            }
        }
    }
}

TEST(Pcapng, StatisticsWithWhatIsKnown) {
    const auto read = [](const pcapng::Statistics& statistics) {
        Octets blocks = header();
        const Octets block = pcapng::statistics_block(0, statistics);
        EXPECT_LE(block.size(), pcapng::longest_statistics_block);
        blocks.insert(blocks.end(), block.begin(), block.end());
        return parse_pcapng(blocks).statistics.at(0);
    };
    const PcapngBlock all = read({.started_ns = 1ULL << 32 | 2,
                                  .ended_ns = 3ULL << 32 | 4,
                                  .received = 5,
                                  .dropped_by_interface = 6,
                                  .dropped_by_system = 7,
                                  .delivered = 8});
    EXPECT_EQ(all.text(2), std::string("\1\0\0\0\2\0\0\0", 8)) << "the upper half first";
    EXPECT_EQ(all.text(3), std::string("\3\0\0\0\4\0\0\0", 8));
    for (const std::uint16_t option : std::initializer_list<std::uint16_t>{4, 5, 7, 8})
        EXPECT_EQ(all.number(option), option == 4 ? 5U : option == 5 ? 6U : option);
    const PcapngBlock little = read({.started_ns = 1, .ended_ns = 2});
    EXPECT_FALSE(little.options.contains(4) || little.options.contains(5)) << "not known is not 0";
}

TEST(OctetRing, WhatLiesAcrossTheEndIsInOnePiece) {
    OctetRing ring(4096);
    std::uint8_t next_in = 0, next_out = 0;
    for (unsigned turn = 0; turn < 1000; ++turn) {
        for (std::size_t size = 700; std::uint8_t* room = ring.reserve(size);) {
            for (std::size_t i = 0; i < size; ++i)
                room[i] = next_in++;
            ring.commit(size);
        }
        const auto filled = ring.filled();
        ASSERT_EQ(filled.size() / 700, 4096U / 700) << "as many as there is room for";
        for (const std::uint8_t octet : filled.first(1400))
            ASSERT_EQ(octet, next_out++);
        ring.release(1400);
        for (const std::uint8_t octet : ring.filled())
            ASSERT_EQ(octet, next_out++);
        ring.release(ring.filled().size());
    }
    EXPECT_NE(ring.reserve(4096), nullptr) << "all of it";
    EXPECT_EQ(ring.reserve(4097), nullptr);
}

TEST(OctetRing, BetweenTwoThreads) {
    OctetRing ring(4096);
    constexpr std::uint32_t last = 200'000;
    std::thread writer([&ring] {
        for (std::uint32_t number = 1; number <= last;) {
            if (std::uint8_t* room = ring.reserve(sizeof(number))) {
                std::memcpy(room, &number, sizeof(number));
                ring.commit(sizeof(number));
                ++number;
            } else {
                std::this_thread::yield();
            }
        }
    });
    bool in_order = true;
    for (std::uint32_t wanted = 1; wanted <= last;) {
        const auto filled = ring.filled();
        if (filled.empty())
            std::this_thread::yield();
        for (std::size_t at = 0; at < filled.size(); at += sizeof(wanted), ++wanted)
            in_order = in_order && std::memcmp(filled.data() + at, &wanted, sizeof(wanted)) == 0;
        ring.release(filled.size());
    }
    writer.join();
    EXPECT_TRUE(in_order);
}

TEST(OctetRing, IsNoFileThatALimitHoldsFor) {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    EXPECT_NO_THROW(OctetRing(4096));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
}

TEST(FrameTap, CountsWhatFindsNoRoomAndSaysSoWithTheNext) {
    CaptureState state;
    state.tai_ahead_ns = 37'000'000'000;
    FrameTap tap(state, 3, 5, 100, 4096);
    const Octets frame = some_octets(1514);
    while (tap.lost() < 7)
        tap.frame(frame, 1514, 40'000'000'000);
    tap.ring().release(tap.ring().filled().size());
    tap.frame(frame, 1514, 40'000'000'001, "here");
    tap.frame(frame, 1514, 40'000'000'002);
    Octets blocks = header(4);
    const auto filled = tap.ring().filled();
    blocks.insert(blocks.end(), filled.begin(), filled.end());
    const PcapngFile file = parse_pcapng(blocks);
    ASSERT_EQ(file.packets.size(), 2U);
    EXPECT_EQ(file.packets[0].time_ns, 3'000'000'001U) << "UTC";
    EXPECT_EQ(file.packets[0].lost_before, 7U);
    EXPECT_EQ(file.packets[0].comment, "here");
    EXPECT_EQ(file.packets[1].lost_before, 0U);
    EXPECT_EQ(file.packets[1].octets, Octets(frame.begin(), frame.begin() + 100)) << "--pcap-snaplen";
    EXPECT_EQ(file.packets[1].length, 1514U);
    EXPECT_EQ(file.packets[1].interface, 3U);
    EXPECT_EQ(file.packets[1].queue, 5U);
    state.is_over = true;
    tap.frame(frame, 1514, 40'000'000'003);
    EXPECT_EQ(tap.after_it_was_over(), 1U);
    EXPECT_EQ(tap.lost(), 7U);
}

TEST(CaptureFile, HoldsWhatItWasGivenAndCountsIt) {
    const Folder folder;
    std::ofstream(folder / "a.pcapng") << std::string(100'000, 'x'); // is overwritten
    CaptureFile file(folder / "a.pcapng", {});
    EXPECT_EQ(fs::file_size(folder / "a.pcapng"), 100'000U) << "a run that does not begin leaves it alone";
    file.begin(header(2), 2);
    EXPECT_TRUE(file.append(blocks_of(10, 60)).empty());
    EXPECT_TRUE(file.append(blocks_of(5, 1514, 1)).empty());
    file.statistics()[1].dropped_by_system = 3;
    file.end();
    EXPECT_EQ(file.why_over(), "");
    const PcapngFile read = read_pcapng(folder / "a.pcapng");
    EXPECT_EQ(read.packets.size(), 15U);
    EXPECT_EQ(read.packets[3].octets, some_octets(60, 3));
    ASSERT_EQ(read.statistics.size(), 2U);
    EXPECT_EQ(read.statistics[0].number(8), 10U);
    EXPECT_EQ(read.statistics[1].number(8), 5U);
    EXPECT_EQ(read.statistics[1].number(7), 3U);
    EXPECT_EQ(file.octets(), read.size);
}

// The largest size that does not fit is one octet less than the smallest that does.
TEST(CaptureFile, KeepsItsSizeToTheOctet) {
    const Folder folder;
    const Octets blocks = blocks_of(20, 1514);
    const std::size_t block = blocks.size() / 20, around = header().size() + pcapng::longest_statistics_block;
    for (const auto& [size, packets] : {std::pair{around + 10 * block, 10U}, {around + 10 * block - 1, 9U}}) {
        CaptureFile file(folder / "a.pcapng", {.size = size});
        file.begin(header(), 1);
        EXPECT_EQ(file.append(blocks).size(), (20 - packets) * block) << "what found no place is given back";
        EXPECT_EQ(file.why_over(), fmt::format("{} has reached --pcap-size {}", folder / "a.pcapng", size));
        file.end();
        const PcapngFile read = read_pcapng(folder / "a.pcapng");
        EXPECT_LE(read.size, size);
        EXPECT_EQ(read.packets.size(), packets);
        EXPECT_EQ(read.statistics.at(0).number(8), packets);
    }
}

TEST(CaptureFile, BeginsTheNextAndKeepsTheNewest) {
    const Folder folder;
    const Octets blocks = blocks_of(1, 1514);
    const std::uint64_t size = header().size() + pcapng::longest_statistics_block + 10 * blocks.size();
    CaptureFile file(folder / "a.b.pcapng", {.size = size, .files = 3});
    file.begin(header(), 1);
    for (unsigned i = 0; i < 95; ++i)
        ASSERT_TRUE(file.append(blocks).empty()) << file.why_over();
    file.end();
    EXPECT_EQ(file.files(), 10U);
    const std::vector<std::string> names = folder.files();
    ASSERT_EQ(names.size(), 3U);
    for (unsigned i = 0; i < 3; ++i) {
        // As dumpcap names them: a.b_00008_20261130120000.pcapng
        EXPECT_EQ(names[i].substr(0, 10), fmt::format("a.b_{:05}_", 8 + i));
        EXPECT_EQ(names[i].substr(24), ".pcapng");
        EXPECT_EQ(names[i].find_first_not_of("0123456789", 10), 24U) << names[i];
        const PcapngFile read = read_pcapng(folder / names[i]);
        EXPECT_EQ(read.packets.size(), i < 2 ? 10U : 5U);
        EXPECT_EQ(read.statistics.at(0).number(8), 10 * (8 + i) - (i == 2 ? 5 : 0)) << "over the whole capture";
    }
    EXPECT_EQ(file.name(), folder / names[2]);
}

TEST(CaptureFile, NamesWithoutAnEnding) {
    const Folder folder;
    fs::create_directory(folder / "with.dot");
    CaptureFile file(folder / "with.dot/trace", {.size = 1'000'000, .files = 2});
    EXPECT_TRUE(file.name().starts_with(folder / "with.dot/trace_00001_")) << file.name();
    EXPECT_EQ(file.name().size(), (folder / "with.dot/trace_00001_20261130120000").size());
    CaptureFile hidden(folder / ".trace", {.size = 1'000'000, .files = 2});
    EXPECT_TRUE(hidden.name().starts_with(folder / ".trace_00001_")) << hidden.name();
}

TEST(CaptureFile, AFrameLargerThanAFileMayBeEndsIt) {
    const Folder folder;
    CaptureFile file(folder / "a.pcapng", {.size = header().size() + 200, .files = 2});
    file.begin(header(), 1);
    EXPECT_FALSE(file.append(blocks_of(1, 1514)).empty());
    EXPECT_TRUE(file.is_over());
    EXPECT_EQ(folder.files().size(), 1U) << "not one empty file after the other";
}

// The system's own limit stands for the disk: it refuses the octet behind it, and takes a part of what is before it.
TEST(CaptureFile, ADiskThatTakesNoMoreLeavesAWholeFile) {
    const Folder folder;
    const Octets blocks = blocks_of(100, 1514);
    const std::size_t block = blocks.size() / 100;
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
    for (const std::size_t beyond : {std::size_t{0}, std::size_t{1}, block / 2, block - 1}) {
        const rlimit full{.rlim_cur = header().size() + 50 * block + beyond, .rlim_max = before.rlim_max};
        CaptureFile file(folder / "a.pcapng", {});
        file.begin(header(), 1);
        setrlimit(RLIMIT_FSIZE, &full);
        const auto rest = file.append(blocks);
        const std::string why = file.why_over();
        EXPECT_TRUE(file.append(blocks).size() == blocks.size()) << "over is over";
        file.end();
        setrlimit(RLIMIT_FSIZE, &before);
        EXPECT_EQ(rest.size(), 50 * block);
        EXPECT_EQ(why, fmt::format("write {}: File too large", folder / "a.pcapng"));
        const PcapngFile read = read_pcapng(folder / "a.pcapng");
        EXPECT_EQ(read.packets.size(), 50U) << beyond;
        // What was cut back left room for them, where it was enough.
        EXPECT_EQ(read.statistics.size(), beyond >= pcapng::longest_statistics_block ? 1U : 0U) << beyond;
        EXPECT_EQ(file.octets(), read.size);
    }
    std::signal(SIGXFSZ, handler);
}

TEST(CaptureFile, ADirectoryThatGoesAway) {
    const Folder folder;
    fs::create_directory(folder / "gone");
    const Octets blocks = blocks_of(1, 1514);
    CaptureFile file(folder / "gone/a.pcapng",
                     {.size = header().size() + pcapng::longest_statistics_block + blocks.size(), .files = 2});
    file.begin(header(), 1);
    EXPECT_TRUE(file.append(blocks).empty());
    fs::remove_all(folder / "gone");
    EXPECT_EQ(file.append(blocks).size(), blocks.size());
    EXPECT_TRUE(file.why_over().starts_with("open " + (folder / "gone/a_00002_"))) << file.why_over();
    EXPECT_TRUE(file.why_over().ends_with(": No such file or directory")) << file.why_over();
    file.end();
}

// A pipe whose reader sleeps holds up the capture, but not the end of the run.
TEST(CaptureFile, AReaderThatTakesNothing) {
    const Folder folder;
    const std::string name = folder / "pipe";
    ASSERT_EQ(mkfifo(name.c_str(), 0600), 0);
    const UniqueFd reader(open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    CaptureFile file(name, {});
    file.begin(header(), 1);
    file.hurry();
    const Octets blocks = blocks_of(1000, 1514);
    EXPECT_FALSE(file.append(blocks).empty());
    EXPECT_EQ(file.why_over(), "write " + name + ": its reader takes nothing");
    EXPECT_GT(file.statistics()[0].delivered, 0U);
    file.end();
}

TEST(CaptureFile, ThatCannotBeOpened) {
    const Folder folder;
    ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
    CaptureFile other(folder / "taken", {});
    for (const auto& [name, why] : {std::pair{folder / "none/a", ": No such file or directory"},
                                    {folder / "", ": Is a directory"},
                                    {folder / "pipe", ": nobody reads this pipe; start its reader first"},
                                    {folder / "taken", ": another capture writes into it"}}) {
        try {
            CaptureFile file(name, {});
            FAIL() << name;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ExitCode::io);
            EXPECT_EQ(error.what(), "--pcap: open " + name + why);
        }
    }
}

TEST(CaptureFile, AStartThatFailsLeavesAllAsItWas) {
    const Folder folder;
    std::ofstream(folder / "old") << "older";
    { const CaptureFile before(folder / "old", {}), made(folder / "new", {}); }
    EXPECT_EQ(folder.files(), std::vector<std::string>{"old"});
    EXPECT_EQ(fs::file_size(folder / "old"), 5U);
    CaptureFile begun(folder / "new", {});
    begun.begin(header(), 1);
    begun.end();
    EXPECT_EQ(folder.files().size(), 2U);
}

TEST(Capture, DevFullEndsItAndEveryFrameIsAccountedFor) {
    Capture capture("/dev/full", {}, 65535);
    capture.add_interface({.name = "eth0"}, 1);
    FrameTap& tap = capture.tap(0, 0);
    const Octets frame = some_octets(1514);
    unsigned given = 0;
    for (; given < 10; ++given)
        tap.frame(frame, 1514, 0);
    capture.begin({});
    for (; tap.after_it_was_over() < 10; ++given)
        tap.frame(frame, 1514, 0);
    capture.end(std::vector<Capture::Counted>(1));
    const CaptureFigures& figures = capture.figures();
    EXPECT_EQ(figures.why_over, "write /dev/full: No space left on device");
    EXPECT_EQ(figures.written, 0U);
    EXPECT_EQ(figures.octets, 0U);
    EXPECT_EQ(figures.lost + figures.after_it_was_over, given);
}

TEST(Capture, OfSeveralQueuesAndInterfaces) {
    const Folder folder;
    Capture capture(folder / "a.pcapng", {}, 65535);
    capture.add_interface({.name = "eth0"}, 2);
    capture.add_interface({.name = "eth1"}, 1);
    capture.begin({.hardware = "h", .os = "o", .application = "a"});
    timespec now{}, utc{};
    clock_gettime(CLOCK_TAI, &now);
    clock_gettime(CLOCK_REALTIME, &utc);
    const auto tai = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
    const std::array<FrameTap*, 3> taps{&capture.tap(0, 0), &capture.tap(0, 1), &capture.tap(1, 0)};
    constexpr unsigned frames = 3000;
    std::vector<std::thread> loops;
    for (unsigned i = 0; i < 3; ++i) {
        loops.emplace_back([&, i] {
            for (unsigned number = 0; number < frames; ++number)
                taps[i]->frame(some_octets(60 + number % 1000, i), 60 + number % 1000, tai + number);
        });
    }
    for (std::thread& loop : loops)
        loop.join();
    capture.end(std::vector<Capture::Counted>{{.received = 7000, .dropped_by_interface = 1, .lost_on_the_way = 9}, {}});
    const PcapngFile file = read_pcapng(folder / "a.pcapng");
    EXPECT_EQ(file.interfaces.size(), 2U);
    ASSERT_EQ(file.packets.size(), 3 * frames);
    std::array<unsigned, 3> of_tap{};
    for (const PcapngPacket& packet : file.packets) {
        const unsigned i = packet.interface == 1 ? 2 : packet.queue;
        ASSERT_LT(i, 3U);
        const unsigned number = of_tap[i]++;
        ASSERT_EQ(packet.octets, some_octets(60 + number % 1000, i)) << "in the order of its queue";
        ASSERT_EQ(packet.time_ns, file.packets[0].time_ns + number);
    }
    EXPECT_NEAR(static_cast<double>(file.packets[0].time_ns) / 1e9, static_cast<double>(utc.tv_sec), 10)
        << "UTC, from which TAI is 37 s away where that is known";
    EXPECT_EQ(file.statistics.at(0).number(4), 7000U);
    EXPECT_EQ(file.statistics.at(0).number(5), 1U);
    EXPECT_EQ(file.statistics.at(0).number(7), 9U);
    EXPECT_EQ(file.statistics.at(0).number(8), 2 * frames);
    EXPECT_EQ(file.statistics.at(1).number(8), frames);
    EXPECT_EQ(capture.figures().written, 3 * frames);
    EXPECT_EQ(capture.figures().octets, file.size);
}

} // namespace
} // namespace responder::test
