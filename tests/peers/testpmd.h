// SPDX-License-Identifier: GPL-2.0-only
//
// DPDK's testpmd on AF_XDP: a reflector of somebody else's, beside which ours is tested and measured.

#pragma once

#include "tests/harness/lab.h"
#include "tests/harness/process.h"

#include <string>

namespace responder::test {

class Testpmd {
  public:
    static bool is_there(); // tests/peers/fetch-testpmd has been

    // It forwards from an interface to the same one, in the way of this name: "macswap", "5tswap". Its own CPU is 1.
    Testpmd(const Namespace& where, const std::string& interface, const std::string& forwarding);

    // Sends this frame, which is to be answered, until an answer comes to the tester's socket; false if none does.
    bool wait_ready(PacketSocket& tester, const Octets& frame);
    void end();

  private:
    Process process_;
};

} // namespace responder::test
