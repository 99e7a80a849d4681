// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/port.h"

#include "loader/error.h"
#include "loader/ethtool.h"
#include "loader/event_loop.h"
#include "loader/run/checks.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace responder {

namespace {

void require_carrier(const RunOptions& options, const Netdev& netdev, const LinkState& link) {
    if (options.wait || (link.up && link.carrier))
        return;
    if (!link.up)
        throw Error(ExitCode::temporary, netdev.name(), "the interface is switched off",
                    fmt::format("`ip link set {} up` switches it on; --wait starts all the same", netdev.name()));
    throw Error(ExitCode::temporary, netdev.name(), "no carrier",
                "connect the cable and its far end; --wait starts all the same and waits for it");
}

// RFC 4291 section 2.7.1 and RFC 2464 section 7: where a neighbour asks for this address.
MacAddress solicited_node_mac(const Prefix& address) {
    return {{0x33, 0x33, 0xff, address.bytes[13], address.bytes[14], address.bytes[15]}};
}

XskCopy copy_choice(const RunOptions& options, XdpMode mode) {
    if (mode == XdpMode::generic)
        return XskCopy::copy;
    return options.require_zerocopy ? XskCopy::zero_copy : XskCopy::kernel_decides;
}

// Without FCS.
unsigned largest_frame(unsigned mtu) {
    constexpr unsigned two_tags = 8;
    return mtu + ETH_HLEN + two_tags;
}

std::string reason_text(const AttachRefused& refused) {
    return refused.kernel_message.empty() ? error_text(refused.error)
                                          : fmt::format("{} ({})", error_text(refused.error), refused.kernel_message);
}

// A virtual link has no line, whatever its driver answers (veth: 10 Gb/s).
std::uint64_t line_speed(const LinkState& link) {
    return link.kind.empty() ? ethtool::link_settings(link.index).speed_bps : 0;
}

// Names by which drivers count what they lost. What they count of XDP is our own doing.
bool names_a_loss(std::string_view counter) {
    if (counter.find("xdp") != counter.npos)
        return false;
    constexpr std::string_view words[] = {"miss",      "fifo",       "drop",      "discard",  "no_buf",
                                          "nobuf",     "overrun",    "over_err",  "crc",      "fcs_err",
                                          "rx_errors", "length_err", "align_err", "frame_err"};
    return std::ranges::any_of(words, [&](std::string_view word) { return counter.find(word) != counter.npos; });
}

} // namespace

Port::Port(const RunOptions& options, Netdev netdev, std::vector<std::string>& notes)
    : netdev_(std::move(netdev)), match_(options.match.build(options.addresses)), receive_filter_(netdev_),
      stripping_([&] {
          // Before anything is changed on the port.
          require_carrier(options, netdev_, netdev_.link());
          return VlanStrippingOff(netdev_);
      }()) {
    for (std::string& line : check_port(netdev_))
        notes.push_back(std::move(line));
    const LinkState link = netdev_.link();
    mac_ = link.mac;
    mtu_ = link.mtu;
    is_up_ = link.up;
    has_carrier_ = link.carrier;
    if (!has_carrier_)
        outages_.push_back({.cause = Outage::Cause::absent_at_start,
                            .began = std::chrono::system_clock::now(),
                            .began_steady = Clock::now(),
                            .lasted = std::nullopt});
    driver_ = ethtool::driver_info(netdev_.index()).driver;
    queues_in_use_ = ethtool::receive_queues(netdev_.index()).value_or(1);
    queues_possible_ = std::max(link.receive_queues, 1U);
    speed_bps_ = line_speed(link);

    if (stripping_.still_on()) {
        constexpr std::string_view why = "the NIC takes VLAN tags off before a program sees the frame, and this driver "
                                         "does not let that be switched off (ethtool -k: rx-vlan-offload [fixed])";
        if (options.match.uses_vlans())
            throw Error(ExitCode::os, netdev_.name() + ": --vlan and --inner-vlan", std::string(why));
        notes.push_back(fmt::format("{}: {}: tagged frames look untagged and 4 bytes short", netdev_.name(), why));
    }
    if (options.match.promiscuous)
        receive_filter_.promiscuous();
    for (const MacAddress& mac : wanted_macs(match_))
        if (mac != mac_)
            receive_filter_.accept(mac);
    for (const Prefix& address : options.addresses)
        if (address.family == AF_INET6)
            receive_filter_.accept(solicited_node_mac(address));
}

Port::~Port() = default;
Port::Port(Port&&) noexcept = default;

bool Port::try_attach(const RunOptions& options, XskUse use, const MakeProgram& make, XdpMode mode, bool multi_buffer,
                      AttachRefused& refused) {
    EventLoop::heed_signals();
    program_.reset(); // of an attempt before this one; it holds the sockets
    sockets_.reset();
    if (options.engine == Engine::af_xdp)
        sockets_ = std::make_unique<PortSockets>(netdev_, queues_in_use_, queues_possible_, use,
                                                 copy_choice(options, mode), largest_frame(mtu_));
    program_ = make(mode, multi_buffer); // before there is an attachment, which must go first
    if (multi_buffer)
        bpf_program__set_flags(program_->entry(), BPF_F_XDP_HAS_FRAGS);
    if (!options.dispatcher)
        program_->load();
    nic_last_ = netdev_.link().counters;
    attached_at_ = Clock::now();
    const auto keep = [&](auto outcome) {
        if (auto* refusal = std::get_if<AttachRefused>(&outcome)) {
            refused = std::move(*refusal);
            return false;
        }
        attachment_.emplace<std::variant_alternative_t<0, decltype(outcome)>>(std::move(std::get<0>(outcome)));
        return true;
    };
    bpf_program* const entry = program_->entry();
    const bool attached = options.dispatcher
                              ? keep(DispatcherAttachment::attach(netdev_, program_->object(), bpf_program__name(entry),
                                                                  mode)) // loads it
                              : keep(Attachment::attach(netdev_, bpf_program__fd(entry), mode));
    if (!attached)
        return false;
    const auto* through_libxdp = std::get_if<DispatcherAttachment>(&attachment_);
    obtained_ = {.mode = mode,
                 .multi_buffer = multi_buffer,
                 .dispatcher = through_libxdp != nullptr && through_libxdp->shared(),
                 .native_refused = {}};
    return true;
}

void Port::attach_in_some_mode(const RunOptions& options, XskUse use, const MakeProgram& make,
                               std::vector<std::string>& notes) {
    AttachRefused refused;
    std::string native_refused;
    if (options.mode != ModeChoice::generic) {
        // Without multi-buffer first: it costs a helper call a frame, and only frames beyond a driver's buffer need it.
        if (try_attach(options, use, make, XdpMode::native, false, refused))
            return;
        native_refused = reason_text(refused);
        if (refused.error != EOPNOTSUPP && try_attach(options, use, make, XdpMode::native, true, refused))
            return;
        if (options.mode == ModeChoice::native)
            throw Error(ExitCode::os, netdev_.name() + ": native XDP", native_refused,
                        refusal_hint(options, "without --mode native or --require-native it runs in generic mode"));
        if (options.require_zerocopy)
            throw Error(ExitCode::os, netdev_.name() + ": native XDP, without which there is no zero-copy",
                        native_refused, refusal_hint(options, "without --require-zerocopy it runs in generic mode"));
    }
    if (!try_attach(options, use, make, XdpMode::generic, false, refused))
        throw Error(ExitCode::os, netdev_.name() + ": attach the XDP program", reason_text(refused),
                    refusal_hint(options, {}));
    obtained_.native_refused = native_refused;
    if (!native_refused.empty())
        notes.push_back(fmt::format("{}: generic XDP, because {} refuses native: {}. Each frame still becomes an skb "
                                    "first: expect a part of the native rate, and loss at small frames before that",
                                    netdev_.name(), driver_text(), native_refused));
}

void Port::attach(const RunOptions& options, XskUse use, unsigned first_reader, const MakeProgram& make,
                  std::vector<std::string>& notes) {
    driver_counters_before_ = ethtool::statistics(netdev_.index());
    attach_in_some_mode(options, use, make, notes);
    follow_nic();
    received_while_attaching_ = nic_rise_.rx_packets;
    if (!sockets_)
        return;
    SocketsObtained got{.zero_copy = true, .busy_polling = true, .largest_frame = ~0U, .cpu = {}};
    for (const auto& socket : sockets_->by_queue()) {
        got.zero_copy = got.zero_copy && socket->zero_copy();
        got.busy_polling = got.busy_polling && socket->busy_polling();
        got.largest_frame = std::min(got.largest_frame, socket->largest_frame());
        got.cpu.push_back(cpu_of_reader(first_reader++));
    }
    sockets_obtained_ = std::move(got);
}

bool Port::follow_nic() noexcept {
    LinkState link;
    if (!netlink_.read_link(netdev_.index(), link))
        return false;
    for (const auto field : nic_counter_fields)
        nic_rise_.*field += counter_rise(nic_last_.*field, link.counters.*field);
    nic_last_ = link.counters;
    is_attached_ = is_attached_ && is_on(link);
    return true;
}

bool Port::is_on(const LinkState& link) noexcept {
    if (auto* through_libxdp = std::get_if<DispatcherAttachment>(&attachment_))
        return through_libxdp->is_on(link);
    const auto* attachment = std::get_if<Attachment>(&attachment_);
    return attachment != nullptr && attachment->is_on(link);
}

std::string Port::link_changed(const LinkState& link, bool attaching) {
    std::string text;
    const auto add = [&](std::string news) { text += (text.empty() ? "" : "; ") + std::move(news); };
    if (link.name != netdev_.name()) {
        add(fmt::format("{}: renamed to {}", netdev_.name(), link.name));
        netdev_.renamed(link.name);
    }
    mtu_ = link.mtu;
    if (link.mac != mac_) {
        mac_ = link.mac;
        mac_changed();
        add(fmt::format("{}: the MAC address is now {}", netdev_.name(), to_string(mac_)));
    }
    is_up_ = link.up;
    if (link.carrier != has_carrier_) {
        has_carrier_ = link.carrier;
        add(link.carrier ? carrier_came(link) : carrier_went(link, attaching));
    }
    return text;
}

std::string Port::queues_changed() {
    const unsigned before = queues_in_use_;
    queues_in_use_ = ethtool::receive_queues(netdev_.index()).value_or(before); // it may just have gone away
    if (queues_in_use_ == before)
        return {};
    return fmt::format("{}: {} receive queue{} now, after {}: the driver may lose frames over the change, and the "
                       "program may not see what comes by a new one{}",
                       netdev_.name(), queues_in_use_, queues_in_use_ == 1 ? "" : "s", before,
                       sockets_ ? ", which has no AF_XDP socket" : "");
}

std::string Port::carrier_went(const LinkState& link, bool attaching) {
    // Not the driver's doing if somebody switched the interface off.
    outages_.push_back({.cause = link.up && attaching && outages_.empty() ? Outage::Cause::attach : Outage::Cause::lost,
                        .began = std::chrono::system_clock::now(),
                        .began_steady = Clock::now(),
                        .lasted = std::nullopt});
    return fmt::format("{}: the link is down{}", netdev_.name(), link.up ? "" : " (switched off)");
}

std::string Port::carrier_came(const LinkState& link) {
    speed_bps_ = line_speed(link);
    Outage& outage = outages_.back(); // there was no carrier, so there is one, and it is not over
    outage.lasted = Clock::now() - outage.began_steady;
    return fmt::format("{}: the link is up{}, after {:.1f} s{}", netdev_.name(),
                       outage.cause == Outage::Cause::absent_at_start ? "" : " again", outage.lasted->count(),
                       outage.cause == Outage::Cause::attach ? " (the driver took it down for the program)" : "");
}

void Port::read_nic(Balance& balance) {
    const auto driver_counters = ethtool::statistics(netdev_.index());
    balance.nic_known = follow_nic();
    if (!balance.nic_known)
        return;
    balance.nic = nic_rise_;
    for (const auto& [name, value] : driver_counters) {
        const auto before =
            std::ranges::find(driver_counters_before_, name, &std::pair<std::string, std::uint64_t>::first);
        const std::uint64_t rise =
            before == driver_counters_before_.end() ? value : counter_rise(before->second, value);
        if (rise != 0 && names_a_loss(name))
            balance.driver.emplace_back(name, rise);
    }
}

void Port::close_balance(Balance& balance, std::uint64_t saw_before, std::uint64_t saw, std::uint64_t passed) const {
    balance.program_saw = saw;
    if (!balance.nic_known)
        return;
    balance.in_flight = received_while_attaching_ + (saw - saw_before);
    if (balance.in_flight != 0) // traffic ran while it was read: the rings were not empty either
        balance.in_flight += std::uint64_t{ethtool::receive_ring_size(netdev_.index())} * queues_in_use_;
    balance.nic_received = balance.nic.rx_packets;
    const auto distance = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; };
    balance.nic_leaves_out_dropped = saw != passed && distance(balance.nic_received, saw) > balance.in_flight &&
                                     distance(balance.nic_received, passed) <= balance.in_flight;
    balance.left_over =
        static_cast<std::int64_t>(balance.nic_received - (balance.nic_leaves_out_dropped ? passed : saw));
}

} // namespace responder
