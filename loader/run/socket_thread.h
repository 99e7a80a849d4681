// SPDX-License-Identifier: GPL-2.0-only
//
// A thread that works on what comes to one AF_XDP socket, until the object ends.

#pragma once

#include "loader/fd.h"
#include "loader/run/socket_statistics.h"
#include "loader/xsk.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

namespace responder {

class SocketThread {
  public:
    // `take` gets the number of segments that were peeked at, whole frames only, gives them back or sends them, and
    // returns how many frames they were; it must not throw. It is called from the thread alone. Throws Error.
    using Take = std::function<unsigned(unsigned segments)>;
    SocketThread(XskSocket& socket, std::optional<unsigned> cpu, Take take);
    SocketThread(const SocketThread&) = delete;
    SocketThread& operator=(const SocketThread&) = delete;
    ~SocketThread(); // says so if the socket's memory is not in order

    SocketStatistics statistics() const noexcept;

  private:
    void work() noexcept;
    void publish_sending() noexcept;

    XskSocket& socket_;
    const Take take_;
    std::atomic<std::uint64_t> received_{0}, refused_{0}, to_send_{0};
    std::atomic<bool> stop_{false};
    UniqueFd stop_event_;
    std::thread thread_;
};

} // namespace responder
