// SPDX-License-Identifier: GPL-2.0-only
//
// From the text of /proc/net to what the stack lost.

#include "loader/sink/stack_losses.h"

#include <gtest/gtest.h>

#include <string>

namespace responder::test {
namespace {

constexpr std::string_view snmp =
    "Ip: Forwarding DefaultTTL ReasmFails\n"
    "Ip: 1 64 3\n"
    "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors\n"
    "Udp: 1000 5 90 7 71 0 12\n"
    "UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors\n"
    "UdpLite: 1 2 3 4 5 6 7\n";

TEST(StackCounters, OfBothIpVersions) {
    const StackCounters four = stack_counters(snmp, "", "");
    EXPECT_EQ(four.receive_buffer, 71U);
    EXPECT_EQ(four.checksum, 12U);
    EXPECT_EQ(four.in_errors, 90U);
    EXPECT_EQ(four.no_port, 5U);
    EXPECT_EQ(four.reassembly, 3U);
    EXPECT_EQ(four.backlog, 0U);
    const StackCounters both = stack_counters(snmp,
                                              "Ip6InReceives                   \t9\n"
                                              "Ip6ReasmFails                   \t40\n"
                                              "Udp6NoPorts                     \t100\n"
                                              "Udp6InErrors                    \t200\n"
                                              "Udp6RcvbufErrors                \t300\n"
                                              "Udp6InCsumErrors                \t400\n",
                                              "");
    EXPECT_EQ(both.receive_buffer, 371U);
    EXPECT_EQ(both.checksum, 412U);
    EXPECT_EQ(both.in_errors, 290U);
    EXPECT_EQ(both.no_port, 105U);
    EXPECT_EQ(both.reassembly, 43U);
}

TEST(StackCounters, BacklogOfAllCpus) {
    EXPECT_EQ(stack_counters("", "", "00000010 00000002 00000001\n0000ffff 0000001f 00000000\n").backlog, 0x21U);
}

TEST(StackCounters, WhatAKernelDoesNotHaveIsZero) {
    const StackCounters none = stack_counters("Udp: InDatagrams\nUdp: 4\nUdp:", "Udp6InDatagrams", "garbage\n\n");
    EXPECT_EQ(none.receive_buffer + none.checksum + none.in_errors + none.no_port + none.backlog, 0U);
}

TEST(UdpSockets, OfTheWatchedPortsOnly) {
    const std::string text =
        "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer "
        "drops\n"
        "  281: 00000000:1451 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4711 2 "
        "0000000000000000 17\n"
        " 9281: 0100007F:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 4712 2 "
        "0000000000000000 99\n"
        "   83: 00000000000000000000000000000000:1389 00000000000000000000000000000000:0000 07 00000000:00000000 "
        "00:00000000 00000000     0        0 4713 2 0000000000000000 4294967295\n";
    std::vector<UdpSocket> found;
    find_udp_sockets(text, {5201, 5001}, found);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].port, 5201U);
    EXPECT_EQ(found[0].inode, 4711U);
    EXPECT_EQ(found[0].drops, 17U);
    EXPECT_EQ(found[1].port, 5001U);
    EXPECT_EQ(found[1].inode, 4713U);
    EXPECT_EQ(found[1].drops, 0xffffffffU);
}

TEST(UdpSockets, OfATextThatIsCutOff) {
    std::vector<UdpSocket> found;
    for (const std::string_view text : {"", "\n", "names\n 1: 00000000", "names\n 1: :1451", "names\n\n"})
        find_udp_sockets(text, {1}, found);
    EXPECT_TRUE(found.empty());
}

} // namespace
} // namespace responder::test
