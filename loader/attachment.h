// SPDX-License-Identifier: GPL-2.0-only
//
// A program on a port. Attachment is a bpf_link that the process owns (kernel 5.9): it is gone however the process
// ends. DispatcherAttachment shares the port through libxdp, whose links are pinned: it is gone when the object ends,
// but not when the process is killed.

#pragma once

#include "loader/fd.h"
#include "loader/netdev.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

struct bpf_object;
struct xdp_program;

namespace responder {

enum class XdpMode { native, generic };
std::string_view to_string(XdpMode mode);

// Why a port cannot have the program in that mode; foreseen, so a value.
struct AttachRefused {
    int error = 0;
    std::string kernel_message; // the driver's own words, where it has any
};

class Attachment {
  public:
    // Throws Error(unavailable) where another program sits on the port, naming it, and Error(no_permission).
    static std::variant<Attachment, AttachRefused> attach(const Netdev& netdev, int program_fd, XdpMode mode);

    // `link` as it was just read. False where somebody has taken the program off (`bpftool link detach`).
    bool is_on(const LinkState& link) const noexcept { return link.has_program(program_id_); }

  private:
    Attachment(UniqueFd link, std::uint32_t program_id) : link_(std::move(link)), program_id_(program_id) {}
    UniqueFd link_;
    std::uint32_t program_id_;
};

class DispatcherAttachment {
  public:
    // `object` must be opened and not loaded: libxdp loads it as a part of its dispatcher. Throws Error like attach().
    static std::variant<DispatcherAttachment, AttachRefused> attach(const Netdev& netdev, bpf_object* object,
                                                                    const char* program_name, XdpMode mode);
    DispatcherAttachment(DispatcherAttachment&& other) noexcept;
    DispatcherAttachment& operator=(DispatcherAttachment&&) = delete;
    ~DispatcherAttachment();

    // False where the kernel gave libxdp no dispatcher and the program is on the port alone: no other can join it.
    bool shared() const noexcept { return shared_; }
    bool is_on(const LinkState& link);

  private:
    DispatcherAttachment(xdp_program* program, int ifindex, XdpMode mode)
        : program_(program), ifindex_(ifindex), mode_(mode) {}
    xdp_program* program_;
    int ifindex_;
    XdpMode mode_;
    bool shared_ = false;
    std::uint32_t dispatcher_ = 0; // the one that was last seen to have the program in it; each change makes a new one
};

} // namespace responder
