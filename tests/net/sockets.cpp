// SPDX-License-Identifier: GPL-2.0-only

#include "tests/net/sockets.h"

#include "tests/harness/packet.h"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace responder::test {

namespace {

[[noreturn]] void fail(const char* what) { throw std::runtime_error(std::string(what) + ": " + std::strerror(errno)); }

struct SocketAddress {
    SocketAddress(const std::string& text, std::uint16_t port) {
        if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
            v4.sin_family = AF_INET;
            v4.sin_port = htons(port);
            length = sizeof(v4);
        } else if (inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
            v6.sin6_family = AF_INET6;
            v6.sin6_port = htons(port);
            length = sizeof(v6);
        } else {
            throw std::invalid_argument("no IP address: " + text);
        }
    }
    int family() const { return v4.sin_family != 0 ? AF_INET : AF_INET6; }
    const sockaddr* get() const {
        return family() == AF_INET ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
    }
    sockaddr_in v4{};
    sockaddr_in6 v6{};
    socklen_t length = 0;
};

UniqueFd open_socket(const Namespace& where, int family, int type, int protocol = 0) {
    return where.in([&] {
        UniqueFd fd(socket(family, type | SOCK_CLOEXEC, protocol));
        if (!fd)
            fail("open a socket");
        const timeval time{.tv_sec = patience.count(), .tv_usec = 0};
        setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
        return fd;
    });
}

} // namespace

UniqueFd udp_socket(const Namespace& where, const std::string& address, std::uint16_t port) {
    const SocketAddress own(address, port);
    UniqueFd fd = open_socket(where, own.family(), SOCK_DGRAM);
    if (bind(fd.get(), own.get(), own.length) != 0)
        fail("bind a UDP socket");
    return fd;
}

UniqueFd tcp_listener(const Namespace& where, const std::string& address, std::uint16_t port) {
    const SocketAddress own(address, port);
    UniqueFd fd = open_socket(where, own.family(), SOCK_STREAM);
    if (bind(fd.get(), own.get(), own.length) != 0 || listen(fd.get(), 5) != 0)
        fail("listen on TCP");
    return fd;
}

UniqueFd tcp_accept(const UniqueFd& listener) {
    UniqueFd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd)
        fail("accept a TCP connection");
    return fd;
}

UniqueFd tcp_connect(const Namespace& where, const std::string& address, std::uint16_t port) {
    const SocketAddress peer(address, port);
    UniqueFd fd = open_socket(where, peer.family(), SOCK_STREAM);
    if (connect(fd.get(), peer.get(), peer.length) != 0)
        fail("connect by TCP");
    return fd;
}

void send_to(const UniqueFd& socket, const std::string& address, std::uint16_t port, const Octets& data) {
    const SocketAddress peer(address, port);
    while (sendto(socket.get(), data.data(), data.size(), 0, peer.get(), peer.length) !=
           static_cast<ssize_t>(data.size())) {
        if (errno != ENOBUFS) // a veth whose ring is full says so; it will be served
            fail("send a datagram");
        std::this_thread::sleep_for(1ms);
    }
}

Octets receive_from(const UniqueFd& socket) {
    Octets data(65536);
    const ssize_t length = recv(socket.get(), data.data(), data.size(), 0);
    data.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return data;
}

void send_all(const UniqueFd& socket, const Octets& data) {
    for (std::size_t sent = 0; sent < data.size();) {
        const ssize_t length = send(socket.get(), data.data() + sent, data.size() - sent, MSG_NOSIGNAL);
        if (length < 0)
            fail("send by TCP");
        sent += static_cast<std::size_t>(length);
    }
}

Octets receive_until_end(const UniqueFd& socket) {
    Octets all;
    for (Octets part = receive_from(socket); !part.empty(); part = receive_from(socket))
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

void expect_tcp_transfers(const Lab& lab, std::size_t octets) {
    Octets data(octets);
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<std::uint8_t>(i * i >> 7);
    const UniqueFd listener = tcp_listener(lab.responder, "192.0.2.2", 5201);
    Octets received;
    std::thread server([&] { received = receive_until_end(tcp_accept(listener)); });
    {
        const UniqueFd client = tcp_connect(lab.tester, "192.0.2.2", 5201);
        send_all(client, data);
    }
    server.join();
    EXPECT_TRUE(received == data) << received.size() << " octets of " << data.size();
}

unsigned ping(const Namespace& from, const std::string& address, unsigned count, std::size_t payload,
              std::chrono::milliseconds patience_each) {
    from.sysctl("ipv4/ping_group_range", "0 0");
    const SocketAddress peer(address, 0);
    const bool v4 = peer.family() == AF_INET;
    const UniqueFd socket = open_socket(from, peer.family(), SOCK_DGRAM, v4 ? int{IPPROTO_ICMP} : int{IPPROTO_ICMPV6});
    const timeval time{.tv_sec = patience_each.count() / 1000, .tv_usec = patience_each.count() % 1000 * 1000};
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    unsigned answered = 0;
    for (unsigned i = 0; i < count; ++i) {
        Octets echo{static_cast<std::uint8_t>(v4 ? 8 : 128), 0, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(i)};
        const Octets octets = packet::payload(payload).octets;
        echo.insert(echo.end(), octets.begin(), octets.end());
        send_to(socket, address, 0, echo);
        const Octets reply = receive_from(socket);
        echo[0] = v4 ? 0 : 129;
        // Identifier and checksum are the kernel's.
        if (reply.size() == echo.size() && reply[0] == echo[0] &&
            Octets(reply.begin() + 6, reply.end()) == Octets(echo.begin() + 6, echo.end()))
            ++answered;
    }
    return answered;
}

} // namespace responder::test
