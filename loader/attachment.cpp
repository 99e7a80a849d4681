// SPDX-License-Identifier: GPL-2.0-only

#include "loader/attachment.h"

#include "loader/capabilities.h"
#include "loader/error.h"
#include "loader/libbpf_log.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/if_link.h>
#include <xdp/libxdp.h>

#include <cerrno>
#include <memory>
#include <utility>

namespace responder {

namespace {

std::uint32_t mode_flag(XdpMode mode) { return mode == XdpMode::native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE; }

xdp_attach_mode libxdp_mode(XdpMode mode) { return mode == XdpMode::native ? XDP_MODE_NATIVE : XDP_MODE_SKB; }

// Same-mode and other-mode occupation, in this order.
bool means_occupied(int error) { return error == EBUSY || error == EEXIST; }

bool held_by_link(int ifindex, std::uint32_t program) {
    std::uint32_t id = 0;
    while (bpf_link_get_next_id(id, &id) == 0) {
        const UniqueFd link(bpf_link_get_fd_by_id(id));
        bpf_link_info info{};
        std::uint32_t length = sizeof(info);
        if (link && bpf_obj_get_info_by_fd(link.get(), &info, &length) == 0 && info.type == BPF_LINK_TYPE_XDP &&
            info.prog_id == program && info.xdp.ifindex == static_cast<std::uint32_t>(ifindex))
            return true;
    }
    return false;
}

// Another program on the port, as far as the privileges allow to look, and how to get it off.
struct Occupant {
    std::string text, remedy;
};

Occupant look_at(const Netdev& netdev, std::uint32_t id, std::string_view mode, std::string_view ip_keyword) {
    const std::string take_off = fmt::format("`ip link set dev {} {} off`", netdev.name(), ip_keyword);
    std::string text = fmt::format("id {}, {} mode", id, mode);
    if (!may_look_up_programs())
        return {text + " (its name shows only with CAP_SYS_ADMIN)",
                fmt::format("end the process that holds it; one that was left behind goes by {}", take_off)};
    const UniqueFd program(bpf_prog_get_fd_by_id(id));
    bpf_prog_info info{};
    std::uint32_t length = sizeof(info);
    if (!program || bpf_obj_get_info_by_fd(program.get(), &info, &length) != 0)
        info = {};
    text += fmt::format(", name {}", info.name);
    if (info.name == std::string_view("xdp_dispatcher"))
        return {text + ", libxdp's",
                fmt::format("--dispatcher shares the port with it, `xdp-loader unload {} --all` takes it off",
                            netdev.name())};
    if (held_by_link(netdev.index(), id))
        return {text + ", held by a bpf_link of its process", "end that process first"};
    return {text + ", attached through netlink", take_off + " takes it off"};
}

Error occupied(const Netdev& netdev) {
    const LinkState link = netdev.link();
    std::string who, remedy;
    const auto add = [&](std::uint32_t id, std::string_view mode, std::string_view ip_keyword) {
        if (id == 0)
            return;
        const Occupant occupant = look_at(netdev, id, mode, ip_keyword);
        who += (who.empty() ? "" : " and ") + occupant.text;
        remedy += (remedy.empty() ? "" : ", and ") + occupant.remedy;
    };
    add(link.native_program, "native", "xdpdrv");
    add(link.generic_program, "generic", "xdpgeneric");
    add(link.offloaded_program, "offloaded", "xdpoffload");
    if (who.empty())
        return Error(ExitCode::unavailable, netdev.name(), "another XDP program was attached a moment ago",
                     "try again");
    return Error(ExitCode::unavailable, netdev.name(), "another XDP program sits on it: " + who, remedy);
}

// Throws where no other mode can help.
void check_refusal(const Netdev& netdev, int error) {
    if (means_occupied(error))
        throw occupied(netdev);
    if (error == EPERM)
        throw Error::from_errno(ExitCode::no_permission, netdev.name() + ": attach the XDP program", error);
    if (error == ENODEV)
        throw Error(ExitCode::temporary, netdev.name(), "the interface is gone");
}

std::uint32_t id_of(int program_fd) {
    bpf_prog_info info{};
    std::uint32_t length = sizeof(info);
    if (bpf_obj_get_info_by_fd(program_fd, &info, &length) != 0)
        throw Error::from_errno(ExitCode::os, "ask the kernel for the program's id", errno);
    return info.id;
}

struct CloseMultiprog {
    void operator()(xdp_multiprog* programs) const noexcept { xdp_multiprog__close(programs); }
};

// What libxdp finds on an interface; null where that is nothing.
std::unique_ptr<xdp_multiprog, CloseMultiprog> programs_on(int ifindex) {
    xdp_multiprog* programs = xdp_multiprog__get_from_ifindex(ifindex);
    return std::unique_ptr<xdp_multiprog, CloseMultiprog>(libxdp_get_error(programs) == 0 ? programs : nullptr);
}

// bpf_link_create has no way to hand out the driver's words; the older way to attach has. It is refused for the same
// reason; should it not be (the reason has just gone away), the program is taken off again at once.
std::string ask_for_the_reason(const Netdev& netdev, int program_fd, XdpMode mode) {
    const std::uint32_t flags = mode_flag(mode) | XDP_FLAGS_UPDATE_IF_NOEXIST;
    take_kernel_message();
    if (bpf_xdp_attach(netdev.index(), program_fd, flags, nullptr) == 0) {
        LIBBPF_OPTS(bpf_xdp_attach_opts, options, .old_prog_fd = program_fd);
        bpf_xdp_detach(netdev.index(), mode_flag(mode), &options);
    }
    return take_kernel_message();
}

} // namespace

std::string_view to_string(XdpMode mode) { return mode == XdpMode::native ? "native" : "generic"; }

std::variant<Attachment, AttachRefused> Attachment::attach(const Netdev& netdev, int program_fd, XdpMode mode) {
    LIBBPF_OPTS(bpf_link_create_opts, options, .flags = mode_flag(mode));
    UniqueFd link(bpf_link_create(program_fd, netdev.index(), BPF_XDP, &options));
    if (link)
        return Attachment(std::move(link), id_of(program_fd));
    const int error = errno;
    check_refusal(netdev, error);
    return AttachRefused{error, ask_for_the_reason(netdev, program_fd, mode)};
}

std::variant<DispatcherAttachment, AttachRefused> DispatcherAttachment::attach(const Netdev& netdev, bpf_object* object,
                                                                               const char* program_name, XdpMode mode) {
    DECLARE_LIBXDP_OPTS(xdp_program_opts, options, .obj = object, .prog_name = program_name);
    xdp_program* program = xdp_program__create(&options);
    if (const long error = libxdp_get_error(program); error != 0)
        throw Error::from_errno(ExitCode::internal, "hand the XDP program to libxdp", static_cast<int>(error));
    take_kernel_message();
    const int error = -xdp_program__attach(program, netdev.index(), libxdp_mode(mode), 0);
    if (error == 0) {
        DispatcherAttachment attachment(program, netdev.index(), mode);
        const auto programs = programs_on(netdev.index());
        attachment.shared_ = programs && !xdp_multiprog__is_legacy(programs.get());
        return attachment;
    }
    xdp_program__close(program);
    check_refusal(netdev, error);
    return AttachRefused{error, take_kernel_message()};
}

bool DispatcherAttachment::is_on(const LinkState& link) {
    if (!shared_)
        return link.has_program(xdp_program__id(program_));
    if (dispatcher_ != 0 && link.has_program(dispatcher_))
        return true;
    // Twice: libxdp finds nothing while another process is just replacing one dispatcher by the next.
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto programs = programs_on(ifindex_);
        for (xdp_program* each = nullptr;
             programs && (each = xdp_multiprog__next_prog(each, programs.get())) != nullptr;) {
            if (xdp_program__id(each) != xdp_program__id(program_))
                continue;
            dispatcher_ = xdp_program__id(xdp_multiprog__main_prog(programs.get()));
            return true;
        }
    }
    return false;
}

DispatcherAttachment::DispatcherAttachment(DispatcherAttachment&& other) noexcept
    : program_(std::exchange(other.program_, nullptr)), ifindex_(other.ifindex_), mode_(other.mode_),
      shared_(other.shared_), dispatcher_(other.dispatcher_) {}

DispatcherAttachment::~DispatcherAttachment() {
    if (program_ == nullptr)
        return;
    xdp_program__detach(program_, ifindex_, libxdp_mode(mode_), 0);
    xdp_program__close(program_);
}

} // namespace responder
