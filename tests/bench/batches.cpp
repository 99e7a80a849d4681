// SPDX-License-Identifier: GPL-2.0-only

#include "tests/bench/batches.h"

#include "loader/error.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace responder::bench {

using namespace test;

double time_batch(int program, const Octets& frame, std::uint32_t verdict, const std::string& title) {
    const TimedRun run = time_program(program, frame, batch);
    if (run.verdict != verdict)
        throw Error(ExitCode::internal, title, fmt::format("verdict {} instead of {}", run.verdict, verdict));
    return run.ns;
}

void check_counted(const CountChange& change, std::uint32_t slot, const std::string& title) {
    if (change.size() != 1 || change.begin()->first != slot || change.begin()->second.frames != batch)
        throw Error(ExitCode::internal, title, fmt::format("not {} frames were counted as {}", batch, slot_name(slot)));
}

int Floor::restoring(const Octets& frame, int program) {
    if (frame.size() < sizeof(skeleton_->bss->floor_frame))
        throw Error(ExitCode::internal, "a benchmark's frame", "too short to be put back");
    std::memcpy(skeleton_->bss->floor_frame, frame.data(), sizeof(skeleton_->bss->floor_frame));
    go_on_to(program);
    return bpf_program__fd(skeleton_->progs.xdp_restored);
}

int Floor::numbering(int program) {
    go_on_to(program);
    return bpf_program__fd(skeleton_->progs.xdp_numbered);
}

void Floor::go_on_to(int program) {
    const std::uint32_t first = 0;
    if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.floor_next), &first, &program, BPF_ANY) != 0)
        throw Error::from_errno(ExitCode::internal, "floor_next", errno);
}

} // namespace responder::bench
