// SPDX-License-Identifier: GPL-2.0-only
//
// What a run has counted so far, for whoever asks from another process: a Unix socket with an abstract name, which is
// of the network namespace and goes with the process. Whoever connects is told and let go.

#pragma once

#include "loader/counters.h"
#include "loader/fd.h"

#include <chrono>
#include <functional>
#include <string>

namespace responder {

// Of a command on an interface, in a form such as "json".
std::string show_name(const std::string& command, int ifindex, const std::string& form);

class ShowListener {
  public:
    // A reading takes time from the run. Who comes sooner waits, and gets the same one as all others who do.
    static constexpr std::chrono::milliseconds between_readings{100};

    explicit ShowListener(const std::string& name);

    bool listens() const noexcept { return static_cast<bool>(socket_); }
    int error() const noexcept { return error_; } // why it does not

    // To those who wait now, if it is time again; `read` is called if there are any. To be called again and again.
    // Nobody can make it wait: what a client has no room for, it does not get.
    void answer(Clock::time_point now, const std::function<std::string()>& read);

  private:
    UniqueFd socket_;
    int error_ = 0;
    Clock::time_point next_reading_;
};

struct Shown {
    std::string text;       // printable ASCII, whoever it is from
    unsigned process, user; // who gave it
};

// Throws Error, which names the interface and the command.
Shown ask_to_show(const std::string& interface, const std::string& command, const std::string& name);

} // namespace responder
