// SPDX-License-Identifier: GPL-2.0-only
//
// One port of the sink: the program on it, the two things changed on the interface for the time of the test, and what
// was counted since. Everything is undone when the object ends, the program first.

#pragma once

#include "bpf/abi.h"
#include "loader/attachment.h"
#include "loader/capture/capture.h"
#include "loader/counters.h"
#include "loader/netdev.h"
#include "loader/sink/busy_time.h"
#include "loader/sink/options.h"
#include "loader/sink/port_sockets.h"
#include "loader/sink/socket_reader.h"
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

// The books of a run: what the NIC handed over against what the program saw.
struct Books {
    bool nic_known = false; // false: the interface went away before its counters could be read
    std::uint64_t program_saw = 0;
    std::uint64_t after_the_end = 0; // of those, what came when the run was over and is in no figure
    std::uint64_t nic_received = 0;
    std::int64_t left_over = 0;          // NIC received - program saw
    std::uint64_t in_flight = 0;         // what can have come between a reading of the NIC and one of the program
    bool nic_leaves_out_dropped = false; // the driver does not count what an XDP program consumed: compared with passed
    bool settled = false;                // no test frame came while the last readings were taken
    std::optional<SocketStatistics> sockets; // of a port that has some; of all of them
    std::int64_t not_delivered = 0;          // test frames that the program handed over and that no socket tells of
    NicCounters nic;                         // differences over the run
    std::vector<std::pair<std::string, std::uint64_t>> driver; // those of the driver's own that rose and name a loss
};

class Port {
  public:
    // Sets everything up, or throws and leaves the port as it was. `notes` gets what a person should know of it.
    // `first_reader`: so many readers of sockets have the ports before it.
    // `capture`: where its frames go as well, as the capture's next interface; or nullptr.
    Port(const SinkOptions& options, Netdev netdev, unsigned first_reader, Capture* capture,
         std::vector<std::string>& notes);
    ~Port();
    Port(Port&&) noexcept;
    Port& operator=(Port&&) = delete;

    const Netdev& netdev() const noexcept { return netdev_; }
    const Obtained& obtained() const noexcept { return obtained_; }
    const std::optional<SocketsObtained>& sockets_obtained() const noexcept { return sockets_obtained_; }
    bool stamped_by_reader() const noexcept; // the driver has no room for the time that the program takes
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
        std::uint64_t socket_lost;         // between the program and the readers
    };
    Interval take_interval() noexcept;

    bool follows_streams() const noexcept { return streams_.has_value(); }
    bool has_seen_a_stream() const noexcept { return streams_ && !streams_->empty(); }
    const StreamReport& streams() const noexcept { return stream_report_; } // as last read

    // The run begins only now: the time so far is not a part of it.
    void restart_clock() noexcept;

    // False when somebody else had taken the program off the port by the last interval.
    bool is_attached() const noexcept { return is_attached_; }

    // News of the link; what a person should know of it, or nothing. `attaching`: the program came just now.
    std::string link_changed(const LinkState& link, bool attaching);

    // The same where the number of receive queues has changed since the last call.
    std::string queues_changed();

    // Of all sockets, since the start; all 0 where there are none.
    SocketStatistics socket_statistics() const noexcept;

    // The run is over: what comes from now on is in no figure.
    void stop() noexcept;

    // Copies of passed frames for which there was no room.
    std::uint64_t copies_lost() const noexcept;

    // Waits until no test frame arrives any more, or 200 ms, and reads everything for the last time. Unless it has been
    // stopped before, what comes meanwhile belongs to the figures.
    Books close_books();

    // The flow watch (see flows.h).
    void watch_flows(bool on) noexcept;
    int flows_map() const noexcept;

  private:
    struct Program; // the loaded program and its variables

    void attach(const SinkOptions& options, std::vector<std::string>& notes);
    bool try_attach(const SinkOptions& options, XdpMode mode, bool multi_buffer, AttachRefused& refused);
    void start_readers(const SinkOptions& options, unsigned first_reader, const CapturePlan* plan, Capture* capture);
    bool await_readers() const noexcept;
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

    // Destroyed from below: the readers stop, the program leaves the port, and then the port is put back.
    ReceiveFilterMembership receive_filter_;
    VlanStrippingOff stripping_;
    std::unique_ptr<PortSockets> sockets_;
    std::unique_ptr<Program> program_;
    std::variant<std::monostate, Attachment, DispatcherAttachment> attachment_;

    std::optional<SinkCounters> counters_, counters_after_the_end_;
    std::optional<StreamTable> streams_;
    std::vector<std::unique_ptr<SocketReader>> readers_;
    std::optional<SocketsObtained> sockets_obtained_;
    std::uint64_t interval_socket_lost_ = 0;
    StreamReport stream_report_;
    Snapshot now_;
    SlotCounts interval_slots_{};
    Clock::time_point interval_taken_;
    std::uint64_t interval_missed_ = 0;
    Clock::time_point started_;
    std::optional<Clock::time_point> stopped_;
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
