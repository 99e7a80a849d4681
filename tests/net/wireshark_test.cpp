// SPDX-License-Identifier: GPL-2.0-only
//
// Wireshark's programs: on what the capture writes, and with our dissector on frames of xdp-gen's.

#include "bpf/signature/ours.h"
#include "loader/capture/capture.h"
#include "tests/harness/folder.h"
#include "tests/harness/pcapng_reader.h"
#include "tests/harness/process.h"
#include "tests/harness/sender_frames.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace responder::test {
namespace {

bool is_installed() { return std::system("command -v tshark >/dev/null") == 0; }

TEST(Wireshark, ReadsWhatTheCaptureWrites) {
    if (!is_installed())
        GTEST_SKIP() << "tshark is not installed";
    const Folder folder;
    const std::string name = folder / "a.pcapng";
    Capture capture(name, {}, 60);
    capture.add_interface({.name = "eth0", .hardware = "", .filter = ""}, 1);
    capture.add_interface({.name = "eth1", .hardware = "r8169", .filter = "UDP port 9", .speed_bps = 2'500'000'000}, 4);
    capture.begin({.hardware = "x86_64", .os = "Linux 6.1", .application = "xdp-sink 1"});
    capture.tap(1, 3).frame(Octets(1514), 1514, 1'700'000'000'123'456'789, "stream 3: late");
    capture.end(std::vector<Capture::Counted>(2));
    const std::uint64_t time_ns = read_pcapng(name).packets.at(0).time_ns; // UTC
    const std::string fields =
        run({"tshark", "-r", name, "-T", "fields", "-E", "separator=|", "-e", "frame.time_epoch", "-e", "frame.len",
             "-e", "frame.cap_len", "-e", "frame.interface_name", "-e", "frame.comment"});
    EXPECT_EQ(fields,
              fmt::format("{}.{:09}|1514|60|eth1|stream 3: late\n", time_ns / 1'000'000'000, time_ns % 1'000'000'000));
    const std::string about = run({"capinfos", name});
    for (const char* line :
         {"Capture hardware:    x86_64", "Capture oper-sys:    Linux 6.1", "Capture application: xdp-sink 1",
          "Number of packets:   1", "Name = eth1", "Filter string = UDP port 9", "Number of stat entries = 1",
          "Time precision = nanoseconds (9)", "Speed = 2500000000"})
        EXPECT_NE(about.find(line), about.npos) << line << " is not in:\n" << about;
}

struct Captured {
    Octets frame;
    std::size_t cut = 0; // octets that the capture left out
};

void append32(std::string& file, std::initializer_list<std::uint32_t> words) { // least significant octet first
    for (const std::uint32_t word : words)
        for (unsigned bits = 0; bits < 32; bits += 8)
            file += static_cast<char>(word >> bits);
}

// As tshark itself would have captured them: the classic pcap format, Ethernet.
std::string pcap_of(std::span<const Captured> frames) {
    std::string file;
    append32(file, {0xA1B2C3D4, 4U << 16U | 2U, 0, 0, 65535, 1});
    for (const auto& [frame, cut] : frames) {
        const auto length = static_cast<std::uint32_t>(frame.size()), kept = static_cast<std::uint32_t>(length - cut);
        append32(file, {0, 0, kept, length});
        file.append(frame.begin(), frame.begin() + kept);
    }
    return file;
}

class WiresharkDissector : public testing::Test {
  protected:
    void SetUp() override {
        if (!is_installed())
            GTEST_SKIP() << "tshark is not installed";
    }

    // A line a frame, with all that the dissector says of it; an empty one for a frame that is none of ours.
    std::string dissect(std::span<const Captured> frames) const {
        std::ofstream(folder_ / "frames.pcap", std::ios::binary) << pcap_of(frames);
        return run({"tshark",
                    "-X",
                    "lua_script:" TEST_WIRESHARK_DISSECTOR,
                    "-r",
                    folder_ / "frames.pcap",
                    "-T",
                    "fields",
                    "-E",
                    "separator=,",
                    "-e",
                    "xdp_responder.stream",
                    "-e",
                    "xdp_responder.sequence",
                    "-e",
                    "xdp_responder.time",
                    "-e",
                    "xdp_responder.check.status",
                    "-e",
                    "xdp_responder.pattern.status",
                    "-e",
                    "xdp_responder.pattern.wrong",
                    "-e",
                    "_ws.expert.message"},
                   {.environment = {"HOME=" + folder_.path().string()}});
    }
    std::string dissect(const Captured& captured) const { return dissect(std::span(&captured, 1)); }

  private:
    Folder folder_;
};

TEST_F(WiresharkDissector, ReadsWhatXdpGenSends) {
    std::vector<Captured> frames;
    std::string expected;
    for (const bool v6 : {false, true})
        for (std::size_t tags = 0; tags <= 2; ++tags) {
            FrameSpec spec = make_spec(v6, tags, {100, 101, 1518, 9216});
            spec.streams = 65536;
            spec.destination_ports = {5000, 5999};
            for (const std::uint64_t number : {0ULL, 1ULL, 65535ULL, 0xFFFFFFFFFFFFULL, 0xFFFFFFFFFFFEULL}) {
                frames.push_back({build_frame(spec, number)});
                expected += std::to_string(number % 65536) + "," + std::to_string(number / 65536) + ",0,1,1,,\n";
            }
        }
    EXPECT_EQ(dissect(frames), expected);
}

TEST_F(WiresharkDissector, NoPatternWhereThereIsNoRoomForOne) {
    EXPECT_EQ(dissect({build_frame(make_spec(false, 1, {64}), 7)}), "0,7,0,1,,,\n");
}

TEST_F(WiresharkDissector, SaysWhatIsDamaged) {
    const FrameSpec spec = make_spec(false, 0, {256});
    const Octets sound = build_frame(spec, 1000), other = build_frame(spec, 1001);
    const std::size_t payload = 42, pattern = payload + OURS_LENGTH;

    Octets signature = sound;
    signature[payload + OURS_SEQUENCE_OFFSET] ^= 0x80;
    Octets octets = sound;
    octets[pattern + 3] ^= 1;
    octets.back() ^= 0x80;
    Octets mixed = sound; // the head of one frame and the payload of another
    std::copy(other.begin() + pattern, other.end(), mixed.begin() + pattern);
    const auto same = std::inner_product(mixed.begin() + pattern, mixed.end(), sound.begin() + pattern, 0,
                                         std::plus<>(), std::equal_to<>());

    const std::string not_the_pattern = ",Not the pattern of this stream and sequence number\n";
    EXPECT_EQ(dissect(std::vector<Captured>{{signature}, {octets}, {mixed}}),
              "0,2147484648,0,0,,,Wrong check: the signature was damaged\n"
              "0,1000,0,1,0,2" +
                  not_the_pattern + "0,1000,0,1,0," + std::to_string(256 - 4 - pattern - same) + not_the_pattern);
}

TEST_F(WiresharkDissector, JudgesAPartOfThePatternAsFarAsItIsThere) {
    Octets sound = build_frame(make_spec(false, 0, {512}), 5), damaged = sound;
    damaged[60] ^= 4;
    damaged[500] ^= 4; // which nobody can see
    const std::size_t without_signature = sound.size() - 42 - 13;
    EXPECT_EQ(dissect(std::vector<Captured>{{sound, 400}, {damaged, 400}, {sound, without_signature}}),
              "0,5,0,1,2,,\n"
              "0,5,0,1,0,1,Not the pattern of this stream and sequence number\n"
              ",,,,,,\n");
}

TEST_F(WiresharkDissector, ReadsTheTimeOfSending) {
    Octets frame = build_frame(make_spec(false, 0, {64}), 9);
    const std::uint32_t time = 0xFFFFFFFE;
    const Octets octets = big_endian(ours_check(0, 9, time), 2);
    std::ranges::copy(octets, frame.begin() + 42 + OURS_CHECK_OFFSET);
    std::ranges::copy(big_endian(time, 4), frame.begin() + 42 + OURS_TIME_OFFSET);
    EXPECT_EQ(dissect({frame}), "0,9,4294967294,1,1,,\n");
}

TEST_F(WiresharkDissector, LeavesOthersFramesAlone) {
    FrameSpec spec = make_spec(false, 0, {64});
    spec.signature = Signature::pktgen;
    EXPECT_EQ(dissect({build_frame(spec, 5)}), ",,,,,,\n");
}

} // namespace
} // namespace responder::test
