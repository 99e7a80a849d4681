// SPDX-License-Identifier: GPL-2.0-only
//
// One port of a run: the command's program on it, its AF_XDP sockets, the two things changed on the interface for that
// time, the state of its link and what its NIC counted. Everything is undone when the object ends, the program first.
// Each command derives its own, which counts.

#pragma once

#include "loader/attachment.h"
#include "loader/counters.h"
#include "loader/netdev.h"
#include "loader/run/port_sockets.h"
#include "loader/run/run_options.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

struct bpf_object;
struct bpf_program;

namespace responder {

// What was asked of the kernel, and what it gave.
struct Obtained {
    XdpMode mode = XdpMode::native;
    bool multi_buffer = false;
    bool dispatcher = false;    // shared with other programs
    std::string native_refused; // why it is not native, in the kernel's words; empty where it is, or was not asked for
};

// The same of AF_XDP sockets: what all of them have.
struct SocketsObtained {
    bool zero_copy = false;
    bool busy_polling = false;
    unsigned largest_frame = 0;               // without FCS
    std::vector<std::optional<unsigned>> cpu; // that a queue's reader has, where it has one of its own
};

// A time without carrier.
struct Outage {
    enum class Cause { absent_at_start, attach, lost };
    Cause cause = Cause::lost; // attach: the driver took the link down for it
    std::chrono::system_clock::time_point began;
    Clock::time_point began_steady;
    std::optional<std::chrono::duration<double>> lasted; // not yet over
};

// What the NIC handed over against what the program saw.
struct Balance {
    bool nic_known = false; // false: the interface went away before its counters could be read
    std::uint64_t program_saw = 0;
    std::uint64_t nic_received = 0;
    std::int64_t left_over = 0;          // NIC received - program saw
    std::uint64_t in_flight = 0;         // what can have come between a reading of the NIC and one of the program
    bool nic_leaves_out_dropped = false; // the driver does not count what an XDP program consumed: compared with passed
    NicCounters nic;                     // differences over the run
    std::vector<std::pair<std::string, std::uint64_t>> driver; // those of the driver's own that rose and name a loss
};

// A command's program for one port, opened and configured.
class PortProgram {
  public:
    virtual ~PortProgram() = default;
    virtual void load() = 0; // throws Error; not called where libxdp loads it
    virtual bpf_object* object() const noexcept = 0;
    virtual bpf_program* entry() const noexcept = 0; // that is attached
};

class Port {
  public:
    virtual ~Port();
    Port(Port&&) noexcept;
    Port& operator=(Port&&) = delete;

    const Netdev& netdev() const noexcept { return netdev_; }
    const Obtained& obtained() const noexcept { return obtained_; }
    const std::optional<SocketsObtained>& sockets_obtained() const noexcept { return sockets_obtained_; }
    const match_cfg& match() const noexcept { return match_; }
    const std::string& driver() const noexcept { return driver_; } // may be empty, as of lo
    std::string_view driver_text() const noexcept {
        return driver_.empty() ? std::string_view("an unnamed driver") : driver_;
    }
    const MacAddress& mac() const noexcept { return mac_; }
    unsigned mtu() const noexcept { return mtu_; }
    unsigned queues() const noexcept { return queues_in_use_; }
    std::uint64_t speed_bps() const noexcept { return speed_bps_; }
    bool vlan_stripping_switched_off() const noexcept { return stripping_.switched_off(); }
    const std::vector<Outage>& outages() const noexcept { return outages_; }
    bool is_up() const noexcept { return is_up_; } // switched on by the administrator
    bool has_carrier() const noexcept { return has_carrier_; }

    // False when somebody else had taken the program off the port by the last reading of the NIC.
    bool is_attached() const noexcept { return is_attached_; }

    // Reads the counters; the test frames so far. Cheap, allocates nothing.
    virtual std::uint64_t poll() noexcept = 0;

    // The run begins only now: the time so far is not a part of it.
    virtual void restart_clock() noexcept = 0;

    // News of the link; what a person should know of it, or nothing. `attaching`: the program came just now.
    std::string link_changed(const LinkState& link, bool attaching);

    // The same where the number of receive queues has changed since the last call.
    std::string queues_changed();

  protected:
    // Prepares the interface, or throws and leaves it as it was. `notes` gets what a person should know of it.
    Port(const RunOptions& options, Netdev netdev, std::vector<std::string>& notes);

    // Puts the program on the port, in the best way that the options allow and the driver can: `make` makes one for
    // each that is tried, and finds the sockets there. `first_reader`: so many readers of sockets have the ports before
    // it. Throws Error.
    using MakeProgram = std::function<std::unique_ptr<PortProgram>(XdpMode mode, bool multi_buffer)>;
    void attach(const RunOptions& options, XskUse use, unsigned first_reader, const MakeProgram& make,
                std::vector<std::string>& notes);

    const PortSockets* sockets() const noexcept { return sockets_.get(); } // null: there are none
    unsigned queues_possible() const noexcept { return queues_possible_; }
    Clock::time_point attached_at() const noexcept { return attached_at_; } // just before

    virtual void mac_changed() noexcept = 0; // the program should know

    bool follow_nic() noexcept; // false: the interface is gone
    const NicCounters& nic_rise() const noexcept { return nic_rise_; }

    // The NIC's side of the balance, then the program's: what it saw up to now and a moment before the NIC was read.
    void read_nic(Balance& balance);
    void close_balance(Balance& balance, std::uint64_t saw_before, std::uint64_t saw, std::uint64_t passed) const;

  private:
    void attach_in_some_mode(const RunOptions& options, XskUse use, const MakeProgram& make,
                             std::vector<std::string>& notes);
    bool try_attach(const RunOptions& options, XskUse use, const MakeProgram& make, XdpMode mode, bool multi_buffer,
                    AttachRefused& refused);
    std::string carrier_went(const LinkState& link, bool attaching);
    std::string carrier_came(const LinkState& link);
    bool is_on(const LinkState& link) noexcept;

    Netdev netdev_;
    NetlinkSocket netlink_;
    match_cfg match_;
    std::string driver_;
    MacAddress mac_;
    unsigned mtu_ = 0;
    unsigned queues_in_use_ = 1;
    unsigned queues_possible_ = 1;
    std::uint64_t speed_bps_ = 0;
    Obtained obtained_;
    std::optional<SocketsObtained> sockets_obtained_;

    // Destroyed from below, once the command's part of the port is: the program leaves the port, and then the port is
    // put back.
    ReceiveFilterMembership receive_filter_;
    VlanStrippingOff stripping_;
    std::unique_ptr<PortSockets> sockets_;
    std::unique_ptr<PortProgram> program_;
    std::variant<std::monostate, Attachment, DispatcherAttachment> attachment_;

    Clock::time_point attached_at_;
    std::vector<std::pair<std::string, std::uint64_t>> driver_counters_before_;
    NicCounters nic_last_;
    NicCounters nic_rise_; // since before the program was attached; followed, because some counters are narrow
    std::uint64_t received_while_attaching_ = 0;
    bool is_up_ = false;
    bool has_carrier_ = false;
    bool is_attached_ = true;
    std::vector<Outage> outages_;
};

} // namespace responder
