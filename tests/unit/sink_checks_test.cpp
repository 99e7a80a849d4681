// SPDX-License-Identifier: GPL-2.0-only
//
// What is said of a port's PCIe device, with a made-up folder for sysfs.

#include "loader/run/checks.h"
#include "tests/harness/folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace responder::test {
namespace {

using Lines = std::vector<std::string>;
constexpr std::uint64_t port_2g5 = 2'500'000'000;

class PcieDevice : public testing::Test {
  protected:
    PcieDevice() { std::filesystem::create_directory(folder_ / "link"); }

    void write(const std::string& file, const std::string& text) const {
        std::ofstream(folder_ / file) << text << '\n';
    }
    void write_link(const std::string& speed, const std::string& width) const {
        write("current_link_speed", speed);
        write("current_link_width", width);
        write("max_link_speed", "5.0 GT/s PCIe");
        write("max_link_width", "2");
    }
    Lines check(std::uint64_t port_bps = port_2g5) const { return check_pcie("eth1", port_bps, folder_.path()); }

  private:
    Folder folder_;
};

TEST_F(PcieDevice, NothingKnown) {
    EXPECT_EQ(check(), Lines{});
    write_link("Unknown", "0");
    EXPECT_EQ(check(), Lines{});
    write_link("5.0 GT/s PCIe", "63"); // the kernel's word for a link that is down
    EXPECT_EQ(check(), Lines{});
}

TEST_F(PcieDevice, LinkAtItsBest) {
    write_link("5.0 GT/s PCIe", "2");
    EXPECT_EQ(check(), Lines{});
}

TEST_F(PcieDevice, LinkThatCarriesLessThanThePort) {
    write_link("2.5 GT/s PCIe", "1");
    EXPECT_EQ(check(), Lines{"eth1: the PCIe link (2.5 GT/s x1) carries about 1.7 Gb/s, less than the port's 2.5"});
    write_link("8.0 GT/s PCIe", "1"); // 128b/130b
    EXPECT_EQ(check(10'000'000'000),
              Lines{"eth1: the PCIe link (8 GT/s x1) carries about 6.7 Gb/s, less than the port's 10.0"});
}

TEST_F(PcieDevice, LinkBelowWhatTheCardCan) {
    const Lines slow{"eth1: the PCIe link runs at 2.5 GT/s x2, the card could do 5 GT/s x2"};
    write_link("2.5 GT/s PCIe", "2");
    EXPECT_EQ(check(), slow);
    EXPECT_EQ(check(0), slow);
    write_link("5.0 GT/s PCIe", "1");
    EXPECT_EQ(check(), Lines{"eth1: the PCIe link runs at 5 GT/s x1, the card could do 5 GT/s x2"});
}

TEST_F(PcieDevice, PowerSaving) {
    write("link/l0s_aspm", "0");
    EXPECT_EQ(check(), Lines{});
    write("link/l1_aspm", "1");
    write("link/l1_2_aspm", "1");
    EXPECT_EQ(check(), Lines{"eth1: PCIe power saving is on (l1_aspm, l1_2_aspm): it adds delay and can lose frames at "
                             "small sizes"});
}

} // namespace
} // namespace responder::test
