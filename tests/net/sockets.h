// SPDX-License-Identifier: GPL-2.0-only
//
// The kernel's own network stack at the two ends: what must go on working while the sink is attached.

#pragma once

#include "loader/fd.h"
#include "tests/harness/lab.h"

#include <cstdint>
#include <string>

namespace responder::test {

// Bound to an address and a port (0: any); receiving gives up after some seconds. Throw std::runtime_error.
UniqueFd udp_socket(const Namespace& where, const std::string& address, std::uint16_t port);
UniqueFd tcp_listener(const Namespace& where, const std::string& address, std::uint16_t port);
UniqueFd tcp_accept(const UniqueFd& listener);
UniqueFd tcp_connect(const Namespace& where, const std::string& address, std::uint16_t port);

void send_to(const UniqueFd& socket, const std::string& address, std::uint16_t port, const Octets& data);
Octets receive_from(const UniqueFd& socket); // one datagram; empty if none comes
void send_all(const UniqueFd& socket, const Octets& data);
Octets receive_until_end(const UniqueFd& socket); // a stream

// A TCP connection from 192.0.2.1 to 192.0.2.2, which Lab::Options::addresses made: all comes as it was sent.
void expect_tcp_transfers(const Lab& lab, std::size_t octets);

// Pings as ping(8) does: through the kernel's ping socket, which accepts a reply only if all of its checksums are
// right. Returns how many of `count` were answered with the same octets.
unsigned ping(const Namespace& from, const std::string& address, unsigned count, std::size_t payload = 56,
              std::chrono::milliseconds patience_each = 1s);

} // namespace responder::test
