// SPDX-License-Identifier: GPL-2.0-only
//
// What xdp-gen says of frames that did not leave: nothing that it cannot know.

#include "tools/gen/report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace responder::test {
namespace {

using Counter = SentCounter::Kind;

// The last line of the summary of 1000 frames, of which `counted` left.
std::string last_line(const char* driver, std::uint64_t counted, Counter counter = Counter::xdp_xmit) {
    gen::Report report;
    report.interface = "eth0";
    report.driver = driver;
    report.sent = {.handed_over = 1000, .counted = counted, .counter = counter};
    report.handed_over_by_size = {{64, 1000}};
    const std::string text = render_text(report);
    const auto end = text.rfind('\n', text.size() - 2);
    return text.substr(end + 1);
}

TEST(GenReport, WhyFramesDidNotLeave) {
    const std::string veth =
        "by the driver of eth0: a veth takes a frame only where the far end has a native XDP program "
        "or GRO, an MTU as large, and room in its ring";
    EXPECT_EQ(last_line("veth", 0), "refused   1000 frames of 1000 handed over, " + veth + "\n");
    EXPECT_EQ(last_line("veth", 900), "refused   100 frames of 1000 handed over, " + veth + "; --rate sends slower\n");
    EXPECT_EQ(
        last_line("igc", 900),
        "refused   100 frames of 1000 handed over, by the driver of eth0: its ring was full; --rate sends slower\n");
    for (const Counter counter : {Counter::xdp_xmit, Counter::tx_packets})
        EXPECT_EQ(last_line("r8169", 0, counter),
                  "refused   1000 frames of 1000 handed over, by the driver of eth0: it cannot send XDP frames "
                  "(ndo_xdp_xmit), or not as the port is set up\n");
    EXPECT_EQ(
        last_line("r8169", 3, Counter::tx_packets),
        "refused   997 frames of 1000 handed over, by the driver of eth0: its ring was full, or it cannot send XDP "
        "frames (ndo_xdp_xmit) and others' are counted; --rate sends slower\n");
}

TEST(GenReport, LinkThatIsDownAtTheEnd) {
    gen::Report report;
    report.interface = "eth0";
    report.sent = {.handed_over = 10, .counted = 7, .counter = Counter::xdp_xmit, .link_was_down = true};
    const std::string refused = "refused   3 frames of 10 handed over, by the driver of eth0: ";
    EXPECT_NE(render_text(report).find(refused + "there was no link at times\n"), std::string::npos);
    report.sent.link_is_down = true;
    EXPECT_NE(render_text(report).find(refused + "the link is down\n"), std::string::npos);
}

TEST(GenReport, OneFrameHasNoRate) {
    gen::Report report;
    report.interface = "eth0";
    report.rate_requested_fps = 5;
    report.sent = {.handed_over = 1, .counted = 1, .counter = Counter::xdp_xmit};
    report.handed_over_by_size = {{64, 1}};
    EXPECT_EQ(render_text(report), "sent      1 frame (counted by xdp_xmit of eth0)\n"
                                   "sizes     1 x 64 bytes, FCS included\n");
    const auto json = nlohmann::json::parse(render_json(report));
    for (const char* key : {"duration_seconds", "frames_per_second", "l2_bps", "l1_bps"})
        EXPECT_TRUE(json.at(key).is_null()) << key;
}

TEST(GenReport, ACounterOfAllTrafficSaysAtMost) {
    gen::Report report;
    report.interface = "eth0";
    report.sent = {.handed_over = 1000, .counted = 1200, .counter = Counter::tx_packets, .seconds = 2};
    report.handed_over_by_size = {{64, 1000}};
    const std::string text = render_text(report);
    EXPECT_TRUE(
        text.starts_with("sent      at most 1000 frames in 2.000 s (counted by tx_packets of eth0, which counts "
                         "all traffic)\nrate      500 frames/s"))
        << text;
}

} // namespace
} // namespace responder::test
