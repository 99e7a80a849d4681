// SPDX-License-Identifier: GPL-2.0-only

#pragma once

namespace responder {

// Throws Error(no_permission) that names what this process lacks of CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON and, where it
// opens packet sockets, CAP_NET_RAW. (CAP_SYS_ADMIN stands for the first and the third, as in the kernel.)
void require_capabilities(bool packet_sockets = true);

// Can programs of others be looked up by id (CAP_SYS_ADMIN)?
bool may_look_up_programs();

} // namespace responder
