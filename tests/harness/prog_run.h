// SPDX-License-Identifier: GPL-2.0-only
//
// Loaded programs under BPF_PROG_TEST_RUN: a frame in; the verdict, the octets out and what was counted out. Nothing is
// attached and no frame leaves. The kernel takes no frame shorter than an Ethernet header.

#pragma once

#include "bpf/abi.h"
#include "sink.skel.h" // behind bpf/abi.h, whose types it names

#include "loader/sink/streams.h"
#include "loader/skeleton.h"
#include "tests/harness/packet.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace responder::test {

struct ProgramRun {
    std::uint32_t verdict = 0; // enum xdp_action
    Octets out;
};

// One run. Throws Error where the kernel refuses the frame.
ProgramRun run_program(int program_fd, std::span<const std::uint8_t> frame);

// `times` runs over one and the same frame; nanoseconds for each of them, as the kernel measures it, in whole ones.
struct TimedRun {
    std::uint32_t verdict = 0; // of the last one
    std::uint32_t ns = 0;
};
TimedRun time_program(int program_fd, std::span<const std::uint8_t> frame, unsigned times);

// What the commands take when nothing is said: UDP port 9 and the benchmarking networks.
match_cfg default_match();
match_cfg match_ports(std::initializer_list<match_range> ports);
match_prefix4 prefix4(const std::string& address, unsigned length);
match_prefix6 prefix6(const std::string& address, unsigned length);

std::string slot_name(std::uint32_t slot);

// Slots that have changed.
using CountChange = std::map<std::uint32_t, slot_count>;

// Reads a program's counters, the first queue's.
class SlotCounter {
  public:
    SlotCounter() = default;
    explicit SlotCounter(int map_fd); // the map of a loaded program

    // What was counted since the last time that anything asked.
    CountChange take_change();

  private:
    using Totals = std::vector<slot_count>; // a slot each, summed over the CPUs
    Totals totals();

    int map_fd_ = -1;
    std::vector<slot_counters> per_cpu_;
    Totals before_;
};

class SinkProgram {
  public:
    struct Options {
        match_cfg match = default_match();
        std::string address4{}, address6{}; // to answer for
        bool multi_buffer = false;
        unsigned stream_slots = 0;
        unsigned copy_passed = 0;
        std::vector<watch_port> watches{};
        bool histograms = false;
        bool clocks_in_step = false;
    };
    SinkProgram() : SinkProgram(Options{}) {}
    explicit SinkProgram(const Options& options);

    struct Run {
        std::uint32_t verdict = 0;
        Octets out;
        CountChange change;
    };
    Run run(std::span<const std::uint8_t> frame);

    CountChange take_change() { return counter_.take_change(); }

    StreamReport streams() const;

    int fd() const;
    const sink_cfg& cfg() const noexcept { return cfg_; } // as it was told
    sink_bpf* operator->() const noexcept { return skeleton_.get(); }

  private:
    Skeleton<sink_bpf> skeleton_;
    sink_cfg cfg_{};
    SlotCounter counter_;
};

} // namespace responder::test
