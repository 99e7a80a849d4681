// SPDX-License-Identifier: GPL-2.0-only
//
// The sender's program against build_frame(), octet by octet, by BPF_PROG_TEST_RUN without live frames.

#include "bpf/generate_abi.h"
#include "bpf/signature/ours.h"
#include "generate.skel.h"
#include "loader/generate/frame_spec.h"
#include "loader/skeleton.h"
#include "tests/harness/sender_frames.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>
#include <vector>

namespace responder::test {
namespace {

using Octets = std::vector<std::uint8_t>;

struct Made {
    std::uint32_t verdict = 0;
    Octets frame;
};

class Program {
  public:
    explicit Program(const FrameSpec& spec) : template_(template_frame(spec)) {
        spec.validate();
        skeleton_->rodata->generate_cfg = generate_config(spec);
        skeleton_.load();
        run() = {.limit = std::numeric_limits<__u64>::max(), .interval = 0, .stamp_mask = 1023};
    }

    generate_run& run() { return skeleton_->bss->generate_run; }
    generate_state& state() { return skeleton_->bss->generate_state; }

    Made next() { return next_from(template_); }

    Made next_from(Octets in) {
        Made made;
        made.frame.resize(largest_frame_size);
        bpf_test_run_opts options{};
        options.sz = sizeof(options);
        options.data_in = in.data();
        options.data_size_in = static_cast<__u32>(in.size());
        options.data_out = made.frame.data();
        options.data_size_out = static_cast<__u32>(made.frame.size());
        options.repeat = 1;
        EXPECT_EQ(bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.xdp_generate), &options), 0);
        made.verdict = options.retval;
        made.frame.resize(options.data_size_out);
        return made;
    }

    const Octets& frame_template() const { return template_; }

  private:
    Skeleton<generate_bpf> skeleton_;
    Octets template_;
};

void expect_frames(const FrameSpec& spec, std::uint64_t first, std::uint64_t count) {
    Program program(spec);
    // As after `first` frames.
    program.state().frames = first;
    program.state().size = static_cast<__u32>(first % spec.sizes.size());
    program.state().source_port = static_cast<__u32>(first % spec.source_ports.count());
    program.state().destination_port = static_cast<__u32>(first % spec.destination_ports.count());
    program.state().stream = static_cast<__u32>(first % spec.streams);
    program.state().sequence = static_cast<__u32>(first / spec.streams);
    for (std::uint64_t n = first; n < first + count; ++n) {
        const Made made = program.next();
        ASSERT_EQ(made.verdict, static_cast<std::uint32_t>(XDP_TX)) << "frame " << n;
        ASSERT_EQ(made.frame, build_frame(spec, n))
            << "frame " << n << " of " << spec.sizes[n % spec.sizes.size()] << " bytes, " << spec.vlans.size()
            << " tags, " << (spec.source.v6() ? "IPv6" : "IPv4");
    }
    EXPECT_EQ(program.state().frames, first + count);
}

TEST(GenerateProgram, OneSize) {
    for (const bool v6 : {false, true})
        for (std::size_t tags = 0; tags <= 2; ++tags)
            for (const unsigned size : {64U, 65U, 66U, 67U, 68U, 69U, 70U, 71U,  72U,  73U,  74U,   75U,   76U,
                                        77U, 78U, 79U, 81U, 82U, 85U, 86U, 127U, 128U, 512U, 1518U, 1526U, 3412U}) {
                const FrameSpec spec = make_spec(v6, tags, {size});
                if (size >= spec.smallest_possible_size())
                    expect_frames(spec, 0, 3);
            }
}

TEST(GenerateProgram, SizesTakeTurns) {
    for (const bool v6 : {false, true})
        for (std::size_t tags = 0; tags <= 2; ++tags) {
            const unsigned smallest = make_spec(v6, tags, {64}).smallest_possible_size();
            expect_frames(make_spec(v6, tags, {1518, smallest, smallest + 5, 512, smallest + 8, 129, 3412}), 0, 30);
            expect_frames(make_spec(v6, tags, {smallest, smallest + 1}), 0, 5);
        }
    std::vector<unsigned> sixteen;
    for (unsigned i = 0; i < GENERATE_SIZES; ++i)
        sixteen.push_back(64 + 97 * i);
    expect_frames(make_spec(false, 0, sixteen), 0, 40);
    // The pattern ends at each place of a pair of words.
    for (unsigned i = 0; i < GENERATE_SIZES; ++i)
        sixteen[i] = 200 + i;
    for (const bool v6 : {false, true})
        expect_frames(make_spec(v6, 0, sixteen), 0xFFFFFFF0, 48);
}

TEST(GenerateProgram, StreamsTakeTurns) {
    for (const bool v6 : {false, true}) {
        FrameSpec spec = make_spec(v6, 1, {128, 256, 200});
        spec.streams = 5;
        spec.source_ports = {1000, 1004};
        expect_frames(spec, 0, 23);
        expect_frames(spec, 0x4FFFFFFF0, 40); // the sequence number comes to 2^32
        spec.streams = 65536;
        expect_frames(spec, 65530, 20);
    }
}

// The time is the sender's CLOCK_TAI; check and UDP checksum cover it. All else, the pattern too, is as without.
TEST(GenerateProgram, StampsTheTimeOfSending) {
    for (const bool v6 : {false, true}) {
        FrameSpec spec = make_spec(v6, 1, {128, 1518});
        spec.stamped = true;
        Program program(spec);
        const auto clock = [] {
            timespec now{};
            clock_gettime(CLOCK_TAI, &now);
            return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
        };
        for (std::uint64_t n = 0; n < 20; ++n) {
            const std::uint64_t before = clock();
            Octets frame = program.next().frame;
            const std::uint64_t after = clock();
            const std::size_t payload = v6 ? 66 : 46;
            const auto word = [&](std::size_t at) { return frame[at] << 8U | frame[at + 1]; };
            const auto time = static_cast<std::uint32_t>(word(payload + 10) << 16 | word(payload + 12));
            EXPECT_LE(time - static_cast<std::uint32_t>(before), after - before) << n;
            EXPECT_EQ(static_cast<std::uint64_t>(word(payload + 2)), ours_check(0, n, time));
            std::uint32_t sum = 0;
            if (v6) { // RFC 1071: of pseudo header and datagram
                for (std::size_t at = 26; at < frame.size(); at += 2)
                    sum += static_cast<std::uint32_t>(word(at));
                sum += static_cast<std::uint32_t>(frame.size()) - 58 + 17;
                EXPECT_EQ(((sum & 0xffff) + (sum >> 16)) % 0xffff, 0U) << n;
            }
            const Octets plain = build_frame(spec, n);
            for (const std::size_t at : {payload + 2, payload + 3, payload + 10, payload + 11, payload + 12,
                                         payload + 13, payload - 2, payload - 1})
                frame[at] = plain[at];
            EXPECT_EQ(frame, plain) << n;
        }
    }
}

TEST(GenerateProgram, PktgensSignature) {
    for (const bool v6 : {false, true})
        for (std::size_t tags = 0; tags <= 2; ++tags) {
            FrameSpec spec = make_spec(v6, tags, {128, 1518});
            spec.signature = Signature::pktgen;
            spec.sizes.push_back(spec.smallest_possible_size());
            expect_frames(spec, 0, 9);
            expect_frames(spec, 0xFFFFFFFE, 4);
        }
}

TEST(GenerateProgram, PortsTakeTurns) {
    for (const bool v6 : {false, true}) {
        FrameSpec spec = make_spec(v6, 1, {128, 256});
        spec.source_ports = {1000, 1002};
        expect_frames(spec, 0, 20);
        spec.destination_ports = {65531, 65535};
        expect_frames(spec, 0, 40);
        spec.source_ports = {0, 65535};
        expect_frames(spec, 65530, 20);
    }
}

// The UDP checksum of IPv6 must come out right whatever the sequence number adds to it, also where it would be 0.
TEST(GenerateProgram, SequenceNumbersOfAllMagnitudes) {
    for (const bool v6 : {false, true}) {
        const FrameSpec spec = make_spec(v6, 0, {96, 99});
        for (const std::uint64_t first : {0xFFF8ULL, 0xFFFFFFF8ULL, 0x1FFFFFFF8ULL})
            expect_frames(spec, first, 20);
    }
    // These count through all 65536 checksums, and through sums that carry twice.
    const std::uint32_t first = 0xFFFE0000;
    const FrameSpec spec = make_spec(true, 0, {80});
    Program program(spec);
    program.state().frames = program.state().sequence = first;
    bool without_zero = true;
    bool with_ffff = false;
    for (std::uint64_t n = first; n < first + 66'000; ++n) {
        const Made made = program.next();
        const unsigned checksum = made.frame[60] * 256U + made.frame[61];
        without_zero &= checksum != 0;
        with_ffff |= checksum == 0xFFFF;
        if (checksum == 0xFFFF || checksum < 3) {
            ASSERT_EQ(made.frame, build_frame(spec, n)) << n;
        }
    }
    EXPECT_TRUE(without_zero);
    EXPECT_TRUE(with_ffff);
}

// Pages come back as the last receiver left them: a reflector swaps MAC addresses, IP addresses and ports. And each
// frame needs another pattern than the one before it.
TEST(GenerateProgram, RepairsAllButTheTime) {
    for (const bool v6 : {false, true})
        for (std::size_t tags = 0; tags <= 2; ++tags) {
            FrameSpec spec = make_spec(v6, tags, {64, 1518});
            spec.sizes[0] = spec.smallest_possible_size();
            Program program(spec);
            Octets spoilt = program.frame_template();
            const auto time = spoilt.begin() + (spec.header_size() - fcs_length + OURS_TIME_OFFSET);
            std::fill(spoilt.begin(), time, std::uint8_t{0xA5});
            std::fill(time + 4, spoilt.end(), std::uint8_t{0xA5});
            for (std::uint64_t n = 0; n < 4; ++n)
                ASSERT_EQ(program.next_from(spoilt).frame, build_frame(spec, n)) << n;
        }
}

TEST(GenerateProgram, StopsAtTheLimit) {
    Program program(make_spec(false, 0, {64}));
    program.run().limit = 2;
    EXPECT_EQ(program.next().verdict, static_cast<std::uint32_t>(XDP_TX));
    EXPECT_EQ(program.next().verdict, static_cast<std::uint32_t>(XDP_TX));
    EXPECT_EQ(program.next().verdict, static_cast<std::uint32_t>(XDP_DROP));
    EXPECT_EQ(program.state().frames, 2U);
    EXPECT_EQ(program.state().last_frame, 1U) << "the clock is read at the last frame";
    EXPECT_GE(program.state().last_ns, program.state().first_ns);
}

TEST(GenerateProgram, WaitsForTheFramesMoment) {
    Program program(make_spec(false, 0, {64}));
    program.run().stamp_mask = 0;
    program.run().interval = 3'600'000'000'000ULL << GENERATE_INTERVAL_SHIFT; // an hour
    EXPECT_EQ(program.next().verdict, static_cast<std::uint32_t>(XDP_TX));
    EXPECT_EQ(program.next().verdict, static_cast<std::uint32_t>(XDP_DROP));
    EXPECT_EQ(program.state().frames, 1U);
    program.state().due = 0; // its moment has come
    EXPECT_EQ(program.next().verdict, static_cast<std::uint32_t>(XDP_TX));
    EXPECT_EQ(program.state().frames, 2U);
}

TEST(GenerateProgram, RefusesAFrameThatIsTooShort) {
    Program program(make_spec(false, 0, {64}));
    EXPECT_EQ(program.next_from(Octets(40)).verdict, static_cast<std::uint32_t>(XDP_ABORTED));
    EXPECT_EQ(program.state().frames, 0U);
}

} // namespace
} // namespace responder::test
