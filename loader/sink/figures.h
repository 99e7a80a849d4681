// SPDX-License-Identifier: GPL-2.0-only
//
// The same of what only a sink counts.

#pragma once

#include "loader/figures.h"
#include "loader/sink/socket_reader.h"

namespace responder {

using SocketField = CounterField<SocketStatistics>;
// In the words of linux/if_xdp.h.
inline constexpr SocketField socket_fields[] = {
    {"rx_ring_full", "ring full (its reader was too slow)", &SocketStatistics::rx_ring_full},
    {"rx_dropped", "dropped (longer than the socket takes, or no memory free)", &SocketStatistics::rx_dropped},
    {"rx_invalid_descs", "invalid descriptors", &SocketStatistics::rx_invalid_descs},
    {"rx_fill_ring_empty", "fill ring empty", &SocketStatistics::rx_fill_ring_empty},
};

} // namespace responder
