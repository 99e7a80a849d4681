// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/show.h"

#include "loader/error.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <utility>

namespace responder {

namespace {

constexpr int clients_at_a_time = 64;

std::pair<sockaddr_un, socklen_t> address_of(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
    std::memcpy(address.sun_path + 1, name.data(), length); // behind a zero: abstract
    return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length)};
}

} // namespace

std::string show_name(const std::string& command, int ifindex, const std::string& form) {
    return fmt::format("{}/{}/{}", command, ifindex, form);
}

ShowListener::ShowListener(const std::string& name)
    : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const auto [address, length] = address_of(name);
    if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        listen(socket_.get(), clients_at_a_time) != 0) {
        error_ = errno;
        socket_.reset();
    }
}

void ShowListener::answer(Clock::time_point now, const std::function<std::string()>& read) {
    if (now < next_reading_)
        return;
    std::string text;
    for (int i = 0; i < clients_at_a_time; ++i) {
        const UniqueFd client(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!client)
            return;
        if (text.empty()) {
            text = read();
            next_reading_ = now + between_readings;
        }
        send(client.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

Shown ask_to_show(const std::string& interface, const std::string& command, const std::string& name) {
    constexpr auto patience = std::chrono::seconds(3);
    constexpr std::size_t longest = 1U << 20;
    const auto silent = [&] {
        return Error(ExitCode::unavailable, interface, fmt::format("the {} there does not answer", command),
                     "it is stopped, or just about to end");
    };
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto [address, length] = address_of(name);
    if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
        if (errno == EAGAIN) // as many ask as can wait
            throw silent();
        if (errno != ECONNREFUSED)
            throw Error::from_errno(ExitCode::os, fmt::format("{}: ask the {} there", interface, command), errno);
        throw Error(ExitCode::unavailable, interface,
                    fmt::format("no {} runs there, in this network namespace", command));
    }
    ucred who{};
    socklen_t size = sizeof(who);
    if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
        throw Error::from_errno(ExitCode::os, fmt::format("{}: ask who answers", interface), errno);
    Shown shown{.text = {}, .process = static_cast<unsigned>(who.pid), .user = who.uid};
    for (const auto deadline = std::chrono::steady_clock::now() + patience;;) {
        char room[4096];
        const ssize_t octets = recv(socket.get(), room, sizeof(room), 0);
        if (octets == 0 && !shown.text.empty())
            break;
        if (octets > 0)
            shown.text.append(room, static_cast<std::size_t>(octets));
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
        if (octets == 0 || (octets < 0 && errno != EAGAIN) || left <= 0 || shown.text.size() > longest)
            throw silent();
        pollfd readable{.fd = socket.get(), .events = POLLIN, .revents = 0};
        if (octets < 0)
            poll(&readable, 1, static_cast<int>(left));
    }
    // Anybody may have taken the name: nothing of it gets to command a terminal. Of octets above 0x7f it depends on the
    // terminal's character set what they do.
    std::ranges::replace_if(
        shown.text, [](char c) { return c != '\n' && (c < ' ' || c > '~'); }, '?');
    return shown;
}

} // namespace responder
