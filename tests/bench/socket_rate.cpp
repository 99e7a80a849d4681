// SPDX-License-Identifier: GPL-2.0-only
//
// Frames a second that come out of an AF_XDP socket: of xdp-sink, which follows their stream and proves their payload,
// beside the simplest receiver (xsk_drop.cpp), in copy mode through a veth pair. The sender has CPU 0, on which the far
// end's program also runs and the kernel copies; the reader has another one.

#include "loader/error.h"
#include "tests/bench/benchmarks.h"
#include "tests/harness/lab.h"
#include "tests/harness/process.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <string>

namespace responder::bench {

namespace {

using namespace test;
using Json = nlohmann::json;

constexpr unsigned turns = 7;

[[noreturn]] void fail(const std::string& what, const std::string& why) { throw Error(ExitCode::internal, what, why); }

class Bench {
  public:
    explicit Bench(const char* size) : size_(size) {}

    double simplest() {
        Process receiver({"taskset", "-c", "1-255", BENCH_XSK_DROP, lab_.to().name},
                         {.network_namespace = lab_.responder.fd()});
        if (!receiver.wait_for_out("ready"))
            fail("xsk_drop", receiver.err());
        const Json sent = send();
        receiver.signal(SIGINT);
        receiver.wait();
        return rate(sent, std::stod(receiver.out().substr(receiver.out().find('\n'))));
    }

    double sink() {
        Process sink({BENCH_XDP_SINK, lab_.to().name, "--engine", "af_xdp", "--json"},
                     {.network_namespace = lab_.responder.fd()});
        if (!sink.wait_for_err("type into the tester"))
            fail("xdp-sink", sink.err());
        const Json sent = send();
        sink.signal(SIGINT);
        sink.wait();
        const Json port = Json::parse(sink.out()).at("ports").at(0);
        const Json& stream = port.at("streams").at("list").at(0);
        const double received = port.at("sockets").at("received");
        if (stream.at("payload_proved_frames") != received || stream.at("payload_wrong_frames") != 0)
            fail("xdp-sink", "did not prove the payload of all that it received");
        return rate(sent, received);
    }

  private:
    // For a second at full speed; what xdp-gen says of it.
    Json send() {
        Process sender({"taskset", "-c", "0", BENCH_XDP_GEN, lab_.from().name, "--quiet", "--json", "--dst-mac",
                        to_string(lab_.to().mac), "--size", size_, "--duration", "1"},
                       {.network_namespace = lab_.tester.fd()});
        if (sender.wait().code != 0)
            fail("xdp-gen", sender.err());
        return Json::parse(sender.out());
    }

    static double rate(const Json& sent, double received) {
        return sent.at("frames_per_second").get<double>() * received / sent.at("frames_sent").get<double>();
    }

    Lab lab_;
    const char* size_;
};

} // namespace

Table socket_rate(const Settings&) {
    Table table{.key = "socket_rate",
                .title = "Frames a second out of an AF_XDP socket, copy mode",
                .note =
                    "One sender at full speed. xdp-sink follows the stream and proves the payload; the other looks at "
                    "no frame. The ratio is the median of turns taken one after the other.",
                .columns = {},
                .rows = {{.key = "simplest", .title = "the simplest loop", .figures = {}, .has_limit = false},
                         {.key = "sink", .title = "xdp-sink --engine af_xdp", .figures = {}}}};
    for (const auto& [size, at_least] : {std::pair{"64", 0.9}, std::pair{"1518", 0.8}}) {
        Bench bench(size);
        std::vector<double> simplest, sink, ratios;
        for (unsigned turn = 0; turn < turns; ++turn) {
            simplest.push_back(bench.simplest());
            sink.push_back(bench.sink());
            ratios.push_back(sink.back() / simplest.back());
        }
        table.columns.push_back(
            {.key = fmt::format("frames_per_second_{}", size), .title = fmt::format("{} octets", size)});
        table.columns.push_back({.key = fmt::format("ratio_{}", size),
                                 .title = fmt::format("{} ratio", size),
                                 .decimals = 2,
                                 .at_most = {},
                                 .at_least = at_least});
        table.rows[0].figures.insert(table.rows[0].figures.end(), {median(simplest), no_figure});
        table.rows[1].figures.insert(table.rows[1].figures.end(), {median(sink), median(ratios)});
    }
    return table;
}

} // namespace responder::bench
