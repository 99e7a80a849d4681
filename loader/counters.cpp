// SPDX-License-Identifier: GPL-2.0-only

#include "loader/counters.h"

#include "loader/error.h"
#include "loader/wire.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

namespace responder {

namespace {

Traffic sum(const SlotCounts& slots, std::size_t first, std::size_t end) noexcept {
    Traffic traffic{};
    for (std::size_t slot = first; slot < end; ++slot)
        traffic += slots[slot];
    return traffic;
}

} // namespace

std::uint64_t Traffic::l1_bytes_on_wire() const noexcept { return wire::l1_bytes(frames, l2_bytes); }
std::uint64_t Traffic::l2_bytes_with_fcs() const noexcept { return wire::l2_bytes_with_fcs(frames, l2_bytes); }

slot_count& operator+=(slot_count& sum, const slot_count& count) noexcept {
    sum.frames += count.frames;
    sum.l2_bytes += count.l2_bytes;
    sum.l3_bytes += count.l3_bytes;
    sum.payload_bytes += count.payload_bytes;
    return sum;
}

slot_count operator-(const slot_count& now, const slot_count& before) noexcept {
    return {now.frames - before.frames, now.l2_bytes - before.l2_bytes, now.l3_bytes - before.l3_bytes,
            now.payload_bytes - before.payload_bytes};
}

Traffic test_traffic(const SlotCounts& slots) noexcept { return sum(slots, 0, SLOT_SIZE_END); }
Traffic answered_traffic(const SlotCounts& slots) noexcept { return sum(slots, SLOT_ANSWER_FIRST, SLOT_ANSWER_END); }
Traffic passed_traffic(const SlotCounts& slots) noexcept { return sum(slots, SLOT_REASON_FIRST, SLOT_REASON_END); }
Traffic dropped_traffic(const SlotCounts& slots) noexcept { return sum(slots, SLOT_DROP_FIRST, SLOTS); }
Traffic all_traffic(const SlotCounts& slots) noexcept { return sum(slots, 0, SLOTS); }

SlotCounts operator-(const SlotCounts& now, const SlotCounts& before) noexcept {
    SlotCounts difference;
    for (std::size_t slot = 0; slot < difference.size(); ++slot)
        difference[slot] = now[slot] - before[slot];
    return difference;
}

Rates rates(const Traffic& traffic, std::chrono::duration<double> time) noexcept {
    if (time.count() <= 0)
        return {};
    const auto per_second = [&](std::uint64_t value) { return static_cast<double>(value) / time.count(); };
    return {.fps = per_second(traffic.frames),
            .l1_bps = per_second(8 * traffic.l1_bytes_on_wire()),
            .l2_bps = per_second(8 * traffic.l2_bytes_with_fcs()),
            .l3_bps = per_second(8 * traffic.l3_bytes),
            .payload_bps = per_second(8 * traffic.payload_bytes)};
}

ProgramCounters::ProgramCounters(int map_fd, unsigned first_row, unsigned queues)
    : map_fd_(map_fd), first_row_(first_row), queues_(queues) {
    const int cpus = libbpf_num_possible_cpus();
    if (cpus < 1)
        throw Error::from_errno(ExitCode::os, "count the CPUs", -cpus);
    per_cpu_.resize(static_cast<std::size_t>(cpus));
}

Snapshot ProgramCounters::empty_snapshot() const {
    Snapshot snapshot;
    snapshot.queues.resize(queues_);
    return snapshot;
}

void ProgramCounters::read(Snapshot& snapshot) noexcept {
    snapshot.total = {};
    for (unsigned queue = 0; queue < queues_; ++queue) {
        const std::uint32_t row = first_row_ + queue;
        SlotCounts& slots = snapshot.queues[queue];
        // Cannot fail: the key is in the map and the buffer is as long as the map says.
        bpf_map_lookup_elem(map_fd_, &row, per_cpu_.data());
        slots = {};
        for (const slot_counters& cpu : per_cpu_)
            for (std::size_t slot = 0; slot < slots.size(); ++slot)
                slots[slot] += cpu.slot[slot];
        for (std::size_t slot = 0; slot < slots.size(); ++slot)
            snapshot.total[slot] += slots[slot];
    }
    snapshot.taken = Clock::now();
}

} // namespace responder
