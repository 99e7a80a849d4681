// SPDX-License-Identifier: GPL-2.0-only

#include "loader/sink/port.h"

#include "loader/error.h"
#include "loader/ethtool.h"
#include "loader/mapping.h"
#include "loader/skeleton.h"

#include "sink.skel.h" // behind bpf/abi.h, whose types it names

#include <fmt/format.h>
#include <linux/if_ether.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <thread>

namespace responder {

namespace {

void require_carrier(const SinkOptions& options, const Netdev& netdev, const LinkState& link) {
    if (options.wait || (link.up && link.carrier))
        return;
    if (!link.up)
        throw Error(ExitCode::temporary, netdev.name(), "the interface is switched off",
                    fmt::format("`ip link set {} up` switches it on; --wait starts all the same", netdev.name()));
    throw Error(ExitCode::temporary, netdev.name(), "no carrier",
                "connect the cable and its far end; --wait starts all the same and waits for it");
}

// RFC 4291 section 2.7.1 and RFC 2464 section 7: where a neighbour asks for this address.
MacAddress solicited_node_mac(const Prefix& address) {
    return {{0x33, 0x33, 0xff, address.bytes[13], address.bytes[14], address.bytes[15]}};
}

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

XskCopy copy_choice(const SinkOptions& options, XdpMode mode) {
    if (mode == XdpMode::generic)
        return XskCopy::copy;
    return options.require_zerocopy ? XskCopy::zero_copy : XskCopy::kernel_decides;
}

// Without FCS.
unsigned largest_frame(unsigned mtu) {
    constexpr unsigned two_tags = 8;
    return mtu + ETH_HLEN + two_tags;
}

void configure(sink_bpf& skeleton, const SinkOptions& options, const match_cfg& match, const MacAddress& own_mac,
               unsigned queues, unsigned stream_slots, XdpMode mode, bool multi_buffer, const PortSockets* sockets) {
    sink_cfg& cfg = const_cast<sink_cfg&>(const_cast<const sink_cfg&>(skeleton.rodata->sink_cfg));
    cfg.match = match;
    cfg.multi_buffer = multi_buffer;
    for (const Prefix& address : options.addresses) {
        const bool v4 = address.family == AF_INET;
        (v4 ? cfg.answer4 : cfg.answer6) = 1;
        std::memcpy(v4 ? &cfg.address4 : cfg.address6, address.bytes.data(), v4 ? 4 : 16);
    }
    std::copy(own_mac.bytes.begin(), own_mac.bytes.end(), skeleton.bss->sink_own_mac.bytes);
    bpf_map__set_max_entries(skeleton.maps.sink_queues, 2 * queues);
    const unsigned tables = stream_tables(options, mode, queues);
    cfg.stream_slots = stream_slots;
    cfg.streams_by_cpu = mode == XdpMode::generic;
    cfg.first_table = reader_tables(options, queues);
    bpf_program__set_autoload(skeleton.progs.xdp_sink, sockets == nullptr);
    bpf_program__set_autoload(skeleton.progs.xdp_sink_to_socket, sockets != nullptr);
    cfg.exact_arrival = options.capture.has_value();
    cfg.copy_passed = options.capture && options.capture->passed ? options.capture->snaplen : 0;
    if (sockets != nullptr)
        bpf_map__reuse_fd(skeleton.maps.sink_sockets, sockets->map_fd());
    else
        bpf_map__set_autocreate(skeleton.maps.sink_sockets, false); // a kernel may have no such maps
    cfg.watch_count = static_cast<__u8>(options.watches.size());
    std::ranges::copy(options.watches, cfg.watch);
    for (bpf_map* map : {skeleton.maps.sink_streams, skeleton.maps.sink_stream_rests})
        bpf_map__set_max_entries(map, std::max(cfg.stream_slots * tables, 1U));
    cfg.histograms = options.histogram;
    cfg.clocks_in_step = options.clocks_within.has_value();
    if (options.histogram)
        bpf_map__set_max_entries(skeleton.maps.sink_histograms, cfg.stream_slots * tables);
    bpf_map__set_max_entries(skeleton.maps.sink_unplaced, tables);
    if (multi_buffer)
        bpf_program__set_flags(sockets != nullptr ? skeleton.progs.xdp_sink_to_socket : skeleton.progs.xdp_sink,
                               BPF_F_XDP_HAS_FRAGS);
}

std::string reason_text(const AttachRefused& refused) {
    return refused.kernel_message.empty() ? error_text(refused.error)
                                          : fmt::format("{} ({})", error_text(refused.error), refused.kernel_message);
}

// A virtual link has no line, whatever its driver answers (veth: 10 Gb/s).
std::uint64_t line_speed(const LinkState& link) {
    return link.kind.empty() ? ethtool::link_settings(link.index).speed_bps : 0;
}

// Names by which drivers count what they lost. What they count of XDP is our own doing.
bool names_a_loss(std::string_view counter) {
    if (counter.find("xdp") != counter.npos)
        return false;
    constexpr std::string_view words[] = {"miss",      "fifo",       "drop",      "discard",  "no_buf",
                                          "nobuf",     "overrun",    "over_err",  "crc",      "fcs_err",
                                          "rx_errors", "length_err", "align_err", "frame_err"};
    return std::ranges::any_of(words, [&](std::string_view word) { return counter.find(word) != counter.npos; });
}

} // namespace

struct Port::Program {
    Skeleton<sink_bpf> skeleton;
    // Only a loaded object has memory to map; skeleton->bss is not it where libxdp did the loading.
    std::optional<Mapping<std::remove_pointer_t<decltype(sink_bpf::bss)>>> variables;

    void map_variables() { variables.emplace(bpf_map__fd(skeleton->maps.bss)); }
    void set_own_mac(const MacAddress& mac) noexcept {
        for (std::size_t i = 0; i < mac.bytes.size(); ++i)
            (*variables)->sink_own_mac.bytes[i] = mac.bytes[i];
    }
};

Port::Port(const SinkOptions& options, Netdev netdev, unsigned first_reader, Capture* capture,
           std::vector<std::string>& notes)
    : netdev_(std::move(netdev)), match_(options.match.build(options.addresses)), receive_filter_(netdev_),
      stripping_([&] {
          // Before anything is changed on the port.
          require_carrier(options, netdev_, netdev_.link());
          return VlanStrippingOff(netdev_);
      }()) {
    const LinkState link = netdev_.link();
    mac_ = link.mac;
    mtu_ = link.mtu;
    is_up_ = link.up;
    has_carrier_ = link.carrier;
    if (!has_carrier_)
        outages_.push_back({.cause = Outage::Cause::absent_at_start,
                            .began = std::chrono::system_clock::now(),
                            .began_steady = Clock::now(),
                            .lasted = std::nullopt});
    driver_ = ethtool::driver_info(netdev_.index()).driver;
    queues_in_use_ = ethtool::receive_queues(netdev_.index());
    queues_possible_ = std::max(link.receive_queues, 1U);
    speed_bps_ = line_speed(link);

    if (stripping_.still_on()) {
        constexpr std::string_view why =
            "the NIC takes VLAN tags off before a program sees the frame, and this driver does "
            "not let that be switched off (ethtool -k: rx-vlan-offload [fixed])";
        if (options.match.uses_vlans())
            throw Error(ExitCode::os, netdev_.name() + ": --vlan and --inner-vlan", std::string(why));
        notes.push_back(fmt::format("{}: {}: tagged frames look untagged and 4 bytes short", netdev_.name(), why));
    }
    if (options.match.promiscuous)
        receive_filter_.promiscuous();
    for (const MacAddress& mac : wanted_macs(match_))
        if (mac != mac_)
            receive_filter_.accept(mac);
    for (const Prefix& address : options.addresses)
        if (address.family == AF_INET6)
            receive_filter_.accept(solicited_node_mac(address));

    driver_counters_before_ = ethtool::statistics(netdev_.index());
    attach(options, notes);
    follow_nic();
    received_while_attaching_ = nic_rise_.rx_packets;

    counters_.emplace(bpf_map__fd(program_->skeleton->maps.sink_queues), 0, queues_possible_);
    counters_after_the_end_.emplace(bpf_map__fd(program_->skeleton->maps.sink_queues), queues_possible_,
                                    queues_possible_);
    const unsigned tables = stream_tables(options, obtained_.mode, queues_possible_);
    if (const unsigned slots = stream_slots(options, queues_in_use_); slots != 0)
        streams_.emplace(StreamTable::Maps{.streams = bpf_map__fd(program_->skeleton->maps.sink_streams),
                                           .rests = bpf_map__fd(program_->skeleton->maps.sink_stream_rests),
                                           .unplaced = bpf_map__fd(program_->skeleton->maps.sink_unplaced),
                                           .histograms = options.histogram
                                                             ? bpf_map__fd(program_->skeleton->maps.sink_histograms)
                                                             : -1,
                                           .clocks_in_step = options.clocks_within.has_value()},
                         slots, tables);
    if (sockets_)
        start_readers(options, first_reader, options.capture ? &*options.capture : nullptr, capture);
    now_ = counters_->empty_snapshot();
    now_.taken = interval_taken_ = started_; // frames that came by the first reading came after this
    poll();
    interval_missed_ = nic_rise_.missed();
}

Port::~Port() = default;
Port::Port(Port&&) noexcept = default;

bool Port::try_attach(const SinkOptions& options, XdpMode mode, bool multi_buffer, AttachRefused& refused) {
    program_.reset(); // of an attempt before this one; it holds the sockets
    sockets_.reset();
    if (options.engine == Engine::af_xdp)
        sockets_ = std::make_unique<PortSockets>(netdev_, queues_in_use_, queues_possible_, copy_choice(options, mode),
                                                 largest_frame(mtu_));
    auto program = std::make_unique<Program>();
    sink_bpf& skeleton = *program->skeleton.get();
    configure(skeleton, options, match_, mac_, queues_possible_, stream_slots(options, queues_in_use_), mode,
              multi_buffer, sockets_.get());
    const auto keep = [&](auto outcome) {
        if (auto* refusal = std::get_if<AttachRefused>(&outcome)) {
            refused = std::move(*refusal);
            return false;
        }
        attachment_.emplace<std::variant_alternative_t<0, decltype(outcome)>>(std::move(std::get<0>(outcome)));
        return true;
    };
    if (!options.dispatcher)
        program->skeleton.load();
    program_ = std::move(program); // before there is an attachment, which must go first
    nic_last_ = netdev_.link().counters;
    started_ = Clock::now();
    bpf_program* const attaching = sockets_ ? skeleton.progs.xdp_sink_to_socket : skeleton.progs.xdp_sink;
    const bool attached = options.dispatcher
                              ? keep(DispatcherAttachment::attach(netdev_, skeleton.obj, bpf_program__name(attaching),
                                                                  mode)) // loads it too
                              : keep(Attachment::attach(netdev_, bpf_program__fd(attaching), mode));
    if (!attached)
        return false;
    program_->map_variables();
    const auto* through_libxdp = std::get_if<DispatcherAttachment>(&attachment_);
    obtained_ = {.mode = mode,
                 .multi_buffer = multi_buffer,
                 .dispatcher = through_libxdp != nullptr && through_libxdp->shared(),
                 .native_refused = {}};
    return true;
}

void Port::attach(const SinkOptions& options, std::vector<std::string>& notes) {
    AttachRefused refused;
    std::string native_refused;
    if (options.mode != ModeChoice::generic) {
        // Without multi-buffer first: it costs a helper call a frame, and only frames beyond a driver's buffer need it.
        if (try_attach(options, XdpMode::native, false, refused))
            return;
        native_refused = reason_text(refused);
        if (refused.error != EOPNOTSUPP && try_attach(options, XdpMode::native, true, refused))
            return;
        if (options.mode == ModeChoice::native)
            throw Error(ExitCode::os, netdev_.name() + ": native XDP", native_refused,
                        "without --mode native or --require-native it runs in generic mode");
        if (options.require_zerocopy)
            throw Error(ExitCode::os, netdev_.name() + ": native XDP, without which there is no zero-copy",
                        native_refused, "without --require-zerocopy it runs in generic mode");
    }
    if (!try_attach(options, XdpMode::generic, false, refused))
        throw Error(ExitCode::os, netdev_.name() + ": attach the XDP program", reason_text(refused));
    obtained_.native_refused = native_refused;
    if (!native_refused.empty())
        notes.push_back(fmt::format("{}: generic XDP, because {} refuses native: {}. Each frame still becomes an skb "
                                    "first: expect a part of the native rate, and loss at small frames before that",
                                    netdev_.name(), driver_text(), native_refused));
}

void Port::start_readers(const SinkOptions& options, unsigned first_reader, const CapturePlan* plan, Capture* capture) {
    std::uint32_t interface = 0;
    if (capture != nullptr) {
        interface = capture->add_interface({.name = netdev_.name(),
                                            .hardware = driver_,
                                            .filter = describe(match_) + (plan->passed ? "; and what passes up" : ""),
                                            .speed_bps = speed_bps_},
                                           queues_in_use_);
        if (plan->passed)
            capture->add_passed(interface, bpf_map__fd(program_->skeleton->maps.sink_passed));
    }
    SocketsObtained got{.zero_copy = true, .busy_polling = true, .largest_frame = ~0U, .cpu = {}};
    for (unsigned queue = 0; queue < sockets_->by_queue().size(); ++queue) {
        XskSocket& socket = *sockets_->by_queue()[queue];
        got.zero_copy = got.zero_copy && socket.zero_copy();
        got.busy_polling = got.busy_polling && socket.busy_polling();
        got.largest_frame = std::min(got.largest_frame, socket.largest_frame());
        got.cpu.push_back(cpu_of_reader(first_reader + queue));
        follow_table table = streams_ ? streams_->table(queue) : follow_table{};
        table.watch = options.watches.data();
        table.watch_count = static_cast<__u32>(options.watches.size());
        readers_.push_back(std::make_unique<SocketReader>(
            socket, table, (*program_->variables)->sink_unstamped,
            capture == nullptr ? nullptr : &capture->tap(interface, queue), got.cpu.back()));
    }
    sockets_obtained_ = std::move(got);
}

std::uint64_t Port::copies_lost() const noexcept { return (*program_->variables)->sink_passed_lost; }

bool Port::stamped_by_reader() const noexcept { return sockets_ && (*program_->variables)->sink_unstamped != 0; }

SocketStatistics Port::socket_statistics() const noexcept {
    SocketStatistics sum;
    for (const auto& reader : readers_) {
        const SocketStatistics one = reader->statistics();
        sum.received += one.received;
        sum.rx_dropped += one.rx_dropped;
        sum.rx_ring_full += one.rx_ring_full;
        sum.rx_fill_ring_empty += one.rx_fill_ring_empty;
        sum.rx_invalid_descs += one.rx_invalid_descs;
    }
    return sum;
}

// Waits until the readers have all test frames that were counted: on a busy machine a reader may not run for a while,
// and what waits in its ring is not lost. But not for ever: some may have got lost where nobody counts.
bool Port::await_readers() const noexcept {
    using namespace std::chrono_literals;
    const auto have = [&] {
        const SocketStatistics sockets = socket_statistics();
        return sockets.received + sockets.lost() >= test_frames_;
    };
    for (const Clock::time_point deadline = Clock::now() + 2s; sockets_ && !have();) {
        if (Clock::now() >= deadline)
            return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

void Port::stop() noexcept {
    (*program_->variables)->sink_over = queues_possible_;
    stopped_ = Clock::now();
}

void Port::poll() noexcept {
    const Clock::time_point before = now_.taken;
    counters_->read(now_);
    if (stopped_)
        now_.taken = *stopped_;
    const std::uint64_t test_frames = test_traffic(now_.total).frames;
    if (test_frames != test_frames_)
        busy_.add(before, now_.taken, test_frames - test_frames_);
    test_frames_ = test_frames;
}

Port::Interval Port::take_interval() noexcept {
    follow_nic();
    const std::uint64_t missed = nic_rise_.missed(), socket_lost = socket_statistics().lost();
    return {.slots = now_.total - std::exchange(interval_slots_, now_.total),
            .time = now_.taken - std::exchange(interval_taken_, now_.taken),
            .missed = missed - std::exchange(interval_missed_, missed),
            .lost = streams_ ? std::optional(streams_->missing()) : std::nullopt,
            .socket_lost = socket_lost - std::exchange(interval_socket_lost_, socket_lost)};
}

bool Port::follow_nic() noexcept {
    LinkState link;
    if (!netlink_.read_link(netdev_.index(), link))
        return false;
    for (const auto field : nic_counter_fields)
        nic_rise_.*field += counter_rise(nic_last_.*field, link.counters.*field);
    nic_last_ = link.counters;
    is_attached_ = is_attached_ && is_on(link);
    return true;
}

bool Port::is_on(const LinkState& link) noexcept {
    if (auto* through_libxdp = std::get_if<DispatcherAttachment>(&attachment_))
        return through_libxdp->is_on(link);
    const auto* attachment = std::get_if<Attachment>(&attachment_);
    return attachment != nullptr && attachment->is_on(link);
}

void Port::restart_clock() noexcept { started_ = interval_taken_ = Clock::now(); }

std::string Port::link_changed(const LinkState& link, bool attaching) {
    std::string text;
    const auto add = [&](std::string news) { text += (text.empty() ? "" : "; ") + std::move(news); };
    if (link.name != netdev_.name()) {
        add(fmt::format("{}: renamed to {}", netdev_.name(), link.name));
        netdev_.renamed(link.name);
    }
    mtu_ = link.mtu;
    if (link.mac != mac_) {
        mac_ = link.mac;
        program_->set_own_mac(mac_);
        add(fmt::format("{}: the MAC address is now {}", netdev_.name(), to_string(mac_)));
    }
    is_up_ = link.up;
    if (link.carrier != has_carrier_) {
        has_carrier_ = link.carrier;
        add(link.carrier ? carrier_came(link) : carrier_went(link, attaching));
    }
    return text;
}

std::string Port::queues_changed() {
    const unsigned before = std::exchange(queues_in_use_, ethtool::receive_queues(netdev_.index()));
    if (queues_in_use_ == before)
        return {};
    return fmt::format(
        "{}: {} receive queue{} now, after {}: the driver may lose frames over the change, and the program "
        "may not see what comes by a new one{}",
        netdev_.name(), queues_in_use_, queues_in_use_ == 1 ? "" : "s", before,
        sockets_ ? ", which has no AF_XDP socket" : "");
}

std::string Port::carrier_went(const LinkState& link, bool attaching) {
    // Not the driver's doing if somebody switched the interface off.
    outages_.push_back({.cause = link.up && attaching && outages_.empty() ? Outage::Cause::attach : Outage::Cause::lost,
                        .began = std::chrono::system_clock::now(),
                        .began_steady = Clock::now(),
                        .lasted = std::nullopt});
    return fmt::format("{}: the link is down{}", netdev_.name(), link.up ? "" : " (switched off)");
}

std::string Port::carrier_came(const LinkState& link) {
    speed_bps_ = line_speed(link);
    Outage& outage = outages_.back(); // there was no carrier, so there is one, and it is not over
    outage.lasted = Clock::now() - outage.began_steady;
    return fmt::format("{}: the link is up{}, after {:.1f} s{}", netdev_.name(),
                       outage.cause == Outage::Cause::absent_at_start ? "" : " again", outage.lasted->count(),
                       outage.cause == Outage::Cause::attach ? " (the driver took it down for the program)" : "");
}

Books Port::close_books() {
    using namespace std::chrono_literals;
    Books books;
    Snapshot after = counters_after_the_end_->empty_snapshot();
    const auto saw = [&](Traffic (*some)(const SlotCounts&) noexcept) {
        return some(now_.total).frames + some(after.total).frames;
    };
    const auto read = [&] {
        poll();
        counters_after_the_end_->read(after);
        return saw(test_traffic);
    };
    std::uint64_t frames = 0;
    for (const Clock::time_point deadline = Clock::now() + 200ms; !books.settled && Clock::now() < deadline;) {
        frames = read();
        std::this_thread::sleep_for(50ms);
        books.settled = frames == read();
    }
    if (!stopped_) {
        stop();
        std::this_thread::sleep_for(1ms); // a run of the program that began before may still be under way
        read();
    }
    const std::uint64_t program_saw_before = saw(all_traffic);
    const auto driver_counters = ethtool::statistics(netdev_.index());
    books.nic_known = follow_nic();
    books.settled = frames == read() && books.settled;
    if (sockets_) {
        books.settled = await_readers() && books.settled;
        books.sockets = socket_statistics();
        books.not_delivered = static_cast<std::int64_t>(test_frames_ - books.sockets->received - books.sockets->lost());
    }
    stream_report_ = streams_ ? streams_->read() : StreamReport{};
    books.program_saw = saw(all_traffic);
    books.after_the_end = all_traffic(after.total).frames;
    if (!books.nic_known)
        return books;
    books.nic = nic_rise_;
    for (const auto& [name, value] : driver_counters) {
        const auto before =
            std::ranges::find(driver_counters_before_, name, &std::pair<std::string, std::uint64_t>::first);
        const std::uint64_t rise =
            before == driver_counters_before_.end() ? value : counter_rise(before->second, value);
        if (rise != 0 && names_a_loss(name))
            books.driver.emplace_back(name, rise);
    }

    books.in_flight = received_while_attaching_ + (books.program_saw - program_saw_before);
    if (books.in_flight != 0) // traffic ran while it was read: the rings were not empty either
        books.in_flight += std::uint64_t{ethtool::receive_ring_size(netdev_.index())} * queues_in_use_;
    books.nic_received = books.nic.rx_packets;
    const std::uint64_t passed = saw(passed_traffic);
    const auto distance = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; };
    books.nic_leaves_out_dropped = books.program_saw != passed &&
                                   distance(books.nic_received, books.program_saw) > books.in_flight &&
                                   distance(books.nic_received, passed) <= books.in_flight;
    books.left_over =
        static_cast<std::int64_t>(books.nic_received - (books.nic_leaves_out_dropped ? passed : books.program_saw));
    return books;
}

void Port::watch_flows(bool on) noexcept { (*program_->variables)->sink_watch_flows = on; }

int Port::flows_map() const noexcept { return bpf_map__fd(program_->skeleton->maps.sink_flows); }

} // namespace responder
