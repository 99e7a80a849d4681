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

namespace responder {

// A CPU that the process may use, for the thread of that number alone as far as we are concerned; none where there are
// not so many. The first one is nobody's: interrupts are served there, unless they were moved.
std::optional<unsigned> cpu_of_reader(unsigned reader);

class PortSockets {
  public:
    // Throws Error.
    PortSockets(const Netdev& netdev, unsigned queues_in_use, unsigned queues_possible, XskCopy copy,
                unsigned largest_frame);

    int map_fd() const noexcept { return map_.get(); } // XSKMAP; key: receive queue
    const std::vector<std::unique_ptr<XskSocket>>& by_queue() const noexcept { return sockets_; }

  private:
    std::vector<std::unique_ptr<XskSocket>> sockets_;
    UniqueFd map_;
};

} // namespace responder
