// SPDX-License-Identifier: GPL-2.0-only
//
// xdp-gen: sends test frames from an interface, and says how many left it.

#include "loader/capabilities.h"
#include "loader/command.h"
#include "loader/ethtool.h"
#include "loader/generate/live_frame_sender.h"
#include "loader/libbpf_log.h"
#include "loader/netdev.h"
#include "tools/gen/options.h"
#include "tools/gen/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

namespace responder::gen {

namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set in a signal handler");

void request_stop(int) { stop = true; }

void stop_on_signals() {
    struct sigaction action {};
    action.sa_handler = request_stop;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction before {};
    if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) // nohup(1)
        sigaction(SIGHUP, &action, nullptr);
}

void announce(const Options& options, const std::string& driver) {
    std::string sizes;
    for (const unsigned size : options.frames.sizes)
        sizes += fmt::format("{}{}", sizes.empty() ? "" : ",", size);
    say(fmt::format("xdp-gen: {}{}: sending frames of {} bytes to {}", options.interface,
                    driver.empty() ? "" : fmt::format(" ({})", driver), sizes,
                    to_string(options.frames.destination_mac)));
}

// What is not as it should be, once the summary is out.
ExitCode judge(const Report& report) {
    const Sent& sent = report.sent;
    if (sent.end == Sent::End::interface_gone)
        throw Error(ExitCode::temporary, report.interface, "the interface went away while frames were sent",
                    "what it sent since its last reading, up to 0.1 s ago, is not counted");
    if (sent.handed_over != 0 && sent.left() == 0) {
        if (sent.link_was_down)
            throw Error(ExitCode::temporary, report.interface,
                        sent.link_is_down ? "not one frame left: the link is down"
                                          : "not one frame left: there was no link at times");
        throw Error(
            ExitCode::os, report.interface, "not one frame left: the driver refused all of them",
            report.driver == "veth"
                ? "attach a native XDP program to the far end of the veth pair: xdp-sink, unless in generic mode"
                : "it must be able to send XDP frames (ndo_xdp_xmit), and some can only with an XDP program "
                  "on the port");
    }
    return ExitCode::ok;
}

ExitCode run(int argc, const char* const* argv) {
    std::optional<Options> options = parse_options(argc, argv);
    if (!options)
        return ExitCode::ok;
    capture_libbpf_log(options->verbose);
    const Netdev netdev = Netdev::find(options->interface);
    if (!options->destination_mac)
        throw Error(ExitCode::usage, "--dst-mac is missing", "frames need a receiver",
                    "give the MAC address of the port that shall receive them, which `ip link` shows over there");
    require_capabilities(/*packet_sockets=*/false);
    options->frames.source_mac = options->source_mac.value_or(netdev.link().mac);
    options->frames.destination_mac = *options->destination_mac;

    Report report;
    report.argv.assign(argv, argv + argc);
    report.interface = netdev.name();
    report.driver = ethtool::driver_info(netdev.index()).driver;
    report.frames_requested = options->plan.frames;
    report.rate_requested_fps = options->plan.rate_fps;

    stop_on_signals();
    LiveFrameSender sender(netdev, options->frames);
    if (!options->quiet)
        announce(*options, report.driver);
    report.started = std::chrono::system_clock::now();
    report.sent = sender.send(options->plan, stop);
    report.handed_over_by_size = frames_by_size(options->frames, report.sent.handed_over);
    write_all(STDOUT_FILENO, options->json ? render_json(report) : render_text(report));
    return judge(report);
}

} // namespace

} // namespace responder::gen

int main(int argc, char** argv) {
    return responder::run_command("xdp-gen", [&] { return responder::gen::run(argc, argv); });
}
