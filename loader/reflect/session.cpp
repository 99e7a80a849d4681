// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/session.h"

#include "loader/command.h"
#include "loader/reflect/stamp_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>

#include <algorithm>
#include <bit>
#include <memory>

namespace responder {

namespace {

using namespace std::chrono_literals;

// The clock's error grows, and addresses come and go.
constexpr auto look_period = 1s;

unsigned length_of(const sockaddr& mask) {
    unsigned length = 0;
    for (const std::uint8_t octet : IpAddress::from(mask).bytes)
        length += static_cast<unsigned>(std::popcount(octet));
    return length;
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
    watch(ports_, notes);
    if (options.json || options.json_stream)
        reporter_ = std::make_unique<ReflectJson>(options.json_stream);
    else
        reporter_ = std::make_unique<ReflectText>(!options.quiet);
}

std::string ReflectSession::what_becomes_of_frames(const Port& port) const {
    const reflect_cfg& cfg = options_.program;
    std::vector<std::string> parts{describe(port.match())};
    if (cfg.ours)
        parts.emplace_back("xdp-gen's signature on any lower UDP port");
    if (!options_.signatures.empty())
        parts.push_back(fmt::format("{}", fmt::join(options_.signatures, ", ")));
    if (!options_.testers.empty())
        parts.push_back(fmt::format("everything from {}", fmt::join(options_.testers, ", ")));
    std::string text = fmt::format("sends back {}", fmt::join(parts, "; "));
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
    if (options_.expire)
        say(fmt::format("test traffic is answered for {} s: a loop between two reflectors cannot be told from a test",
                        std::chrono::duration<double>(*options_.expire).count()));
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
    for (ReflectPort& port : ports_) {
        port.refuse(SLOT_EXPIRED);
        const std::string text =
            fmt::format("{}: --expire is over: test traffic is dropped from now on", port.netdev().name());
        say(text);
        report_event(port, text);
    }
}

void ReflectSession::tick(Clock::time_point now) {
    if (now >= next_look_) {
        follow_addresses_and_clock();
        next_look_ = now + look_period;
    }
    if (is_waiting())
        return;
    if (options_.expire && !expired_ && now - begun() >= *options_.expire)
        expire();
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
    if (stamp_responder_) {
        stamp_responder_->stop();
        for (std::size_t i = 0; i < ports_.size(); ++i)
            run.stamp.push_back(stamp_responder_->counts(i));
    }
    if (ended_whole())
        check_attachments(); // the last interval's
    run.ended_by = ended_by();
    run.exit_code = ended_whole() ? ExitCode::ok : ExitCode::temporary;
    reporter_->summary(run);
    return run.exit_code;
}

} // namespace responder
