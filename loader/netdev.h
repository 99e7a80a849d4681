// SPDX-License-Identifier: GPL-2.0-only
//
// Netdev is one network interface, held by its index, so that a rename does not lose it. What changes is asked anew at
// each call; nothing here writes to the interface except through the two guards at the end, which put back what they
// changed when they end. What a driver says of itself is in ethtool.h.

#pragma once

#include "loader/netlink.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace responder {

class Netdev {
  public:
    // Throws Error(no_input) that names the interfaces there are.
    static Netdev find(std::string_view name);

    int index() const noexcept { return index_; }
    const std::string& name() const noexcept { return name_; }
    void renamed(std::string name) { name_ = std::move(name); }

    // What the kernel says of it now. Throws Error(temporary) when the interface is gone.
    LinkState link() const;

  private:
    Netdev(int index, std::string name) : index_(index), name_(std::move(name)) {}
    int index_;
    std::string name_;
};

// What a packet socket can ask of an interface's receive filter, kept for as long as the object lives and, because the
// kernel ties it to the socket, not a moment longer: a process that is killed leaves nothing behind.
class ReceiveFilterMembership {
  public:
    explicit ReceiveFilterMembership(const Netdev& netdev); // throws Error
    void promiscuous();
    void accept(const MacAddress& mac); // unicast or group

  private:
    void add(unsigned short type, const MacAddress* mac);
    std::string name_;
    int index_;
    UniqueFd socket_;
};

// Takes VLAN tag stripping off an interface (802.1Q and 802.1ad), and puts it back when it ends. A tag that the NIC
// strips is not in the frame that a program sees. A process that is killed cannot put it back.
class VlanStrippingOff {
  public:
    explicit VlanStrippingOff(const Netdev& netdev);
    VlanStrippingOff(VlanStrippingOff&& other) noexcept;
    VlanStrippingOff& operator=(VlanStrippingOff&&) = delete;
    ~VlanStrippingOff();

    bool switched_off() const noexcept { return !switched_.empty(); }
    bool still_on() const noexcept { return still_on_; } // the driver does not let it be switched off

  private:
    int index_;
    std::vector<std::string> switched_; // names of the features, as in `ethtool -k`
    bool still_on_ = false;
};

} // namespace responder
