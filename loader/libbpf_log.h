// SPDX-License-Identifier: GPL-2.0-only
//
// What libbpf and libxdp want to say. Their chatter is not printed, as most of it describes a failure that we handle or
// explain ourselves; only the kernel's own message is kept. With the commands' --verbose it goes to stderr as it comes.

#pragma once

#include "loader/error.h"

#include <string>

namespace responder {

// Takes over both libraries' printing. Call once, before the first BPF object.
void capture_libbpf_log(bool verbose);

// The text that the kernel gave with its last refusal through netlink (extack), empty where it gave none. Reading
// clears it.
std::string take_kernel_message();

// What a failed load means to a user: a kernel that has no BPF or no XDP, or a verifier that says no.
Error load_error(int error);

} // namespace responder
