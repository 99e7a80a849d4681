// SPDX-License-Identifier: GPL-2.0-only
//
// The tables that every rendering walks, so that text and JSON cannot drift apart: names, units and layers of rates, of
// slots and of NIC counters; and how numbers are written.

#pragma once

#include "loader/counters.h"
#include "loader/netlink.h"

#include <fmt/format.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace responder {

struct RateField {
    std::string_view key;     // JSON; its unit stands in it
    std::string_view heading; // text
    double scale;             // from the JSON value to the text's
    int precision;
    double Rates::*value;
};
inline constexpr RateField rate_fields[] = {
    {"frames_per_second", "frames/s", 1, 0, &Rates::fps},
    {"l1_bps", "L1 Mb/s", 1e-6, 1, &Rates::l1_bps},
    {"l2_bps", "L2 Mb/s", 1e-6, 1, &Rates::l2_bps},
    {"l3_bps", "L3 Mb/s", 1e-6, 1, &Rates::l3_bps},
    {"payload_bps", "payload Mb/s", 1e-6, 1, &Rates::payload_bps},
};

// L1 rate over the line's; -1 where the line's speed is unknown.
double line_rate_percent(const Rates& rates, std::uint64_t speed_bps) noexcept;

// A line's speed: "100 Mb/s", "2.5 Gb/s".
std::string speed_text(std::uint64_t bps);

// "740 ns", "-12.5 us", "1.204 ms"
std::string time_text(double ns);

using Buffer = fmt::memory_buffer;

template <class... Arguments>
void print(Buffer& buffer, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(fmt::appender(buffer), format, std::forward<Arguments>(arguments)...);
}

// A number to print(), its digits in threes: 3,720,238. No locale: output must not depend on who runs it.
class Grouped {
  public:
    template <std::integral Integer>
    explicit Grouped(Integer value) {
        const fmt::format_int digits(value);
        group({digits.data(), digits.size()});
    }
    Grouped(double value, int precision);
    std::string_view text() const noexcept { return {text_, size_}; }

  private:
    void group(std::string_view digits) noexcept;

    static constexpr std::size_t most_digits = 64;
    char text_[most_digits + most_digits / 3];
    std::size_t size_ = 0;
};

struct SlotName {
    count_slot slot;
    std::string_view key;
    std::string_view text;
};
#define X(id, key, text) SlotName{SLOT_##id, key, text},
inline constexpr SlotName answer_names[] = {SLOT_ANSWERS(X) REFLECT_ANSWERS(X)};
inline constexpr SlotName reason_names[] = {SLOT_REASONS(X) REFLECT_REASONS(X)};
inline constexpr SlotName drop_names[] = {REFLECT_DROPS(X)};
#undef X
// Those that come first are the sink's.
#define X(id, key, text) +1
inline constexpr std::span<const SlotName> sink_answer_names(answer_names, 0 SLOT_ANSWERS(X));
inline constexpr std::span<const SlotName> sink_reason_names(reason_names, 0 SLOT_REASONS(X));
#undef X

struct SizeBin {
    count_slot slot;
    unsigned first; // with FCS
    unsigned last;  // 0: no bound
};
constexpr auto size_bins = [] {
#define X(id, smallest) SizeBin{SLOT_SIZE_##id, smallest, 0},
    std::array bins{SLOT_SIZE_BINS(X)};
#undef X
    for (std::size_t i = 0; i + 1 < bins.size(); ++i)
        bins[i].last = bins[i + 1].first - 1;
    return bins;
}();

template <class Counters>
struct CounterField {
    std::string_view key;
    std::string_view text;
    std::uint64_t Counters::*value;
};
using NicField = CounterField<NicCounters>;

// In the words of linux/if_link.h. Not rx_dropped, which is no loss of the NIC's alone: the stack adds to it what it
// drops of the frames that passed.
inline constexpr NicField nic_loss_fields[] = {
    {"rx_missed", "missed (no descriptor)", &NicCounters::rx_missed},
    {"rx_fifo_errors", "FIFO overrun", &NicCounters::rx_fifo_errors},
    {"rx_over_errors", "over", &NicCounters::rx_over_errors},
    {"rx_crc_errors", "CRC", &NicCounters::rx_crc_errors},
    {"rx_length_errors", "length", &NicCounters::rx_length_errors},
    {"rx_frame_errors", "alignment", &NicCounters::rx_frame_errors},
    {"rx_errors", "all errors", &NicCounters::rx_errors},
};

} // namespace responder

template <>
struct fmt::formatter<responder::Grouped> : formatter<string_view> {
    auto format(const responder::Grouped& number, format_context& context) const {
        return formatter<string_view>::format(number.text(), context);
    }
};
