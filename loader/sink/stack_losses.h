// SPDX-License-Identifier: GPL-2.0-only
//
// What the kernel's stack loses of UDP behind the program: its counters in /proc/net over the run, and those of single
// sockets. All of this is of a network namespace, whatever port a datagram came by.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace responder {

// IPv4 and IPv6 together, under the kernel's names where it has any.
struct StackCounters {
    std::uint64_t receive_buffer = 0; // RcvbufErrors: a socket's receive buffer was full
    std::uint64_t checksum = 0;       // InCsumErrors
    std::uint64_t in_errors = 0;      // InErrors: these two and others
    std::uint64_t no_port = 0;        // NoPorts: no socket there
    std::uint64_t reassembly = 0;     // ReasmFails: a fragment did not come in 30 s, or there was no room
    std::uint64_t backlog = 0; // softnet_stat, dropped: of all namespaces; each is also in an interface's rx_dropped
};

struct StackLosses : StackCounters {
    std::uint64_t watched_sockets = 0; // what the sockets on the watched ports dropped, as far as it was seen
};

// From the text of /proc/net/snmp, snmp6 and softnet_stat. What a kernel does not have counts 0.
StackCounters stack_counters(std::string_view snmp, std::string_view snmp6, std::string_view softnet) noexcept;

struct UdpSocket {
    std::uint16_t port; // its own
    std::uint64_t inode;
    std::uint32_t drops; // modulo 2^32
};
// From the text of /proc/net/udp or udp6; of these ports only.
void find_udp_sockets(std::string_view text, const std::vector<std::uint16_t>& ports, std::vector<UdpSocket>& found);

// Follows sockets while they live: with a socket goes its counter, so they are read often. What one drops between the
// last reading and its end is in receive_buffer alone.
class StackWatch {
  public:
    explicit StackWatch(std::vector<std::uint16_t> ports); // throws Error

    void poll(); // allocates only where there are more sockets than ever
    StackLosses losses();

  private:
    void read_sockets();

    std::vector<std::uint16_t> ports_;
    std::string text_;
    std::vector<UdpSocket> found_, followed_; // by this reading, and by the last one
    StackCounters before_;
    std::uint64_t watched_sockets_ = 0;
};

} // namespace responder
