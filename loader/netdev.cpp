// SPDX-License-Identifier: GPL-2.0-only

#include "loader/netdev.h"

#include "loader/error.h"
#include "loader/ethtool.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace responder {

Netdev Netdev::find(std::string_view name) {
    int index = 0;
    std::string others;
    NetlinkSocket().for_each_link([&](const LinkState& link) {
        if (link.name == name)
            index = link.index;
        others += (others.empty() ? "" : ", ") + link.name;
    });
    if (index == 0)
        throw Error(ExitCode::no_input, std::string(name), "no such interface", "there are: " + others);
    return Netdev(index, std::string(name));
}

LinkState Netdev::link() const {
    LinkState link;
    if (!NetlinkSocket().read_link(index_, link))
        throw Error(ExitCode::temporary, name_, "the interface is gone");
    return link;
}

ReceiveFilterMembership::ReceiveFilterMembership(const Netdev& netdev)
    : name_(netdev.name()), index_(netdev.index()),
      // Protocol 0: a packet socket that receives nothing.
      socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) {
    if (!socket_)
        throw Error::from_errno(errno == EPERM ? ExitCode::no_permission : ExitCode::os,
                                name_ + ": open a packet socket", errno,
                                errno == EPERM ? "CAP_NET_RAW is missing" : "");
}

void ReceiveFilterMembership::add(unsigned short type, const MacAddress* mac) {
    packet_mreq request{};
    request.mr_ifindex = index_;
    request.mr_type = type;
    if (mac != nullptr) {
        request.mr_alen = static_cast<unsigned short>(mac->bytes.size());
        std::memcpy(request.mr_address, mac->bytes.data(), mac->bytes.size());
    }
    if (setsockopt(socket_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request)) != 0)
        throw Error::from_errno(ExitCode::os, name_ + ": change the receive filter", errno);
}

void ReceiveFilterMembership::promiscuous() { add(PACKET_MR_PROMISC, nullptr); }

void ReceiveFilterMembership::accept(const MacAddress& mac) {
    add(mac.is_group() ? PACKET_MR_MULTICAST : PACKET_MR_UNICAST, &mac);
}

VlanStrippingOff::VlanStrippingOff(const Netdev& netdev) : index_(netdev.index()) {
    for (const ethtool::Feature& feature : ethtool::features(index_)) {
        if (!feature.active || (feature.name != "rx-vlan-hw-parse" && feature.name != "rx-vlan-stag-hw-parse"))
            continue;
        switched_.push_back(feature.name); // before it is, so that nothing can fail between the two
        if (!feature.changeable || !ethtool::set_feature(index_, feature.name, false)) {
            switched_.pop_back();
            still_on_ = true;
        }
    }
}

VlanStrippingOff::VlanStrippingOff(VlanStrippingOff&& other) noexcept
    : index_(other.index_), switched_(std::exchange(other.switched_, {})), still_on_(other.still_on_) {}

VlanStrippingOff::~VlanStrippingOff() {
    for (const std::string& name : switched_) {
        try {
            ethtool::set_feature(index_, name, true);
        } catch (...) {
            // Out of memory while ending: nothing better can be done than to go on ending.
        }
    }
}

} // namespace responder
