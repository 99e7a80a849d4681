// SPDX-License-Identifier: GPL-2.0-only

#include "tests/harness/prog_run.h"

#include "loader/clock.h"
#include "loader/error.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace responder::test {

namespace {

constexpr std::size_t room_to_grow = 256;

} // namespace

ProgramRun run_program(int program_fd, std::span<const std::uint8_t> frame) {
    ProgramRun run{.out = Octets(frame.size() + room_to_grow)};
    bpf_test_run_opts options{};
    options.sz = sizeof(options);
    options.data_in = frame.data();
    options.data_size_in = static_cast<__u32>(frame.size());
    options.data_out = run.out.data();
    options.data_size_out = static_cast<__u32>(run.out.size());
    options.repeat = 1;
    if (const int error = bpf_prog_test_run_opts(program_fd, &options); error != 0)
        throw Error::from_errno(ExitCode::os, "BPF_PROG_TEST_RUN", -error);
    run.verdict = options.retval;
    run.out.resize(options.data_size_out);
    return run;
}

TimedRun time_program(int program_fd, std::span<const std::uint8_t> frame, unsigned times) {
    bpf_test_run_opts options{};
    options.sz = sizeof(options);
    options.data_in = frame.data();
    options.data_size_in = static_cast<__u32>(frame.size());
    options.repeat = static_cast<int>(times);
    if (const int error = bpf_prog_test_run_opts(program_fd, &options); error != 0)
        throw Error::from_errno(ExitCode::os, "BPF_PROG_TEST_RUN", -error);
    return {.verdict = options.retval, .ns = options.duration};
}

match_prefix4 prefix4(const std::string& address, unsigned length) {
    match_prefix4 prefix{};
    std::ranges::copy(packet::address_octets(address).octets, reinterpret_cast<std::uint8_t*>(&prefix.address));
    for (unsigned bit = 0; bit < length; ++bit)
        reinterpret_cast<std::uint8_t*>(&prefix.mask)[bit / 8] |= static_cast<std::uint8_t>(0x80 >> bit % 8);
    return prefix;
}

match_prefix6 prefix6(const std::string& address, unsigned length) {
    match_prefix6 prefix{};
    std::ranges::copy(packet::address_octets(address).octets, reinterpret_cast<std::uint8_t*>(prefix.address));
    for (unsigned bit = 0; bit < length; ++bit)
        reinterpret_cast<std::uint8_t*>(prefix.mask)[bit / 8] |= static_cast<std::uint8_t>(0x80 >> bit % 8);
    return prefix;
}

match_cfg match_ports(std::initializer_list<match_range> ports) {
    match_cfg cfg{};
    std::ranges::copy(ports, cfg.port);
    cfg.port_count = static_cast<__u8>(ports.size());
    return cfg;
}

match_cfg default_match() {
    match_cfg cfg = match_ports({{9, 9}});
    cfg.network4_count = 1;
    cfg.network4[0] = prefix4("198.18.0.0", 15);
    cfg.network6_count = 1;
    cfg.network6[0] = prefix6("2001:2::", 48);
    return cfg;
}

std::string slot_name(std::uint32_t slot) {
    static constexpr auto names = std::to_array<const char*>({
#define X(id, smallest) "size_" #id,
        SLOT_SIZE_BINS(X)
#undef X
#define X(id, key, text) key,
            SLOT_ANSWERS(X) REFLECT_ANSWERS(X) SLOT_REASONS(X) REFLECT_REASONS(X) REFLECT_DROPS(X)
#undef X
    });
    static_assert(names.size() == SLOTS);
    return slot < names.size() ? names[slot] : "slot " + std::to_string(slot);
}

SinkProgram::SinkProgram(const Options& options) {
    cfg_.match = options.match;
    cfg_.multi_buffer = options.multi_buffer;
    cfg_.stream_slots = options.stream_slots;
    cfg_.tick_ns = kernel_tick_ns();
    cfg_.copy_passed = options.copy_passed;
    cfg_.watch_count = static_cast<__u8>(options.watches.size());
    std::ranges::copy(options.watches, cfg_.watch);
    cfg_.histograms = options.histograms;
    cfg_.clocks_in_step = options.clocks_in_step;
    for (bpf_map* map : {skeleton_->maps.sink_streams, skeleton_->maps.sink_stream_rests})
        bpf_map__set_max_entries(map, std::max(options.stream_slots, 1U));
    if (options.histograms)
        bpf_map__set_max_entries(skeleton_->maps.sink_histograms, options.stream_slots);
    if (!options.address4.empty()) {
        cfg_.answer.v4 = 1;
        cfg_.answer.address4 = prefix4(options.address4, 32).address;
    }
    if (!options.address6.empty()) {
        cfg_.answer.v6 = 1;
        std::ranges::copy(prefix6(options.address6, 128).address, cfg_.answer.address6);
    }
    std::memcpy(const_cast<sink_cfg*>(const_cast<const sink_cfg*>(&skeleton_->rodata->sink_cfg)), &cfg_, sizeof(cfg_));
    std::ranges::copy(packet::own_mac.bytes, skeleton_->bss->sink_own_mac.bytes);
    if (options.multi_buffer)
        bpf_program__set_flags(skeleton_->progs.xdp_sink, BPF_F_XDP_HAS_FRAGS);
    skeleton_.load();
    counter_ = SlotCounter(bpf_map__fd(skeleton_->maps.queue_counters));
}

StreamReport SinkProgram::streams() const {
    return StreamTable({.streams = bpf_map__fd(skeleton_->maps.sink_streams),
                        .rests = bpf_map__fd(skeleton_->maps.sink_stream_rests),
                        .unplaced = bpf_map__fd(skeleton_->maps.sink_unplaced),
                        .histograms = cfg_.histograms ? bpf_map__fd(skeleton_->maps.sink_histograms) : -1,
                        .clocks_in_step = cfg_.clocks_in_step != 0},
                       cfg_.stream_slots, 1)
        .read();
}

int SinkProgram::fd() const { return bpf_program__fd(skeleton_->progs.xdp_sink); }

SlotCounter::SlotCounter(int map_fd)
    : map_fd_(map_fd), per_cpu_(static_cast<std::size_t>(libbpf_num_possible_cpus())), before_(totals()) {}

SlotCounter::Totals SlotCounter::totals() {
    const __u32 queue = 0;
    if (bpf_map_lookup_elem(map_fd_, &queue, per_cpu_.data()) != 0)
        throw Error::from_errno(ExitCode::os, "read the counters", errno);
    Totals sums(SLOTS);
    for (const slot_counters& counters : per_cpu_)
        for (std::size_t slot = 0; slot < SLOTS; ++slot) {
            sums[slot].frames += counters.slot[slot].frames;
            sums[slot].l2_bytes += counters.slot[slot].l2_bytes;
            sums[slot].l3_bytes += counters.slot[slot].l3_bytes;
            sums[slot].payload_bytes += counters.slot[slot].payload_bytes;
        }
    return sums;
}

CountChange SlotCounter::take_change() {
    CountChange changes;
    const Totals now = totals();
    for (std::uint32_t slot = 0; slot < SLOTS; ++slot) {
        const slot_count change{
            .frames = now[slot].frames - before_[slot].frames,
            .l2_bytes = now[slot].l2_bytes - before_[slot].l2_bytes,
            .l3_bytes = now[slot].l3_bytes - before_[slot].l3_bytes,
            .payload_bytes = now[slot].payload_bytes - before_[slot].payload_bytes,
        };
        if (change.frames != 0 || change.l2_bytes != 0 || change.l3_bytes != 0 || change.payload_bytes != 0)
            changes.emplace(slot, change);
    }
    before_ = now;
    return changes;
}

SinkProgram::Run SinkProgram::run(std::span<const std::uint8_t> frame) {
    ProgramRun ran = run_program(fd(), frame);
    return {.verdict = ran.verdict, .out = std::move(ran.out), .change = take_change()};
}

} // namespace responder::test
