// SPDX-License-Identifier: GPL-2.0-only

#pragma once

#include "loader/netdev.h"

#include <string>
#include <vector>

namespace responder {

// Looks at a port before a test without changing anything: one line for each thing that can make figures wrong or slow
// (speed, duplex, PCIe, power saving, firmware, frames missed already). Empty where nothing is off, or nothing is
// known.
std::vector<std::string> check_port(const Netdev& netdev);

} // namespace responder
