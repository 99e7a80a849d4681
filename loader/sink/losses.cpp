// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/losses.h"

#include <fmt/format.h>

#include <algorithm>

namespace responder {

namespace {

// Each frame once: rx_errors holds those by kind, rx_over_errors is another name for rx_fifo_errors (linux/if_link.h).
std::uint64_t lost_by_nic(const NicCounters& nic) {
    return nic.rx_missed + std::max(nic.rx_fifo_errors, nic.rx_over_errors) +
           std::max(nic.rx_errors, nic.rx_crc_errors + nic.rx_length_errors + nic.rx_frame_errors);
}

// Between the driver's counter and the program's, as far as that is no matter of when each was read.
std::uint64_t unseen_by_program(const Books& books) {
    return books.left_over > static_cast<std::int64_t>(books.in_flight) ? static_cast<std::uint64_t>(books.left_over)
                                                                        : 0;
}

LossPlace wire(const StreamReport& streams, const Books& books) {
    LossPlace place{.key = "wire", .frames = std::nullopt, .text = "unknown: of a stream that came by several queues"};
    const std::optional<std::uint64_t> missing = streams.sum().lost;
    if (!missing)
        return place;
    if (!books.nic_known) {
        place.text = fmt::format("unknown: of {} numbers that did not come, the NIC may have lost some; its counters "
                                 "went away with the interface",
                                 *missing);
        return place;
    }
    const std::uint64_t later = lost_by_nic(books.nic) + unseen_by_program(books) + lost_in_ring(books);
    place.frames = *missing - std::min(*missing, later);
    place.text = "numbers missing in the streams: lost before this NIC's counters, by the sender, a cable or a switch";
    if (later != 0)
        place.text += "; at least so many, for what was lost later need not have been of a stream";
    if (streams.left_out() != 0)
        place.text += fmt::format("; without {} streams whose numbers are none", streams.left_out());
    if (streams.damaged != 0)
        place.text += fmt::format("; {} of them may have come damaged", streams.damaged);
    return place;
}

LossPlace nic(const Books& books) {
    if (!books.nic_known)
        return {.key = "NIC", .frames = std::nullopt, .text = "unknown: its counters went away with the interface"};
    return {.key = "NIC",
            .frames = lost_by_nic(books.nic),
            .text = "by rx_missed, FIFO and receive errors of the interface; of any traffic"};
}

LossPlace program(const StreamReport& streams, const Books& books) {
    LossPlace place{.key = "program", .frames = std::nullopt, .text = "unknown: the interface went away"};
    if (books.nic_known) {
        place.frames = unseen_by_program(books);
        place.text = "received by the NIC and not seen by the program (left over, see balance)";
    }
    if (streams.no_room != 0)
        place.text += fmt::format("; besides, {} frames of streams without a place were not followed", streams.no_room);
    return place;
}

// Not rx_dropped of the interface: what a driver counts there, and the stack in front of a generic program, is on
// another line already (veth: frames that a socket's ring had no room for; missing numbers).
LossPlace stack_of(const StackLosses& stack) {
    const std::uint64_t other = stack.in_errors - std::min(stack.in_errors, stack.checksum + stack.receive_buffer);
    LossPlace place{.key = "stack",
                    .frames = stack.checksum + other + stack.reassembly,
                    .text = fmt::format("wrong UDP checksum {} (InCsumErrors), other UDP errors {}, "
                                        "fragments that came to no datagram {} (ReasmFails)",
                                        stack.checksum, other, stack.reassembly)};
    if (stack.backlog != 0)
        place.text += fmt::format("; besides, a full backlog cost this machine {} frames, of any traffic (softnet)",
                                  stack.backlog);
    if (stack.no_port != 0)
        place.text += fmt::format("; besides, {} datagrams found no socket (NoPorts)", stack.no_port);
    return place;
}

LossPlace socket(const StackLosses& stack) {
    // A socket also counts what had a wrong checksum, which is the stack's already.
    LossPlace place{.key = "socket",
                    .frames = std::min(stack.watched_sockets, stack.receive_buffer),
                    .text = "receive buffers of sockets on watched ports were full",
                    .of_all_sockets = stack.receive_buffer};
    if (place.of_all_sockets != place.frames)
        place.text += fmt::format("; all sockets of this network namespace: {} (RcvbufErrors)", stack.receive_buffer);
    return place;
}

} // namespace

std::uint64_t lost_in_ring(const Books& books) {
    return books.sockets
               ? books.sockets->lost() + static_cast<std::uint64_t>(std::max<std::int64_t>(books.not_delivered, 0))
               : 0;
}

std::vector<LossPlace> loss_places(const StreamReport& streams, const Books& books) {
    std::vector<LossPlace> places{wire(streams, books), nic(books), program(streams, books)};
    if (books.sockets)
        places.push_back({.key = "ring",
                          .frames = lost_in_ring(books),
                          .text = "by the AF_XDP sockets, or given to none of them (sockets lost, not delivered)"});
    return places;
}

std::vector<LossPlace> loss_places_behind(const StackLosses& stack) { return {stack_of(stack), socket(stack)}; }

} // namespace responder
