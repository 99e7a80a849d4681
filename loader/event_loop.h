// SPDX-License-Identifier: GPL-2.0-only
//
// One poll(2) over what a command waits for: signals that end it, a tick, and file descriptors of its own.

#pragma once

#include "loader/fd.h"

#include <chrono>
#include <functional>
#include <vector>

namespace responder {

class EventLoop {
  public:
    // From here on SIGINT, SIGTERM and, unless it was ignored (nohup), SIGHUP arrive here. Throws Error.
    EventLoop();

    // Throws Error where such a signal has come already: for a start, between its steps.
    static void heed_signals();

    void on_signal(std::function<void()> call) { on_signal_ = std::move(call); }
    void on_tick(std::chrono::milliseconds period, std::function<void()> call); // on a schedule that does not drift
    void on_readable(int fd, std::function<void()> call);                       // the descriptor stays its owner's

    void run(); // until stop()
    void stop() noexcept { stopped_ = true; }

  private:
    struct Watch {
        int fd;
        std::function<void()> call;
    };
    UniqueFd signals_;
    UniqueFd timer_;
    std::function<void()> on_signal_;
    std::vector<Watch> watches_;
    bool stopped_ = false;
};

} // namespace responder
