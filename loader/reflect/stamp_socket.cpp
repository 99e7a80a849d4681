// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/stamp_socket.h"

#include "loader/clock.h"
#include "loader/error.h"
#include "loader/reflect/stamp_state.h"
#include "loader/thread.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string_view>

namespace responder {

namespace {

constexpr std::size_t previous_places = 1024; // as many as the program's table of sessions has
constexpr unsigned batch = 64;                // datagrams of a socket before the next one's turn
constexpr unsigned backlog = 4096;            // more than a receive buffer holds

// A frame to a group's MAC address, or promiscuously received, whatever its IP address: never answered.
bool only_to_this_host(int fd) noexcept {
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_HOST, 0, 1), BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
                          BPF_STMT(BPF_RET | BPF_K, 0)};
    const sock_fprog program{.len = std::size(code), .filter = code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
}

bool set(int fd, int level, int option, int value) noexcept {
    return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

// None, and errno, if it is not to be had.
UniqueFd open_socket(const std::string& interface, bool v6, std::uint16_t port) noexcept {
    UniqueFd socket(::socket(v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket)
        return socket;
    const int fd = socket.get();
    const bool has_options =
        setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(), static_cast<socklen_t>(interface.size())) == 0 &&
        only_to_this_host(fd) && set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1) &&
        (v6 ? set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) && set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) &&
                  set(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1) && set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) &&
                  set(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, 255)
            : set(fd, IPPROTO_IP, IP_PKTINFO, 1) && set(fd, IPPROTO_IP, IP_RECVTTL, 1) &&
                  set(fd, IPPROTO_IP, IP_RECVTOS, 1) && set(fd, IPPROTO_IP, IP_TTL, 255));
    sockaddr_in any4{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {INADDR_ANY}, .sin_zero = {}};
    sockaddr_in6 any6{};
    any6.sin6_family = AF_INET6;
    any6.sin6_port = htons(port);
    if (has_options && (v6 ? bind(fd, reinterpret_cast<const sockaddr*>(&any6), sizeof(any6))
                           : bind(fd, reinterpret_cast<const sockaddr*>(&any4), sizeof(any4))) == 0)
        return socket;
    const int error = errno;
    socket.reset();
    errno = error;
    return socket;
}

// So many datagrams the kernel has dropped at this socket.
std::uint32_t dropped_at(int fd) noexcept {
    std::uint32_t figures[SK_MEMINFO_VARS]{};
    socklen_t size = sizeof(figures);
    getsockopt(fd, SOL_SOCKET, SO_MEMINFO, figures, &size);
    return figures[SK_MEMINFO_DROPS];
}

std::string why_no_socket(int error) {
    if (error == EADDRINUSE)
        return "another program has it";
    if (error == EACCES)
        return "CAP_NET_BIND_SERVICE is missing";
    return error_text(error);
}

// The kernel stamps by CLOCK_REALTIME; the whole seconds between that and CLOCK_TAI are as the kernel has them now.
std::uint64_t tai_of(const timespec& realtime) noexcept {
    constexpr std::uint64_t second = 1'000'000'000;
    const std::uint64_t offset = clock_now_ns(CLOCK_TAI) - clock_now_ns(CLOCK_REALTIME);
    return static_cast<std::uint64_t>(realtime.tv_sec) * second + static_cast<std::uint64_t>(realtime.tv_nsec) +
           (offset + second / 2) / second * second;
}

template <class Value>
Value value_of(const cmsghdr& message) noexcept {
    Value value;
    std::memcpy(&value, CMSG_DATA(&message), sizeof(value));
    return value;
}

template <class Value>
cmsghdr* put_message(msghdr& header, cmsghdr* before, int level, int type, const Value& value) noexcept {
    cmsghdr* message = before == nullptr ? CMSG_FIRSTHDR(&header) : CMSG_NXTHDR(&header, before);
    message->cmsg_level = level;
    message->cmsg_type = type;
    message->cmsg_len = CMSG_LEN(sizeof(value));
    std::memcpy(CMSG_DATA(message), &value, sizeof(value));
    return message;
}

} // namespace

std::uint64_t stamp_requests(const StampCounts& counts) noexcept {
    std::uint64_t sum = 0;
    for (const StampOutcomeName& name : stamp_outcome_names)
        if (name.outcome != StampOutcome::guarded && name.outcome != StampOutcome::dropped)
            sum += counts[static_cast<std::size_t>(name.outcome)];
    return sum;
}

struct StampResponder::Request {
    sockaddr_storage from{};
    std::span<const std::uint8_t> octets;
    stamp_endpoints endpoints{};
    StampContext context;
    int interface = 0;
    bool to_group = false;

    void read(const cmsghdr& message) noexcept;
    bool receive(const Socket& socket, std::span<std::uint8_t> room) noexcept; // false: there is none
};

void StampResponder::Request::read(const cmsghdr& message) noexcept {
    if (message.cmsg_level == SOL_SOCKET && message.cmsg_type == SCM_TIMESTAMPNS) {
        context.received_ns = tai_of(value_of<timespec>(message));
    } else if (message.cmsg_level == IPPROTO_IP && message.cmsg_type == IP_PKTINFO) {
        const auto info = value_of<in_pktinfo>(message);
        endpoints.destination[0] = info.ipi_addr.s_addr;
        to_group = info.ipi_spec_dst.s_addr != info.ipi_addr.s_addr; // a broadcast of this network looks like a host
        interface = info.ipi_ifindex;
    } else if (message.cmsg_level == IPPROTO_IP && message.cmsg_type == IP_TTL) {
        context.ttl = static_cast<std::uint8_t>(value_of<int>(message));
    } else if (message.cmsg_level == IPPROTO_IP && message.cmsg_type == IP_TOS) {
        context.traffic_class = value_of<std::uint8_t>(message);
    } else if (message.cmsg_level == IPPROTO_IPV6 && message.cmsg_type == IPV6_PKTINFO) {
        const auto info = value_of<in6_pktinfo>(message);
        std::memcpy(endpoints.destination, &info.ipi6_addr, sizeof(endpoints.destination));
        interface = static_cast<int>(info.ipi6_ifindex);
    } else if (message.cmsg_level == IPPROTO_IPV6 && message.cmsg_type == IPV6_HOPLIMIT) {
        context.ttl = static_cast<std::uint8_t>(value_of<int>(message));
    } else if (message.cmsg_level == IPPROTO_IPV6 && message.cmsg_type == IPV6_TCLASS) {
        context.traffic_class = static_cast<std::uint8_t>(value_of<int>(message));
    }
}

bool StampResponder::Request::receive(const Socket& socket, std::span<std::uint8_t> room) noexcept {
    alignas(cmsghdr) char control[256];
    iovec part{room.data(), room.size()};
    msghdr header{};
    header.msg_name = &from;
    header.msg_namelen = sizeof(from);
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    const ssize_t length = recvmsg(socket.fd.get(), &header, 0);
    if (length < 0)
        return false;
    octets = room.first(static_cast<std::size_t>(length));
    context.received_ns = clock_now_ns(CLOCK_TAI);
    for (const cmsghdr* message = CMSG_FIRSTHDR(&header); message != nullptr;
         message = CMSG_NXTHDR(&header, const_cast<cmsghdr*>(message)))
        read(*message);
    endpoints.v6 = socket.v6;
    endpoints.destination_port = htons(socket.udp_port);
    if (socket.v6) {
        const auto& address = reinterpret_cast<const sockaddr_in6&>(from);
        std::memcpy(endpoints.source, &address.sin6_addr, sizeof(endpoints.source));
        endpoints.source_port = address.sin6_port;
    } else {
        const auto& address = reinterpret_cast<const sockaddr_in&>(from);
        endpoints.source[0] = address.sin_addr.s_addr;
        endpoints.source_port = address.sin_port;
    }
    return true;
}

StampResponder::OnPort::OnPort(const ReflectPort& its)
    : port(its), counters(its.counters()), snapshot(counters.empty_snapshot()) {}

StampResponder::StampResponder(const ReflectOptions& options, std::span<const ReflectPort> ports,
                               std::vector<std::string>& notes)
    : options_(options), received_(stamp_room), reply_(stamp_room),
      stop_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!stop_event_)
        throw Error::from_errno(ExitCode::os, "make an eventfd", errno);
    if (!options.stamp_key.empty())
        key_.emplace(options.stamp_key);
    if (options.program.stamp_stateful)
        previous_.resize(previous_places);
    for (const ReflectPort& port : ports)
        open_sockets(ports_.emplace_back(port), notes);
    if (!sockets_.empty())
        thread_ = start_thread<std::thread>("the STAMP sockets", [this] { run(); });
}

void StampResponder::open_sockets(OnPort& on, std::vector<std::string>& notes) {
    const std::string& interface = on.port.netdev().name();
    const match_cfg& match = options_.program.match;
    const auto refused = [&](const std::string& what, const std::string& why) {
        if (key_)
            throw Error(ExitCode::unavailable, fmt::format("{}: {}", interface, what), why,
                        "authenticated STAMP is answered by a socket only");
        notes.push_back(fmt::format("{}: no socket for {}: {}; STAMP is answered as far as the XDP program can",
                                    interface, what, why));
    };
    if (match.vlan_count || match.inner_vlan_count || match.source_mac_count || match.destination_mac_count) {
        refused("the rest of STAMP", "it would not know the VLAN tags and MAC addresses that an option restricts");
        return;
    }
    for (unsigned i = 0; i < options_.program.stamp_count; ++i) {
        const std::uint16_t udp_port = options_.program.stamp_port[i];
        for (const bool v6 : {false, true}) {
            UniqueFd fd = open_socket(interface, v6, udp_port);
            if (fd)
                sockets_.push_back({on, std::move(fd), udp_port, v6});
            else if (const int error = errno; error != EAFNOSUPPORT)
                refused(fmt::format("UDP port {} over IPv{}", udp_port, v6 ? 6 : 4), why_no_socket(error));
        }
    }
}

void StampResponder::stop() noexcept {
    if (!thread_.joinable())
        return;
    stop_.store(true, std::memory_order_relaxed);
    eventfd_write(stop_event_.get(), 1);
    thread_.join();
}

StampCounts StampResponder::counts(std::size_t port) const noexcept {
    StampCounts counts{};
    for (std::size_t i = 0; i < counts.size(); ++i)
        counts[i] = ports_[port].outcomes[i].load(std::memory_order_relaxed);
    for (const Socket& socket : sockets_)
        if (&socket.on == &ports_[port])
            counts[static_cast<std::size_t>(StampOutcome::dropped)] += dropped_at(socket.fd.get());
    return counts;
}

void StampResponder::run() noexcept {
    std::vector<pollfd> waits{{stop_event_.get(), POLLIN, 0}};
    for (const Socket& socket : sockets_)
        waits.push_back({socket.fd.get(), POLLIN, 0});
    while (!stop_.load(std::memory_order_relaxed)) {
        if (poll(waits.data(), waits.size(), -1) < 0)
            continue;
        for (std::size_t i = 0; i < sockets_.size(); ++i)
            if (waits[i + 1].revents != 0)
                take(sockets_[i], batch);
    }
    for (Socket& socket : sockets_) // what had come before the end
        take(socket, backlog);
}

void StampResponder::take(Socket& socket, unsigned most) noexcept {
    for (unsigned i = 0; i < most; ++i) {
        Request request;
        if (!request.receive(socket, received_))
            return;
        const StampOutcome outcome = answer(socket, request);
        socket.on.outcomes[static_cast<std::size_t>(outcome)].fetch_add(1, std::memory_order_relaxed);
    }
}

StampOutcome StampResponder::answer(Socket& socket, const Request& request) noexcept {
    OnPort& on = socket.on;
    if (request.to_group || stamp_guard(&request.endpoints, &options_.program, &on.port.live()) != 0)
        return StampOutcome::guarded;
    StampKey* const key = key_ ? &*key_ : nullptr;
    switch (judge_stamp(request.octets, key)) {
    case StampVerdict::too_short:
        return StampOutcome::too_short;
    case StampVerdict::wrong_hmac:
        return StampOutcome::wrong_hmac;
    case StampVerdict::sound:
        break;
    }

    StampContext context = request.context;
    context.clock = read_stamp_clock(options_.format);
    Previous* previous = nullptr;
    if (options_.program.stamp_stateful) {
        reflect_session session{.source = {},
                                .source_port = request.endpoints.source_port,
                                .destination_port = request.endpoints.destination_port,
                                .session = stamp_session_id(request.octets, key),
                                .zero = 0};
        std::memcpy(session.source, request.endpoints.source, sizeof(session.source));
        context.number = next_number(on, session);
        previous = &previous_of(session);
        // Of the program's own replies nothing is known but that they were.
        if (previous->sent && previous->sent->number + 1 == *context.number)
            context.previous = previous->sent;
    }
    if (asks_for_counters(request.octets, key))
        count(on, context);

    const StampReply reply = write_stamp_reply(request.octets, context, key, std::span(reply_).first<stamp_room>());
    const std::uint64_t sent_ns = clock_now_ns(CLOCK_TAI);
    seal_stamp(std::span(reply_).first(reply.length), sent_ns, context.clock, key);
    const bool sent = send(socket, request, reply);
    if (previous != nullptr)
        previous->sent = sent ? std::optional(StampContext::Sent{*context.number, sent_ns}) : std::nullopt;
    return sent ? StampOutcome::replied : StampOutcome::not_sent;
}

// This one will be accepted and returned.
void StampResponder::count(OnPort& on, StampContext& context) noexcept {
    const auto so_far = [&](StampOutcome outcome) {
        return on.outcomes[static_cast<std::size_t>(outcome)].load(std::memory_order_relaxed);
    };
    on.counters.read(on.snapshot);
    const SlotCounts& slots = on.snapshot.total;
    const std::uint64_t returned =
        test_traffic(slots).frames + slots[SLOT_STAMP_REPLY].frames + so_far(StampOutcome::replied) + 1;
    context.returned = static_cast<std::uint32_t>(returned);
    context.accepted = static_cast<std::uint32_t>(returned + so_far(StampOutcome::not_sent));
}

// From the address that was asked.
bool StampResponder::send(const Socket& socket, const Request& request, const StampReply& reply) noexcept {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(int))]{};
    iovec part{reply_.data(), reply.length};
    msghdr header{};
    header.msg_name = const_cast<sockaddr_storage*>(&request.from);
    header.msg_namelen = socket.v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(socket.v6 ? sizeof(in6_pktinfo) : sizeof(in_pktinfo)) + CMSG_SPACE(sizeof(int));
    const int traffic_class = reply.traffic_class;
    if (socket.v6) {
        in6_pktinfo info{};
        std::memcpy(&info.ipi6_addr, request.endpoints.destination, sizeof(info.ipi6_addr));
        info.ipi6_ifindex = static_cast<unsigned>(request.interface);
        cmsghdr* const first = put_message(header, nullptr, IPPROTO_IPV6, IPV6_PKTINFO, info);
        put_message(header, first, IPPROTO_IPV6, IPV6_TCLASS, traffic_class);
    } else {
        in_pktinfo info{};
        info.ipi_spec_dst.s_addr = request.endpoints.destination[0];
        info.ipi_ifindex = request.interface;
        cmsghdr* const first = put_message(header, nullptr, IPPROTO_IP, IP_PKTINFO, info);
        put_message(header, first, IPPROTO_IP, IP_TOS, traffic_class);
    }
    return sendmsg(socket.fd.get(), &header, 0) == static_cast<ssize_t>(reply.length);
}

// The program counts in the same table. Only replies that both make at one moment can get the same number.
std::uint32_t StampResponder::next_number(const OnPort& on, const reflect_session& session) const noexcept {
    std::uint32_t number = 0;
    if (bpf_map_lookup_elem(on.port.sessions_map(), &session, &number) != 0)
        number = 0;
    const std::uint32_t next = number + 1;
    bpf_map_update_elem(on.port.sessions_map(), &session, &next, BPF_ANY);
    return number;
}

StampResponder::Previous& StampResponder::previous_of(const reflect_session& session) noexcept {
    const std::string_view octets(reinterpret_cast<const char*>(&session), sizeof(session));
    Previous& place = previous_[std::hash<std::string_view>()(octets) % previous_.size()];
    if (std::memcmp(&place.session, &session, sizeof(session)) != 0)
        place = {session, std::nullopt};
    return place;
}

} // namespace responder
