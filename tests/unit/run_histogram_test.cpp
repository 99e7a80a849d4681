// SPDX-License-Identifier: GPL-2.0-only
//
// bpf/histogram.h and what the loader says of it, against the times themselves.

#include "loader/run/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace responder::test {
namespace {

constexpr std::uint64_t end_of_range = std::uint64_t{1} << HISTOGRAM_BITS;

std::vector<std::uint64_t> random_times(unsigned seed, std::size_t count) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> times(std::log(20'000.0), 1.5);
    std::vector<std::uint64_t> result(count);
    for (std::uint64_t& ns : result)
        ns = static_cast<std::uint64_t>(times(random));
    return result;
}

Histogram histogram_of(const std::vector<std::uint64_t>& times) {
    histogram counted{};
    for (const std::uint64_t ns : times)
        histogram_take(&counted, ns);
    return Histogram(counted);
}

// Every bucket begins where the one before ends, and its middle is less than 0.8 % from both of its ends.
TEST(Histogram, OverTheWholeRangeTheErrorIsBelowOnePercent) {
    ASSERT_EQ(Histogram::first_of(0), 0U);
    ASSERT_EQ(Histogram::first_of(HISTOGRAM_BUCKETS), end_of_range);
    for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; ++bucket) {
        const std::uint64_t first = Histogram::first_of(bucket), last = Histogram::last_of(bucket);
        ASSERT_LE(first, last);
        ASSERT_EQ(histogram_index(first), bucket);
        ASSERT_EQ(histogram_index(last), bucket);
        ASSERT_EQ(histogram_index(last + 1), std::min(bucket + 1, HISTOGRAM_BUCKETS - 1U));
        const double middle = static_cast<double>(first + last) / 2;
        ASSERT_LE(middle - static_cast<double>(first), 0.008 * static_cast<double>(first));
        ASSERT_LE(static_cast<double>(last) - middle, 0.008 * static_cast<double>(last));
    }
}

TEST(Histogram, WhatIsBeyondTheRangeIsInTheLastBucket) {
    for (const std::uint64_t ns : {end_of_range, 1'000'000'000'000U, ~std::uint64_t{0}})
        EXPECT_EQ(histogram_index(ns), HISTOGRAM_BUCKETS - 1U);
}

TEST(Histogram, PercentilesAreThoseOfTheTimes) {
    std::vector<std::uint64_t> times = random_times(1, 100'000);
    const Histogram histogram = histogram_of(times);
    std::ranges::sort(times);
    EXPECT_EQ(histogram.total(), times.size());
    for (const double percent : {0.001, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
        const auto rank = static_cast<std::size_t>(std::llround(std::ceil(percent * 1000 - 1e-6)));
        const auto exact = static_cast<double>(times[rank - 1]);
        EXPECT_NEAR(histogram.percentile(percent), exact, 0.008 * exact) << percent;
    }
}

TEST(Histogram, OfFewTimesPercentilesAreOneOfThem) {
    const Histogram histogram = histogram_of({5, 7, 7, 100});
    EXPECT_EQ(histogram.percentile(25), 5);
    EXPECT_EQ(histogram.percentile(25.1), 7);
    EXPECT_EQ(histogram.percentile(75), 7);
    EXPECT_EQ(histogram.percentile(99.99), 100);
    EXPECT_EQ(Histogram().percentile(50), 0);
}

TEST(Histogram, APercentileTellsOnlyWhereOneTimeIsBeyondIt) {
    const auto tells = [](std::size_t times, double percent) {
        return histogram_of(std::vector<std::uint64_t>(times, 5)).is_telling(percent);
    };
    EXPECT_FALSE(tells(1, 50));
    EXPECT_TRUE(tells(2, 50));
    EXPECT_FALSE(tells(99, 99));
    EXPECT_TRUE(tells(100, 99));
    EXPECT_FALSE(tells(999, 99.9));
    EXPECT_TRUE(tells(1000, 99.9));
}

TEST(Histogram, MergedPartsAreTheWhole) {
    std::vector<std::uint64_t> times = random_times(2, 10'000);
    const Histogram whole = histogram_of(times);
    Histogram merged;
    for (std::size_t part = 0; part < times.size(); part += 1000)
        merged += histogram_of({times.begin() + static_cast<std::ptrdiff_t>(part),
                                times.begin() + static_cast<std::ptrdiff_t>(part) + 1000});
    for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; ++bucket)
        ASSERT_EQ(merged.count(bucket), whole.count(bucket));
}

} // namespace
} // namespace responder::test
