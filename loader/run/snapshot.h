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

    int fd() const noexcept { return socket_.get(); } // -1: somebody else has the name
    // To those who wait now. Nobody can make it wait: what a client has no room for, it does not get.
    void answer(const std::function<std::string()>& snapshot) const;

  private:
    UniqueFd socket_;
};

struct FetchedSnapshot {
    std::string text;
    unsigned process, user; // who gave it
};

// Throws Error. `what`: of whom, where: "eth1: xdp-reflect".
FetchedSnapshot fetch_snapshot(const std::string& name, const std::string& what);

} // namespace responder
