// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/histogram.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace responder {

Histogram& Histogram::operator+=(const Histogram& other) {
    std::ranges::transform(counts_, other.counts_, counts_.begin(), std::plus());
    return *this;
}

std::uint64_t Histogram::total() const noexcept {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double Histogram::percentile(double percent) const noexcept {
    // The smallest time that is not exceeded by so many (nearest rank). A share such as 99.9 has no exact double.
    const double share = static_cast<double>(total()) * percent / 100;
    const auto rank = static_cast<std::uint64_t>(std::ceil(share * (1 - 1e-12)));
    std::uint64_t counted = 0;
    for (unsigned bucket = 0; bucket < HISTOGRAM_BUCKETS; ++bucket) {
        counted += counts_[bucket];
        if (counts_[bucket] != 0 && counted >= rank)
            return static_cast<double>(first_of(bucket) + last_of(bucket)) / 2;
    }
    return 0;
}

bool Histogram::is_telling(double percent) const noexcept {
    return static_cast<double>(total()) * (100 - percent) >= 100 * (1 - 1e-9); // 100 - 99.9 has no exact double
}

std::uint64_t Histogram::first_of(unsigned bucket) noexcept {
    if (bucket < 2 * HISTOGRAM_FINE)
        return bucket;
    const unsigned shift = bucket / HISTOGRAM_FINE - 1;
    return std::uint64_t{HISTOGRAM_FINE + bucket % HISTOGRAM_FINE} << shift;
}

} // namespace responder
