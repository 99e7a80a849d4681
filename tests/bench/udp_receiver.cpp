// SPDX-License-Identifier: GPL-2.0-only
//
// What one would write without XDP: a UDP receiver on one socket, as fast as sockets allow. Receives for the given time
// and prints how many datagrams arrived and in how many seconds, from the first batch to the last.
//
//     udp_receiver PORT SECONDS plain|gro
//
// plain: recvmmsg(2), a batch a call, each datagram cut to what is looked at. gro: the kernel also joins datagrams of
// one flow on their way (UDP_GRO), which are counted by the segment size that it tells.

#include "loader/fd.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

// More in a call makes no measurable difference; fewer does.
constexpr std::size_t batch = 256;
constexpr int receive_buffer = 64 << 20; // room for what comes while this process is not on a CPU

struct Batch {
    std::size_t buffer_size;
    std::vector<std::uint8_t> buffers;
    std::array<iovec, batch> vectors{};
    std::array<mmsghdr, batch> messages{};
    std::vector<std::array<char, CMSG_SPACE(sizeof(int))>> controls{batch};

    explicit Batch(std::size_t size) : buffer_size(size), buffers(size * batch) {}

    void reset(bool gro) {
        for (std::size_t i = 0; i < batch; ++i) {
            vectors[i] = {buffers.data() + i * buffer_size, buffer_size};
            messages[i].msg_hdr = {};
            messages[i].msg_hdr.msg_iov = &vectors[i];
            messages[i].msg_hdr.msg_iovlen = 1;
            if (gro) {
                messages[i].msg_hdr.msg_control = controls[i].data();
                messages[i].msg_hdr.msg_controllen = controls[i].size();
            }
        }
    }

    std::uint64_t datagrams(std::size_t i) {
        msghdr& header = messages[i].msg_hdr;
        for (cmsghdr* control = CMSG_FIRSTHDR(&header); control != nullptr; control = CMSG_NXTHDR(&header, control)) {
            if (control->cmsg_level != SOL_UDP || control->cmsg_type != UDP_GRO)
                continue;
            int segment = 0;
            std::memcpy(&segment, CMSG_DATA(control), sizeof(segment));
            const auto length = static_cast<unsigned>(messages[i].msg_len);
            return segment > 0 ? (length + static_cast<unsigned>(segment) - 1) / static_cast<unsigned>(segment) : 1;
        }
        return 1;
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc != 4)
        return 64;
    const auto port = static_cast<std::uint16_t>(std::atoi(argv[1]));
    const std::chrono::duration<double> time(std::atof(argv[2]));
    const bool gro = std::string_view(argv[3]) == "gro";

    const responder::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    const int on = 1;
    const timeval timeout{.tv_sec = 0, .tv_usec = 100'000};
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &receive_buffer, sizeof(receive_buffer));
    setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    if ((gro && setsockopt(socket.get(), SOL_UDP, UDP_GRO, &on, sizeof(on)) != 0) ||
        bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        std::perror("udp_receiver");
        return 71;
    }
    fmt::print(stderr, "ready\n");

    Batch messages(gro ? 65536 : 64);
    std::uint64_t datagrams = 0;
    Clock::time_point first{}, last{};
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
        messages.reset(gro);
        const int received = recvmmsg(socket.get(), messages.messages.data(), batch, MSG_WAITFORONE, nullptr);
        if (received <= 0)
            continue;
        last = Clock::now();
        if (datagrams == 0)
            first = last;
        for (int i = 0; i < received; ++i)
            datagrams += gro ? messages.datagrams(static_cast<std::size_t>(i)) : 1;
    }
    fmt::print("{} {}\n", datagrams, std::chrono::duration<double>(last - first).count());
}
