// SPDX-License-Identifier: GPL-2.0-only
//
// A thread that sends back what comes to one AF_XDP socket, turned round, in the memory that it came in.

#pragma once

#include "loader/run/socket_thread.h"

#include <linux/types.h>

#include <optional>

namespace responder {

class SocketTurner {
  public:
    // `swap`: enum reflect_swap. Throws Error.
    SocketTurner(XskSocket& socket, __u32 swap, std::optional<unsigned> cpu);
    SocketTurner(const SocketTurner&) = delete;
    SocketTurner& operator=(const SocketTurner&) = delete;

    SocketStatistics statistics() const noexcept { return thread_.statistics(); }

  private:
    unsigned take(unsigned segments) noexcept;

    XskSocket& socket_;
    const __u32 swap_;
    SocketThread thread_;
};

} // namespace responder
