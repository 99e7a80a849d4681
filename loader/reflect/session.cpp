// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/session.h"

#include "loader/command.h"
#include "loader/reflect/stamp_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <memory>

namespace responder {

namespace {

using namespace std::chrono_literals;

constexpr const char* command_name = "xdp-reflect";

// The clock's error grows, and addresses come and go.
constexpr auto look_period = 1s;

unsigned length_of(const sockaddr& mask) {
    unsigned length = 0;
    for (const std::uint8_t octet : IpAddress::from(mask).bytes)
        length += static_cast<unsigned>(std::popcount(octet));
    return length;
}

// After a probe, a tester that sends often enough to be probed has sent by then.
constexpr auto probe_echo = 1s;

// Whatever became of them.
std::uint64_t all_test_frames(const ReflectPort& port) {
    return test_traffic(port.now().total).frames + dropped_traffic(port.now().total).frames;
}

// Of the benchmarks, of --address and of the interface, each once.
std::vector<Prefix> prefixes_on_link(const Netdev& netdev, const std::vector<Prefix>& addresses) {
    std::vector<Prefix> prefixes;
    const auto add = [&](const Prefix& prefix) {
        if (std::ranges::none_of(prefixes, [&](const Prefix& known) { return known.contains(prefix); }))
            prefixes.push_back(prefix);
    };
    for (const std::string_view network : benchmark_networks)
        add(*Prefix::parse(network));
    for (const Prefix& address : addresses)
        add(address.network());
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0)
        return prefixes;
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(first, &freeifaddrs);
    for (const ifaddrs* own = first; own != nullptr; own = own->ifa_next) {
        if (own->ifa_addr == nullptr || own->ifa_netmask == nullptr || netdev.name() != own->ifa_name ||
            (own->ifa_addr->sa_family != AF_INET && own->ifa_addr->sa_family != AF_INET6))
            continue;
        Prefix prefix{IpAddress::from(*own->ifa_addr), 0};
        prefix.length = length_of(*own->ifa_netmask);
        add(prefix.network());
    }
    return prefixes;
}

} // namespace

void show_reflector(const ReflectOptions& options) {
    for (const std::string& name : options.interfaces) {
        const Netdev netdev = Netdev::find(name);
        const Shown shown =
            ask_to_show(name, command_name, show_name(command_name, netdev.index(), options.json ? "json" : "text"));
        if (shown.user != 0 && shown.user != getuid())
            say(fmt::format("{}: so says process {} of user {}", name, shown.process, shown.user));
        write_all(STDOUT_FILENO, shown.text);
    }
}

ReflectSession::ReflectSession(const ReflectOptions& options)
    : Session(options), options_(options), flow_watch_(options.match.usual.promiscuous) {
    std::vector<Netdev> netdevs = find_interfaces(options.match.all         ? "--all"
                                                  : options.testers.empty() ? ""
                                                                            : "--tester");
    ports_.reserve(netdevs.size());
    std::vector<std::string> notes;
    unsigned turners = 0;
    for (Netdev& netdev : netdevs) {
        counting_ports_.push_back(&ports_.emplace_back(options, std::move(netdev), turners, notes));
        turners += ports_.back().queues();
    }
    follow_addresses_and_clock();
    if (options.program.stamp_count != 0)
        stamp_responder_.emplace(options, ports_, notes);
    listen(notes);
    loop_watches_.resize(ports_.size());
    if (options.loop_probe) {
        probe_timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
        if (!probe_timer_)
            throw Error::from_errno(ExitCode::os, "make a timer for --loop-probe", errno);
        on_readable(probe_timer_.get(), [this] { end_probe(); });
    }
    watch(ports_, notes);
    if (options.json || options.json_stream)
        reporter_ = std::make_unique<ReflectJson>(options.json_stream);
    else
        reporter_ = std::make_unique<ReflectText>(!options.quiet);
}

std::string ReflectSession::what_becomes_of_frames(const Port& port) const {
    const reflect_cfg& cfg = options_.program;
    std::string text = fmt::format("sends back {}", describe_test_traffic(options_, port.match()));
    if (cfg.stamp_count != 0)
        text += fmt::format("; answers {}STAMP on UDP port {}", cfg.stamp_authenticated ? "authenticated " : "",
                            fmt::join(cfg.stamp_port, cfg.stamp_port + cfg.stamp_count, ", "));
    if (cfg.oam)
        text += cfg.oam_level == OAM_ANY_LEVEL ? std::string("; Ethernet OAM of any level")
                                               : fmt::format("; Ethernet OAM of level {}", cfg.oam_level);
    return text + (cfg.icmp ? "; ping" : "") + "; everything else goes up the stack";
}

void ReflectSession::introduce() const {
    Session::introduce();
    std::vector<std::string> allowed = options_.allowed;
    for (const ReflectPort& port : ports_)
        for (const Prefix& prefix : prefixes_on_link(port.netdev(), options_.addresses))
            if (std::ranges::find(allowed, prefix.text()) == allowed.end())
                allowed.push_back(prefix.text());
    say(fmt::format("sources that are answered: {}; more by --allow", fmt::join(allowed, ", ")));
    const auto seconds = [](std::chrono::duration<double> time) { return time.count(); };
    if (options_.expire)
        say(fmt::format("test traffic is answered for {} s, then dropped (--expire){}", seconds(*options_.expire),
                        options_.may_loop ? ": a loop between two reflectors cannot be told from a test" : ""));
    if (options_.loop_probe)
        say(fmt::format("test traffic that has come for {} s without a pause is dropped for 10 ms, to find loops "
                        "(--loop-probe): a tester loses frames",
                        seconds(*options_.loop_probe)));
    if (!options_.caps.empty())
        say(fmt::format("each port answers at most {}, and drops what is over it: no measure for RFC 2544",
                        fmt::join(options_.caps, " and ")));
}

void ReflectSession::follow_addresses_and_clock() {
    const stamp_clock clock = read_stamp_clock(options_.format);
    for (ReflectPort& port : ports_) {
        port.set_clock(clock);
        for (const Prefix& prefix : port.set_on_link(prefixes_on_link(port.netdev(), options_.addresses))) {
            if (std::ranges::find(left_out_, prefix) != left_out_.end())
                continue;
            left_out_.push_back(prefix);
            say(fmt::format("{}: has more prefixes than are looked at: sources in {} take --allow",
                            port.netdev().name(), prefix.text()));
        }
    }
}

void ReflectSession::expire() {
    expired_ = true;
    probe_.reset();
    for (ReflectPort& port : ports_) {
        port.refuse(SLOT_EXPIRED);
        tell(port, fmt::format("{}: --expire is over: test traffic is dropped from now on", port.netdev().name()));
    }
}

void ReflectSession::look_for_loops(Clock::time_point now) {
    if (probe_ && probe_->ended && now - *probe_->ended >= probe_echo)
        judge_probe();
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        LoopWatch& watch = loop_watches_[i];
        watch.read(now, all_test_frames(ports_[i]));
        if (options_.loop_probe) {
            if (!expired_ && !probe_ && watch.flowing() >= *options_.loop_probe)
                begin_probe(i);
        } else if (options_.may_loop && !expired_ && watch.take_suspicion()) {
            tell(ports_[i], fmt::format("{}: test frames have come at the same rate for {:.0f} s without a pause: this "
                                        "may be a loop between two reflectors, and no tester; --loop-probe finds out",
                                        ports_[i].netdev().name(), watch.steady().count()));
        }
    }
}

void ReflectSession::begin_probe(std::size_t port) noexcept {
    probe_ = Probe{.port = port, .ended = std::nullopt, .frames = 0};
    ports_[port].refuse(SLOT_WITHHELD);
    constexpr itimerspec once{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = 10'000'000}};
    timerfd_settime(probe_timer_.get(), 0, &once, nullptr);
}

void ReflectSession::end_probe() noexcept {
    std::uint64_t times = 0;
    if (read(probe_timer_.get(), &times, sizeof(times)) != sizeof(times) || !probe_)
        return;
    ReflectPort& port = ports_[probe_->port];
    port.refuse(std::nullopt);
    port.poll();
    probe_->ended = Clock::now();
    probe_->frames = all_test_frames(port);
}

// Of a loop nothing is left; a tester goes on.
void ReflectSession::judge_probe() {
    const ReflectPort& port = ports_[probe_->port];
    const bool went_on = all_test_frames(port) != probe_->frames;
    loop_watches_[probe_->port].begin_anew();
    probe_.reset();
    tell(port, fmt::format("{}: --loop-probe: {} when nothing was sent back for 10 ms", port.netdev().name(),
                           went_on ? "a tester, for it went on" : "that was a loop: the test frames came to an end"));
}

void ReflectSession::listen(std::vector<std::string>& notes) {
    constexpr std::pair<const char*, std::string (*)(const ReflectRun&)> forms[] = {{"text", reflect_text},
                                                                                    {"json", reflect_json}};
    for (std::size_t i = 0; i < ports_.size(); ++i)
        for (const auto& [form, render] : forms) {
            const Netdev& netdev = ports_[i].netdev();
            ShowListener listener(show_name(command_name, netdev.index(), form));
            if (listener.listens())
                show_forms_.push_back({.port = i, .render = render, .listener = std::move(listener)});
            else
                notes.push_back(fmt::format("{}: --show will not find this run: listen at its socket: {}",
                                            netdev.name(), error_text(listener.error())));
        }
}

void ReflectSession::answer_show(Clock::time_point now) {
    for (ShowForm& form : show_forms_)
        form.listener.answer(now, [&] { return so_far(form.port, form.render); });
}

std::string ReflectSession::so_far(std::size_t port, std::string (*render)(const ReflectRun&)) {
    const std::vector<StampCounts> stamp = stamp_counts();
    return render({.options = options_,
                   .ports = {&ports_[port], 1},
                   .books = {ports_[port].books_so_far()},
                   .stamp = stamp.empty() ? stamp : std::vector{stamp[port]},
                   .started = started(),
                   .ended = std::chrono::system_clock::now(),
                   .duration = Clock::now() - begun(),
                   .ended_by = {},
                   .exit_code = ExitCode::ok});
}

std::vector<StampCounts> ReflectSession::stamp_counts() const {
    std::vector<StampCounts> counts;
    for (std::size_t i = 0; stamp_responder_ && i < ports_.size(); ++i)
        counts.push_back(stamp_responder_->counts(i));
    return counts;
}

void ReflectSession::tick(Clock::time_point now) {
    if (now >= next_look_) {
        follow_addresses_and_clock();
        next_look_ = now + look_period;
    }
    answer_show(now);
    if (is_waiting())
        return;
    if (options_.expire && !expired_ && now - begun() >= *options_.expire)
        expire();
    look_for_loops(now);
    for (ReflectPort& port : ports_)
        port.time_next_frame();
    flow_watch_.tick(now, begun(), counting_ports_);
}

void ReflectSession::report_start() { reporter_->start(options_, ports_); }

void ReflectSession::report_interval(std::optional<std::chrono::duration<double>> left) {
    for (ReflectPort& port : ports_) {
        const CountedInterval interval = port.take_interval();
        if (!is_waiting())
            reporter_->interval(port, interval, left);
    }
}

void ReflectSession::report_event(const Port& port, std::string_view text) { reporter_->event(port, text); }

// All at once: closing the books takes time.
void ReflectSession::end_counting() {
    for (ReflectPort& port : ports_)
        port.stop();
    if (stamp_responder_)
        stamp_responder_->stop();
}

ExitCode ReflectSession::finish() {
    if (probe_)
        ports_[probe_->port].refuse(std::nullopt); // what comes until the books are closed is answered
    ReflectRun run{.options = options_,
                   .ports = ports_,
                   .books = {},
                   .stamp = {},
                   .started = started(),
                   .ended = std::chrono::system_clock::now(),
                   .duration = Clock::now() - begun(),
                   .ended_by = ended_by(),
                   .exit_code = ended_whole() ? ExitCode::ok : ExitCode::temporary};
    if (ended_by() == Ending::duration || ended_by() == Ending::count)
        end_counting();
    for (ReflectPort& port : ports_)
        run.books.push_back(port.close_books());
    if (stamp_responder_)
        stamp_responder_->stop();
    run.stamp = stamp_counts();
    if (ended_whole())
        check_attachments(); // the last interval's
    run.ended_by = ended_by();
    run.exit_code = ended_whole() ? ExitCode::ok : ExitCode::temporary;
    reporter_->summary(run);
    return run.exit_code;
}

} // namespace responder
