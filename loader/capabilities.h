// SPDX-License-Identifier: GPL-2.0-only

#pragma once

#include <string>

namespace responder {

// Throws Error(no_permission) that names what this process lacks of the four capabilities that the commands need.
void require_capabilities();

// Which of the four capabilities that the commands need this process lacks: "CAP_BPF and CAP_NET_RAW are missing";
// empty if it has them all. (CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON, as in the kernel.)
std::string missing_capabilities();

// Can programs of others be looked up by id (CAP_SYS_ADMIN)?
bool may_look_up_programs();

} // namespace responder
