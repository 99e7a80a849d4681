// SPDX-License-Identifier: GPL-2.0-only
//
// The AF_XDP sockets of a port, one for each receive queue in use, and the map in which the program finds them. They
// are there before the program is, so that no test frame comes that has nowhere to go.

#pragma once

#include "loader/fd.h"
#include "loader/netdev.h"
#include "loader/xsk.h"

#include <memory>
#include <optional>
#include <vector>

struct bpf_map;

namespace responder {

// A CPU that the process may use, for the thread of that number alone as far as we are concerned; none where there are
// not so many. The first one is nobody's: interrupts are served there, unless they were moved.
std::optional<unsigned> cpu_of_reader(unsigned reader);

class PortSockets {
  public:
    // Throws Error.
    PortSockets(const Netdev& netdev, unsigned queues_in_use, unsigned queues_possible, XskUse use, XskCopy copy,
                unsigned largest_frame);

    // The map of bpf/port_sockets.h, of a program that is not yet loaded. nullptr: it has none. Throws Error.
    static void give_to_program(const PortSockets* sockets, bpf_map* map);

    const std::vector<std::unique_ptr<XskSocket>>& by_queue() const noexcept { return sockets_; }

  private:
    std::vector<std::unique_ptr<XskSocket>> sockets_;
    UniqueFd map_; // XSKMAP; key: receive queue
};

} // namespace responder
