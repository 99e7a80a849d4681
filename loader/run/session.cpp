// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/session.h"

#include "loader/capabilities.h"
#include "loader/command.h"
#include "loader/run/ssh_session.h"
#include "loader/wire.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/if_ether.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

namespace responder {

namespace {

using namespace std::chrono_literals;

// How often the counters are read. It bounds how exactly the time is known in which traffic flowed, and how far --count
// and --duration overshoot; shorter costs wake-ups while nothing happens.
constexpr auto tick_period = 20ms;

void refuse_ssh_port(const Netdev& netdev, const std::set<int>& ssh_interfaces, std::string_view option) {
    if (ssh_interfaces.contains(netdev.index()))
        throw Error(ExitCode::usage, fmt::format("{}: {}", netdev.name(), option),
                    "this port carries the SSH session that you are typing in",
                    "choose test traffic by --port, --dst or --src, or add --force");
}

// The stack answers for the addresses that it has, and what comes to them is no test traffic.
void refuse_own_addresses(const std::vector<Prefix>& addresses) {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0)
        throw Error::from_errno(ExitCode::os, "list this machine's addresses", errno);
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(first, &freeifaddrs);
    for (const ifaddrs* own = first; own != nullptr; own = own->ifa_next) {
        for (const Prefix& address : addresses) {
            if (own->ifa_addr != nullptr && IpAddress::from(*own->ifa_addr) == static_cast<const IpAddress&>(address))
                throw Error(ExitCode::usage, "--address " + address.text(),
                            fmt::format("{} has this address, and the stack answers for it", own->ifa_name),
                            "give the test an address of its own, or none, and choose its traffic by --port");
        }
    }
}

} // namespace

std::vector<Netdev> Session::find_interfaces(std::string_view takes_all) const {
    std::vector<Netdev> netdevs;
    for (const std::string& name : options_.interfaces)
        netdevs.push_back(Netdev::find(name));
    require_capabilities();
    if (options_.dispatcher && !may_look_up_programs())
        throw Error(ExitCode::no_permission, "--dispatcher",
                    "CAP_SYS_ADMIN is missing, with which libxdp looks up programs",
                    "run it as root, or without --dispatcher");
    if (!takes_all.empty() && !options_.force) {
        const std::set<int> ssh_interfaces = interfaces_of_ssh_session();
        for (const Netdev& netdev : netdevs)
            refuse_ssh_port(netdev, ssh_interfaces, takes_all);
    }
    refuse_own_addresses(options_.addresses);
    return netdevs;
}

void Session::begin_watching(const std::vector<std::string>& notes) {
    attached_ = Clock::now();
    EventLoop::heed_signals();
    for (const std::string& note : notes)
        say(note);
}

void Session::introduce_sockets(const Port& port) const {
    const SocketsObtained& got = *port.sockets_obtained();
    say(fmt::format("{}: test frames go to an AF_XDP socket for each queue, {}, need_wakeup{}", port.netdev().name(),
                    got.zero_copy ? "zero-copy: the NIC writes into its memory" : "copied by the kernel",
                    got.busy_polling ? ", busy polling" : ", no busy polling"));
    if (got.largest_frame < port.mtu() + ETH_HLEN)
        say(fmt::format("{}: this kernel gives a socket frames of up to {} octets with FCS; longer ones, which MTU {} "
                        "allows, are counted and then lost",
                        port.netdev().name(), got.largest_frame + wire::fcs_bytes, port.mtu()));
    for (std::size_t queue = 0; options_.verbose && queue < got.cpu.size(); ++queue)
        say(fmt::format("{}: queue {} is read on {}", port.netdev().name(), queue,
                        got.cpu[queue] ? fmt::format("CPU {}, which has no other reader", *got.cpu[queue])
                                       : "any CPU: there are not enough for one of its own"));
}

void Session::introduce() const {
    for (const Port* each : ports_) {
        const Port& port = *each;
        const Obtained& got = port.obtained();
        say(fmt::format("{}: {} XDP{} on {}, {} receive queue{}, MTU {}{}{}", port.netdev().name(), to_string(got.mode),
                        got.dispatcher ? " through libxdp's dispatcher" : "", port.driver_text(), port.queues(),
                        port.queues() == 1 ? "" : "s", port.mtu(), got.multi_buffer ? ", multi-buffer frames" : "",
                        port.vlan_stripping_switched_off() ? "; VLAN tag stripping is off until the end" : ""));
        if (port.sockets_obtained())
            introduce_sockets(port);
        say(fmt::format("{}: {}", port.netdev().name(), what_becomes_of_frames(port)));
        say(fmt::format("{}: type into the tester: {}", port.netdev().name(),
                        tester_settings(port.match(), port.mac(), options_.addresses)));
        if (got.dispatcher)
            say(fmt::format(
                "{0}: libxdp's attachment outlives a killed process; `xdp-loader unload {0} --all` takes it off then",
                port.netdev().name()));
        else if (options_.dispatcher)
            say(fmt::format(
                "{0}: this kernel gives libxdp no dispatcher: the program is alone on the port, and none can join it. "
                "It outlives a killed process; `ip link set dev {0} {1} off` takes it off then",
                port.netdev().name(), got.mode == XdpMode::native ? "xdpdrv" : "xdpgeneric"));
    }
}

void Session::end(Ending reason) noexcept {
    if (!ended_by_)
        ended_by_ = reason;
    loop_.stop();
}

void Session::on_interval() {
    std::optional<std::chrono::duration<double>> left;
    if (options_.duration)
        left = std::max<std::chrono::duration<double>>(begin_ + *options_.duration - Clock::now(), 0s);
    report_interval(left);
    for (Port* port : ports_)
        if (const std::string text = port->queues_changed(); !text.empty())
            tell(*port, text);
    check_attachments();
}

void Session::tell(const Port& port, const std::string& text) {
    say(text);
    report_event(port, text);
}

void Session::check_attachments() {
    const auto lost = std::ranges::find_if_not(ports_, &Port::is_attached);
    if (lost == ports_.end())
        return;
    tell(**lost, fmt::format("{}: somebody has taken the XDP program off the port: what came since is not counted",
                             (*lost)->netdev().name()));
    ended_by_ = Ending::program_gone; // whatever else ends it
    loop_.stop();
}

void Session::on_tick() {
    std::uint64_t frames = 0;
    for (Port* port : ports_)
        frames += port->poll();
    if (waiting_ && (frames != 0 || !awaits_carrier())) {
        waiting_ = false;
        for (Port* port : ports_)
            port->restart_clock();
        begin();
    }
    const Clock::time_point now = Clock::now();
    if (now >= next_interval_) {
        on_interval();
        while (next_interval_ <= now)
            next_interval_ += options_.interval;
    }
    tick(now);
    if (waiting_)
        return;
    if (options_.count && frames >= *options_.count)
        end(Ending::count);
    else if (options_.duration && now - begin_ >= *options_.duration)
        end(Ending::duration);
}

void Session::link_changed(const LinkState& link, bool removed) {
    const auto found = std::ranges::find(ports_, link.index, [](const Port* p) { return p->netdev().index(); });
    if (found == ports_.end())
        return;
    Port& port = **found;
    std::string text;
    if (removed) {
        text =
            fmt::format("{}: the interface is gone (deleted, or moved to another namespace{}{})", port.netdev().name(),
                        port.vlan_stripping_switched_off() ? ", where VLAN tag stripping stays off" : "",
                        options_.dispatcher ? "; there the program is still on it: `xdp-loader unload`" : "");
        end(Ending::interface_gone);
    } else {
        // A link that goes down this soon was taken down by the driver for the program. The kernel announces it up to a
        // second late (net/core/link_watch.c).
        text = port.link_changed(link, Clock::now() - attached_ < 2s);
    }
    if (!text.empty())
        tell(port, text);
}

void Session::links_changed() {
    if (monitor_.read([this](const LinkState& link, bool removed) { link_changed(link, removed); }))
        return;
    NetlinkSocket netlink; // news was lost: ask
    for (const Port* port : ports_) {
        LinkState link;
        link.index = port->netdev().index();
        const bool found = netlink.read_link(port->netdev().index(), link);
        link_changed(link, !found);
    }
}

bool Session::awaits_carrier() const noexcept { return std::ranges::none_of(ports_, &Port::has_carrier); }

void Session::begin() noexcept {
    started_ = std::chrono::system_clock::now();
    begin_ = Clock::now();
    next_interval_ = begin_ + options_.interval;
}

ExitCode Session::run() {
    if (!options_.quiet)
        introduce();
    begin();
    report_start();
    waiting_ = awaits_carrier();
    for (const Port* port : ports_)
        if (!port->has_carrier())
            say(fmt::format("{}: {}{}", port->netdev().name(),
                            port->is_up() ? std::string("no carrier yet")
                                          : fmt::format("switched off (`ip link set {} up`)", port->netdev().name()),
                            !waiting_            ? ""
                            : ports_.size() == 1 ? "; the run begins with the carrier"
                                                 : "; the run begins with the first port that has a carrier"));

    loop_.on_signal([this] { end(Ending::signal); });
    loop_.on_readable(monitor_.fd(), [this] { links_changed(); });
    loop_.on_tick(tick_period, [this] { on_tick(); });
    sd_notifyf(0, "READY=1\nSTATUS=counting on %zu port(s)", ports_.size());
    loop_.run();
    sd_notify(0, "STOPPING=1");
    return finish();
}

// A verdict on it would be none.
std::string_view Session::why_broken() const noexcept {
    if (ended_by_ == Ending::interface_gone)
        return "the interface went away";
    if (ended_by_ == Ending::program_gone)
        return "the program was taken off the port";
    return waiting_ ? "there was no carrier" : "";
}

} // namespace responder
