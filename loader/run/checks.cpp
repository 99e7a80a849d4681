// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/checks.h"

#include "loader/ethtool.h"
#include "loader/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace responder {

namespace {

std::string read_line(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

double leading_number(const std::string& text) {
    double number = 0;
    try {
        number = std::stod(text);
    } catch (const std::exception&) {
        // "Unknown", or no such file.
    }
    return number;
}

// Gb/s that a PCIe link carries one way after its line code (PCIe base specification: 8b/10b up to 5 GT/s, then
// 128b/130b).
double pcie_gbps(double gigatransfers, double lanes) {
    return gigatransfers * lanes * (gigatransfers <= 5 ? 8.0 / 10 : 128.0 / 130);
}

// What packet headers and flow control leave of it in practice for 256-byte payloads.
constexpr double pcie_usable = 0.85;

void check_link(const std::string& name, std::uint64_t port_bps, const std::filesystem::path& device,
                std::vector<std::string>& lines) {
    const double gigatransfers = leading_number(read_line(device / "current_link_speed"));
    const double lanes = leading_number(read_line(device / "current_link_width"));
    const double most_gigatransfers = leading_number(read_line(device / "max_link_speed"));
    const double most_lanes = leading_number(read_line(device / "max_link_width"));
    if (gigatransfers <= 0 || lanes <= 0 || lanes > 32)
        return;
    const double usable = pcie_gbps(gigatransfers, lanes) * pcie_usable;
    const double port = static_cast<double>(port_bps) / 1e9;
    if (port_bps != 0 && usable < port)
        lines.push_back(
            fmt::format("{}: the PCIe link ({} GT/s x{}) carries about {:.1f} Gb/s, less than the port's {:.1f}", name,
                        gigatransfers, lanes, usable, port));
    else if (gigatransfers < most_gigatransfers || lanes < most_lanes)
        lines.push_back(fmt::format("{}: the PCIe link runs at {} GT/s x{}, the card could do {} GT/s x{}", name,
                                    gigatransfers, lanes, most_gigatransfers, most_lanes));
}

} // namespace

std::vector<std::string> check_pcie(const std::string& name, std::uint64_t port_bps,
                                    const std::filesystem::path& device) {
    std::vector<std::string> lines;
    check_link(name, port_bps, device, lines);
    std::string on;
    for (const char* state : {"l0s_aspm", "l1_aspm", "l1_1_aspm", "l1_2_aspm"}) {
        if (read_line(device / "link" / state) == "1")
            on += (on.empty() ? "" : ", ") + std::string(state);
    }
    if (!on.empty())
        lines.push_back(fmt::format(
            "{}: PCIe power saving is on ({}): it adds delay and can lose frames at small sizes", name, on));
    return lines;
}

std::vector<std::string> check_port(const Netdev& netdev) {
    std::vector<std::string> lines;
    const std::string& name = netdev.name();
    const ethtool::LinkSettings settings = ethtool::link_settings(netdev.index());
    if (settings.speed_bps != 0 && settings.speed_bps < settings.max_speed_bps)
        lines.push_back(fmt::format("{}: the link runs at {}, the port can do {}: look at the cable and the far end",
                                    name, speed_text(settings.speed_bps), speed_text(settings.max_speed_bps)));
    if (settings.speed_bps != 0 && settings.half_duplex)
        lines.push_back(fmt::format("{}: the link is half duplex: the far end does not negotiate", name));

    std::ranges::move(check_pcie(name, settings.speed_bps, "/sys/class/net/" + name + "/device"),
                      std::back_inserter(lines));

    const ethtool::DriverInfo driver = ethtool::driver_info(netdev.index());
    // r8169 names its PHY firmware once it is loaded, and keeps quiet where the file is missing.
    if (driver.driver == "r8169" && driver.firmware.empty())
        lines.push_back(fmt::format(
            "{}: the NIC runs without its firmware file (package firmware-realtek): links can be unstable", name));

    const NicCounters counters = netdev.link().counters;
    if (const std::uint64_t missed = counters.missed(); missed != 0)
        lines.push_back(
            fmt::format("{}: the NIC has missed {} frames since it was started, before this test", name, missed));
    if (counters.rx_crc_errors != 0)
        lines.push_back(fmt::format("{}: {} frames with a wrong FCS since the NIC was started: look at the cable", name,
                                    counters.rx_crc_errors));
    return lines;
}

} // namespace responder
