// SPDX-License-Identifier: GPL-2.0-only

#include "loader/figures.h"

#include <algorithm>
#include <cmath>

namespace responder {

double line_rate_percent(const Rates& rates, std::uint64_t speed_bps) noexcept {
    return speed_bps == 0 ? -1 : 100 * rates.l1_bps / static_cast<double>(speed_bps);
}

std::string speed_text(std::uint64_t bps) {
    return bps < 1'000'000'000 ? fmt::format("{} Mb/s", bps / 1'000'000)
                               : fmt::format("{} Gb/s", static_cast<double>(bps) / 1e9);
}

std::string time_text(double ns) {
    const double size = std::abs(ns);
    // What would be written as 1000 of a unit is 1 of the next.
    return size < 999.5     ? fmt::format("{:.0f} ns", ns)
           : size < 999'950 ? fmt::format("{:.1f} us", ns / 1e3)
                            : fmt::format("{:.3f} ms", ns / 1e6);
}

Grouped::Grouped(double value, int precision) {
    char digits[most_digits];
    const auto end = fmt::format_to_n(digits, sizeof(digits), "{:.{}f}", value, precision);
    group({digits, std::min(end.size, sizeof(digits))});
}

void Grouped::group(std::string_view digits) noexcept {
    const std::size_t point = std::min(digits.find('.'), digits.size());
    const std::size_t sign = digits.starts_with('-') ? 1 : 0;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > sign && i < point && (point - i) % 3 == 0)
            text_[size_++] = ',';
        text_[size_++] = digits[i];
    }
}

} // namespace responder
