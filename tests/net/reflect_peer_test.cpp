// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-reflect and DPDK's testpmd, which swaps the same fields, over the same frames.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"
#include "tests/peers/testpmd.h"

#include <gtest/gtest.h>

#include <utility>

namespace responder::test {
namespace {

using namespace packet;

constexpr Udp echo{.source = 50'000, .destination = 7};

// What both are made for: testpmd takes a header for one of 20 octets, and looks behind no extension header.
std::vector<Octets> frames() {
    const Ipv4 there{.source = "198.18.0.1", .destination = "198.18.0.2"};
    const Ipv6 there6{.source = "2001:2::1", .destination = "2001:2::2"};
    std::vector<Octets> frames;
    for (const std::size_t size : {18, 200, 1470}) {
        frames.push_back(Ethernet{} / there / echo / payload(size));
        frames.push_back(Ethernet{} / Vlan{.id = 5, .priority = 3} / there / echo / payload(size - 18));
        frames.push_back(Ethernet{} / there6 / echo / payload(size - 18));
        frames.push_back(Ethernet{} / there / Tcp{} / payload(size - 18));
        frames.push_back(Ethernet{.type = 0x88b5} / payload(size + 10));
    }
    return frames;
}

using Answers = std::vector<std::string>; // in hexadecimal digits, "" where none came

Answers answers_to(PacketSocket& tester) {
    Answers answers;
    for (const Octets& frame : frames()) {
        tester.send(frame);
        answers.push_back(hex(tester.receive()));
    }
    return answers;
}

class ReflectPeer : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ReflectPeer, SwapsWhatTestpmdSwaps) {
    if (!Testpmd::is_there())
        GTEST_SKIP() << "no testpmd: tools/prepare test unpacks it";
    const auto [swap, forwarding] = GetParam();
    const Lab lab;
    PacketSocket tester(lab.tester, lab.from().name);
    Testpmd testpmd(lab.responder, lab.to().name, forwarding);
    ASSERT_TRUE(testpmd.wait_ready(tester, frames().front()));
    const Answers theirs = answers_to(tester);
    testpmd.end();
    Reflector reflector(lab, {"--tester", "198.18.0.1,2001:2::1,02:00:00:00:00:02", "--swap", swap});
    EXPECT_EQ(answers_to(tester), theirs);
    EXPECT_EQ(test_frames(reflector.end()), frames().size());
    EXPECT_EQ(std::ranges::count(theirs, ""), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, ReflectPeer, testing::Values(std::pair{"auto", "5tswap"}, std::pair{"mac", "macswap"}),
                         [](const auto& way) { return way.param.second; });

} // namespace
} // namespace responder::test
