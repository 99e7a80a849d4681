// SPDX-License-Identifier: GPL-2.0-only
//
// --all on the port that carries the caller's SSH session is refused, whatever hides the session from the command.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

namespace responder::test {
namespace {

using namespace packet;

const std::string session = "SSH_CONNECTION=192.0.2.1 50000 192.0.2.2 22";
const std::string session6 = "SSH_CONNECTION=2001:db8::1 50000 2001:db8::2 22";

TEST(All, RefusedOnThePortOfTheSshSession) {
    const Lab lab({.addresses = true, .ipv6 = true});
    expect_refused(lab, {"--all"}, exit_usage, {"eth1", "--all", "SSH", "--force"},
                   {.process = {.environment = {session}}});
    expect_refused(lab, {"--all"}, exit_usage, {"eth1", "--all", "SSH"}, {.process = {.environment = {session6}}});
    expect_refused(lab, {"--all"}, exit_usage, {"eth1", "--all", "SSH"},
                   {.process = {.environment = {"SSH_CONNECTION=::ffff:192.0.2.1 50000 ::ffff:192.0.2.2 22"}}});
}

TEST(All, RefusedAlsoAsTheSecondPort) {
    const Lab lab({.pairs = 2, .addresses = true});
    expect_refused(lab, {"--all"}, exit_usage, {"eth1", "SSH"},
                   {.process = {.environment = {session}}, .interfaces = {"eth2", "eth1"}});
}

TEST(All, RefusedOnAPortOfTheBridgeThatCarriesIt) {
    const Lab lab;
    lab.responder.ip(
        "link add br0 type bridge\nlink set eth1 master br0\nlink set br0 up\naddress add 192.0.2.2/24 dev br0");
    expect_refused(lab, {"--all"}, exit_usage, {"eth1", "SSH"}, {.process = {.environment = {session}}});
}

// As sudo, tmux and su do it: the command itself does not have the variable, an ancestor has.
TEST(All, RefusedWhenOnlyAnAncestorKnowsTheSession) {
    const Lab lab({.addresses = true});
    expect_refused(lab, {"--all"}, exit_usage, {"eth1", "SSH"},
                   {.process = {.environment = {session}},
                    .prefix = {"sh", "-c", "env -u SSH_CONNECTION sh -c '\"$@\"; exit $?' sh \"$@\"; exit $?", "sh"}});
}

TEST(All, RefusedWhereTheDefaultRouteLeadsThere) {
    const Lab lab({.addresses = true});
    lab.responder.ip("route add default via 192.0.2.1");
    expect_refused(lab, {"--all"}, exit_usage, {"eth1", "SSH"},
                   {.process = {.environment = {"SSH_CONNECTION=203.0.113.7 50000 192.0.2.2 22"}}});
}

void expect_allowed(const Lab& lab, Arguments arguments, Process::Options process,
                    std::vector<std::string> interfaces = {"eth1"}) {
    Sink sink(lab, std::move(arguments), {.process = std::move(process), .interfaces = interfaces});
    const bool first = interfaces.front() == "eth1";
    PacketSocket(lab.tester, first ? "tx1" : "tx2")
        .send(Ethernet{.destination = lab.responder_ports[first ? 0 : 1].mac} / Ipv4{} / Tcp{.destination = 5201} /
                  payload(18),
              40);
    EXPECT_EQ(test_frames(sink.end()), 40U);
}

TEST(All, AllowedWithForce) {
    const Lab lab({.addresses = true});
    expect_allowed(lab, {"--all", "--force"}, {.environment = {session}});
}

TEST(All, AllowedOnAnotherPort) {
    const Lab lab({.pairs = 2, .addresses = true});
    expect_allowed(lab, {"--all"}, {.environment = {session}}, {"eth2"});
}

TEST(All, AllowedWithoutASession) {
    const Lab lab({.addresses = true});
    expect_allowed(lab, {"--all"}, {.no_environment = {"SSH_CONNECTION"}});
}

TEST(All, NonsenseInTheVariableIsNoSession) {
    const Lab lab({.addresses = true});
    for (const std::string value : {"", "nonsense", "192.0.2.1", "300.1.1.1 1 2 3", "% % % %"}) {
        Sink sink(lab, {"--all"}, {.process = {.environment = {"SSH_CONNECTION=" + value}}, .ready = false});
        // An address alone is enough to know the peer by.
        EXPECT_EQ(sink.wait_ready(), value != "192.0.2.1") << value;
    }
}

} // namespace
} // namespace responder::test
