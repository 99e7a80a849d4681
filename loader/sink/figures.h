// SPDX-License-Identifier: GPL-2.0-only
//
// The same of what only a sink counts: sizes, reasons, sockets.

#pragma once

#include "loader/figures.h"
#include "loader/sink/socket_reader.h"

#include <array>
#include <string_view>

namespace responder {

struct SlotName {
    sink_slot slot;
    std::string_view key;
    std::string_view text;
};
#define X(id, key, text) SlotName{SINK_##id, key, text},
inline constexpr SlotName answer_names[] = {SINK_ANSWERS(X)};
inline constexpr SlotName reason_names[] = {SINK_REASONS(X)};
#undef X

struct SizeBin {
    sink_slot slot;
    unsigned first; // with FCS
    unsigned last;  // 0: no bound
};
constexpr auto size_bins = [] {
#define X(id, smallest) SizeBin{SINK_SIZE_##id, smallest, 0},
    std::array bins{SINK_SIZE_BINS(X)};
#undef X
    for (std::size_t i = 0; i + 1 < bins.size(); ++i)
        bins[i].last = bins[i + 1].first - 1;
    return bins;
}();

using SocketField = CounterField<SocketStatistics>;
// In the words of linux/if_xdp.h.
inline constexpr SocketField socket_fields[] = {
    {"rx_ring_full", "ring full (its reader was too slow)", &SocketStatistics::rx_ring_full},
    {"rx_dropped", "dropped (longer than the socket takes, or no memory free)", &SocketStatistics::rx_dropped},
    {"rx_invalid_descs", "invalid descriptors", &SocketStatistics::rx_invalid_descs},
    {"rx_fill_ring_empty", "fill ring empty", &SocketStatistics::rx_fill_ring_empty},
};

} // namespace responder
