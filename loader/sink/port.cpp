// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/port.h"

#include "loader/clock.h"
#include "loader/error.h"
#include "loader/mapping.h"
#include "loader/skeleton.h"

#include "sink.skel.h" // behind bpf/abi.h, whose types it names

#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>

namespace responder {

namespace {

// Places for streams that each table gets, any of which may see all streams: half of them stay free, so that a stream
// finds one near its first.
unsigned stream_slots(const SinkOptions& options, unsigned queues_in_use) {
    // Histograms take 30 kB a place.
    const auto [default_streams, least] = options.histogram ? std::pair{128U, 16U} : std::pair{4096U, 64U};
    if (options.streams)
        return *options.streams == 0 ? 0 : 2 * std::bit_ceil(*options.streams);
    return 2 * std::max(std::bit_ceil(default_streams / queues_in_use), least);
}

// See struct stream in bpf/abi.h.
unsigned reader_tables(const SinkOptions& options, unsigned queues) {
    return options.engine == Engine::xdp ? 0 : queues;
}

unsigned stream_tables(const SinkOptions& options, XdpMode mode, unsigned queues) {
    const unsigned readers = reader_tables(options, queues);
    if (readers != 0 && options.watches.empty())
        return readers; // all that is followed goes to the sockets
    return readers +
           (mode == XdpMode::generic ? static_cast<unsigned>(std::max(libbpf_num_possible_cpus(), 1)) : queues);
}

} // namespace

class SinkPort::Program final : public PortProgram {
  public:
    Program(const SinkOptions& options, const SinkPort& port, XdpMode mode, bool multi_buffer);

    void load() override { skeleton_.load(); }
    bpf_object* object() const noexcept override { return skeleton_->obj; }
    bpf_program* entry() const noexcept override {
        return to_sockets_ ? skeleton_->progs.xdp_sink_to_socket : skeleton_->progs.xdp_sink;
    }

    // Only a loaded object has memory to map; the skeleton's bss is not it where libxdp did the loading.
    void map_variables() { variables_.emplace(bpf_map__fd(skeleton_->maps.bss)); }
    auto& variables() noexcept { return **variables_; }
    void set_own_mac(const MacAddress& mac) noexcept {
        for (std::size_t i = 0; i < mac.bytes.size(); ++i)
            variables().sink_own_mac.bytes[i] = mac.bytes[i];
    }
    const auto& maps() const noexcept { return skeleton_->maps; }

  private:
    Skeleton<sink_bpf> skeleton_;
    bool to_sockets_;
    std::optional<Mapping<std::remove_pointer_t<decltype(sink_bpf::bss)>>> variables_;
};

SinkPort::Program::Program(const SinkOptions& options, const SinkPort& port, XdpMode mode, bool multi_buffer)
    : to_sockets_(port.sockets() != nullptr) {
    sink_cfg& cfg = const_cast<sink_cfg&>(const_cast<const sink_cfg&>(skeleton_->rodata->sink_cfg));
    cfg.match = port.match();
    cfg.multi_buffer = multi_buffer;
    cfg.answer = to_answer_cfg(options.addresses);
    std::copy(port.mac().bytes.begin(), port.mac().bytes.end(), skeleton_->bss->sink_own_mac.bytes);
    bpf_map__set_max_entries(skeleton_->maps.queue_counters, 2 * port.queues_possible());
    const unsigned tables = stream_tables(options, mode, port.queues_possible());
    cfg.stream_slots = stream_slots(options, port.queues());
    cfg.streams_by_cpu = mode == XdpMode::generic;
    cfg.first_table = reader_tables(options, port.queues_possible());
    bpf_program__set_autoload(skeleton_->progs.xdp_sink, !to_sockets_);
    bpf_program__set_autoload(skeleton_->progs.xdp_sink_to_socket, to_sockets_);
    cfg.exact_arrival = options.capture.has_value();
    cfg.copy_passed = options.capture && options.capture->passed ? options.capture->snaplen : 0;
    PortSockets::give_to_program(port.sockets(), skeleton_->maps.port_sockets);
    cfg.watch_count = static_cast<__u8>(options.watches.size());
    std::ranges::copy(options.watches, cfg.watch);
    for (bpf_map* map : {skeleton_->maps.sink_streams, skeleton_->maps.sink_stream_rests})
        bpf_map__set_max_entries(map, std::max(cfg.stream_slots * tables, 1U));
    cfg.histograms = options.histogram;
    cfg.tick_ns = kernel_tick_ns();
    cfg.clocks_in_step = options.clocks_within.has_value();
    if (options.histogram)
        bpf_map__set_max_entries(skeleton_->maps.sink_histograms, cfg.stream_slots * tables);
    bpf_map__set_max_entries(skeleton_->maps.sink_unplaced, tables);
}

SinkPort::SinkPort(const SinkOptions& options, Netdev netdev, unsigned first_reader, Capture* capture,
                   std::vector<std::string>& notes)
    : CountingPort(options, std::move(netdev), notes) {
    const auto make = [&](XdpMode mode, bool multi_buffer) {
        auto program = std::make_unique<Program>(options, *this, mode, multi_buffer);
        program_ = program.get();
        return program;
    };
    attach(options, XskUse::receive, first_reader, make, notes);
    program_->map_variables();
    const unsigned tables = stream_tables(options, obtained().mode, queues_possible());
    if (const unsigned slots = stream_slots(options, queues()); slots != 0)
        streams_.emplace(
            StreamTable::Maps{.streams = bpf_map__fd(program_->maps().sink_streams),
                              .rests = bpf_map__fd(program_->maps().sink_stream_rests),
                              .unplaced = bpf_map__fd(program_->maps().sink_unplaced),
                              .histograms = options.histogram ? bpf_map__fd(program_->maps().sink_histograms) : -1,
                              .clocks_in_step = options.clocks_within.has_value()},
            slots, tables);
    if (sockets() != nullptr)
        start_readers(options, capture);
    start_counting(bpf_map__fd(program_->maps().queue_counters));
}

SinkPort::~SinkPort() = default;
SinkPort::SinkPort(SinkPort&&) noexcept = default;

void SinkPort::mac_changed() noexcept { program_->set_own_mac(mac()); }

void SinkPort::start_readers(const SinkOptions& options, Capture* capture) {
    std::uint32_t interface = 0;
    if (capture != nullptr) {
        const bool passed = options.capture->passed;
        interface = capture->add_interface({.name = netdev().name(),
                                            .hardware = driver(),
                                            .filter = describe(match()) + (passed ? "; and what passes up" : ""),
                                            .speed_bps = speed_bps()},
                                           queues());
        if (passed)
            capture->add_passed(interface, bpf_map__fd(program_->maps().sink_passed));
    }
    for (unsigned queue = 0; queue < sockets()->by_queue().size(); ++queue) {
        follow_table table = streams_ ? streams_->table(queue) : follow_table{};
        table.watch = options.watches.data();
        table.watch_count = static_cast<__u32>(options.watches.size());
        readers_.push_back(std::make_unique<SocketReader>(
            *sockets()->by_queue()[queue], table, program_->variables().sockets_unstamped,
            capture == nullptr ? nullptr : &capture->tap(interface, queue), sockets_obtained()->cpu[queue]));
    }
}

std::uint64_t SinkPort::copies_lost() const noexcept { return program_->variables().sink_passed_lost; }

bool SinkPort::stamped_by_reader() const noexcept {
    return sockets() != nullptr && program_->variables().sockets_unstamped != 0;
}

SocketStatistics SinkPort::socket_statistics() const noexcept {
    SocketStatistics sum;
    for (const auto& reader : readers_)
        sum += reader->statistics();
    return sum;
}

void SinkPort::count_from_row(unsigned row) noexcept { program_->variables().sink_over = row; }

SinkPort::Interval SinkPort::take_interval() noexcept {
    const std::uint64_t socket_lost = socket_statistics().lost();
    return {take_counted(), streams_ ? std::optional(streams_->missing()) : std::nullopt,
            socket_lost - std::exchange(interval_socket_lost_, socket_lost)};
}

Books SinkPort::close_books() {
    Books books = CountingPort::close_books();
    stream_report_ = streams_ ? streams_->read() : StreamReport{};
    return books;
}

void SinkPort::watch_flows(bool on) noexcept { program_->variables().sink_watch_flows = on; }

int SinkPort::flows_map() const noexcept { return bpf_map__fd(program_->maps().passed_flows); }

} // namespace responder
