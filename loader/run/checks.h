// SPDX-License-Identifier: GPL-2.0-only

#pragma once

#include "loader/netdev.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace responder {

// Looks at a port before a test without changing anything: one line for each thing that can make figures wrong or slow
// (speed, duplex, PCIe, power saving, firmware, frames missed already). Empty where nothing is off, or nothing is
// known.
std::vector<std::string> check_port(const Netdev& netdev);

// The part about PCIe, of a port with this speed (0: unknown) whose device's folder in sysfs this is.
std::vector<std::string> check_pcie(const std::string& name, std::uint64_t port_bps,
                                    const std::filesystem::path& device);

} // namespace responder
