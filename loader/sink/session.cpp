// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/session.h"

#include "loader/capabilities.h"
#include "loader/command.h"
#include "loader/sink/checks.h"
#include "loader/sink/flows.h"
#include "loader/sink/ssh_session.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>

namespace responder {

namespace {

using namespace std::chrono_literals;

// How often the counters are read. It bounds how exactly the time is known in which traffic flowed, and how far --count
// and --duration overshoot; shorter costs wake-ups while nothing happens.
constexpr auto tick_period = 20ms;

constexpr auto silence_before_watch = 3s; // about then people look at the screen and wonder
constexpr auto watch_time = 1s;
constexpr auto between_watches = 30s;

void refuse_ssh_port(const Netdev& netdev, const std::set<int>& ssh_interfaces) {
    if (ssh_interfaces.contains(netdev.index()))
        throw Error(ExitCode::usage, netdev.name() + ": --all",
                    "this port carries the SSH session that you are typing in",
                    "choose test traffic by --port, --dst or --src, or add --force");
}

} // namespace

Session::Session(const SinkOptions& options) : options_(options) {
    std::vector<Netdev> netdevs;
    for (const std::string& name : options.interfaces)
        netdevs.push_back(Netdev::find(name));
    require_capabilities();
    if (options.match.all && !options.force) {
        const std::set<int> ssh_interfaces = interfaces_of_ssh_session();
        for (const Netdev& netdev : netdevs)
            refuse_ssh_port(netdev, ssh_interfaces);
    }

    std::vector<std::string> notes;
    for (Netdev& netdev : netdevs) {
        for (std::string& line : check_port(netdev))
            notes.push_back(std::move(line));
        ports_.emplace_back(options, std::move(netdev), notes);
    }
    for (const std::string& note : notes)
        say(note);

    const bool lines = !options.quiet;
    if (options.json || options.json_stream) {
        reporters_.push_back(std::make_unique<JsonReporter>(options.json_stream));
        // The data is on stdout; a person at the terminal still sees the test run.
        if (lines && isatty(STDERR_FILENO))
            reporters_.push_back(std::make_unique<TextReporter>(TextReporter::To::talk, true));
    } else {
        reporters_.push_back(std::make_unique<TextReporter>(TextReporter::To::data, lines));
    }
    interval_reports_.reserve(ports_.size());
}

void Session::introduce() {
    for (const Port& port : ports_) {
        const Obtained& got = port.obtained();
        say(fmt::format("{}: {} XDP{} on {}, {} receive queue{}, MTU {}{}{}", port.netdev().name(), to_string(got.mode),
                        got.dispatcher ? " through libxdp's dispatcher" : "",
                        port.driver().empty() ? "an unnamed driver" : port.driver(), port.queues(),
                        port.queues() == 1 ? "" : "s", port.mtu(), got.multi_buffer ? ", multi-buffer frames" : "",
                        port.vlan_stripping_switched_off() ? "; VLAN tag stripping is off until the end" : ""));
        say(fmt::format("{}: counts and drops {}; everything else goes up the stack", port.netdev().name(),
                        describe(port.match())));

        std::string tester = fmt::format("MAC {}", to_string(port.mac()));
        for (const Prefix& address : options_.addresses)
            tester += fmt::format(", {} {}", address.family == AF_INET ? "IPv4" : "IPv6", address.text());
        const match_cfg& match = port.match();
        if (match.port_count != 0)
            tester += fmt::format(", UDP port {}", match.port[0].first);
        else if (match.ethertype_count != 0)
            tester += fmt::format(", EtherType 0x{:04x}", match.ethertype[0]);
        tester += match.vlan_count != 0 ? fmt::format(", VLAN {}", match.vlan[0].first) : ", no VLAN";
        if (match.inner_vlan_count != 0)
            tester += fmt::format(", inner VLAN {}", match.inner_vlan[0].first);
        say(fmt::format("{}: type into the tester: {}", port.netdev().name(), tester));
        if (options_.dispatcher)
            say(fmt::format("{}: libxdp's attachment outlives a killed process; `xdp-loader unload` takes it off then",
                            port.netdev().name()));
    }
}

void Session::end(std::string_view reason) noexcept {
    if (ended_by_.empty())
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
    for (const auto& reporter : reporters_)
        reporter->interval(interval_reports_);
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
        const std::vector<std::string> flows = largest_flows(port, watched);
        say(fmt::format("{}: no test frame yet. {}", port.netdev().name(),
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
    const Clock::time_point now = Clock::now();
    if (now >= next_interval_) {
        report_interval();
        while (next_interval_ <= now)
            next_interval_ += options_.interval;
    }
    help_where_nothing_counts();
    if (options_.count && frames >= *options_.count)
        end("count");
    else if (options_.duration && now - begin_ >= *options_.duration)
        end("duration");
}

void Session::link_changed(const LinkState& link, bool removed) {
    const auto port = std::ranges::find(ports_, link.index, [](const Port& p) { return p.netdev().index(); });
    if (port == ports_.end())
        return;
    std::string text;
    if (removed) {
        text = fmt::format("{}: the interface is gone (deleted, or moved to another namespace)", port->netdev().name());
        end("interface");
    } else {
        text = port->link_changed(link);
    }
    if (text.empty())
        return;
    say(text);
    for (const auto& reporter : reporters_)
        reporter->event(*port, text);
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

ExitCode Session::run() {
    if (!options_.quiet)
        introduce();
    started_ = std::chrono::system_clock::now();
    begin_ = Clock::now();
    next_interval_ = begin_ + options_.interval;
    next_watch_ = begin_ + silence_before_watch;
    for (const auto& reporter : reporters_)
        reporter->start(options_, ports_, started_);

    loop_.on_signal([this](int) { end("signal"); });
    loop_.on_readable(monitor_.fd(), [this] { links_changed(); });
    loop_.on_tick(tick_period, [this] { tick(); });
    sd_notifyf(0, "READY=1\nSTATUS=counting on %zu port(s)", ports_.size());
    loop_.run();
    sd_notify(0, "STOPPING=1");
    return finish();
}

ExitCode Session::finish() {
    std::vector<Books> books;
    std::vector<Measured> measured;
    for (Port& port : ports_) {
        books.push_back(port.close_books());
        const Traffic test = test_traffic(port.now().total);
        measured.push_back({.port = port.netdev().name(),
                            .test = test,
                            .rates = rates(test, port.busy()),
                            .speed_bps = port.speed_bps(),
                            .missed = books.back().nic_known ? std::optional(books.back().missed()) : std::nullopt});
    }
    const std::optional<Verdict> verdict = judge(options_, measured);
    ExitCode code = ExitCode::ok;
    if (ended_by_ == "interface")
        code = ExitCode::temporary;
    else if (verdict && !verdict->pass())
        code = ExitCode::verdict_fail;
    const RunReport report{.options = options_,
                           .ports = ports_,
                           .books = books,
                           .started = started_,
                           .ended = std::chrono::system_clock::now(),
                           .ended_by = ended_by_,
                           .verdict = verdict,
                           .exit_code = code};
    for (const auto& reporter : reporters_)
        reporter->summary(report);
    return code;
}

} // namespace responder
