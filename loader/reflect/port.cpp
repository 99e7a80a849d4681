// SPDX-License-Identifier: GPL-2.0-only

#include "loader/reflect/port.h"

#include "loader/mapping.h"
#include "loader/reflect/stamp_state.h"
#include "loader/skeleton.h"

#include "reflect.skel.h" // behind bpf/reflect_abi.h, whose types it names

#include <bpf/bpf.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace responder {

class ReflectPort::Program final : public PortProgram {
  public:
    Program(const ReflectOptions& options, const ReflectPort& port, bool multi_buffer)
        : by_socket_(port.sockets() != nullptr) {
        reflect_cfg& cfg = const_cast<reflect_cfg&>(const_cast<const reflect_cfg&>(skeleton_->rodata->reflect_cfg));
        cfg = options.program;
        cfg.multi_buffer = multi_buffer;
        cfg.answer = to_answer_cfg(options.addresses);
        reflect_live& live = const_cast<reflect_live&>(skeleton_->bss->reflect_live);
        std::ranges::copy(port.mac().bytes, live.own_mac.bytes);
        // Nobody is on the link before set_on_link(): no source is all ones.
        std::memset(live.on_link4, 0xff, sizeof(live.on_link4));
        std::memset(live.on_link6, 0xff, sizeof(live.on_link6));
        live.clock = read_stamp_clock(options.format);
        bpf_program__set_autoload(skeleton_->progs.xdp_reflect, !by_socket_);
        bpf_program__set_autoload(skeleton_->progs.xdp_reflect_by_socket, by_socket_);
        PortSockets::give_to_program(port.sockets(), skeleton_->maps.port_sockets);
        bpf_map__set_max_entries(skeleton_->maps.queue_counters, 2 * port.queues_possible());
    }

    void load() override { skeleton_.load(); }
    bpf_object* object() const noexcept override { return skeleton_->obj; }
    bpf_program* entry() const noexcept override {
        return by_socket_ ? skeleton_->progs.xdp_reflect_by_socket : skeleton_->progs.xdp_reflect;
    }

    // Only a loaded object has memory to map; the skeleton's bss is not it where libxdp did the loading.
    void map_variables() { variables_.emplace(bpf_map__fd(skeleton_->maps.bss)); }
    auto& variables() noexcept { return **variables_; }
    // Its parts are written whole: nothing reads them in between but the program, which they cannot hurt.
    reflect_live& live() noexcept { return const_cast<reflect_live&>(variables().reflect_live); }
    const auto& maps() const noexcept { return skeleton_->maps; }

  private:
    Skeleton<reflect_bpf> skeleton_;
    bool by_socket_;
    std::optional<Mapping<std::remove_pointer_t<decltype(reflect_bpf::bss)>>> variables_;
};

ReflectPort::ReflectPort(const ReflectOptions& options, Netdev netdev, unsigned first_turner,
                         std::vector<std::string>& notes)
    : CountingPort(options, std::move(netdev), notes) {
    const auto make = [&](XdpMode, bool multi_buffer) {
        auto program = std::make_unique<Program>(options, *this, multi_buffer);
        program_ = program.get();
        return program;
    };
    attach(options, XskUse::send_back, first_turner, make, notes);
    program_->map_variables();
    for (unsigned queue = 0; sockets() != nullptr && queue < sockets()->by_queue().size(); ++queue)
        turners_.push_back(std::make_unique<SocketTurner>(*sockets()->by_queue()[queue], options.program.swap,
                                                          program_->variables().sockets_unstamped,
                                                          sockets_obtained()->cpu[queue]));
    start_counting(bpf_map__fd(program_->maps().queue_counters));
}

ReflectPort::~ReflectPort() = default;
ReflectPort::ReflectPort(ReflectPort&&) noexcept = default;

void ReflectPort::mac_changed() noexcept { std::ranges::copy(mac().bytes, program_->live().own_mac.bytes); }

void ReflectPort::count_from_row(unsigned row) noexcept { program_->variables().reflect_over = row; }

std::vector<Prefix> ReflectPort::set_on_link(std::span<const Prefix> prefixes) noexcept {
    reflect_live& live = program_->live();
    std::vector<Prefix> left_out;
    std::size_t count4 = 0, count6 = 0;
    for (const Prefix& prefix : prefixes) {
        if (prefix.v6() && count6 < REFLECT_ON_LINK)
            live.on_link6[count6++] = to_match_prefix6(prefix);
        else if (!prefix.v6() && count4 < REFLECT_ON_LINK)
            live.on_link4[count4++] = to_match_prefix4(prefix);
        else
            left_out.push_back(prefix);
    }
    // No source is all ones.
    for (; count4 < REFLECT_ON_LINK; ++count4)
        std::memset(&live.on_link4[count4], 0xff, sizeof(live.on_link4[count4]));
    for (; count6 < REFLECT_ON_LINK; ++count6)
        std::memset(&live.on_link6[count6], 0xff, sizeof(live.on_link6[count6]));
    return left_out;
}

void ReflectPort::set_clock(const stamp_clock& clock) noexcept { program_->live().clock = clock; }

void ReflectPort::refuse(std::optional<count_slot> reason) noexcept {
    program_->live().refuse = reason ? static_cast<__u32>(*reason) : 0;
}

SocketStatistics ReflectPort::socket_statistics() const noexcept {
    SocketStatistics sum;
    for (const auto& turner : turners_)
        sum += turner->statistics();
    return sum;
}

const volatile reflect_live& ReflectPort::live() const noexcept { return program_->live(); }

ProgramCounters ReflectPort::counters() const {
    return ProgramCounters(bpf_map__fd(program_->maps().queue_counters), 0, queues_possible());
}

int ReflectPort::sessions_map() const noexcept { return bpf_map__fd(program_->maps().reflect_sessions); }

void ReflectPort::time_next_frame() noexcept { program_->variables().reflect_time_next = 1; }

Histogram ReflectPort::residence() const {
    std::vector<histogram> by_cpu(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    const std::uint32_t key = 0;
    Histogram sum;
    if (bpf_map_lookup_elem(bpf_map__fd(program_->maps().reflect_residence), &key, by_cpu.data()) == 0)
        for (const histogram& one : by_cpu)
            sum += Histogram(one);
    for (const auto& turner : turners_)
        sum += Histogram(turner->residence());
    return sum;
}

void ReflectPort::watch_flows(bool on) noexcept { program_->variables().reflect_watch_flows = on; }

int ReflectPort::flows_map() const noexcept { return bpf_map__fd(program_->maps().passed_flows); }

} // namespace responder
