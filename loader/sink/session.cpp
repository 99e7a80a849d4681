// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/session.h"

#include "loader/command.h"
#include "loader/sink/watch.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

namespace responder {

namespace {

using namespace std::chrono_literals;

// How often sockets are read: some 0.3 ms for the kernel to go through its table.
constexpr auto stack_period = 100ms;

void require_line_speed(const SinkOptions& options, const SinkPort& port) {
    if (options.expect_rate && options.expect_rate->unit == RateCondition::Unit::line_percent && port.has_carrier() &&
        port.speed_bps() == 0)
        throw Error(ExitCode::usage,
                    fmt::format("{}: --expect-rate {}", port.netdev().name(), options.expect_rate->text),
                    "this port does not say how fast its line is", "give a rate like 3.7Mfps or 2.4Gbps");
}

// What went by the ports to the sockets on watched ones.
MeasuredSockets measured_sockets(const std::vector<SinkPort>& ports, const StackLosses& stack) {
    MeasuredSockets sockets{.dropped = stack.watched_sockets};
    for (const SinkPort& port : ports)
        for (const StreamFigures& stream : port.streams().streams)
            if (stream_is_of_port(stream.key.format) && !stream.left_out)
                sockets.came += stream.frames;
    return sockets;
}

pcapng::Section this_system() {
    utsname name{};
    uname(&name);
    return {.hardware = name.machine,
            .os = fmt::format("{} {}", name.sysname, name.release),
            .application = "xdp-sink " RESPONDER_VERSION};
}

} // namespace

SinkSession::SinkSession(const SinkOptions& options)
    : Session(options), options_(options), flow_watch_(options.match.usual.promiscuous, followed()) {
    std::vector<Netdev> netdevs = find_interfaces(options.match.all ? "--all" : "");
    if (options.capture)
        capture_ = std::make_unique<Capture>(options.capture->file, options.capture->limits, options.capture->snaplen);
    ports_.reserve(netdevs.size());
    std::vector<std::string> notes;
    unsigned readers = 0;
    for (Netdev& netdev : netdevs) {
        ports_.emplace_back(options, std::move(netdev), readers, capture_.get(), notes);
        readers += ports_.back().queues();
    }
    if (options.clocks_within && *options.clocks_within != 0ns && !clock_.synchronised)
        notes.push_back("--clocks-within: the kernel says that nothing keeps this machine's clock (adjtimex: "
                        "unsynchronised): one-way delays may be wrong by any amount");
    for (const SinkPort& port : ports_)
        require_line_speed(options, port);
    watch(ports_, notes);
    for (SinkPort& port : ports_)
        counting_ports_.push_back(&port);
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

void SinkSession::introduce() const {
    Session::introduce();
    if (capture_)
        introduce_capture();
}

std::string SinkSession::what_becomes_of_frames(const Port& port) const {
    return fmt::format("counts and drops {}; everything else goes up the stack{}{}", describe(port.match()),
                       options_.watches.empty() ? "" : "; followed on the way: ", describe(options_.watches));
}

void SinkSession::introduce_capture() const {
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

void SinkSession::end_capture(std::span<const Books> books) {
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
    tell_of_capture("");
}

void SinkSession::tell_of_capture(std::string_view what_goes_on) {
    if (!capture_ || capture_end_told_ || capture_->why_over().empty())
        return;
    capture_end_told_ = true;
    const std::string text = fmt::format("the capture is over: {}{}", capture_->why_over(), what_goes_on);
    say(text);
    for (const auto& reporter : reporters_)
        reporter->capture_over(text);
}

void SinkSession::report_start() {
    for (const auto& reporter : reporters_)
        reporter->start(options_, ports_);
}

void SinkSession::report_interval(std::optional<std::chrono::duration<double>> left) {
    interval_reports_.clear();
    for (SinkPort& port : ports_)
        interval_reports_.push_back({.port = port, .interval = port.take_interval(), .left = left});
    if (!is_waiting())
        for (const auto& reporter : reporters_)
            reporter->interval(interval_reports_);
}

void SinkSession::report_event(const Port& port, std::string_view text) {
    for (const auto& reporter : reporters_)
        reporter->event(port, text);
}

// What goes to a watched port is followed, unless it is not of that port's format.
FlowWatch::Following SinkSession::followed() const {
    const auto follows = [](const CountingPort& port) {
        return static_cast<const SinkPort&>(port).has_seen_a_stream();
    };
    return {.aside =
                [follows](const CountingPort& port) {
                    return follows(port) ? std::string(", but streams that go up the stack are followed")
                                         : std::string();
                },
            .followed_as =
                [this, follows](const CountingPort& port, const passed_flow_key& key) {
                    const auto watch = std::ranges::find(options_.watches, key.destination_port, &watch_port::port);
                    return follows(port) && watch != options_.watches.end()
                               ? std::string(format_name(static_cast<stream_format>(watch->format)))
                               : std::string();
                }};
}

void SinkSession::tick(Clock::time_point now) {
    if (stack_ && now >= next_stack_poll_) {
        stack_->poll();
        next_stack_poll_ = now + stack_period;
    }
    tell_of_capture("; the measurement goes on");
    if (!is_waiting())
        flow_watch_.tick(now, begun(), counting_ports_);
}

ExitCode SinkSession::finish() {
    const auto ended = std::chrono::system_clock::now();
    const Clock::duration duration = Clock::now() - begun();
    // A signal means "now that it has all come"; a plan means its exact end.
    std::optional<StackLosses> stack;
    if (ended_by() == Ending::duration || ended_by() == Ending::count) {
        for (SinkPort& port : ports_) // all at once: closing the books takes time
            port.stop();
        if (stack_)
            stack = stack_->losses();
    }
    std::vector<Books> books;
    std::vector<Measured> measured;
    for (SinkPort& port : ports_) {
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
             .clock_is_unkept = !clock_.synchronised,
             .no_room = port.streams().no_room,
             .left_out = port.streams().left_out(),
             .lost_here = lost_in_ring(books.back()),
             .missed = books.back().nic_known ? std::optional(books.back().nic.missed()) : std::nullopt});
    }
    if (stack_ && !stack)
        stack = stack_->losses();
    if (capture_)
        end_capture(books);
    if (ended_whole())
        check_attachments(); // the last interval's
    const std::optional<Verdict> verdict =
        judge(options_, measured, why_broken(), stack ? std::optional(measured_sockets(ports_, *stack)) : std::nullopt);
    ExitCode code = ExitCode::ok;
    if (!ended_whole())
        code = ExitCode::temporary;
    else if (verdict && !verdict->pass())
        code = ExitCode::verdict_fail;
    const RunReport report{.options = options_,
                           .clock = clock_,
                           .ports = ports_,
                           .books = books,
                           .stack = stack,
                           .started = started(),
                           .ended = ended,
                           .duration = duration,
                           .ended_by = ended_by(),
                           .capture = capture_ ? &capture_->figures() : nullptr,
                           .verdict = verdict,
                           .exit_code = code};
    for (const auto& reporter : reporters_)
        reporter->summary(report);
    return code;
}

} // namespace responder
