// SPDX-License-Identifier: GPL-2.0-only
//
// A UDP echo server (RFC 862) on one socket, with as little delay as sockets allow. Runs until it is killed.
//
//     udp_echo PORT spin|wait
//
// spin: asks the socket without end, so that nobody has to wake it, and lets others on the CPU, as the kernel's own
// thread for soft interrupts, only when there is nothing. wait: sleeps in between, as servers do.

#include "loader/fd.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
    if (argc != 3)
        return 64;
    const responder::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[1])));
    if (bind(socket.get(), reinterpret_cast<sockaddr*>(&own), sizeof(own)) != 0) {
        std::perror("bind");
        return 71;
    }
    const int flags = std::string_view(argv[2]) == "spin" ? MSG_DONTWAIT : 0;
    std::fputs("ready\n", stderr);
    std::array<char, 2048> datagram;
    for (;;) {
        sockaddr_in from{};
        socklen_t length = sizeof(from);
        const ssize_t octets = recvfrom(socket.get(), datagram.data(), datagram.size(), flags,
                                        reinterpret_cast<sockaddr*>(&from), &length);
        if (octets < 0)
            sched_yield();
        else
            sendto(socket.get(), datagram.data(), static_cast<std::size_t>(octets), 0,
                   reinterpret_cast<const sockaddr*>(&from), length);
    }
}
