// SPDX-License-Identifier: GPL-2.0-only
//
// A link that loses, doubles, delays and damages between the two commands: what it did is found to the frame, for each
// stream, in each engine. What must be found follows from the order in which frames left the link, by the definitions
// of the RFCs in their plainest form.

#include "tests/harness/impairment.h"
#include "tests/net/sink.h"
#include "tests/net/sockets.h"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace responder::test {
namespace {

struct Expected {
    std::uint64_t frames = 0, duplicate = 0, late = 0, extent = 0, lost = 0, periods = 0, longest = 0;
};

// Of one stream: the sequence numbers in the order of their arrival. From the first that came on; the highest is the
// last.
Expected expect_of(const std::vector<std::uint64_t>& arrived) {
    Expected result;
    std::set<std::uint64_t> seen;
    std::vector<std::uint64_t> order; // without duplicates
    result.frames = arrived.size();
    for (const std::uint64_t number : arrived) {
        if (!seen.insert(number).second) {
            ++result.duplicate;
            continue;
        }
        // RFC 4737: a packet with a lower number than one before it; its extent, back to the first of those.
        const std::size_t from = order.size() - std::min<std::size_t>(order.size(), 100);
        const auto overtaker = std::find_if(order.begin() + static_cast<std::ptrdiff_t>(from), order.end(),
                                            [&](std::uint64_t other) { return other > number; });
        if (overtaker != order.end()) {
            ++result.late;
            result.extent = std::max(result.extent, static_cast<std::uint64_t>(order.end() - overtaker));
        }
        order.push_back(number);
    }
    std::uint64_t run = 0; // RFC 3357: losses in a row
    for (std::uint64_t number = *seen.begin(); number <= *seen.rbegin(); ++number) {
        const bool lost = !seen.contains(number);
        result.lost += lost;
        run = lost ? run + 1 : 0;
        result.periods += run == 1;
        result.longest = std::max(result.longest, run);
    }
    return result;
}

constexpr std::uint64_t untouched = 1000; // at both ends, where a loss could not be known

Fate fate_of(std::uint64_t number, std::uint64_t count) {
    if (number < untouched || number >= count - untouched)
        return Fate::pass;
    if (number % 1009 < 3 || number % 20011 < 60)
        return Fate::drop;
    if (number % 701 == 7)
        return Fate::duplicate;
    if (number % 907 == 3)
        return Fate::delay;
    if (number % 1201 == 11)
        return Fate::damage_payload;
    if (number % 1511 == 5)
        return Fate::damage_signature;
    return Fate::pass;
}

class ImpairedLink : public EachEngine {
  protected:
    static void expect_found(std::uint64_t count, unsigned streams, Arguments sent);
};

void ImpairedLink::expect_found(std::uint64_t count, unsigned streams, Arguments sent) {
    const Lab lab({.middle = true});
    Impairment link(lab, [&](std::uint64_t number) { return fate_of(number, count); });
    Sink sink(lab, with_engine({}));
    for (const std::string& argument :
         Arguments{"--count", std::to_string(count), "--streams", std::to_string(streams), "--rate", "20000"})
        sent.push_back(argument);
    ASSERT_EQ(frames_sent(generate(lab, sent)), count);
    const std::vector<Departure> departures = link.end(count);
    const Json summary = sink.end();

    std::map<Fate, std::uint64_t> fates;
    std::vector<std::vector<std::uint64_t>> arrived(streams);
    std::vector<std::uint64_t> wrong_payloads(streams);
    for (const auto& [number, fate] : departures) {
        ++fates[fate];
        wrong_payloads[number % streams] += fate == Fate::damage_payload;
        if (fate != Fate::damage_signature)
            arrived[number % streams].push_back(number / streams);
    }
    for (const Fate fate : {Fate::duplicate, Fate::delay, Fate::damage_payload, Fate::damage_signature})
        ASSERT_GT(fates[fate], count / 10'000) << "too few of a kind";

    EXPECT_EQ(test_frames(summary), departures.size());
    const Json& found = summary["ports"][0]["streams"];
    EXPECT_EQ(found["damaged_frames"], fates[Fate::damage_signature]);
    EXPECT_EQ(found["no_room_frames"], 0U);
    ASSERT_EQ(found["list"].size(), streams);
    for (const Json& stream : found["list"]) {
        const std::string name = stream["name"];
        const std::size_t number = std::stoul(name.substr(name.find(' ') + 1));
        const Expected expected = expect_of(arrived[number]);
        SCOPED_TRACE(name);
        EXPECT_GT(expected.late, 0U);
        EXPECT_EQ(stream["frames"], expected.frames);
        EXPECT_EQ(stream["lost"], expected.lost);
        EXPECT_EQ(stream["loss_periods"], expected.periods);
        EXPECT_EQ(stream["longest_loss_period"], expected.longest);
        EXPECT_EQ(stream["late"], expected.late);
        EXPECT_EQ(stream["late_extent_max"], expected.extent);
        EXPECT_EQ(stream["duplicate"], expected.duplicate);
        EXPECT_EQ(stream["stray"], 0U);
        EXPECT_EQ(stream["restarts"], 0U);
        if (GetParam() != std::string("af_xdp")) // only sockets get the payload to user space
            continue;
        EXPECT_EQ(stream["payload_proved_frames"], expected.frames);
        EXPECT_EQ(stream["payload_wrong_frames"], wrong_payloads[number]);
        EXPECT_EQ(stream["payload_wrong_octets"], wrong_payloads[number]);
    }
}

TEST_P(ImpairedLink, IsFoundToTheFrame) { expect_found(200'000, 5, {"--size", "64,128,1518"}); }

TEST_P(ImpairedLink, IsFoundToTheFrameOfIpv6InAVlan) {
    expect_found(40'000, 2, {"--dst", "2001:2::2", "--vlan", "100", "--size", "100,401"});
}

TEST_P(ImpairedLink, IsFoundToTheFrameOfOneStream) { expect_found(40'000, 1, {}); }

INSTANTIATE_TEST_SUITE_P(Engine, ImpairedLink, each_engine, engine_name);

// The link itself, octet by octet.
TEST(Impairment, DamagesOneBitWhereItShould) {
    const Lab lab({.addresses = true, .middle = true});
    const UniqueFd receiver = udp_socket(lab.responder, "192.0.2.2", 7000);
    const UniqueFd sender = udp_socket(lab.tester, "192.0.2.1", 0);
    const int off = 1; // without a checksum, by which the far end would drop them
    setsockopt(sender.get(), SOL_SOCKET, SO_NO_CHECK, &off, sizeof(off));
    const Fate fates[] = {Fate::damage_signature, Fate::damage_payload, Fate::damage_payload, Fate::pass};
    Impairment link(lab, [&](std::uint64_t number) { return fates[number]; });
    const Octets data(100, 0x55);
    for (const Fate fate : fates) {
        send_to(sender, "192.0.2.2", 7000, data);
        const Octets received = receive_from(receiver);
        ASSERT_EQ(received.size(), data.size());
        std::size_t bits = 0, octet = 0;
        for (std::size_t i = 0; i < data.size(); ++i)
            if (const unsigned changed = received[i] ^ data[i]; changed != 0) {
                bits += static_cast<std::size_t>(std::popcount(changed));
                octet = i;
            }
        EXPECT_EQ(bits, fate == Fate::pass ? 0U : 1U);
        if (fate == Fate::damage_signature) {
            EXPECT_EQ(octet, 6U);
        } else if (fate == Fate::damage_payload) {
            EXPECT_GE(octet, 14U);
        }
    }
    link.end(std::size(fates));
}

TEST(Impairment, LeavesAllButDatagramsAlone) {
    const Lab lab({.addresses = true, .middle = true});
    Impairment link(lab, [](std::uint64_t) { return Fate::drop; });
    EXPECT_EQ(ping(lab.tester, "192.0.2.2", 3), 3U);
    expect_tcp_transfers(lab, 2'000'000);
    const UniqueFd sender = udp_socket(lab.tester, "192.0.2.1", 0);
    send_to(sender, "192.0.2.2", 7000, {1, 2, 3});
    EXPECT_TRUE(link.end(1).empty());
}

} // namespace
} // namespace responder::test
