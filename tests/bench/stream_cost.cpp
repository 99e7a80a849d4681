// SPDX-License-Identifier: GPL-2.0-only
//
// What following a stream costs a frame. Each frame needs another number, so a program in front writes it and calls the
// one that is measured; the same program calls an empty one for the floor.

#include "bpf/signature/ours.h"
#include "loader/error.h"
#include "loader/sink/streams.h"
#include "tests/bench/batches.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>

#include <string>
#include <vector>

namespace responder::bench {

namespace {

using namespace test;
using namespace test::packet;

constexpr unsigned many = 4096;
constexpr unsigned slots = 2 * many; // as the loader makes them,
constexpr unsigned slots_with_histograms = 256;
constexpr unsigned few = 64; // streams, up to which the first demand is made

class Measurement {
  public:
    Measurement(unsigned streams, bool stamped, bool histograms)
        : streams_(streams), stamped_(stamped), histograms_(histograms),
          frame_(Ethernet{} / Ipv4{} / Udp{} / zeros(OURS_LENGTH)),
          sink_({.stream_slots = histograms ? slots_with_histograms : slots, .histograms = histograms}) {
        floor_->bss->floor_streams = streams;
        floor_->bss->floor_stamped = stamped;
    }

    void round() {
        clock_.push_back(time(bpf_program__fd(stamped_ ? floor_->progs.xdp_clock : floor_->progs.xdp_tick)));
        empty_.push_back(time(bpf_program__fd(floor_->progs.xdp_drop)));
        nothing_.push_back(time_numbered(bpf_program__fd(floor_->progs.xdp_drop)));
        sink_ns_.push_back(time_numbered(sink_.fd()));
    }

    Row row() const {
        const StreamFigures all = sink_.streams().sum();
        if (all.frames != batch * sink_ns_.size() || all.duplicate + all.stray != 0)
            throw Error(ExitCode::internal, "a benchmark's streams", "were not followed as they should");
        const double clock = mean_of_shorter_half(clock_) - mean_of_shorter_half(empty_);
        const double more = mean_of_shorter_half(sink_ns_) - mean_of_shorter_half(nothing_);
        const std::string what =
            fmt::format("{} stream{}{}", streams_, streams_ == 1 ? "" : "s", stamped_ ? ", with jitter" : "");
        const std::string key = fmt::format("streams_{}{}", streams_, stamped_ ? "_stamped" : "");
        if (histograms_) // nothing is demanded of these
            return {.key = key + "_histograms",
                    .title = what + " and histograms",
                    .figures = {more, clock, no_figure, no_figure, more - clock}};
        return {.key = key,
                .title = what,
                .figures = {more, clock, streams_ <= few ? more - clock : no_figure,
                            streams_ <= few ? no_figure : more - clock, no_figure}};
    }

  private:
    double time(int program) const { return time_batch(program, frame_, XDP_DROP, "a benchmark's program"); }
    double time_numbered(int program) {
        // The sink's numbers go on where they were; the empty program's are nobody's.
        __u64& number = program == sink_.fd() ? sink_number_ : floor_number_;
        floor_->bss->floor_number = number;
        const double ns = time(floor_.numbering(program));
        number = floor_->bss->floor_number;
        return ns;
    }

    unsigned streams_;
    bool stamped_, histograms_;
    Octets frame_;
    SinkProgram sink_;
    Floor floor_;
    __u64 sink_number_ = 0, floor_number_ = 0;
    std::vector<double> clock_, empty_, nothing_, sink_ns_;
};

} // namespace

Table stream_cost(const Settings& settings) {
    std::vector<Measurement> measurements;
    for (const bool stamped : {false, true})
        for (const unsigned streams : {1U, few, many})
            measurements.emplace_back(streams, stamped, false);
    for (const unsigned streams : {1U, few})
        measurements.emplace_back(streams, true, true);
    take_turns(measurements, settings);
    return {.key = "stream_cost",
            .title = "What counting and following a stream costs a frame of 64 B",
            .note =
                fmt::format("Nanoseconds under BPF_PROG_TEST_RUN beside a program that does nothing; {} batches "
                            "of {} frames each, in turns. Following reads a clock once, and for jitter an exact one.",
                            settings.rounds, batch),
            .columns = {{.key = "more_ns", .title = "more", .decimals = 1},
                        {.key = "clock_ns", .title = "the clock", .decimals = 1},
                        {.key = "few_ns", .title = "without it", .decimals = 1, .at_most = 15},
                        {.key = "thousands_ns", .title = "of thousands", .decimals = 1, .at_most = 45},
                        {.key = "histograms_ns", .title = "with histograms", .decimals = 1}},
            .rows = rows_of(measurements)};
}

} // namespace responder::bench
