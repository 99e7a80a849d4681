// SPDX-License-Identifier: GPL-2.0-only

#include "loader/netlink.h"

#include "loader/error.h"

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace responder {

namespace {

// A link's message with statistics, XDP and the like is 2 to 3 KiB; libmnl's own advice is 8 KiB or a page.
constexpr std::size_t buffer_size = 32768;

MnlSocket open_socket(unsigned groups, int bus = NETLINK_ROUTE) {
    MnlSocket socket(mnl_socket_open2(bus, SOCK_CLOEXEC));
    if (!socket)
        throw Error::from_errno(ExitCode::os, "open a netlink socket", errno);
    if (mnl_socket_bind(socket.get(), groups, MNL_SOCKET_AUTOPID) < 0)
        throw Error::from_errno(ExitCode::os, "bind a netlink socket", errno);
    return socket;
}

// libmnl's own walks are macros that only compile as C.
template <class Visit>
void for_each_attribute(const void* first, std::ptrdiff_t length, Visit visit) {
    for (auto* attribute = static_cast<const nlattr*>(first); mnl_attr_ok(attribute, static_cast<int>(length));) {
        visit(attribute);
        const auto* next = mnl_attr_next(attribute);
        length -= reinterpret_cast<const char*>(next) - reinterpret_cast<const char*>(attribute);
        attribute = next;
    }
}

template <class Header, class Visit>
void for_each_attribute(const nlmsghdr* message, Visit visit) {
    const void* first = mnl_nlmsg_get_payload_offset(message, sizeof(Header));
    for_each_attribute(
        first, static_cast<const char*>(mnl_nlmsg_get_payload_tail(message)) - static_cast<const char*>(first), visit);
}

void read_counters(const nlattr* attribute, NicCounters& counters) {
    // The kernel's structure has grown: take what there is.
    rtnl_link_stats64 stats{};
    std::memcpy(&stats, mnl_attr_get_payload(attribute),
                std::min<std::size_t>(sizeof(stats), mnl_attr_get_payload_len(attribute)));
    counters = {
        .rx_packets = stats.rx_packets,
        .rx_bytes = stats.rx_bytes,
        .tx_packets = stats.tx_packets,
        .rx_errors = stats.rx_errors,
        .rx_dropped = stats.rx_dropped,
        .rx_missed = stats.rx_missed_errors,
        .rx_fifo_errors = stats.rx_fifo_errors,
        .rx_over_errors = stats.rx_over_errors,
        .rx_length_errors = stats.rx_length_errors,
        .rx_crc_errors = stats.rx_crc_errors,
        .rx_frame_errors = stats.rx_frame_errors,
    };
}

void read_xdp(const nlattr* nest, LinkState& link) {
    std::uint8_t attached = XDP_ATTACHED_NONE;
    std::uint32_t id = 0;
    for_each_attribute(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), [&](const nlattr* attribute) {
        switch (mnl_attr_get_type(attribute)) {
        case IFLA_XDP_ATTACHED:
            attached = mnl_attr_get_u8(attribute);
            break;
        case IFLA_XDP_PROG_ID:
            id = mnl_attr_get_u32(attribute);
            break;
        case IFLA_XDP_DRV_PROG_ID:
            link.native_program = mnl_attr_get_u32(attribute);
            break;
        case IFLA_XDP_SKB_PROG_ID:
            link.generic_program = mnl_attr_get_u32(attribute);
            break;
        case IFLA_XDP_HW_PROG_ID:
            link.offloaded_program = mnl_attr_get_u32(attribute);
            break;
        default:
            break;
        }
    });
    // Where only one program is attached, a kernel may give its id without the mode's own attribute.
    if (attached == XDP_ATTACHED_DRV && link.native_program == 0)
        link.native_program = id;
    if (attached == XDP_ATTACHED_SKB && link.generic_program == 0)
        link.generic_program = id;
    if (attached == XDP_ATTACHED_HW && link.offloaded_program == 0)
        link.offloaded_program = id;
}

void read_kind(const nlattr* nest, LinkState& link) {
    for_each_attribute(mnl_attr_get_payload(nest), mnl_attr_get_payload_len(nest), [&](const nlattr* attribute) {
        if (mnl_attr_get_type(attribute) == IFLA_INFO_KIND)
            link.kind = mnl_attr_get_str(attribute);
    });
}

void read_message(const nlmsghdr* message, LinkState& link) {
    const auto* header = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(message));
    link = {};
    link.index = header->ifi_index;
    link.up = (header->ifi_flags & IFF_UP) != 0;
    link.carrier = (header->ifi_flags & IFF_LOWER_UP) != 0;
    bool lower_is_elsewhere = false; // in another namespace (a veth's peer), where its index means nothing to us
    for_each_attribute<ifinfomsg>(message, [&](const nlattr* attribute) {
        switch (mnl_attr_get_type(attribute)) {
        case IFLA_IFNAME:
            link.name = mnl_attr_get_str(attribute);
            break;
        case IFLA_MTU:
            link.mtu = mnl_attr_get_u32(attribute);
            break;
        case IFLA_MASTER:
            link.master = static_cast<int>(mnl_attr_get_u32(attribute));
            break;
        case IFLA_LINK:
            link.lower = static_cast<int>(mnl_attr_get_u32(attribute));
            break;
        case IFLA_LINK_NETNSID:
            lower_is_elsewhere = true;
            break;
        case IFLA_NUM_RX_QUEUES:
            link.receive_queues = mnl_attr_get_u32(attribute);
            break;
        case IFLA_CARRIER_DOWN_COUNT:
            link.carrier_down_count = mnl_attr_get_u32(attribute);
            break;
        case IFLA_LINKINFO:
            read_kind(attribute, link);
            break;
        case IFLA_XDP:
            read_xdp(attribute, link);
            break;
        case IFLA_STATS64:
            read_counters(attribute, link.counters);
            break;
        case IFLA_ADDRESS:
            if (mnl_attr_get_payload_len(attribute) == link.mac.bytes.size())
                std::memcpy(link.mac.bytes.data(), mnl_attr_get_payload(attribute), link.mac.bytes.size());
            break;
        default:
            break;
        }
    });
    if (lower_is_elsewhere)
        link.lower = 0;
}

nlmsghdr* start_message(char* buffer, std::uint16_t type, std::uint16_t flags, std::uint32_t sequence) {
    nlmsghdr* message = mnl_nlmsg_put_header(buffer);
    message->nlmsg_type = type;
    message->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    message->nlmsg_seq = sequence;
    return message;
}

// Sends one question and reads its answers. mnl_cb_run's convention: < 0 with errno on an error.
int ask(mnl_socket* socket, const nlmsghdr* question, mnl_cb_t visit, void* data) noexcept {
    if (mnl_socket_sendto(socket, question, question->nlmsg_len) < 0)
        return -1;
    const unsigned port = mnl_socket_get_portid(socket);
    alignas(nlmsghdr) char buffer[buffer_size];
    int result = MNL_CB_OK;
    do {
        const ssize_t length = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
        if (length < 0) {
            if (errno == EINTR)
                continue;
            return -1;
        }
        result = mnl_cb_run(buffer, static_cast<std::size_t>(length), question->nlmsg_seq, port, visit, data);
    } while (result > MNL_CB_STOP);
    return result;
}

// linux/netdev.h
constexpr std::uint8_t netdev_cmd_dev_get = 1;
constexpr std::uint8_t netdev_family_version = 1;
constexpr std::uint16_t netdev_a_dev_ifindex = 1;
constexpr std::uint16_t netdev_a_dev_xdp_features = 3;

nlmsghdr* start_generic_message(char* buffer, std::uint16_t family, std::uint8_t command, std::uint8_t version,
                                std::uint32_t sequence) {
    nlmsghdr* message = start_message(buffer, family, NLM_F_ACK, sequence);
    auto* header = static_cast<genlmsghdr*>(mnl_nlmsg_put_extra_header(message, sizeof(genlmsghdr)));
    header->cmd = command;
    header->version = version;
    return message;
}

// The answer's attribute of this type, read by `get`; nullopt where the kernel refuses or does not give it.
template <auto get>
auto ask_for(mnl_socket* socket, const nlmsghdr* question, std::uint16_t type) {
    struct Answer {
        std::uint16_t type;
        std::optional<decltype(get(nullptr))> value{};
    } answer{type};
    const auto visit = [](const nlmsghdr* message, void* data) -> int {
        auto& a = *static_cast<Answer*>(data);
        for_each_attribute<genlmsghdr>(message, [&](const nlattr* attribute) {
            if (mnl_attr_get_type(attribute) == a.type)
                a.value = get(attribute);
        });
        return MNL_CB_OK;
    };
    if (ask(socket, question, visit, &answer) < 0)
        answer.value.reset();
    return answer.value;
}

} // namespace

std::optional<std::uint64_t> xdp_features(int ifindex) {
    const MnlSocket socket = open_socket(0, NETLINK_GENERIC);
    char buffer[256];
    nlmsghdr* question = start_generic_message(buffer, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 1);
    mnl_attr_put_strz(question, CTRL_ATTR_FAMILY_NAME, "netdev");
    const auto family = ask_for<mnl_attr_get_u16>(socket.get(), question, CTRL_ATTR_FAMILY_ID);
    if (!family)
        return std::nullopt;
    question = start_generic_message(buffer, *family, netdev_cmd_dev_get, netdev_family_version, 2);
    mnl_attr_put_u32(question, netdev_a_dev_ifindex, static_cast<std::uint32_t>(ifindex));
    return ask_for<mnl_attr_get_u64>(socket.get(), question, netdev_a_dev_xdp_features);
}

void CloseMnlSocket::operator()(mnl_socket* socket) const noexcept { mnl_socket_close(socket); }

NetlinkSocket::NetlinkSocket() : socket_(open_socket(0)) {}

bool NetlinkSocket::read_link(int index, LinkState& link) noexcept {
    char buffer[256];
    nlmsghdr* question = start_message(buffer, RTM_GETLINK, NLM_F_ACK, ++sequence_);
    auto* header = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(question, sizeof(ifinfomsg)));
    header->ifi_family = AF_UNSPEC;
    header->ifi_index = index;
    struct Answer {
        LinkState& link;
        bool found;
    } answer{link, false};
    const auto visit = [](const nlmsghdr* message, void* data) -> int {
        auto& a = *static_cast<Answer*>(data);
        if (message->nlmsg_type == RTM_NEWLINK) {
            read_message(message, a.link);
            a.found = true;
        }
        return MNL_CB_OK;
    };
    return ask(socket_.get(), question, visit, &answer) >= 0 && answer.found;
}

void NetlinkSocket::for_each_link(const std::function<void(const LinkState&)>& visit_link) {
    char buffer[256];
    nlmsghdr* question = start_message(buffer, RTM_GETLINK, NLM_F_DUMP, ++sequence_);
    auto* header = static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(question, sizeof(ifinfomsg)));
    header->ifi_family = AF_UNSPEC;
    const auto visit = [](const nlmsghdr* message, void* data) -> int {
        LinkState link;
        if (message->nlmsg_type == RTM_NEWLINK) {
            read_message(message, link);
            (*static_cast<const std::function<void(const LinkState&)>*>(data))(link);
        }
        return MNL_CB_OK;
    };
    if (ask(socket_.get(), question, visit, const_cast<void*>(static_cast<const void*>(&visit_link))) < 0)
        throw Error::from_errno(ExitCode::os, "list the network interfaces", errno);
}

int NetlinkSocket::route_interface(int family, const void* address) noexcept {
    const std::uint16_t size = family == AF_INET6 ? 16 : 4;
    char buffer[256];
    nlmsghdr* question = start_message(buffer, RTM_GETROUTE, NLM_F_ACK, ++sequence_);
    auto* header = static_cast<rtmsg*>(mnl_nlmsg_put_extra_header(question, sizeof(rtmsg)));
    header->rtm_family = static_cast<unsigned char>(family);
    header->rtm_dst_len = static_cast<unsigned char>(size * 8);
    mnl_attr_put(question, RTA_DST, size, address);
    int interface = 0;
    const auto visit = [](const nlmsghdr* message, void* data) -> int {
        if (message->nlmsg_type == RTM_NEWROUTE)
            for_each_attribute<rtmsg>(message, [&](const nlattr* attribute) {
                if (mnl_attr_get_type(attribute) == RTA_OIF)
                    *static_cast<int*>(data) = static_cast<int>(mnl_attr_get_u32(attribute));
            });
        return MNL_CB_OK;
    };
    return ask(socket_.get(), question, visit, &interface) >= 0 ? interface : 0;
}

LinkMonitor::LinkMonitor() : socket_(open_socket(RTMGRP_LINK)) {}

int LinkMonitor::fd() const noexcept { return mnl_socket_get_fd(socket_.get()); }

bool LinkMonitor::read(const std::function<void(const LinkState& link, bool removed)>& visit_link) {
    bool complete = true;
    alignas(nlmsghdr) char buffer[buffer_size];
    for (;;) {
        const ssize_t length = recv(fd(), buffer, sizeof(buffer), MSG_DONTWAIT);
        if (length < 0) {
            if (errno == ENOBUFS) {
                complete = false;
                continue;
            }
            if (errno == EINTR)
                continue;
            return complete;
        }
        int left = static_cast<int>(length);
        const auto* message = reinterpret_cast<const nlmsghdr*>(buffer);
        LinkState link;
        for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
            if (message->nlmsg_type != RTM_NEWLINK && message->nlmsg_type != RTM_DELLINK)
                continue;
            // A bridge announces its ports a second time, in its own family: not news of the interface.
            if (static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(message))->ifi_family != AF_UNSPEC)
                continue;
            read_message(message, link);
            visit_link(link, message->nlmsg_type == RTM_DELLINK);
        }
    }
}

} // namespace responder
