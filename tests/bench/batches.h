// SPDX-License-Identifier: GPL-2.0-only
//
// Batches of one frame through a program, under BPF_PROG_TEST_RUN: what frame_cost, stream_cost and reflect_cost are
// made of.

#pragma once

#include "floor.skel.h"
#include "loader/skeleton.h"
#include "tests/bench/benchmarks.h"
#include "tests/harness/octets.h"
#include "tests/harness/prog_run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace responder::bench {

constexpr unsigned batch = 100'000; // frames, some milliseconds

// Nanoseconds a frame. Throws Error unless the last verdict is this one; `title` says in which benchmark.
double time_batch(int program, const test::Octets& frame, std::uint32_t verdict, const std::string& title);

// Throws Error unless one batch was counted, all of it there.
void check_counted(const test::CountChange& change, std::uint32_t slot, const std::string& title);

// The programs of floor.bpf.c, of which some change the frame and go on to another.
class Floor {
  public:
    Floor() { skeleton_.load(); }

    floor_bpf* operator->() const noexcept { return skeleton_.operator->(); }

    // The program to run so that each frame is put back as it is here, and `program` gets it.
    int restoring(const test::Octets& frame, int program);
    // So that it carries the next number of its stream.
    int numbering(int program);

  private:
    void go_on_to(int program);

    Skeleton<floor_bpf> skeleton_;
};

// One of each case, in turns.
template <class Measurement>
void take_turns(std::vector<Measurement>& measurements, const Settings& settings) {
    for (unsigned round = 0; round < settings.rounds; ++round)
        for (Measurement& measurement : measurements)
            measurement.round();
}

template <class Measurement>
std::vector<Row> rows_of(const std::vector<Measurement>& measurements) {
    std::vector<Row> rows;
    for (const Measurement& measurement : measurements)
        rows.push_back(measurement.row());
    return rows;
}

} // namespace responder::bench
