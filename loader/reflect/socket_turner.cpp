// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/socket_turner.h"

#include "loader/reflect/turn.h"

namespace responder {

SocketTurner::SocketTurner(XskSocket& socket, __u32 swap, std::optional<unsigned> cpu)
    : socket_(socket), swap_(swap), thread_(socket, cpu, [this](unsigned segments) { return take(segments); }) {}

unsigned SocketTurner::take(unsigned segments) noexcept {
    unsigned frames = 0;
    for (unsigned i = 0; i < segments; ++i, ++frames) {
        const xdp_desc& first = socket_.descriptor(i);
        std::size_t length = first.len;
        while (XskSocket::continues(socket_.descriptor(i)))
            length += socket_.descriptor(++i).len;
        turn_frame(socket_.data(first), first.len, length, swap_);
    }
    socket_.send_back();
    return frames;
}

} // namespace responder
