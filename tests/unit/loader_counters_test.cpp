// SPDX-License-Identifier: GPL-2.0-only
//
// From slots to traffic to rates, and the arithmetic of the wire: RFC 2544, RFC 5180 appendix A.1 (its misprints
// corrected).

#include "loader/command.h"
#include "loader/counters.h"
#include "loader/figures.h"
#include "loader/wire.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

namespace responder::test {
namespace {

using Seconds = std::chrono::duration<double>;

struct Row {
    std::uint64_t size, fps;
    double ns, l2_percent, l2_mbps, l3_mbps, payload_mbps; // at 2.5 Gb/s; 0: not in the table
};
constexpr Row table[] = {
    {64, 3'720'238, 268.8, 76.190, 1904.762, 1369.048, 535.714},
    {128, 2'111'486, 473.6, 86.486, 2162.162, 1858.108, 1385.135},
    {256, 1'132'246, 883.2, 92.754, 2318.841, 2155.797, 1902.174},
    {512, 587'406, 1702.4, 96.241, 2406.015, 2321.429, 2189.850},
    {768, 396'573, 2521.6, 97.462, 2436.548, 2379.442, 2290.609},
    {1024, 299'329, 3340.8, 98.084, 2452.107, 2409.004, 2341.954},
    {1280, 240'384, 4160.0, 98.462, 2461.538, 2426.923, 2373.077},
    {1518, 203'185, 4921.6, 98.700, 2467.490, 2438.231, 2392.718},
    {1522, 202'658, 4934.4, 98.703, 2467.575, 0, 0},
    {2048, 151'112, 6617.6, 99.033, 2475.822, 2454.062, 2420.213},
    {4096, 75'923, 13171.2, 99.514, 2487.852, 2476.919, 2459.913},
    {8192, 38'054, 26278.4, 99.756, 2493.911, 2488.432, 2479.907},
    {9018, 34'576, 28921.6, 99.779, 2494.468, 2489.489, 2481.744},
    {9216, 33'834, 29555.2, 99.783, 2494.586, 2489.714, 2482.135},
};

TEST(Wire, BytesOfALayer) {
    EXPECT_EQ(wire::l2_bytes_with_fcs(3, 180), 192U);
    EXPECT_EQ(wire::l1_bytes(3, 180), 252U);
    EXPECT_EQ(wire::l1_bytes(0, 0), 0U);
}

// A line that is full, with what one frame of the size carries on each layer.
TEST(Rates, OfAFullLineAreThoseOfTheTable) {
    for (const Row& row : table) {
        constexpr std::uint64_t frames = 1'000'000;
        const Traffic traffic{{.frames = frames,
                               .l2_bytes = frames * (row.size - 4),
                               .l3_bytes = frames * (row.size - 18),
                               .payload_bytes = frames * (row.size - 46)}};
        const Rates rate = rates(traffic, Seconds(1e-9 * row.ns * frames));
        EXPECT_NEAR(rate.fps, static_cast<double>(row.fps), 1) << row.size;
        EXPECT_NEAR(rate.l1_bps, 2.5e9, 1) << row.size;
        EXPECT_NEAR(line_rate_percent(rate, 2'500'000'000), 100, 1e-6) << row.size;
        EXPECT_NEAR(rate.l2_bps / 1e6, row.l2_mbps, 0.0006) << row.size;
        EXPECT_NEAR(100 * rate.l2_bps / 2.5e9, row.l2_percent, 0.0006) << row.size;
        if (row.l3_mbps > 0) {
            EXPECT_NEAR(rate.l3_bps / 1e6, row.l3_mbps, 0.0006) << row.size;
            EXPECT_NEAR(rate.payload_bps / 1e6, row.payload_mbps, 0.0006) << row.size;
        }
    }
}

TEST(Rates, DivideByTheMeasuredTime) {
    const Traffic traffic{{.frames = 100, .l2_bytes = 6000, .l3_bytes = 4600, .payload_bytes = 1800}};
    const Rates rate = rates(traffic, Seconds(0.25));
    EXPECT_DOUBLE_EQ(rate.fps, 400);
    EXPECT_DOUBLE_EQ(rate.l1_bps, 8 * 8400 / 0.25);
    EXPECT_DOUBLE_EQ(rate.l2_bps, 8 * 6400 / 0.25);
    EXPECT_DOUBLE_EQ(rate.l3_bps, 8 * 4600 / 0.25);
    EXPECT_DOUBLE_EQ(rate.payload_bps, 8 * 1800 / 0.25);
}

TEST(Rates, OfNoTimeAreZero) {
    for (const double seconds : {0.0, -1.0}) {
        const Rates rate = rates({{.frames = 5, .l2_bytes = 300}}, Seconds(seconds));
        EXPECT_EQ(rate.fps, 0);
        EXPECT_EQ(rate.l1_bps, 0);
        EXPECT_EQ(rate.payload_bps, 0);
    }
}

TEST(Rates, LinePercentIsUnknownWithoutASpeed) { EXPECT_LT(line_rate_percent({.l1_bps = 1e9}, 0), 0); }

// A week at 10 Gb/s of the smallest frames: beyond what 32 bits, and a double's 53, can count in bits.
TEST(Rates, OfAWeekAreStillRight) {
    const std::uint64_t frames = 14'880'952ULL * 604'800;
    const Rates rate =
        rates({{.frames = frames, .l2_bytes = frames * 60, .l3_bytes = frames * 46, .payload_bytes = frames * 18}},
              Seconds(604'800));
    EXPECT_DOUBLE_EQ(rate.fps, 14'880'952);
    EXPECT_NEAR(rate.l1_bps, 10e9, 1000);
}

SlotCounts numbered_slots(std::uint64_t factor) {
    SlotCounts slots{};
    for (std::uint64_t i = 0; i < slots.size(); ++i)
        slots[i] = {factor * (i + 1), factor * (i + 1) * 100, factor * (i + 1) * 80, factor * (i + 1) * 50};
    return slots;
}

TEST(Snapshot, SumsOfSlotsAddUp) {
    const SlotCounts slots = numbered_slots(1);
    const Traffic test = test_traffic(slots), answered = answered_traffic(slots), passed = passed_traffic(slots);
    EXPECT_EQ(test.frames, 66U); // 1 + 2 + ... + 11
    EXPECT_EQ(answered.frames, 12U + 13U + 14U + 15U + 16U + 17U + 18U);
    EXPECT_EQ(dropped_traffic(slots).frames, std::uint64_t{SLOTS} + (SLOTS - 1) + (SLOTS - 2)); // the last three
    EXPECT_EQ(test.frames + answered.frames + passed.frames + dropped_traffic(slots).frames, all_traffic(slots).frames);
    EXPECT_EQ(all_traffic(slots).frames, std::uint64_t{SLOTS} * (SLOTS + 1) / 2);
    EXPECT_EQ(test.l2_bytes, 6600U);
    EXPECT_EQ(test.l3_bytes, 5280U);
    EXPECT_EQ(test.payload_bytes, 3300U);
}

TEST(Snapshot, DifferencesAreSlotBySlot) {
    const SlotCounts difference = numbered_slots(5) - numbered_slots(2);
    for (std::uint64_t i = 0; i < difference.size(); ++i) {
        EXPECT_EQ(difference[i].frames, 3 * (i + 1));
        EXPECT_EQ(difference[i].l2_bytes, 300 * (i + 1));
        EXPECT_EQ(difference[i].l3_bytes, 240 * (i + 1));
        EXPECT_EQ(difference[i].payload_bytes, 150 * (i + 1));
    }
}

TEST(Snapshot, BytesOfTrafficOnTheWire) {
    const Traffic traffic{{.frames = 10, .l2_bytes = 600}};
    EXPECT_EQ(traffic.l2_bytes_with_fcs(), 640U);
    EXPECT_EQ(traffic.l1_bytes_on_wire(), 840U);
}

TEST(Figures, SizeBinsCoverEverySizeOnce) {
    EXPECT_EQ(size_bins.front().first, 0U);
    EXPECT_EQ(size_bins.back().last, 0U);
    for (std::size_t i = 0; i + 1 < size_bins.size(); ++i)
        EXPECT_EQ(size_bins[i].last + 1, size_bins[i + 1].first);
    EXPECT_EQ(size_bins.size(), std::size_t{SLOT_SIZE_END});
}

TEST(Figures, EverySlotHasOneNameAndOneKey) {
    std::set<std::string_view> keys;
    std::set<int> slots;
    for (const SlotName& name : answer_names)
        keys.insert(name.key), slots.insert(name.slot);
    for (const SlotName& name : reason_names)
        keys.insert(name.key), slots.insert(name.slot);
    for (const SlotName& name : drop_names)
        keys.insert(name.key), slots.insert(name.slot);
    EXPECT_EQ(keys.size(), std::size_t{SLOTS - SLOT_SIZE_END});
    EXPECT_EQ(slots.size(), std::size_t{SLOTS - SLOT_SIZE_END});
    EXPECT_EQ(*slots.begin(), SLOT_ANSWER_FIRST);
    EXPECT_EQ(*slots.rbegin(), SLOTS - 1);
}

TEST(Figures, ATimeHasTheUnitOfItsSize) {
    for (const auto& [ns, text] :
         {std::pair{0.0, "0 ns"}, std::pair{740.0, "740 ns"}, std::pair{999.4, "999 ns"}, std::pair{999.6, "1.0 us"},
          std::pair{139'100.0, "139.1 us"}, std::pair{-138'389.0, "-138.4 us"}, std::pair{-12.0, "-12 ns"},
          std::pair{999'949.0, "999.9 us"}, std::pair{999'951.0, "1.000 ms"}, std::pair{-2'500'000.0, "-2.500 ms"}})
        EXPECT_EQ(time_text(ns), text);
}

TEST(Rfc3339, IsUtcWithMilliseconds) {
    using namespace std::chrono;
    char room[32];
    EXPECT_EQ(rfc3339(system_clock::time_point(milliseconds(0)), room), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(rfc3339(system_clock::time_point(milliseconds(1'796'040'000'007)), room), "2026-11-30T12:00:00.007Z");
    EXPECT_EQ(rfc3339(system_clock::time_point(milliseconds(951'827'696'999)), room), "2000-02-29T12:34:56.999Z");
}

} // namespace
} // namespace responder::test
