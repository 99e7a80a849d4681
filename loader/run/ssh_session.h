// SPDX-License-Identifier: GPL-2.0-only

#pragma once

#include <set>

namespace responder {

// The interfaces that carry the SSH session which this process was started from: the one that its packets leave by, and
// all that this one is made of (the ports of a bridge or bond, what a VLAN sits on). Empty without a session. sudo and
// tmux hide SSH_CONNECTION from a command; its ancestors still have it.
std::set<int> interfaces_of_ssh_session();

} // namespace responder
