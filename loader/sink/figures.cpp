// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/figures.h"

#include <algorithm>

namespace responder {

double line_rate_percent(const Rates& rates, std::uint64_t speed_bps) noexcept {
    return speed_bps == 0 ? -1 : 100 * rates.l1_bps / static_cast<double>(speed_bps);
}

std::string speed_text(std::uint64_t bps) {
    return bps < 1'000'000'000 ? fmt::format("{} Mb/s", bps / 1'000'000)
                               : fmt::format("{} Gb/s", static_cast<double>(bps) / 1e9);
}

std::string time_text(double ns) {
    return ns < 1e3   ? fmt::format("{:.0f} ns", ns)
           : ns < 1e6 ? fmt::format("{:.1f} us", ns / 1e3)
                      : fmt::format("{:.3f} ms", ns / 1e6);
}

void print_grouped(Buffer& buffer, std::string_view digits, std::size_t width) {
    const std::size_t point = std::min(digits.find('.'), digits.size());
    const std::size_t sign = digits.starts_with('-') ? 1 : 0;
    const std::size_t length = digits.size() + (point - sign - 1) / 3;
    for (std::size_t i = length; i < width; ++i)
        buffer.push_back(' ');
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > sign && i < point && (point - i) % 3 == 0)
            buffer.push_back(',');
        buffer.push_back(digits[i]);
    }
}

void print_value(Buffer& buffer, double value, int precision, std::size_t width) {
    char digits[64];
    const auto end = fmt::format_to_n(digits, sizeof(digits), "{:.{}f}", value, precision);
    print_grouped(buffer, {digits, std::min(end.size, sizeof(digits))}, width);
}

} // namespace responder
