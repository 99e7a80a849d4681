// SPDX-License-Identifier: GPL-2.0-only
//
// What the reflector's program costs a frame, beside one that swaps the MAC addresses and nothing else. A program in
// front puts the frame back for each round.

#include "tests/bench/batches.h"
#include "tests/harness/reflect_program.h"

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace responder::bench {

namespace {

using namespace test;
using namespace test::packet;

// Which demand is made of it.
enum class Kind { swap, stateless, stateful };

struct Case {
    std::string key, title;
    Kind kind;
    Octets frame;
    std::uint32_t slot;
};

std::vector<Case> cases() {
    const Ethernet eth{.shortest = 96}; // what is put back
    const Ipv4 ip4{};
    const Ipv6 ip6{};
    const Udp echo{.source = 0xc020, .destination = 7}, stamp{.source = 0xc020, .destination = 862};
    return {
        {"ipv4", "swap, IPv4, UDP port 7", Kind::swap, eth / ip4 / echo / payload(54), SLOT_SIZE_65},
        {"ipv6", "swap, IPv6", Kind::swap, eth / ip6 / echo / payload(34), SLOT_SIZE_65},
        {"vlan", "swap, IPv4, one VLAN tag", Kind::swap, eth / Vlan{} / ip4 / echo / payload(50), SLOT_SIZE_65},
        {"ipv4_1518", "swap, IPv4, 1518 B", Kind::swap, eth / ip4 / echo / payload(1472), SLOT_SIZE_1024},
        {"stamp4", "STAMP, stateless, IPv4", Kind::stateless, eth / ip4 / stamp / zeros(54), SLOT_STAMP_REPLY},
        {"stamp6", "STAMP, stateless, IPv6", Kind::stateless, eth / ip6 / stamp / zeros(44), SLOT_STAMP_REPLY},
        {"stateful4", "STAMP, stateful, IPv4", Kind::stateful, eth / ip4 / stamp / zeros(54), SLOT_STAMP_REPLY},
        {"stateful6", "STAMP, stateful, IPv6", Kind::stateful, eth / ip6 / stamp / zeros(44), SLOT_STAMP_REPLY},
    };
}

reflect_cfg configured(Kind kind) {
    reflect_cfg cfg = default_reflect();
    cfg.stamp_stateful = kind == Kind::stateful;
    return cfg;
}

class Measurement {
  public:
    explicit Measurement(Case measured) : case_(std::move(measured)), reflector_(configured(case_.kind)) {}

    void round() {
        empty_.push_back(time(bpf_program__fd(floor_->progs.xdp_drop), XDP_DROP));
        clock_.push_back(time(bpf_program__fd(floor_->progs.xdp_clock), XDP_DROP));
        bare_.push_back(time_restored(bpf_program__fd(floor_->progs.xdp_swap_macs)));
        reflector_.take_change();
        ours_.push_back(time_restored(reflector_.fd()));
        check_counted(reflector_.take_change(), case_.slot, case_.title);
    }

    Row row() const {
        const double more = mean_of_shorter_half(ours_) - mean_of_shorter_half(bare_);
        const double clock = mean_of_shorter_half(clock_) - mean_of_shorter_half(empty_);
        Row row{.key = case_.key,
                .title = case_.title,
                .figures = {more, case_.kind == Kind::swap ? no_figure : 2 * clock, no_figure, no_figure, no_figure}};
        row.figures.at(2 + static_cast<std::size_t>(case_.kind)) = more - (case_.kind == Kind::swap ? 0 : 2 * clock);
        return row;
    }

  private:
    double time(int program, std::uint32_t verdict) const {
        return time_batch(program, case_.frame, verdict, case_.title);
    }
    double time_restored(int program) { return time(floor_.restoring(case_.frame, program), XDP_TX); }

    Case case_;
    ReflectProgram reflector_;
    Floor floor_;
    std::vector<double> empty_, clock_, bare_, ours_;
};

} // namespace

Table reflect_cost(const Settings& settings) {
    std::vector<Measurement> measurements;
    for (Case& each : cases())
        measurements.emplace_back(std::move(each));
    take_turns(measurements, settings);
    return {.key = "reflect_cost",
            .title = "What the reflector's program costs a frame",
            .note =
                fmt::format("Nanoseconds under BPF_PROG_TEST_RUN beside a program that swaps MAC addresses; {} batches "
                            "of {} frames each, in turns. STAMP reads a clock twice.",
                            settings.rounds, batch),
            .columns = {{.key = "more_ns", .title = "more", .decimals = 1},
                        {.key = "clocks_ns", .title = "two clocks", .decimals = 1},
                        {.key = "swap_ns", .title = "swap", .decimals = 1, .at_most = 15},
                        {.key = "stateless_ns", .title = "stateless", .decimals = 1, .at_most = 30},
                        {.key = "stateful_ns", .title = "stateful", .decimals = 1, .at_most = 70}},
            .rows = rows_of(measurements)};
}

} // namespace responder::bench
