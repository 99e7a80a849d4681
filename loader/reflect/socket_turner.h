// SPDX-License-Identifier: GPL-2.0-only
//
// A thread that sends back what comes to one AF_XDP socket, turned round, in the memory that it came in.

#pragma once

#include "bpf/histogram.h"
#include "loader/run/socket_thread.h"

#include <linux/types.h>

#include <optional>

namespace responder {

class SocketTurner {
  public:
    // `swap`: enum reflect_swap. `unstamped`: the program's, see bpf/port_sockets.h. Throws Error.
    SocketTurner(XskSocket& socket, __u32 swap, const volatile std::uint32_t& unstamped, std::optional<unsigned> cpu);
    SocketTurner(const SocketTurner&) = delete;
    SocketTurner& operator=(const SocketTurner&) = delete;

    SocketStatistics statistics() const noexcept { return thread_.statistics(); }
    // From the program's entry until the kernel is seen to have sent the frame, of those that it has stamped.
    const histogram& residence() const noexcept { return residence_; }

  private:
    unsigned take(unsigned segments) noexcept;

    XskSocket& socket_;
    const __u32 swap_;
    const volatile std::uint32_t& unstamped_;
    // Of the frame whose sending is waited for: when the program began, and how many had been refused until then.
    std::uint64_t began_ns_ = 0, refused_before_ = 0;
    histogram residence_{};
    SocketThread thread_;
};

} // namespace responder
