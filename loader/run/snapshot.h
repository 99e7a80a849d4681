// SPDX-License-Identifier: GPL-2.0-only
//
// What a run has counted so far, for whoever asks from another process: a Unix socket with an abstract name, which is
// of the network namespace and goes with the process. Whoever connects gets a snapshot and is let go.

#pragma once

#include "loader/fd.h"

#include <functional>
#include <string>

namespace responder {

// Of a command on an interface, in a form such as "json".
std::string snapshot_name(const std::string& command, int ifindex, const std::string& form);

class SnapshotListener {
  public:
    explicit SnapshotListener(const std::string& name);

    int fd() const noexcept { return socket_.get(); } // -1: it does not listen, for this error
    int error() const noexcept { return error_; }
    // To those who wait now. Nobody can make it wait: what a client has no room for, it does not get.
    void answer(const std::function<std::string()>& snapshot) const;

  private:
    UniqueFd socket_;
    int error_ = 0;
};

struct FetchedSnapshot {
    std::string text;       // printable, whoever it is from
    unsigned process, user; // who gave it
};

// Throws Error, which names the interface and the command.
FetchedSnapshot fetch_snapshot(const std::string& interface, const std::string& command, const std::string& name);

} // namespace responder
