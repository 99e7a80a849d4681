// SPDX-License-Identifier: GPL-2.0-only
//
// Frames a second that come out of an AF_XDP socket: of xdp-sink, which follows their stream and proves their payload,
// beside the simplest receiver (xsk_drop.cpp), in copy mode through a veth pair. The sender has CPU 0, on which the far
// end's program also runs and the kernel copies; the reader has another one.

#include "tests/bench/benchmarks.h"
#include "tests/bench/veth_ends.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace responder::bench {

namespace {

using namespace test;
class Bench {
  public:
    explicit Bench(const char* size) : size_(size) {}

    double simplest() const {
        FarEnd receiver(lab_, off_the_senders_cpu({BENCH_XSK_DROP, lab_.to().name}), "ready");
        const Json sent = send_for_a_second();
        return rate(sent, std::stod(receiver.end()));
    }

    double sink() const {
        FarEnd sink(lab_, {BENCH_XDP_SINK, lab_.to().name, "--engine", "af_xdp", "--json"});
        const Json sent = send_for_a_second();
        const Json port = Json::parse(sink.end()).at("ports").at(0);
        const Json& stream = port.at("streams").at("list").at(0);
        const double received = port.at("sockets").at("received");
        if (stream.at("payload_proved_frames") != received || stream.at("payload_wrong_frames") != 0)
            fail("xdp-sink", "did not prove the payload of all that it received");
        return rate(sent, received);
    }

  private:
    Json send_for_a_second() const { return send(lab_, {"--size", size_, "--duration", "1"}); }

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
