// SPDX-License-Identifier: GPL-2.0-only
//
// One port of the sink: the program on it, the two things changed on the interface for the time of the test, and what
// was counted since. Everything is undone when the object ends, the program first.

#pragma once

#include "bpf/abi.h"
#include "loader/attachment.h"
#include "loader/counters.h"
#include "loader/netdev.h"
#include "loader/sink/busy_time.h"
#include "loader/sink/options.h"
#include "loader/sink/streams.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace responder {

// What was asked of the kernel, and what it gave.
struct Obtained {
    XdpMode mode = XdpMode::native;
    bool multi_buffer = false;
    bool dispatcher = false;    // shared with other programs
    std::string native_refused; // why it is not native, in the kernel's words; empty where it is, or was not asked for
};

// A time without carrier.
struct Outage {
    enum class Cause { absent_at_start, attach, lost };
    Cause cause = Cause::lost; // attach: the driver took the link down for it
    std::chrono::system_clock::time_point began;
    Clock::time_point began_steady;
    std::optional<std::chrono::duration<double>> lasted; // not yet over
};

// The books of a run: what the NIC handed over against what the program saw.
struct Books {
    bool nic_known = false; // false: the interface went away before its counters could be read
    std::uint64_t program_saw = 0;
    std::uint64_t after_the_end = 0; // of those, what came while the traffic settled and is in no figure
    std::uint64_t nic_received = 0;
    std::int64_t left_over = 0;          // NIC received - program saw
    std::uint64_t in_flight = 0;         // what can have come between a reading of the NIC and one of the program
    bool nic_leaves_out_dropped = false; // the driver does not count what an XDP program consumed: compared with passed
    bool settled = false;                // no test frame came while the last readings were taken
    NicCounters nic;                     // differences over the run
    std::vector<std::pair<std::string, std::uint64_t>> driver; // those of the driver's own that rose and name a loss
};

class Port {
  public:
    // Sets everything up, or throws and leaves the port as it was. `notes` gets what a person should know of it.
    Port(const SinkOptions& options, Netdev netdev, std::vector<std::string>& notes);
    ~Port();
    Port(Port&&) noexcept;
    Port& operator=(Port&&) = delete;

    const Netdev& netdev() const noexcept { return netdev_; }
    const Obtained& obtained() const noexcept { return obtained_; }
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

    // Reads the counters. Cheap, allocates nothing.
    void poll() noexcept;
    const Snapshot& now() const noexcept { return now_; }
    std::chrono::duration<double> elapsed() const noexcept { return now_.taken - started_; }
    BusyTime::Result busy() const noexcept { return busy_.result(); } // how long test frames came

    // Since the last call.
    struct Interval {
        SlotCounts slots;
        std::chrono::duration<double> time;
        std::uint64_t missed;              // by the NIC
        std::optional<std::uint64_t> lost; // of the streams, since the start; some may still come
    };
    Interval take_interval() noexcept;

    bool follows_streams() const noexcept { return streams_.has_value(); }
    const StreamReport& streams() const noexcept { return stream_report_; } // as last read

    // The run begins only now: the time so far is not a part of it.
    void restart_clock() noexcept;

    // False when somebody else had taken the program off the port by the last interval.
    bool is_attached() const noexcept { return is_attached_; }

    // News of the link; what a person should know of it, or nothing. `attaching`: the program came just now.
    std::string link_changed(const LinkState& link, bool attaching);

    void read_streams() { stream_report_ = streams_ ? streams_->read() : StreamReport{}; }

    // Waits until no test frame arrives any more, or 200 ms, and reads everything for the last time. What comes
    // meanwhile belongs to the figures, and streams are read then (`late_frames_count`), or to the books alone.
    Books close_books(bool late_frames_count);

    // The flow watch (see flows.h).
    void watch_flows(bool on) noexcept;
    int flows_map() const noexcept;

  private:
    struct Program; // the loaded program and its variables

    void attach(const SinkOptions& options, std::vector<std::string>& notes);
    bool try_attach(const SinkOptions& options, XdpMode mode, bool multi_buffer, AttachRefused& refused);
    std::string carrier_went(const LinkState& link, bool attaching);
    std::string carrier_came(const LinkState& link);
    bool follow_nic() noexcept; // false: the interface is gone
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

    // Destroyed from below: the program leaves the port before the port is put back.
    ReceiveFilterMembership receive_filter_;
    VlanStrippingOff stripping_;
    std::unique_ptr<Program> program_;
    std::variant<std::monostate, Attachment, DispatcherAttachment> attachment_;

    std::optional<SinkCounters> counters_;
    std::optional<StreamTable> streams_;
    StreamReport stream_report_;
    Snapshot now_;
    SlotCounts interval_slots_{};
    Clock::time_point interval_taken_;
    std::uint64_t interval_missed_ = 0;
    Clock::time_point started_;
    std::uint64_t test_frames_ = 0;
    BusyTime busy_;
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
