// SPDX-License-Identifier: GPL-2.0-only
//
// rtnetlink, by libmnl: one question and its answers (NetlinkSocket), and the kernel's own announcements of what
// happens to interfaces (LinkMonitor). In the network namespace of the thread that constructs them, for good. Of
// generic netlink, one question: xdp_features().

#pragma once

#include "loader/fd.h"
#include "loader/mac_address.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

struct nlmsghdr;
struct mnl_socket;

namespace responder {

// struct rtnl_link_stats64 (linux/if_link.h, which says what each means), the part that we use.
struct NicCounters {
    std::uint64_t rx_packets = 0;
    std::uint64_t rx_bytes = 0;
    std::uint64_t tx_packets = 0;
    std::uint64_t rx_errors = 0;
    std::uint64_t rx_dropped = 0;     // by the driver for want of room, or by the stack
    std::uint64_t rx_missed = 0;      // by the NIC for want of a descriptor
    std::uint64_t rx_fifo_errors = 0; // by the NIC for want of room in its FIFO
    std::uint64_t rx_over_errors = 0;
    std::uint64_t rx_length_errors = 0;
    std::uint64_t rx_crc_errors = 0;
    std::uint64_t rx_frame_errors = 0;

    // Frames that were on the wire and that the NIC had to leave.
    std::uint64_t missed() const noexcept { return rx_missed + rx_fifo_errors; }
};

inline constexpr std::uint64_t NicCounters::*nic_counter_fields[] = {
    &NicCounters::rx_packets,     &NicCounters::rx_bytes,        &NicCounters::tx_packets,
    &NicCounters::rx_errors,      &NicCounters::rx_dropped,      &NicCounters::rx_missed,
    &NicCounters::rx_fifo_errors, &NicCounters::rx_over_errors,  &NicCounters::rx_length_errors,
    &NicCounters::rx_crc_errors,  &NicCounters::rx_frame_errors,
};

// By how much a counter rose between two readings. One that fell was set to 0 by its driver, or is 16 bits wide and
// counts modulo 2^16, as r8169's rx_missed does (drivers/net/ethernet/realtek/r8169_main.c; it also goes below 0
// there).
constexpr std::uint64_t counter_rise(std::uint64_t before, std::uint64_t now) noexcept {
    constexpr std::uint64_t narrow = std::uint64_t{1} << 16;
    constexpr std::uint64_t impossible = std::uint64_t{1} << 48; // a day at 3 Gf/s
    const std::uint64_t difference = now - before;
    if (difference < impossible)
        return difference;
    return before >= narrow && before < impossible ? now : difference % narrow;
}
static_assert(counter_rise(3, 10) == 7);
static_assert(counter_rise(65'530, 4) == 10);
static_assert(counter_rise(2, ~std::uint64_t{0}) == 65'533); // 65,535 of 16 bits, less an offset of the driver's
static_assert(counter_rise(1'000'000, 5) == 5);

// One RTM_NEWLINK message, read.
struct LinkState {
    int index = 0;
    std::string name;
    bool up = false;      // IFF_UP: switched on by the administrator
    bool carrier = false; // IFF_LOWER_UP: a partner at the far end of the cable
    unsigned mtu = 0;
    unsigned receive_queues = 1; // IFLA_NUM_RX_QUEUES: what rx_queue_index can be at most, plus one
    MacAddress mac;
    std::string kind;                 // "veth", "bridge"; empty for hardware
    int master = 0;                   // the bridge or bond that it is a port of, or 0
    int lower = 0;                    // the interface of this namespace that it sits on (VLAN, macvlan), or 0
    std::uint32_t native_program = 0; // ids of XDP programs on it, 0 where there is none
    std::uint32_t generic_program = 0;
    std::uint32_t offloaded_program = 0;
    std::uint32_t carrier_down_count = 0; // times that the carrier was lost since the interface exists
    NicCounters counters;

    bool has_program(std::uint32_t id) const noexcept { return id == native_program || id == generic_program; }
};

// What a driver can do with XDP, bits of enum netdev_xdp_act (linux/netdev.h, which Debian 12 does not have); nullopt
// where the kernel cannot say: before Linux 6.3.
inline constexpr std::uint64_t xdp_feature_transmit = 4; // NETDEV_XDP_ACT_NDO_XMIT
std::optional<std::uint64_t> xdp_features(int ifindex);

struct CloseMnlSocket {
    void operator()(mnl_socket* socket) const noexcept;
};
using MnlSocket = std::unique_ptr<mnl_socket, CloseMnlSocket>;

class NetlinkSocket {
  public:
    NetlinkSocket(); // throws Error

    // False where no such interface exists (any more). Allocates nothing but a name of over 15 bytes, which cannot be.
    bool read_link(int index, LinkState& link) noexcept;

    void for_each_link(const std::function<void(const LinkState&)>& visit); // throws Error

    // The interface that a packet to this address leaves by, or 0. `address`: 4 or 16 bytes in network order.
    int route_interface(int family, const void* address) noexcept;

  private:
    MnlSocket socket_;
    std::uint32_t sequence_ = 0;
};

class LinkMonitor {
  public:
    LinkMonitor(); // throws Error

    int fd() const noexcept; // readable when something happened

    // Reads all that is pending. `removed`: deleted, or moved to another namespace. After a lost message (the kernel
    // drops them under pressure) it returns false: ask for each link's state again.
    bool read(const std::function<void(const LinkState& link, bool removed)>& visit);

  private:
    MnlSocket socket_;
};

} // namespace responder
