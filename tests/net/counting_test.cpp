// SPDX-License-Identifier: GPL-2.0-only
//
// What xdp-gen sends and xdp-sink counts are the same number: by size, family, tags, port and queue.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace responder::test {
namespace {

using namespace packet;

// Payload octets that one frame of that size carries over UDP.
std::uint64_t payload_of(std::uint64_t size, bool v6, std::uint64_t tags) {
    return size - 4 - 14 - 4 * tags - (v6 ? 40 : 20) - 8;
}

TEST(Counting, EverySizeOfRfc2544ToTheFrame) {
    const Lab lab;
    Sink sink(lab, {});
    std::map<std::string, std::uint64_t> bins;
    std::uint64_t frames = 0, bytes = 0, l3_bytes = 0, payload = 0;
    const std::pair<std::uint64_t, std::string> table[] = {
        {64, "64-64"},     {65, "65-127"},    {127, "65-127"},     {128, "128-255"},    {256, "256-511"},
        {512, "512-1023"}, {768, "512-1023"}, {1024, "1024-1518"}, {1280, "1024-1518"}, {1518, "1024-1518"}};
    for (const auto& [size, bin] : table) {
        const std::uint64_t sent = frames_sent(generate(lab, {"--size", std::to_string(size), "--count", "120000"}));
        EXPECT_GT(sent, 0U);
        bins[bin] += sent;
        frames += sent;
        bytes += sent * size;
        l3_bytes += sent * (size - 18);
        payload += sent * payload_of(size, false, 0);
    }
    EXPECT_GT(frames, 1'000'000U);
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), frames);
    EXPECT_EQ(sizes(summary), bins);
    EXPECT_EQ(passed(summary), Reasons());
    const Json& test = summary["ports"][0]["test"];
    EXPECT_EQ(test["l1_bytes"], bytes + 20 * frames);
    EXPECT_EQ(test["l2_bytes"], bytes);
    EXPECT_EQ(test["l3_bytes"], l3_bytes);
    EXPECT_EQ(test["payload_bytes"], payload);
    EXPECT_EQ(summary["ports"][0]["balance"]["left_over"], 0);
    EXPECT_EQ(summary["ports"][0]["balance"]["nic_received"], frames);
    EXPECT_EQ(summary["ports"][0]["mode"], "native");
}

TEST(Counting, AMillionFramesAtFullSpeed) {
    const Lab lab;
    Sink sink(lab, {});
    const std::uint64_t sent = frames_sent(generate(lab, {"--count", "1500000"}));
    const Json summary = sink.end();
    EXPECT_GT(sent, 1'000'000U);
    EXPECT_EQ(test_frames(summary), sent);
    EXPECT_EQ(sizes(summary), (std::map<std::string, std::uint64_t>{{"64-64", sent}}));
}

struct Encapsulation {
    std::string name;
    Arguments arguments;
    unsigned size;
    bool v6;
    unsigned tags;
    friend std::ostream& operator<<(std::ostream& out, const Encapsulation& given) { return out << given.name; }
};

class CountingEncapsulated : public testing::TestWithParam<Encapsulation> {};

TEST_P(CountingEncapsulated, FramesAndBytesOfEveryLayer) {
    const Encapsulation& given = GetParam();
    const Lab lab;
    Sink sink(lab, {});
    Arguments arguments = given.arguments;
    arguments.insert(arguments.end(), {"--count", "300000", "--size", std::to_string(given.size)});
    const std::uint64_t sent = frames_sent(generate(lab, arguments));
    EXPECT_GT(sent, 0U);
    const Json summary = sink.end();
    const Json& test = summary["ports"][0]["test"];
    EXPECT_EQ(test["frames"], sent);
    EXPECT_EQ(test["l2_bytes"], sent * given.size);
    EXPECT_EQ(test["l3_bytes"], sent * (given.size - 18 - 4 * given.tags));
    EXPECT_EQ(test["payload_bytes"], sent * payload_of(given.size, given.v6, given.tags));
    EXPECT_EQ(passed(summary), Reasons());
}

INSTANTIATE_TEST_SUITE_P(, CountingEncapsulated,
                         testing::Values(Encapsulation{"Ipv6", {"--src", "2001:2::1"}, 80, true, 0},
                                         Encapsulation{"Vlan", {"--vlan", "5"}, 68, false, 1},
                                         Encapsulation{"TwoVlans", {"--vlan", "5,6"}, 1522, false, 2},
                                         Encapsulation{
                                             "Ipv6InTwoVlans", {"--src", "2001:2::1", "--vlan", "5,6"}, 128, true, 2}),
                         [](const auto& test) { return test.param.name; });

TEST(Counting, TwoPortsAtOnceEachWithItsOwnBooks) {
    const Lab lab({.pairs = 2});
    Sink sink(lab, {}, {.interfaces = {"eth1", "eth2"}});
    Process first(
        {TEST_XDP_GEN, "tx1", "--dst-mac", to_string(lab.responder_ports[0].mac), "--count", "400000", "--json"},
        {.network_namespace = lab.tester.fd()});
    const std::uint64_t second = frames_sent(generate(lab, {"--count", "300000", "--size", "512"}, 1));
    EXPECT_EQ(first.wait().code, 0);
    const std::uint64_t sent = frames_sent(Json::parse(first.out()));
    const Json summary = sink.end();
    ASSERT_EQ(summary["ports"].size(), 2U);
    EXPECT_EQ(summary["ports"][0]["interface"], "eth1");
    EXPECT_EQ(summary["ports"][1]["interface"], "eth2");
    EXPECT_EQ(test_frames(summary, 0), sent);
    EXPECT_EQ(test_frames(summary, 1), second);
    EXPECT_EQ(sizes(summary, 1), (std::map<std::string, std::uint64_t>{{"512-1023", second}}));
    EXPECT_GT(sent, 0U);
    EXPECT_GT(second, 0U);
}

// A veth delivers what a program sends to the queue of the sender's CPU.
TEST(Counting, TwoQueuesByTheSendersCpu) {
    const Lab lab({.queues = 2});
    Sink sink(lab, {});
    std::uint64_t sent[2];
    for (const unsigned cpu : {0U, 1U}) {
        Process sender({"taskset", "-c", std::to_string(cpu), TEST_XDP_GEN, lab.from().name, "--dst-mac",
                        to_string(lab.to().mac), "--count", cpu == 0 ? "200000" : "100000", "--json"},
                       {.network_namespace = lab.tester.fd()});
        if (sender.wait().code != 0)
            GTEST_SKIP() << "a sender cannot be bound to CPU " << cpu << " here: " << sender.err();
        sent[cpu] = frames_sent(Json::parse(sender.out()));
    }
    const Json summary = sink.end();
    const Json& queues = summary["ports"][0]["by_queue"];
    EXPECT_EQ(summary["ports"][0]["queues"], 2);
    ASSERT_EQ(queues.size(), 2U);
    EXPECT_EQ(queues[0]["queue"], 0);
    EXPECT_EQ(queues[0]["test_frames"], sent[0]);
    EXPECT_EQ(queues[1]["test_frames"], sent[1]);
    EXPECT_EQ(queues[1]["test_l2_bytes"], 64 * sent[1]);
    EXPECT_EQ(test_frames(summary), sent[0] + sent[1]);
}

// What sockets send is spread by flow.
TEST(Counting, FourQueuesByFlow) {
    const Lab lab({.queues = 4});
    PacketSocket sender(lab.tester, lab.from().name);
    Sink sink(lab, {});
    constexpr unsigned flows = 64, frames_each = 40;
    for (unsigned flow = 0; flow < flows; ++flow) {
        const auto source = static_cast<std::uint16_t>(2000 + flow);
        sender.send(Ethernet{} / Ipv4{} / Udp{.source = source} / payload(18), frames_each);
        sender.send(Ethernet{} / Ipv4{} / Udp{.source = source, .destination = 7} / payload(18));
    }
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), flows * frames_each);
    EXPECT_EQ(passed(summary), (Reasons{{"udp", flows}}));
    const Json& queues = summary["ports"][0]["by_queue"];
    ASSERT_EQ(queues.size(), 4U);
    for (const Json& queue : queues)
        EXPECT_GT(queue["test_frames"], 0) << queue;
}

TEST(Counting, CountersGoOnOver32Bits) {
    // 2^32 octets: 2.9 M frames of 1518. The frame counter itself is tested by arithmetic (unit).
    const Lab lab;
    Sink sink(lab, {});
    std::uint64_t sent = 0;
    while (sent * 1518 < (1ULL << 32))
        sent += frames_sent(generate(lab, {"--count", "1000000", "--size", "1518"}));
    const Json summary = sink.end();
    EXPECT_EQ(test_frames(summary), sent);
    EXPECT_EQ(summary["ports"][0]["test"]["l2_bytes"], sent * 1518);
    EXPECT_GT(summary["ports"][0]["test"]["l2_bytes"], 1ULL << 32);
}

} // namespace
} // namespace responder::test
