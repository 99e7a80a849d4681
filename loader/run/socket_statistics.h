// SPDX-License-Identifier: GPL-2.0-only
//
// What AF_XDP sockets say of the frames that a program handed to them.

#pragma once

#include "loader/figures.h"

#include <cstdint>

namespace responder {

// In the words of linux/if_xdp.h. In copy mode a frame for which the fill ring was empty is in `rx_dropped` as well; in
// zero-copy mode an empty fill ring is the NIC's loss, if it becomes one.
struct SocketStatistics {
    std::uint64_t received = 0; // by the thread that reads it
    std::uint64_t rx_dropped = 0;
    std::uint64_t rx_ring_full = 0; // that thread is too slow
    std::uint64_t rx_fill_ring_empty = 0;
    std::uint64_t rx_invalid_descs = 0;
    std::uint64_t refused = 0; // received, and by the driver on its way back
    std::uint64_t to_send = 0; // received, and not taken by the driver yet

    std::uint64_t lost() const noexcept { return rx_dropped + rx_ring_full + rx_invalid_descs; }
    std::uint64_t not_sent() const noexcept { return refused + to_send; }

    SocketStatistics& operator+=(const SocketStatistics& other) noexcept {
        received += other.received;
        rx_dropped += other.rx_dropped;
        rx_ring_full += other.rx_ring_full;
        rx_fill_ring_empty += other.rx_fill_ring_empty;
        rx_invalid_descs += other.rx_invalid_descs;
        refused += other.refused;
        to_send += other.to_send;
        return *this;
    }
};

using SocketField = CounterField<SocketStatistics>;
inline constexpr SocketField socket_fields[] = {
    {"rx_ring_full", "ring full (its reader was too slow)", &SocketStatistics::rx_ring_full},
    {"rx_dropped", "dropped (longer than the socket takes, or no memory free)", &SocketStatistics::rx_dropped},
    {"rx_invalid_descs", "invalid descriptors", &SocketStatistics::rx_invalid_descs},
    {"rx_fill_ring_empty", "fill ring empty", &SocketStatistics::rx_fill_ring_empty},
};

} // namespace responder
