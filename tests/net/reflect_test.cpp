// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-reflect over veth: what is sent comes back, and nothing else does.

#include "tests/harness/folder.h"
#include "tests/harness/packet.h"
#include "tests/net/sink.h"
#include "tests/net/sockets.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

namespace responder::test {
namespace {

using namespace packet;

// From the tester, whose addresses are of the benchmarks' network, to the lab's first port.
const Ipv4 there{.source = "198.18.0.1", .destination = "198.18.0.2"};
const Ipv4 back{.source = "198.18.0.2", .destination = "198.18.0.1"};
const Ethernet turned{.destination = tester_mac, .source = own_mac};

// The tester counts by a sink of its own, which takes all that comes.
Sink::Options at_the_tester(const Lab& lab) { return {.interfaces = {lab.from().name}, .where = &lab.tester}; }

TEST(ReflectNet, TheStackGoesOnBesideIt) {
    const Lab lab({.addresses = true});
    Reflector reflector(lab, {});
    Traffic traffic(lab);
    expect_tcp_transfers(lab, 3'000'000);
    EXPECT_EQ(ping(lab.tester, "192.0.2.2", 3), 3U);
    const std::uint64_t sent = traffic.end();
    const Json summary = reflector.end();
    EXPECT_EQ(test_frames(summary), sent);
    EXPECT_GE(passed(summary, "tcp"), 3'000'000U / 1448);
    EXPECT_EQ(passed(summary, "icmp"), 3U);
}

// Every guard by name; nothing of it comes back, and the stack gets it.
TEST(ReflectNet, WhatIsNotAnswered) {
    const Lab lab;
    Reflector reflector(lab, {});
    PacketSocket tester(lab.tester, "tx1"), stack(lab.responder, "eth1");
    const Udp echo{.source = 50'000, .destination = 7};
    const struct {
        const char* reason;
        Octets frame;
    } frames[] = {
        {"group_address", Ethernet{.destination = broadcast_mac} / there / echo / payload(18)},
        {"source_mac", Ethernet{.source = own_mac} / there / echo / payload(18)},
        {"not_allowed", Ethernet{} / Ipv4{.source = "203.0.113.1", .destination = "198.18.0.2"} / echo / payload(18)},
        {"from_reflector", Ethernet{} / there / Udp{.source = 7, .destination = 7} / payload(18)},
        {"source_address", Ethernet{} / Ipv4{.source = "0.0.0.0", .destination = "198.18.0.2"} / echo / payload(18)},
        {"udp", Ethernet{} / there / Udp{.source = 50'000, .destination = 8} / payload(18)},
    };
    for (const auto& [reason, frame] : frames)
        tester.send(frame, 3);
    EXPECT_TRUE(tester.receive_all().empty());
    EXPECT_EQ(stack.receive_all().size(), 3 * std::size(frames));
    const Json summary = reflector.end();
    for (const auto& [reason, frame] : frames)
        EXPECT_EQ(passed(summary, reason), 3U) << reason;
    EXPECT_EQ(test_frames(summary), 0U);
}

// The interface's own network is answered, from when it has an address.
TEST(ReflectNet, FollowsTheAddressesOfThePort) {
    const Lab lab;
    Reflector reflector(lab, {});
    PacketSocket tester(lab.tester, "tx1");
    const Octets frame = Ethernet{} / Ipv4{.source = "203.0.113.1", .destination = "203.0.113.2"} /
                         Udp{.source = 50'000, .destination = 7} / payload(18);
    tester.send(frame);
    EXPECT_TRUE(tester.receive_all().empty());
    lab.responder.ip("address add 203.0.113.2/24 dev eth1\n");
    EXPECT_TRUE(eventually([&] {
        tester.send(frame);
        return !tester.receive(50ms).empty();
    }));
    EXPECT_GE(passed(reflector.end(), "not_allowed"), 1U);
}

TEST(ReflectNet, TesterAndItsExpiry) {
    const Lab lab;
    Reflector reflector(lab, {"--tester", to_string(tester_mac), "--expire", "1s"});
    PacketSocket tester(lab.tester, "tx1");
    const auto frame = [](const Ethernet& eth) { return (eth / payload(46)).octets(); };
    tester.send(frame({}));
    EXPECT_EQ(hex(tester.receive()), hex(frame(turned)));
    EXPECT_TRUE(reflector.process().wait_for_err("--expire is over"));
    tester.send(frame({}), 5);
    EXPECT_TRUE(tester.receive_all().empty());
    const Json summary = reflector.end();
    EXPECT_EQ(test_frames(summary), 1U);
    EXPECT_EQ(refused(summary, "expired"), 5U);
}

// What one returns must not be a request to the other, whatever it was.
TEST(ReflectNet, TwoThatFaceEachOtherComeToRest) {
    const Lab lab({.pass = false});
    Reflector far(lab, {"--port", "5000-6000", "--allow", "203.0.113.0/24"}), near(lab, {}, at_the_tester(lab));
    Reflector::Options options = at_the_tester(lab);
    PacketSocket tester(lab.tester, "tx1");
    const std::uint16_t ports[] = {7, 862, 3842, 5000, 9, 50'000};
    for (const std::uint16_t source : ports)
        for (const std::uint16_t destination : ports)
            tester.send(Ethernet{} / there / Udp{.source = source, .destination = destination} / zeros(44));
    generate(lab, {"--port", "5500", "--count", "100"});
    const auto counters = [&] { return lab.responder.run({"cat", "/proc/net/dev"}); };
    std::string last = counters();
    EXPECT_TRUE(eventually([&] {
        std::this_thread::sleep_for(300ms);
        return std::exchange(last, counters()) == last;
    })) << "frames still go to and fro";
    near.end();
    EXPECT_GT(test_frames(far.end()), 100U);
}

// How many of its requests, 20 unless said otherwise, the independent sender found answered right.
unsigned right_replies(const Lab& lab, const char* address, const Arguments& words = {}, const char* count = "20") {
    Arguments argv{"python3", TEST_STAMP_SENDER, address, "862", count};
    argv.insert(argv.end(), words.begin(), words.end());
    return static_cast<unsigned>(std::stoul(lab.tester.run(argv)));
}

std::uint64_t by_socket(const Json& summary, const std::string& outcome) {
    return summary["ports"][0]["stamp_socket"].at(outcome);
}

constexpr const char* stamp_addresses[] = {"192.0.2.2", "2001:db8::2"};

TEST(ReflectNet, AnIndependentStampSender) {
    const Lab lab({.addresses = true, .ipv6 = true});
    Reflector stateless(lab, {});
    for (const char* address : stamp_addresses)
        EXPECT_EQ(right_replies(lab, address), 20U);
    const Json summary = stateless.end();
    EXPECT_EQ(answered(summary, "stamp_reply"), 40U);
    EXPECT_EQ(by_socket(summary, "replies"), 0U);
    Reflector stateful(lab, {"--stamp-stateful"});
    EXPECT_EQ(right_replies(lab, "192.0.2.2", {"stateful"}), 20U);
    EXPECT_EQ(answered(stateful.end(), "stamp_reply"), 20U);
}

// The program leaves these, and the socket answers each; a tenth of `tlvs` has none, and a tenth padding only.
TEST(ReflectNet, TheSocketAnswersWhatTheProgramLeaves) {
    const struct {
        const char* kind;
        std::uint64_t by_program;
    } kinds[] = {{"short", 0}, {"options", 0}, {"tlvs", 12}};
    const Lab lab({.addresses = true, .ipv6 = true});
    for (const auto& [kind, by_program] : kinds) {
        for (const char* address : stamp_addresses) {
            Reflector reflector(lab, {});
            EXPECT_EQ(right_replies(lab, address, {kind}, "60"), 60U) << kind << ' ' << address;
            const Json summary = reflector.end();
            EXPECT_EQ(answered(summary, "stamp_reply"), by_program) << kind;
            EXPECT_EQ(passed(summary, "stamp_rare"), 60 - by_program) << kind;
            EXPECT_EQ(by_socket(summary, "replies"), 60 - by_program) << kind;
        }
    }
}

// One session has one row of numbers, whoever answers; and what is told of the reply before is true.
TEST(ReflectNet, ProgramAndSocketNumberASessionTogether) {
    const Lab lab({.addresses = true, .ipv6 = true});
    for (const char* address : stamp_addresses) {
        Reflector reflector(lab, {"--stamp-stateful"});
        EXPECT_EQ(right_replies(lab, address, {"stateful", "mixed"}), 20U) << address;
        EXPECT_EQ(right_replies(lab, address, {"stateful", "before=20", "tlvs"}), 20U) << address;
        const Json summary = reflector.end();
        EXPECT_EQ(answered(summary, "stamp_reply"), 10U + 4U);
        EXPECT_EQ(by_socket(summary, "replies"), 10U + 16U);
    }
}

TEST(ReflectNet, AuthenticatedStamp) {
    const Lab lab({.addresses = true, .ipv6 = true});
    const Folder folder;
    const std::string file = folder / "key";
    std::ofstream(file) << "a shared secret\n";
    chmod(file.c_str(), 0600);
    for (const char* address : stamp_addresses) {
        Reflector reflector(lab, {"--stamp-key", file, "--stamp-stateful"});
        EXPECT_EQ(right_replies(lab, address, {"stateful", "authentic=a shared secret"}, "40"), 40U) << address;
        EXPECT_EQ(right_replies(lab, address, {"authentic=another secret"}, "2"), 0U);
        EXPECT_EQ(right_replies(lab, address, {"forged=a shared secret"}, "2"), 0U);
        EXPECT_EQ(right_replies(lab, address, {"padding"}, "1"), 0U); // not authenticated
        const Json summary = reflector.end();
        EXPECT_EQ(answered(summary, "stamp_reply"), 0U);
        EXPECT_EQ(passed(summary, "stamp_rare"), 45U);
        EXPECT_EQ(by_socket(summary, "replies"), 40U);
        EXPECT_EQ(by_socket(summary, "wrong_hmac"), 4U);
        EXPECT_EQ(by_socket(summary, "too_short"), 1U);
    }
}

// What the program refuses goes up the stack, and comes to the socket.
TEST(ReflectNet, TheSocketHasTheGuardsOfTheProgram) {
    const Lab lab({.addresses = true});
    lab.responder.ip("route add 203.0.113.0/24 via 192.0.2.1\nneigh add 192.0.2.1 lladdr 02:00:00:00:00:02 dev eth1\n");
    Reflector reflector(lab, {});
    PacketSocket tester(lab.tester, "tx1");
    const auto ask = [](const Ipv4& ip, std::uint16_t source_port, const Ethernet& eth = {}) {
        return (eth / ip / Udp{.source = source_port, .destination = 862} / zeros(14)).octets();
    };
    const Ipv4 ours{.source = "192.0.2.1", .destination = "192.0.2.2"};
    tester.send(ask(ours, 50'000), 2);
    tester.send(ask({.source = "203.0.113.1", .destination = "192.0.2.2"}, 50'000), 3);
    tester.send(ask(ours, 862), 5);
    tester.send(ask(ours, 7), 7);
    tester.send(ask({.source = "192.0.2.1", .destination = "192.0.2.255"}, 50'000), 11);
    tester.send(ask({.source = "192.0.2.1", .destination = "192.0.2.255"}, 50'000, {.destination = broadcast_mac}), 13);
    tester.send(ask(ours, 50'000, {.destination = broadcast_mac}), 17); // the socket never sees it
    unsigned replies = 0;
    for (const Octets& frame : tester.receive_all())
        replies += frame.size() == 14 + 20 + 8 + 44;
    EXPECT_EQ(replies, 2U);
    const Json summary = reflector.end();
    EXPECT_EQ(by_socket(summary, "replies"), 2U);
    EXPECT_EQ(by_socket(summary, "guarded"), 3U + 5 + 7 + 11);
    EXPECT_EQ(passed(summary, "not_allowed"), 3U);
    EXPECT_EQ(passed(summary, "from_reflector"), 12U);
    EXPECT_EQ(passed(summary, "group_address"), 11U + 13 + 17);
    EXPECT_EQ(passed(summary, "stamp_rare"), 2U);
}

TEST(ReflectNet, TheSummarySaysWhatBecameOfTheStampThatPassedUp) {
    const Lab lab({.addresses = true});
    Reflector reflector(lab, {}, {.json = false});
    PacketSocket tester(lab.tester, "tx1");
    const auto ask = [](const Ipv4& ip, std::size_t length) {
        return (Ethernet{} / ip / Udp{.source = 50'000, .destination = 862} / zeros(length)).octets();
    };
    const Ipv4 ours{.source = "192.0.2.1", .destination = "192.0.2.2"};
    tester.send(ask(ours, 14), 3);
    tester.send(ask(ours, 13), 2);
    tester.send(ask(there, 14), 5); // to nobody's address
    tester.receive_all();
    reflector.process().signal(SIGINT);
    EXPECT_EQ(reflector.process().wait().code, 0);
    const std::string out = reflector.process().out();
    for (const char* words : {"STAMP that is not answered in the driver 10", "STAMP socket     replies 3, too short 2",
                              " 5 passed up and did not come to the socket"})
        EXPECT_TRUE(contains(out, words)) << words << " in " << out;
}

TEST(ReflectNet, TheSocketCountsWhatItHadNoRoomFor) {
    const Lab lab({.addresses = true});
    Reflector reflector(lab, {});
    PacketSocket tester(lab.tester, "tx1");
    const Octets rare = Ethernet{} / Ipv4{.source = "192.0.2.1", .destination = "192.0.2.2"} /
                        Udp{.source = 50'000, .destination = 862} / zeros(14);
    constexpr unsigned sent = 3000; // of which a receive buffer has room for some hundred
    reflector.process().signal(SIGSTOP);
    tester.send(rare, sent);
    reflector.process().signal(SIGCONT);
    const Json summary = reflector.end();
    EXPECT_EQ(passed(summary, "stamp_rare"), sent);
    EXPECT_GT(by_socket(summary, "replies"), 0U);
    EXPECT_GT(by_socket(summary, "dropped"), 0U);
    EXPECT_EQ(by_socket(summary, "replies") + by_socket(summary, "dropped"), sent);
}

TEST(ReflectNet, AStampPortThatIsTakenIsSaidAndTheProgramGoesOn) {
    const Lab lab({.addresses = true});
    const UniqueFd other = udp_socket(lab.responder, "0.0.0.0", 862);
    Reflector reflector(lab, {});
    EXPECT_TRUE(contains(reflector.process().err(), "UDP port 862 over IPv4: another program has it"))
        << reflector.process().err();
    EXPECT_EQ(right_replies(lab, "192.0.2.2"), 20U);
    EXPECT_EQ(answered(reflector.end(), "stamp_reply"), 20U);
    const Folder folder;
    const std::string file = folder / "key";
    std::ofstream(file) << "a shared secret";
    chmod(file.c_str(), 0600);
    Reflector with_key(lab, {"--stamp-key", file}, {.ready = false});
    EXPECT_EQ(with_key.process().wait().code, exit_unavailable);
    EXPECT_TRUE(contains(with_key.process().err(), "another program has it")) << with_key.process().err();
}

TEST(ReflectNet, ScapyBuildsTheRequestsAndChecksTheReplies) {
    if (std::system("/usr/bin/python3 -c 'import scapy.contrib.stamp' 2>/dev/null") != 0)
        GTEST_SKIP() << "python3-scapy is not installed";
    const Lab lab({.addresses = true, .ipv6 = true});
    Reflector reflector(lab, {});
    EXPECT_EQ(lab.tester.run({"/usr/bin/python3", TEST_SCAPY_PEER, "tx1", to_string(lab.to().mac)}), "12 of 12\n");
    const Json summary = reflector.end();
    EXPECT_EQ(answered(summary, "stamp_reply"), 4U);
    EXPECT_EQ(by_socket(summary, "replies"), 2U);
    for (const char* kind : {"loopback_reply", "delay_reply", "loss_reply"})
        EXPECT_EQ(answered(summary, kind), 2U) << kind;
}

// Replies of every kind, as a capture at the tester has them.
TEST(ReflectNet, WiresharkFindsNothingWrong) {
    if (std::system("command -v tshark >/dev/null") != 0)
        GTEST_SKIP() << "tshark is not installed";
    const Lab lab({.pass = false});
    const Folder folder;
    const std::string file = folder / "replies.pcapng";
    Reflector reflector(lab, {"--icmp"});
    Sink tester(lab, {"--all", "--pcap", file}, at_the_tester(lab));
    PacketSocket socket(lab.tester, "tx1");
    const Ipv6 there6{.source = "2001:2::1", .destination = "2001:2::2"};
    const Udp stamp{.source = 50'000, .destination = 862};
    const auto oam = [](std::uint8_t opcode, std::uint8_t first_tlv, std::size_t body) {
        Octets octets{0x60, opcode, 0, first_tlv};
        octets.resize(4 + body); // and an end TLV, which is 0
        return (Ethernet{.type = 0x8902} / Payload{octets}).octets();
    };
    Octets request(44);
    request[12] = 0x8a; // an error estimate, whose multiplier is never 0
    request[13] = 1;
    const Octets frames[] = {
        Ethernet{} / there / stamp / Payload{request},
        Ethernet{} / there6 / stamp / Payload{request},
        Ethernet{} / there / Udp{.source = 50'000, .destination = 7} / payload(300),
        Ethernet{} / there6 / Udp{.source = 50'000, .destination = 7} / payload(300),
        Ethernet{} / there / Icmp{} / payload(56),
        Ethernet{} / there6 / Icmp{.type = 128} / payload(56),
        oam(3, 4, 5),
        oam(47, 32, 33),
        oam(55, 16, 17),
    };
    for (const Octets& frame : frames)
        socket.send(frame);
    const Json summary = tester.end();
    EXPECT_EQ(test_frames(summary), std::size(frames));
    EXPECT_EQ(test_frames(reflector.end()), 2U);
    const std::string wrong =
        run({"tshark", "-r", file, "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-Y",
             "_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0 || "
             "icmp.checksum.status == 0 || icmpv6.checksum.status == 0"});
    EXPECT_EQ(wrong, "");
    // It knows TWAMP-Test only behind a TWAMP-Control: AnIndependentStampSender looks at those replies.
    const std::string kinds = run({"tshark", "-r", file, "-T", "fields", "-E", "separator=,", "-e", "cfm.opcode", "-e",
                                   "icmp.type", "-e", "icmpv6.type", "-e", "udp.srcport"});
    EXPECT_EQ(kinds, ",,,862\n,,,862\n,,,7\n,,,7\n,0,,\n,,129,\n2,,,\n46,,,\n54,,,\n");
}

TEST(ReflectNet, ASecondOneIsRefusedAndTheFirstGoesOn) {
    const Lab lab;
    Reflector reflector(lab, {});
    Reflector second(lab, {}, {.ready = false});
    EXPECT_EQ(second.process().wait().code, exit_unavailable);
    EXPECT_TRUE(second.process().out().empty());
    EXPECT_TRUE(contains(second.process().err(), "eth1")) << second.process().err();
    PacketSocket tester(lab.tester, "tx1");
    tester.send(Ethernet{} / there / Udp{.source = 50'000, .destination = 7} / payload(18));
    EXPECT_FALSE(tester.receive().empty());
    EXPECT_EQ(test_frames(reflector.end()), 1U);
    EXPECT_TRUE(xdp_programs(lab.responder, "eth1").none());
}

TEST(ReflectNet, WrongOptions) {
    const Lab lab;
    const struct {
        Arguments arguments;
        const char* words;
    } cases[] = {
        {{"--swap", "deep"}, "not auto, mac, ip or port"},
        {{"--signature", "3842:PROBEOT"}, "udp/PORT@OFFSET:TEXT"},
        {{"--signature", "udp/3842@5:0x5"}, "two hexadecimal digits"},
        {{"--signature", "udp/3842@5:"}, "1 to 16 octets"},
        {{"--tester", "somebody"}, "--tester"},
        {{"--allow", "10.0.0.0/33"}, "--allow"},
        {{"--stamp", "0"}, "--stamp"},
        {{"--stamp-format", "unix"}, "not ntp or ptp"},
        {{"--stamp-key", "/nowhere"}, "No such file"},
        {{"--stamp", "none", "--stamp-key", "/dev/null"}, "nothing to authenticate"},
        {{"--oam", "8"}, "level from 0 to 7"},
        {{"--mep", "9000"}, "--mep"},
        {{"--expire", "soon"}, "--expire"},
    };
    for (const auto& [arguments, words] : cases) {
        Reflector reflector(lab, arguments, {.ready = false});
        EXPECT_EQ(reflector.process().wait().code, exit_usage);
        EXPECT_TRUE(contains(reflector.process().err(), words)) << reflector.process().err();
        EXPECT_EQ(count_of(reflector.process().err(), "\n"), 1U) << reflector.process().err();
    }
    EXPECT_TRUE(xdp_programs(lab.responder, "eth1").none());
}

} // namespace
} // namespace responder::test
