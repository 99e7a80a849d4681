// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/picture.h"

#include <langinfo.h>

#include <algorithm>
#include <bit>
#include <clocale>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace responder {

namespace {

constexpr std::string_view eighths_across[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::string_view eighths_up[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

struct Row {
    std::string label;
    std::uint64_t count;
};

void append(Buffer& buffer, std::string_view text) { buffer.append(text.data(), text.data() + text.size()); }

// `share`: of the longest bar. What is not nothing gets the thinnest there is.
void draw_bar(Buffer& buffer, double share, Glyphs glyphs) {
    constexpr unsigned longest = 40;
    const unsigned parts = glyphs == Glyphs::utf8 ? 8 : 1;
    auto length = static_cast<unsigned>(std::lround(share * longest * parts));
    if (share > 0)
        length = std::max(length, 1U);
    for (; length >= parts; length -= parts)
        append(buffer, glyphs == Glyphs::utf8 ? eighths_across[8] : "#");
    append(buffer, eighths_across[length]);
}

void draw_rows(Buffer& buffer, const std::vector<Row>& rows, Glyphs glyphs) {
    const std::uint64_t most = std::ranges::max(rows, {}, &Row::count).count;
    for (const Row& row : rows) {
        print(buffer, "    {:>16}{:>16}", row.label, Grouped(row.count));
        if (row.count != 0) {
            append(buffer, "  ");
            draw_bar(buffer, static_cast<double>(row.count) / static_cast<double>(most), glyphs);
        }
        buffer.push_back('\n');
    }
}

// Finer than time_text(): neighbouring rows must not have the same label.
std::string label(std::uint64_t ns) {
    const auto time = static_cast<double>(ns);
    return ns >= 1000 && ns < 10'000 ? fmt::format("{:.3f} us", time / 1e3) : time_text(time);
}

} // namespace

Glyphs glyphs_of_locale() {
    const locale_t locale = newlocale(LC_CTYPE_MASK, "", nullptr);
    if (locale == nullptr)
        return Glyphs::ascii;
    const bool utf8 = std::string_view(nl_langinfo_l(CODESET, locale)) == "UTF-8";
    freelocale(locale);
    return utf8 ? Glyphs::utf8 : Glyphs::ascii;
}

void draw_times(Buffer& buffer, const Histogram& times, double largest_ns, Glyphs glyphs) {
    constexpr unsigned most_rows = 14;
    const auto bucket_of = [&](double percent) {
        return histogram_index(static_cast<std::uint64_t>(times.percentile(percent)));
    };
    const unsigned lowest = bucket_of(0.1), highest = bucket_of(99.9);
    unsigned together = 1; // buckets a row: a power of two, so that rows are parts of octaves, or octaves
    while (highest / together - lowest / together + 1 > most_rows)
        together *= 2;
    const unsigned first = lowest / together * together;
    const unsigned end = std::min<unsigned>((highest / together + 1) * together, HISTOGRAM_BUCKETS);
    const auto count = [&](unsigned from, unsigned to) {
        std::uint64_t sum = 0;
        for (unsigned bucket = from; bucket < to; ++bucket)
            sum += times.count(bucket);
        return sum;
    };
    std::vector<Row> rows;
    if (const std::uint64_t below = count(0, first); below != 0)
        rows.push_back({fmt::format("below {}", label(Histogram::first_of(first))), below});
    for (unsigned bucket = first; bucket < end; bucket += together)
        rows.push_back({fmt::format("from {}", label(Histogram::first_of(bucket))),
                        count(bucket, std::min<unsigned>(bucket + together, HISTOGRAM_BUCKETS))});
    if (const std::uint64_t beyond = count(end, HISTOGRAM_BUCKETS); beyond != 0)
        rows.push_back({fmt::format("{} and more", label(Histogram::first_of(end))), beyond});
    draw_rows(buffer, rows, glyphs);
    append(buffer, "    ");
    for (const double percent : shown_percentiles)
        print(buffer, "{} % {},{}", percent, time_text(std::min(times.percentile(percent), largest_ns)),
              percent == 99 ? "\n    " : " ");
    print(buffer, "largest {}\n", time_text(largest_ns));
}

void draw_loss_periods(Buffer& buffer, const LossPeriods& periods, Glyphs glyphs) {
    std::vector<Row> rows;
    const std::size_t longest = std::bit_width(periods.longest - 1);
    for (std::size_t i = 0; i <= std::min(longest, periods.by_length.size() - 1); ++i) {
        const std::uint64_t to = std::uint64_t{1} << i;
        rows.push_back(
            {i < 2 ? fmt::format("{} lost", to) : fmt::format("{}-{} lost", to / 2 + 1, to), periods.by_length[i]});
    }
    draw_rows(buffer, rows, glyphs);
}

void Sparkline::push(double value) noexcept { values_[pushed_++ % width] = value; }

void Sparkline::draw(Buffer& buffer) const {
    const double most = *std::ranges::max_element(values_);
    const std::size_t shown = std::min(pushed_, width);
    for (std::size_t i = pushed_ - shown; i < pushed_; ++i) {
        const double value = values_[i % width];
        append(buffer, eighths_up[value <= 0 ? 0 : std::max(1L, std::lround(8 * value / most))]);
    }
}

} // namespace responder
