// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/session.h"

#include "loader/capabilities.h"
#include "loader/command.h"
#include "loader/sink/checks.h"
#include "loader/sink/flows.h"
#include "loader/sink/ssh_session.h"
#include "loader/sink/watch.h"
#include "loader/wire.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace responder {

namespace {

using namespace std::chrono_literals;

// How often the counters are read. It bounds how exactly the time is known in which traffic flowed, and how far --count
// and --duration overshoot; shorter costs wake-ups while nothing happens.
constexpr auto tick_period = 20ms;

// How often sockets are read: some 0.3 ms for the kernel to go through its table.
constexpr auto stack_period = 100ms;

constexpr auto silence_before_watch = 3s; // about then people look at the screen and wonder
constexpr auto watch_time = 1s;
constexpr auto between_watches = 30s;

void refuse_ssh_port(const Netdev& netdev, const std::set<int>& ssh_interfaces) {
    if (ssh_interfaces.contains(netdev.index()))
        throw Error(ExitCode::usage, netdev.name() + ": --all",
                    "this port carries the SSH session that you are typing in",
                    "choose test traffic by --port, --dst or --src, or add --force");
}

void require_line_speed(const SinkOptions& options, const Port& port) {
    if (options.expect_rate && options.expect_rate->unit == RateCondition::Unit::line_percent && port.has_carrier() &&
        port.speed_bps() == 0)
        throw Error(ExitCode::usage,
                    fmt::format("{}: --expect-rate {}", port.netdev().name(), options.expect_rate->text),
                    "this port does not say how fast its line is", "give a rate like 3.7Mfps or 2.4Gbps");
}

pcapng::Section this_system() {
    utsname name{};
    uname(&name);
    return {.hardware = name.machine,
            .os = fmt::format("{} {}", name.sysname, name.release),
            .application = "xdp-sink " RESPONDER_VERSION};
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

Session::Session(const SinkOptions& options) : options_(options) {
    std::vector<Netdev> netdevs;
    for (const std::string& name : options.interfaces)
        netdevs.push_back(Netdev::find(name));
    require_capabilities();
    if (options.dispatcher && !may_look_up_programs())
        throw Error(ExitCode::no_permission, "--dispatcher",
                    "CAP_SYS_ADMIN is missing, with which libxdp looks up programs",
                    "run it as root, or without --dispatcher");
    if (options.match.all && !options.force) {
        const std::set<int> ssh_interfaces = interfaces_of_ssh_session();
        for (const Netdev& netdev : netdevs)
            refuse_ssh_port(netdev, ssh_interfaces);
    }

    refuse_own_addresses(options.addresses);

    if (options.capture)
        capture_ = std::make_unique<Capture>(options.capture->file, options.capture->limits, options.capture->snaplen);
    ports_.reserve(netdevs.size());
    std::vector<std::string> notes;
    unsigned readers = 0;
    for (Netdev& netdev : netdevs) {
        for (std::string& line : check_port(netdev))
            notes.push_back(std::move(line));
        ports_.emplace_back(options, std::move(netdev), readers, capture_.get(), notes);
        readers += ports_.back().queues();
    }
    attached_ = Clock::now();
    if (options.clocks_within && *options.clocks_within != 0ns && !clock_.synchronised)
        notes.push_back("--clocks-within: the kernel says that nothing keeps this machine's clock (adjtimex: "
                        "unsynchronised): one-way delays may be wrong by any amount");
    for (const Port& port : ports_)
        require_line_speed(options, port);
    for (const std::string& note : notes)
        say(note);
    if (capture_)
        capture_->begin(this_system());

    if (!options.watches.empty()) {
        std::vector<std::uint16_t> watched;
        for (const watch_port& watch : options.watches)
            watched.push_back(watch.port);
        stack_.emplace(std::move(watched));
    }

    const bool lines = !options.quiet;
    if (options.json || options.json_stream) {
        reporters_.push_back(std::make_unique<JsonReporter>(options.json_stream));
        // The data is on stdout; a person at the terminal still sees the test run.
        if (lines && isatty(STDERR_FILENO))
            reporters_.push_back(std::make_unique<TextReporter>(TextReporter::To::talk, true));
    } else {
        const bool taken = options.capture && options.capture->to_standard_output();
        reporters_.push_back(
            std::make_unique<TextReporter>(taken ? TextReporter::To::talk : TextReporter::To::data, lines));
    }
    interval_reports_.reserve(ports_.size());
}

void Session::introduce_sockets(const Port& port) const {
    const SocketsObtained& got = *port.sockets_obtained();
    say(fmt::format("{}: test frames go to an AF_XDP socket for each queue, {}, need_wakeup{}", port.netdev().name(),
                    got.zero_copy ? "zero-copy: the NIC writes into its memory" : "copied by the kernel",
                    got.busy_polling ? ", busy polling" : ", no busy polling"));
    if (got.largest_frame < port.mtu())
        say(fmt::format("{}: this kernel gives a socket frames of up to {} octets with FCS; longer ones, which MTU {} "
                        "allows, are counted and then lost",
                        port.netdev().name(), got.largest_frame + wire::fcs_bytes, port.mtu()));
    for (std::size_t queue = 0; options_.verbose && queue < got.cpu.size(); ++queue)
        say(fmt::format("{}: queue {} is read on {}", port.netdev().name(), queue,
                        got.cpu[queue] ? fmt::format("CPU {}, which has no other reader", *got.cpu[queue])
                                       : "any CPU: there are not enough for one of its own"));
}

void Session::introduce() {
    for (const Port& port : ports_) {
        const Obtained& got = port.obtained();
        say(fmt::format("{}: {} XDP{} on {}, {} receive queue{}, MTU {}{}{}", port.netdev().name(), to_string(got.mode),
                        got.dispatcher ? " through libxdp's dispatcher" : "", port.driver_text(), port.queues(),
                        port.queues() == 1 ? "" : "s", port.mtu(), got.multi_buffer ? ", multi-buffer frames" : "",
                        port.vlan_stripping_switched_off() ? "; VLAN tag stripping is off until the end" : ""));
        if (port.sockets_obtained())
            introduce_sockets(port);
        say(fmt::format("{}: counts and drops {}; everything else goes up the stack{}{}", port.netdev().name(),
                        describe(port.match()),
                        options_.watches.empty() ? "" : "; followed on the way: ", describe(options_.watches)));

        say(fmt::format("{}: type into the tester: {}", port.netdev().name(),
                        tester_settings(port.match(), port.mac(), options_.addresses)));
        if (got.dispatcher)
            say(fmt::format(
                "{0}: libxdp's attachment outlives a killed process; `xdp-loader unload {0} --all` takes it "
                "off then",
                port.netdev().name()));
        else if (options_.dispatcher)
            say(fmt::format(
                "{0}: this kernel gives libxdp no dispatcher: the program is alone on the port, and none can "
                "join it. It outlives a killed process; `ip link set dev {0} {1} off` takes it off then",
                port.netdev().name(), got.mode == XdpMode::native ? "xdpdrv" : "xdpgeneric"));
    }
    if (capture_)
        introduce_capture();
}

void Session::introduce_capture() const {
    const CapturePlan& plan = *options_.capture;
    std::string limits;
    if (plan.limits.files != 0)
        limits = fmt::format(", the newest {} files of {} octets", plan.limits.files, plan.limits.size);
    else if (plan.limits.size != 0)
        limits = fmt::format(", up to {} octets", plan.limits.size);
    say(fmt::format("capture: test frames{} into {}{}; --pcap takes --engine af_xdp",
                    plan.passed ? " and what passes up" : "", plan.to_standard_output() ? "standard output" : plan.file,
                    limits));
}

void Session::end_capture(std::span<const Books> books) {
    std::vector<Capture::Counted> counted;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        const auto known = [&](std::uint64_t count) {
            return books[i].nic_known ? std::optional(count) : std::nullopt;
        };
        counted.push_back({.received = known(books[i].nic_received),
                           .dropped_by_interface = known(books[i].nic.missed()),
                           .lost_on_the_way = lost_in_ring(books[i]),
                           .passed_lost = ports_[i].copies_lost()});
    }
    capture_->end(counted);
}

void Session::end(Ending reason) noexcept {
    if (!ended_by_)
        ended_by_ = reason;
    loop_.stop();
}

void Session::report_interval() {
    std::optional<std::chrono::duration<double>> left;
    if (options_.duration)
        left = std::max<std::chrono::duration<double>>(begin_ + *options_.duration - Clock::now(), 0s);
    interval_reports_.clear();
    for (Port& port : ports_)
        interval_reports_.push_back({.port = port, .interval = port.take_interval(), .left = left});
    if (!waiting_)
        for (const auto& reporter : reporters_)
            reporter->interval(interval_reports_);
    for (Port& port : ports_)
        if (const std::string text = port.queues_changed(); !text.empty())
            report_event(port, text);
    check_attachments();
}

void Session::report_event(const Port& port, const std::string& text) {
    say(text);
    for (const auto& reporter : reporters_)
        reporter->event(port, text);
}

void Session::check_attachments() {
    const auto lost = std::ranges::find_if_not(ports_, &Port::is_attached);
    if (lost == ports_.end())
        return;
    report_event(*lost,
                 fmt::format("{}: somebody has taken the XDP program off the port: what came since is not counted",
                             lost->netdev().name()));
    ended_by_ = Ending::program_gone; // whatever else ends it
    loop_.stop();
}

void Session::help_where_nothing_counts() {
    const Clock::time_point now = Clock::now();
    const auto is_silent = [](const Port& port) { return test_traffic(port.now().total).frames == 0; };
    if (!watching_since_) {
        if (now < next_watch_ || std::ranges::none_of(ports_, is_silent))
            return;
        watching_since_ = now;
        for (Port& port : ports_) {
            if (!is_silent(port))
                continue;
            // A NIC keeps back what is sent to another MAC address: only so can it be seen that there is any.
            try {
                promiscuous_for_the_watch_.emplace_back(port.netdev()).promiscuous();
            } catch (const Error&) {
                // The interface has just gone, which the monitor will say; the watch is help, no measurement.
            }
            port.watch_flows(true);
        }
        return;
    }
    const std::chrono::duration<double> watched = now - *watching_since_;
    if (watched < watch_time)
        return;
    watching_since_.reset();
    next_watch_ = now + between_watches;
    promiscuous_for_the_watch_.clear();
    for (Port& port : ports_) {
        port.watch_flows(false);
        if (!is_silent(port))
            continue;
        const bool follows = port.has_seen_a_stream(); // else what goes to a watched port is not of its format
        const std::vector<std::string> flows =
            largest_flows(port, watched, std::span(options_.watches).first(follows ? options_.watches.size() : 0));
        say(fmt::format("{}: no test frame yet{}. {}", port.netdev().name(),
                        follows ? ", but streams that go up the stack are followed" : "",
                        flows.empty() ? "Nothing else arrives either" : "What passed by in the last second:"));
        for (const std::string& flow : flows)
            say("  " + flow);
    }
}

void Session::tick() {
    std::uint64_t frames = 0;
    for (Port& port : ports_) {
        port.poll();
        frames += test_traffic(port.now().total).frames;
    }
    if (waiting_ && (frames != 0 || !awaits_carrier())) {
        waiting_ = false;
        for (Port& port : ports_)
            port.restart_clock();
        begin();
    }
    const Clock::time_point now = Clock::now();
    if (stack_ && now >= next_stack_poll_) {
        stack_->poll();
        next_stack_poll_ = now + stack_period;
    }
    if (now >= next_interval_) {
        report_interval();
        while (next_interval_ <= now)
            next_interval_ += options_.interval;
    }
    if (waiting_)
        return;
    help_where_nothing_counts();
    if (options_.count && frames >= *options_.count)
        end(Ending::count);
    else if (options_.duration && now - begin_ >= *options_.duration)
        end(Ending::duration);
}

void Session::link_changed(const LinkState& link, bool removed) {
    const auto port = std::ranges::find(ports_, link.index, [](const Port& p) { return p.netdev().index(); });
    if (port == ports_.end())
        return;
    std::string text;
    if (removed) {
        text =
            fmt::format("{}: the interface is gone (deleted, or moved to another namespace{}{})", port->netdev().name(),
                        port->vlan_stripping_switched_off() ? ", where VLAN tag stripping stays off" : "",
                        options_.dispatcher ? "; there the program is still on it: `xdp-loader unload`" : "");
        end(Ending::interface_gone);
    } else {
        // A link that goes down this soon was taken down by the driver for the program. The kernel announces it up to a
        // second late (net/core/link_watch.c).
        text = port->link_changed(link, Clock::now() - attached_ < 2s);
    }
    if (!text.empty())
        report_event(*port, text);
}

void Session::links_changed() {
    if (monitor_.read([this](const LinkState& link, bool removed) { link_changed(link, removed); }))
        return;
    NetlinkSocket netlink; // news was lost: ask
    for (const Port& port : ports_) {
        LinkState link;
        link.index = port.netdev().index();
        const bool found = netlink.read_link(port.netdev().index(), link);
        link_changed(link, !found);
    }
}

bool Session::awaits_carrier() const noexcept { return std::ranges::none_of(ports_, &Port::has_carrier); }

void Session::begin() noexcept {
    started_ = std::chrono::system_clock::now();
    begin_ = Clock::now();
    next_interval_ = begin_ + options_.interval;
    next_watch_ = begin_ + silence_before_watch;
}

ExitCode Session::run() {
    if (!options_.quiet)
        introduce();
    begin();
    for (const auto& reporter : reporters_)
        reporter->start(options_, ports_);
    waiting_ = awaits_carrier();
    for (const Port& port : ports_)
        if (!port.has_carrier())
            say(fmt::format("{}: {}{}", port.netdev().name(),
                            port.is_up() ? std::string("no carrier yet")
                                         : fmt::format("switched off (`ip link set {} up`)", port.netdev().name()),
                            !waiting_            ? ""
                            : ports_.size() == 1 ? "; the run begins with the carrier"
                                                 : "; the run begins with the first port that has a carrier"));

    loop_.on_signal([this] { end(Ending::signal); });
    loop_.on_readable(monitor_.fd(), [this] { links_changed(); });
    loop_.on_tick(tick_period, [this] { tick(); });
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

ExitCode Session::finish() {
    const auto ended = std::chrono::system_clock::now();
    const Clock::duration duration = Clock::now() - begin_;
    // A signal means "now that it has all come"; a plan means its exact end.
    std::optional<StackLosses> stack;
    if (ended_by_ == Ending::duration || ended_by_ == Ending::count) {
        for (Port& port : ports_) // all at once: closing the books takes time
            port.stop();
        if (stack_)
            stack = stack_->losses();
    }
    std::vector<Books> books;
    std::vector<Measured> measured;
    for (Port& port : ports_) {
        books.push_back(port.close_books());
        const Traffic test = test_traffic(port.now().total);
        measured.push_back(
            {.port = port.netdev().name(),
             .test = test,
             .rates = rates(test, port.busy().time),
             .rates_at_least = port.busy().at_most,
             .speed_bps = port.speed_bps(),
             .streams = port.streams().streams.size() == port.streams().left_out()
                            ? std::nullopt
                            : std::optional(port.streams().sum()),
             .delay_unknown = port.streams().delay_unknown(),
             .no_room = port.streams().no_room,
             .left_out = port.streams().left_out(),
             .lost_here = lost_in_ring(books.back()),
             .missed = books.back().nic_known ? std::optional(books.back().nic.missed()) : std::nullopt});
    }
    if (stack_ && !stack)
        stack = stack_->losses();
    if (capture_)
        end_capture(books);
    if (ended_by_ != Ending::interface_gone && ended_by_ != Ending::program_gone)
        check_attachments(); // the last interval's
    const std::optional<Verdict> verdict = judge(options_, measured, why_broken());
    ExitCode code = ExitCode::ok;
    if (ended_by_ == Ending::interface_gone || ended_by_ == Ending::program_gone)
        code = ExitCode::temporary;
    else if (verdict && !verdict->pass())
        code = ExitCode::verdict_fail;
    const RunReport report{.options = options_,
                           .clock = clock_,
                           .ports = ports_,
                           .books = books,
                           .stack = stack,
                           .started = started_,
                           .ended = ended,
                           .duration = duration,
                           .ended_by = *ended_by_,
                           .capture = capture_ ? &capture_->figures() : nullptr,
                           .verdict = verdict,
                           .exit_code = code};
    for (const auto& reporter : reporters_)
        reporter->summary(report);
    return code;
}

} // namespace responder
