// SPDX-License-Identifier: GPL-2.0-only
//
// The simplest receiver on an AF_XDP socket, as libxdp's own examples have it: it looks at no frame, gives each one's
// memory back and counts. In copy mode, on queue 0, with an XDP program that does nothing but hand over (xdp_redirect
// in tests/harness/floor.bpf.c). Runs until SIGINT; then it prints how many frames it received.
//
//     xsk_drop INTERFACE

#include "floor.skel.h"
#include "loader/attachment.h"
#include "loader/error.h"
#include "loader/netdev.h"
#include "loader/skeleton.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <xdp/xsk.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

namespace {

using namespace responder;

constexpr unsigned frames = 8192, batch = 64; // as many as xdp-sink's sockets have

volatile std::sig_atomic_t stopped = 0;
void stop(int) { stopped = 1; }

void check(int error, const char* what) {
    if (error != 0)
        throw Error::from_errno(ExitCode::os, what, -error);
}

std::uint64_t receive(const char* interface) {
    constexpr std::size_t size = std::size_t{frames} * XSK_UMEM__DEFAULT_FRAME_SIZE;
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    xsk_ring_prod fill{};
    xsk_ring_cons completion{}, received{};
    xsk_umem* umem = nullptr;
    xsk_umem_config umem_config{.fill_size = frames,
                                .comp_size = XSK_RING_CONS__DEFAULT_NUM_DESCS,
                                .frame_size = XSK_UMEM__DEFAULT_FRAME_SIZE,
                                .frame_headroom = 0,
                                .flags = 0};
    check(xsk_umem__create(&umem, memory, size, &fill, &completion, &umem_config), "make the memory of a socket");
    xsk_socket* socket = nullptr;
    xsk_socket_config config{};
    config.rx_size = frames / 2;
    config.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
    config.bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP;
    const auto create = [&] { return xsk_socket__create(&socket, interface, 0, umem, &received, nullptr, &config); };
    int error = create();
    for (int attempt = 0; error == -EBUSY && attempt < 100; ++attempt, error = create())
        std::this_thread::sleep_for(std::chrono::milliseconds(10)); // of the one before: the kernel lets go of it later
    check(error, "make a socket");

    std::uint32_t at = 0;
    xsk_ring_prod__reserve(&fill, frames, &at);
    for (std::uint32_t i = 0; i < frames; ++i)
        *xsk_ring_prod__fill_addr(&fill, at + i) = std::uint64_t{i} * XSK_UMEM__DEFAULT_FRAME_SIZE;
    xsk_ring_prod__submit(&fill, frames);

    Skeleton<floor_bpf> floor;
    floor.load();
    const std::uint32_t queue = 0, fd = static_cast<std::uint32_t>(xsk_socket__fd(socket));
    check(bpf_map__update_elem(floor->maps.floor_sockets, &queue, sizeof(queue), &fd, sizeof(fd), BPF_ANY),
          "put the socket into its map");
    const auto link =
        Attachment::attach(Netdev::find(interface), bpf_program__fd(floor->progs.xdp_redirect), XdpMode::native);
    if (const auto* refused = std::get_if<AttachRefused>(&link))
        check(-refused->error, "attach the program");

    std::signal(SIGINT, stop);
    fmt::print(stderr, "ready\n");
    std::uint64_t count = 0;
    while (stopped == 0) {
        std::uint32_t from = 0;
        const std::uint32_t some = xsk_ring_cons__peek(&received, batch, &from);
        if (some == 0) {
            pollfd wait{.fd = static_cast<int>(fd), .events = POLLIN, .revents = 0};
            poll(&wait, 1, 100);
            continue;
        }
        xsk_ring_prod__reserve(&fill, some, &at); // it has a place for every frame
        for (std::uint32_t i = 0; i < some; ++i)
            *xsk_ring_prod__fill_addr(&fill, at + i) = xsk_ring_cons__rx_desc(&received, from + i)->addr;
        xsk_ring_prod__submit(&fill, some);
        xsk_ring_cons__release(&received, some);
        count += some;
    }
    return count;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2)
        return 64;
    try {
        fmt::print("{}\n", receive(argv[1]));
    } catch (const std::exception& error) {
        fmt::print(stderr, "xsk_drop: {}\n", error.what());
        return 71;
    }
}
