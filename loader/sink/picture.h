// SPDX-License-Identifier: GPL-2.0-only
//
// For those who would rather look than read: distributions as bars, in 80 columns, and a rate as a sparkline. Nothing
// here reads or measures anything.

#pragma once

#include "loader/figures.h"
#include "loader/run/histogram.h"
#include "loader/sink/streams.h"

#include <array>
#include <cstddef>

namespace responder {

// What the terminal can show.
enum class Glyphs { ascii, utf8 };
Glyphs glyphs_of_locale(); // by LC_ALL, LC_CTYPE or LANG

// The range that 99.8 % of the times lie in, cut as finely as a screen has room, what lies outside in a row each; then
// the percentiles. `largest_ns`: exactly, which the histogram does not know.
void draw_times(Buffer& buffer, const Histogram& times, double largest_ns, Glyphs glyphs);
void draw_loss_periods(Buffer& buffer, const LossPeriods& periods, Glyphs glyphs);

// The last values, the oldest first, in blocks as high as their share of the highest. Allocates nothing.
class Sparkline {
  public:
    void push(double value) noexcept;
    void draw(Buffer& buffer) const;

  private:
    static constexpr std::size_t width = 16;
    std::array<double, width> values_{};
    std::size_t pushed_ = 0;
};

} // namespace responder
