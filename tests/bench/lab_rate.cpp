// SPDX-License-Identifier: GPL-2.0-only
//
// Frames a second through a veth pair: the same sender at full speed, and at the far end an attached program that only
// drops, xdp-sink, a UDP receiver on sockets, iperf3. What arrives is counted at the far end; of xdp-sink it must be
// all that left. The sender has CPU 0, on which a veth's far end also runs; a receiver in user space has another one.

#include "tests/bench/benchmarks.h"
#include "tests/bench/veth_ends.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace responder::bench {

namespace {

using namespace test;
constexpr unsigned rough_turns = 3; // of those that are several times slower

class Bench {
  public:
    Bench() : lab_({.addresses = true}) {}

    // Without more options for a second at full speed.
    Json send(const std::vector<std::string>& options = {"--duration", "1"}) const {
        std::vector<std::string> all{"--src", "192.0.2.1", "--dst", "192.0.2.2"};
        all.insert(all.end(), options.begin(), options.end());
        return bench::send(lab_, all);
    }

    double empty() const {
        const Attachment dropping = attach(lab_.responder, lab_.to().name, BareProgram::drop);
        return send().at("frames_per_second");
    }

    struct Run {
        Json sent, counted; // what xdp-gen and what xdp-sink said of it
    };
    Run run(const std::vector<std::string>& sink_options, const std::vector<std::string>& gen_options) const {
        std::vector<std::string> argv{BENCH_XDP_SINK, lab_.to().name, "--json"};
        argv.insert(argv.end(), sink_options.begin(), sink_options.end());
        FarEnd sink(lab_, argv);
        Json sent = send(gen_options);
        return {.sent = std::move(sent), .counted = Json::parse(sink.end())};
    }

    double sink(const char* streams) const {
        const auto [sent, counted] = run({"--streams", streams}, {"--duration", "1"});
        const std::uint64_t arrived = counted.at("ports").at(0).at("test").at("frames");
        if (arrived != sent.at("frames_sent").get<std::uint64_t>())
            fail("xdp-sink", "did not count what xdp-gen sent");
        if (counted.at("ports").at(0).contains("streams") &&
            counted.at("ports").at(0).at("streams").at("list").at(0).at("frames") != arrived)
            fail("xdp-sink", "did not follow what xdp-gen sent");
        return sent.at("frames_per_second");
    }

    double sockets(const char* how) const {
        FarEnd receiver(lab_, off_the_senders_cpu({BENCH_UDP_RECEIVER, "9", "2", how}), "ready");
        send();
        receiver.process().wait(); // after its two seconds
        std::istringstream words(receiver.end());
        double datagrams = 0, seconds = 0;
        words >> datagrams >> seconds;
        if (datagrams == 0)
            fail("udp_receiver", "received nothing");
        return datagrams / seconds;
    }

    double iperf3() {
        Process server(off_the_senders_cpu({"iperf3", "--server"}), {.network_namespace = lab_.responder.fd()});
        Json said;
        const bool done = eventually([&] {
            Process client({"taskset", "-c", "0", "iperf3", "--client", "192.0.2.2", "--udp", "--length", "16",
                            "--bitrate", "0", "--time", "2", "--json"},
                           {.network_namespace = lab_.tester.fd()});
            client.wait();
            said = Json::parse(client.out(), nullptr, false);
            return !said.is_discarded() && said.contains("end") &&
                   said["end"].contains("sum"); // once the server listens
        });
        server.signal(SIGTERM);
        server.wait();
        if (!done)
            fail("iperf3", said.dump());
        const Json& sum = said["end"]["sum"];
        return (sum.at("packets").get<double>() - sum.at("lost_packets").get<double>()) /
               sum.at("seconds").get<double>();
    }

    // A receiver in user space needs frames to reach the stack by NAPI, which a veth without a program does only with
    // GRO.
    void use_stack() { lab_.responder.run({"ethtool", "-K", lab_.to().name, "gro", "on"}); }

    const Lab& lab() const noexcept { return lab_; }

  private:
    Lab lab_;
};

} // namespace

Table lab_rate(const Settings&) {
    Bench bench;
    std::vector<double> empty, sink, verifying, ratios, verifying_ratios;
    for (unsigned turn = 0; turn < turns; ++turn) {
        empty.push_back(bench.empty());
        sink.push_back(bench.sink("0"));
        verifying.push_back(bench.sink("64"));
        ratios.push_back(sink.back() / empty.back());
        verifying_ratios.push_back(verifying.back() / empty.back());
    }
    bench.use_stack();
    const auto of = [](unsigned count, const std::function<double()>& measure) {
        std::vector<double> values;
        for (unsigned turn = 0; turn < count; ++turn)
            values.push_back(measure());
        return median(values);
    };
    const double plain = of(rough_turns, [&] { return bench.sockets("plain"); });
    const double gro = of(rough_turns, [&] { return bench.sockets("gro"); });
    const double iperf3 = of(rough_turns, [&] { return bench.iperf3(); });
    const double of_sink = median(sink);
    return {
        .key = "lab_rate",
        .title = "64-byte frames a second through a veth pair",
        .note = "One sender at full speed. The ratio to the empty program is the median of turns taken one after the "
                "other.",
        .columns =
            {{.key = "frames_per_second", .title = "frames/s"},
             {.key = "sink_ratio", .title = "xdp-sink / this", .decimals = 2, .at_most = {}, .at_least = 0.93},
             {.key = "verifying_ratio", .title = "following a stream", .decimals = 2, .at_most = {}, .at_least = 0.75}},
        .rows = {{.key = "empty",
                  .title = "attached program that only drops",
                  .figures = {median(empty), median(ratios), median(verifying_ratios)}},
                 {.key = "sink",
                  .title = "xdp-sink --streams 0",
                  .figures = {of_sink, no_figure, no_figure},
                  .has_limit = false},
                 {.key = "verifying",
                  .title = "xdp-sink, following a stream",
                  .figures = {median(verifying), no_figure, no_figure},
                  .has_limit = false},
                 {.key = "recvmmsg",
                  .title = "recvmmsg on a UDP socket",
                  .figures = {plain, of_sink / plain, median(verifying) / plain},
                  .has_limit = false},
                 {.key = "recvmmsg_gro",
                  .title = "the same with UDP_GRO",
                  .figures = {gro, of_sink / gro, median(verifying) / gro},
                  .has_limit = false},
                 {.key = "iperf3",
                  .title = "iperf3 -u -l 16 -b 0",
                  .figures = {iperf3, of_sink / iperf3, median(verifying) / iperf3},
                  .has_limit = false}}};
}

Table line_rate(const Settings&) {
    constexpr unsigned line_fps = 3'720'238; // 2.5 Gbit/s in 84 octets a frame, preamble and gap included
    Bench bench;
    const auto [sent, counted] =
        bench.run({}, {"--rate", fmt::format("{}", line_fps), "--streams", "16", "--duration", "30"});
    const Json& port = counted.at("ports").at(0);
    const Json& streams = port.at("streams");
    const double left = sent.at("frames_sent"), arrived = port.at("test").at("frames");
    double followed = 0, lost = 0;
    for (const Json& stream : streams.at("list")) {
        followed += stream.at("frames").get<double>();
        lost += stream.at("lost").get<double>();
    }
    return {.key = "line_rate",
            .title = "The line rate of 2.5 Gbit/s in frames of 64 B, for 30 s in 16 streams",
            .note = "The sender and the program of the sink share one CPU.",
            .columns = {{.key = "frames_per_second", .title = "frames/s", .at_least = 3'720'000},
                        {.key = "sent", .title = "sent"},
                        {.key = "not_counted", .title = "not counted", .at_most = 0},
                        {.key = "not_followed", .title = "not followed", .at_most = 0},
                        {.key = "lost", .title = "lost", .at_most = 0}},
            .rows = {{.key = "line",
                      .title = "xdp-sink",
                      .figures = {sent.at("frames_per_second"), left, left - arrived, left - followed, lost}}}};
}

Table process_cost(const Settings&) {
    const Bench bench;
    constexpr auto idle = std::chrono::seconds(10);
    FarEnd sink(bench.lab(), {BENCH_XDP_SINK, bench.lab().to().name, "--json"});
    std::this_thread::sleep_for(idle);
    const double resident = static_cast<double>(sink.process().resident_kib()) / 1024;
    sink.end();
    const rusage usage = sink.process().wait().usage;
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    const double cpu =
        (seconds(usage.ru_utime) + seconds(usage.ru_stime)) / std::chrono::duration<double>(idle).count();
    return {.key = "process_cost",
            .title = "The process of xdp-sink, idle for 10 s",
            .note = "CPU time includes start and end.",
            .columns = {{.key = "resident_mib", .title = "resident MiB", .decimals = 1, .at_most = 20},
                        {.key = "cpu_percent", .title = "% of a core", .decimals = 2, .at_most = 2}},
            .rows = {{.key = "idle", .title = "xdp-sink", .figures = {resident, 100 * cpu}}}};
}

} // namespace responder::bench
