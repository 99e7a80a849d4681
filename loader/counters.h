// SPDX-License-Identifier: GPL-2.0-only
//
// From the map to numbers that can be subtracted: a Snapshot is what a port's program has counted at one moment, and
// two of them make Traffic and Rates. Counters only rise; nobody resets them.

#pragma once

#include "bpf/abi.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

namespace responder {

using Clock = std::chrono::steady_clock; // CLOCK_MONOTONIC

using SlotCounts = std::array<slot_count, SLOTS>;

slot_count& operator+=(slot_count& sum, const slot_count& count) noexcept;
slot_count operator-(const slot_count& now, const slot_count& before) noexcept;

// A sum of slots, as people use it.
struct Traffic : slot_count {
    std::uint64_t l1_bytes_on_wire() const noexcept;
    std::uint64_t l2_bytes_with_fcs() const noexcept;
};

Traffic test_traffic(const SlotCounts& slots) noexcept; // all size bins
Traffic answered_traffic(const SlotCounts& slots) noexcept;
Traffic passed_traffic(const SlotCounts& slots) noexcept;  // all reasons
Traffic dropped_traffic(const SlotCounts& slots) noexcept; // asked for an answer, refused and dropped
Traffic all_traffic(const SlotCounts& slots) noexcept;

SlotCounts operator-(const SlotCounts& now, const SlotCounts& before) noexcept;

struct Snapshot {
    Clock::time_point taken;
    SlotCounts total{};
    std::vector<SlotCounts> queues; // as many as the port has receive queues
};

// Average over a measured time; all 0 for no time.
struct Rates {
    double fps = 0;
    double l1_bps = 0;
    double l2_bps = 0; // with FCS
    double l3_bps = 0;
    double payload_bps = 0;
};
Rates rates(const Traffic& traffic, std::chrono::duration<double> time) noexcept;

// Reads a port's rows of the program's map. Allocates when constructed, not when reading.
class ProgramCounters {
  public:
    ProgramCounters(int map_fd, unsigned first_row, unsigned queues); // throws Error

    Snapshot empty_snapshot() const;
    void read(Snapshot& snapshot) noexcept;

  private:
    int map_fd_; // the skeleton's
    unsigned first_row_;
    unsigned queues_;
    std::vector<slot_counters> per_cpu_;
};

} // namespace responder
