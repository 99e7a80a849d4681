// SPDX-License-Identifier: GPL-2.0-only
//
// A distribution of times as the program has counted it (bpf/histogram.h), and what is said of it.

#pragma once

#include "bpf/histogram.h"

#include <cstdint>
#include <vector>

namespace responder {

class Histogram {
  public:
    Histogram() : counts_(HISTOGRAM_BUCKETS) {}
    // The program may be writing: what comes meanwhile is in it or not.
    explicit Histogram(const histogram& counted) : counts_(counted.count, counted.count + HISTOGRAM_BUCKETS) {}
    Histogram& operator+=(const Histogram& other);

    std::uint64_t total() const noexcept;
    std::uint64_t count(unsigned bucket) const noexcept { return counts_[bucket]; }
    // In ns; less than 0.8 % from the time that this share of all does not exceed. 0 of nothing.
    double percentile(double percent) const noexcept;
    // At least one of all is beyond it: of fewer, it would be the largest by another name.
    bool is_telling(double percent) const noexcept;

    // The times in a bucket, in ns; the last one has no upper bound.
    static std::uint64_t first_of(unsigned bucket) noexcept;
    static std::uint64_t last_of(unsigned bucket) noexcept { return first_of(bucket + 1) - 1; }

  private:
    std::vector<std::uint64_t> counts_;
};

inline constexpr double shown_percentiles[] = {50, 90, 99, 99.9, 99.99};

} // namespace responder
