// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/snapshot.h"

#include "loader/error.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace responder {

namespace {

constexpr int clients_at_a_time = 8;

std::pair<sockaddr_un, socklen_t> address_of(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
    std::memcpy(address.sun_path + 1, name.data(), length); // behind a zero: abstract
    return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length)};
}

} // namespace

std::string snapshot_name(const std::string& command, int ifindex, const std::string& form) {
    return fmt::format("{}/{}/{}", command, ifindex, form);
}

SnapshotListener::SnapshotListener(const std::string& name)
    : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const auto [address, length] = address_of(name);
    if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        listen(socket_.get(), clients_at_a_time) != 0)
        socket_.reset();
}

void SnapshotListener::answer(const std::function<std::string()>& snapshot) const {
    std::string text;
    for (int i = 0; i < clients_at_a_time; ++i) {
        const UniqueFd client(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!client)
            return;
        if (text.empty())
            text = snapshot();
        send(client.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

FetchedSnapshot fetch_snapshot(const std::string& name, const std::string& what) {
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval patience{.tv_sec = 3, .tv_usec = 0};
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)); // also of connect()
    const auto [address, length] = address_of(name);
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 && errno == ECONNREFUSED)
        throw Error(ExitCode::unavailable, what, "does not run there, in this network namespace");
    FetchedSnapshot snapshot{};
    ucred who{};
    socklen_t size = sizeof(who);
    if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0) {
        snapshot.process = static_cast<unsigned>(who.pid);
        snapshot.user = who.uid;
    }
    char room[4096];
    ssize_t octets = 0;
    while ((octets = recv(socket.get(), room, sizeof(room), 0)) > 0)
        snapshot.text.append(room, static_cast<std::size_t>(octets));
    if (octets < 0 || snapshot.text.empty())
        throw Error(ExitCode::unavailable, what, fmt::format("process {} does not answer", snapshot.process),
                    "it is stopped, or just about to end");
    return snapshot;
}

} // namespace responder
