// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/port_sockets.h"

#include "loader/error.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>

#include <cerrno>
#include <cstdint>

namespace responder {

std::optional<unsigned> cpu_of_reader(unsigned reader) {
    cpu_set_t set;
    std::vector<unsigned> cpus;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &set))
                cpus.push_back(cpu);
    if (reader + 1 >= cpus.size())
        return std::nullopt;
    return cpus[cpus.size() - 1 - reader];
}

PortSockets::PortSockets(const Netdev& netdev, unsigned queues_in_use, unsigned queues_possible, XskUse use,
                         XskCopy copy, unsigned largest_frame) {
    for (unsigned queue = 0; queue < queues_in_use; ++queue)
        sockets_.push_back(std::make_unique<XskSocket>(netdev, queue, use, copy, largest_frame));
    map_.reset(bpf_map_create(BPF_MAP_TYPE_XSKMAP, "port_sockets", sizeof(std::uint32_t), sizeof(std::uint32_t),
                              queues_possible, nullptr));
    if (!map_)
        throw Error::from_errno(ExitCode::os, "make the map of AF_XDP sockets", errno);
    for (std::uint32_t queue = 0; queue < queues_in_use; ++queue) {
        const std::uint32_t socket = static_cast<std::uint32_t>(sockets_[queue]->fd());
        if (bpf_map_update_elem(map_.get(), &queue, &socket, BPF_ANY) != 0)
            throw Error::from_errno(ExitCode::os, "put an AF_XDP socket into its map", errno);
    }
}

void PortSockets::give_to_program(const PortSockets* sockets, bpf_map* map) {
    if (sockets == nullptr)
        bpf_map__set_autocreate(map, false); // a kernel may have no such maps
    else if (const int error = bpf_map__reuse_fd(map, sockets->map_.get()); error != 0)
        throw Error::from_errno(ExitCode::os, "give the XDP program its AF_XDP sockets", -error);
}

} // namespace responder
