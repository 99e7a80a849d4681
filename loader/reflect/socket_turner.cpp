// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/socket_turner.h"

#include "bpf/abi.h"
#include "loader/reflect/turn.h"

namespace responder {

SocketTurner::SocketTurner(XskSocket& socket, __u32 swap, const volatile std::uint32_t& unstamped,
                           std::optional<unsigned> cpu)
    : socket_(socket), swap_(swap), unstamped_(unstamped),
      thread_(socket, cpu, [this](unsigned segments) { return take(segments); }) {}

unsigned SocketTurner::take(unsigned segments) noexcept {
    // A frame that the driver drops comes back as one that is sent does: where there was a refusal, it may have been
    // this.
    if (const std::uint64_t sent_ns = socket_.take_awaited(); sent_ns != 0 && socket_.refused() == refused_before_)
        histogram_take(&residence_, sent_ns - began_ns_);
    const bool stamped = unstamped_ == 0;
    unsigned frames = 0;
    for (unsigned i = 0; i < segments; ++i, ++frames) {
        const xdp_desc& first = socket_.descriptor(i);
        std::size_t length = first.len;
        while (XskSocket::continues(socket_.descriptor(i)))
            length += socket_.descriptor(++i).len;
        turn_frame(socket_.data(first), first.len, length, swap_);
        const auto* arrival = reinterpret_cast<const socket_arrival*>(socket_.data(first)) - 1;
        if (stamped && arrival->ns != 0) {
            began_ns_ = arrival->ns;
            refused_before_ = socket_.refused();
            socket_.await(socket_.descriptor(i));
        }
    }
    socket_.send_back();
    return frames;
}

} // namespace responder
