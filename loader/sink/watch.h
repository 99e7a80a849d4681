// SPDX-License-Identifier: GPL-2.0-only
//
// UDP ports whose datagrams carry the numbers of another's sender: they are followed as streams, whether they are test
// traffic or go up the stack.

#pragma once

#include "bpf/abi.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace responder {

// As on the command line and in JSON: "iperf3-64".
std::string_view format_name(stream_format format) noexcept;

// What --watch says, beside the ports that are watched anyway. Throws Error(usage).
std::vector<watch_port> parse_watches(const std::vector<std::string>& texts);

// "iperf3 on UDP port 5201, iperf2 on UDP port 5001"; empty where there is none.
std::string describe(std::span<const watch_port> watches);

} // namespace responder
