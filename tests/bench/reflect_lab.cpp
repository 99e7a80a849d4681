// SPDX-License-Identifier: GPL-2.0-only
//
// Through a veth pair and back: frames a second that return, and how long one takes. xdp-reflect beside a program that
// only swaps MAC addresses, beside DPDK's testpmd on AF_XDP and beside a UDP echo server. The sender has CPU 0, on
// which a veth's far end also runs; what reflects in user space has another one.

#include "floor.skel.h"
#include "loader/attachment.h"
#include "loader/clock.h"
#include "loader/error.h"
#include "loader/netdev.h"
#include "loader/skeleton.h"
#include "tests/bench/benchmarks.h"
#include "tests/harness/lab.h"
#include "tests/harness/one_cpu.h"
#include "tests/harness/packet.h"
#include "tests/harness/process.h"
#include "tests/peers/testpmd.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace responder::bench {

namespace {

using namespace test;
using Json = nlohmann::json;

constexpr unsigned turns = 7;

[[noreturn]] void fail(const std::string& what, const std::string& why) { throw Error(ExitCode::internal, what, why); }

// A program of tests/harness/floor.bpf.c on an interface.
Attachment attach_floor(const Namespace& where, const std::string& interface, bool swap) {
    return where.in([&] {
        Skeleton<floor_bpf> floor;
        floor.load();
        auto outcome = Attachment::attach(Netdev::find(interface),
                                          bpf_program__fd(swap ? floor->progs.xdp_swap_macs : floor->progs.xdp_drop),
                                          XdpMode::native);
        if (const auto* refused = std::get_if<AttachRefused>(&outcome))
            fail("attach a bare program", error_text(refused->error));
        return std::get<Attachment>(std::move(outcome));
    });
}

class Reflector {
  public:
    Reflector(const Lab& lab, const std::vector<std::string>& options)
        : process_(argv(lab, options), {.network_namespace = lab.responder.fd()}) {
        if (!process_.wait_for_err("type into the tester"))
            fail("xdp-reflect", process_.err());
    }
    ~Reflector() {
        process_.signal(SIGINT);
        process_.wait();
    }
    Reflector(const Reflector&) = delete;
    Reflector& operator=(const Reflector&) = delete;

  private:
    static std::vector<std::string> argv(const Lab& lab, const std::vector<std::string>& options) {
        std::vector<std::string> argv{"taskset", "-c", "1-255", BENCH_XDP_REFLECT, lab.to().name, "--json"};
        argv.insert(argv.end(), options.begin(), options.end());
        return argv;
    }

    Process process_;
};

// ---- frames a second ----

class RateBench {
  public:
    RateBench() : lab_({.pass = false}), counting_(attach_floor(lab_.tester, lab_.from().name, false)) {}

    double bare() const {
        const Attachment swapping = attach_floor(lab_.responder, lab_.to().name, true);
        return returned();
    }
    double ours(const std::vector<std::string>& options) const {
        const Reflector reflector(lab_, options);
        return returned();
    }
    double testpmd(const char* forwarding) const {
        PacketSocket tester(lab_.tester, lab_.from().name);
        Testpmd peer(lab_.responder, lab_.to().name, forwarding);
        const std::uint64_t before = received();
        using namespace packet;
        const Octets frame = Ethernet{} / Ipv4{} / Udp{.source = 50'000, .destination = 7} / payload(18);
        if (!eventually([&] {
                tester.send(frame);
                return received() != before;
            }))
            fail("testpmd", "sends nothing back");
        const double rate = returned();
        peer.end();
        return rate;
    }

  private:
    std::uint64_t received() const {
        return lab_.tester.in([&] { return Netdev::find(lab_.from().name).link().counters.rx_packets; });
    }

    // Of 64-octet frames that are sent for a second at full speed, those that come back.
    double returned() const {
        const std::uint64_t before = received();
        Process sender({"taskset", "-c", "0", BENCH_XDP_GEN, lab_.from().name, "--quiet", "--json", "--dst-mac",
                        to_string(lab_.to().mac), "--port", "7", "--duration", "1"},
                       {.network_namespace = lab_.tester.fd()});
        if (sender.wait().code != 0)
            fail("xdp-gen", sender.err());
        const Json sent = Json::parse(sender.out());
        std::uint64_t last = before;
        if (!eventually([&] { return std::exchange(last, received()) == last; }, 2s))
            fail("the reflector", "does not come to an end");
        return sent.at("frames_per_second").get<double>() * static_cast<double>(last - before) /
               sent.at("frames_sent").get<double>();
    }

    Lab lab_;
    Attachment counting_;
};

// ---- one frame's way there and back ----

class DelayBench {
  public:
    struct Delay {
        double p50_us, p99_us;
    };

    DelayBench() : lab_({.addresses = true}) {}

    Delay reflected(const std::vector<std::string>& options) const {
        const Reflector reflector(lab_, options);
        return measure();
    }
    Delay echoed(const char* how) const {
        Process server({"taskset", "-c", "1-255", BENCH_UDP_ECHO, "7", how},
                       {.network_namespace = lab_.responder.fd()});
        if (!server.wait_for_out("ready"))
            fail("udp_echo", server.err());
        const Delay delay = measure();
        server.signal(SIGTERM);
        server.wait();
        return delay;
    }

  private:
    // From before send() to after recv() at a socket that asks without end, a round trip at a time.
    Delay measure() const {
        constexpr unsigned round_trips = 3000;
        constexpr std::uint64_t patience_ns = 100'000'000;
        const OnOneCpu pinned(0);
        const UniqueFd socket =
            lab_.tester.in([] { return UniqueFd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)); });
        sockaddr_in far_end{};
        far_end.sin_family = AF_INET;
        far_end.sin_port = htons(7);
        inet_pton(AF_INET, "192.0.2.2", &far_end.sin_addr);
        if (connect(socket.get(), reinterpret_cast<sockaddr*>(&far_end), sizeof(far_end)) != 0)
            fail("connect", error_text(errno));
        std::array<char, 64> datagram{};
        std::vector<double> us;
        for (unsigned sent = 0; us.size() < round_trips; ++sent) {
            if (sent > 2 * round_trips)
                fail("round trips", "most datagrams do not come back");
            const std::uint64_t start = clock_now_ns(CLOCK_MONOTONIC);
            std::uint64_t now = start;
            ::send(socket.get(), datagram.data(), datagram.size(), 0);
            while (recv(socket.get(), datagram.data(), datagram.size(), MSG_DONTWAIT) < 0 && now - start < patience_ns)
                now = clock_now_ns(CLOCK_MONOTONIC);
            now = clock_now_ns(CLOCK_MONOTONIC);
            if (now - start < patience_ns)
                us.push_back(1e-3 * static_cast<double>(now - start));
            std::this_thread::sleep_for(200us); // light load: each finds the far end at rest
        }
        std::ranges::sort(us);
        return {.p50_us = us[us.size() / 2], .p99_us = us[us.size() * 99 / 100]};
    }

    Lab lab_;
};

} // namespace

Table reflect_rate(const Settings&) {
    if (!Testpmd::is_there())
        fail("testpmd", "is not there; tools/bench unpacks it");
    const RateBench bench;
    const struct {
        std::string key, title;
        std::function<double()> measure;
        std::size_t beside; // which row it is compared with
        bool has_limit;
    } rows[] = {
        {"bare", "attached program that only swaps MAC addresses", [&] { return bench.bare(); }, 0, false},
        {"xdp", "xdp-reflect", [&] { return bench.ours({}); }, 0, true},
        {"macswap", "testpmd macswap, AF_XDP", [&] { return bench.testpmd("macswap"); }, 2, false},
        {"af_xdp_mac", "xdp-reflect --engine af_xdp --swap mac",
         [&] {
             return bench.ours({"--engine", "af_xdp", "--swap", "mac"});
         },
         2, false},
        {"5tswap", "testpmd 5tswap, AF_XDP", [&] { return bench.testpmd("5tswap"); }, 4, false},
        {"af_xdp", "xdp-reflect --engine af_xdp",
         [&] {
             return bench.ours({"--engine", "af_xdp"});
         },
         4, false},
    };
    std::vector<double> rates[std::size(rows)], ratios[std::size(rows)];
    for (unsigned turn = 0; turn < turns; ++turn)
        for (std::size_t i = 0; i < std::size(rows); ++i) {
            rates[i].push_back(rows[i].measure());
            ratios[i].push_back(rates[i].back() / rates[rows[i].beside].back());
        }
    Table table{
        .key = "reflect_rate",
        .title = "64-byte frames a second through a veth pair and back",
        .note = "One sender at full speed. Each ratio is to the row above without one, the median of turns taken "
                "one after the other.",
        .columns = {{.key = "frames_per_second", .title = "frames/s"},
                    {.key = "xdp_ratio", .title = "to a bare program", .decimals = 2, .at_most = {}, .at_least = 0.9},
                    {.key = "af_xdp_ratio", .title = "to testpmd", .decimals = 2, .at_most = {}, .at_least = 1}},
        .rows = {}};
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        const double ratio = rows[i].beside == i ? no_figure : median(ratios[i]);
        table.rows.push_back({.key = rows[i].key,
                              .title = rows[i].title,
                              .figures = {median(rates[i]), i == 1 ? ratio : no_figure, i > 1 ? ratio : no_figure}});
    }
    return table;
}

Table reflect_delay(const Settings&) {
    const DelayBench bench;
    const struct {
        std::string key, title;
        std::function<DelayBench::Delay()> measure;
    } rows[] = {
        {"xdp", "xdp-reflect", [&] { return bench.reflected({}); }},
        {"af_xdp", "xdp-reflect --engine af_xdp",
         [&] {
             return bench.reflected({"--engine", "af_xdp"});
         }},
        {"udp_spin", "UDP echo server that never sleeps", [&] { return bench.echoed("spin"); }},
        {"udp_wait", "UDP echo server that sleeps", [&] { return bench.echoed("wait"); }},
    };
    std::vector<double> p50[std::size(rows)], p99[std::size(rows)], p50_ratio[std::size(rows)],
        p99_ratio[std::size(rows)];
    for (unsigned turn = 0; turn < turns; ++turn)
        for (std::size_t i = 0; i < std::size(rows); ++i) {
            const DelayBench::Delay delay = rows[i].measure();
            p50[i].push_back(delay.p50_us);
            p99[i].push_back(delay.p99_us);
            p50_ratio[i].push_back(p50[i].back() / p50[0].back());
            p99_ratio[i].push_back(p99[i].back() / p99[0].back());
        }
    Table table{
        .key = "reflect_delay",
        .title = "Round trip of one UDP datagram through a veth pair, 5000 a second at most",
        .note = "In microseconds, at a socket of the tester's that never sleeps. Ratios are to xdp-reflect, medians "
                "of turns taken one after the other.",
        .columns = {{.key = "p50_us", .title = "p50", .decimals = 1},
                    {.key = "p99_us", .title = "p99", .decimals = 1},
                    {.key = "p50_ratio", .title = "p50 ratio", .decimals = 2},
                    {.key = "p99_ratio", .title = "p99 ratio", .decimals = 2}},
        .rows = {}};
    for (std::size_t i = 0; i < std::size(rows); ++i)
        table.rows.push_back({.key = rows[i].key,
                              .title = rows[i].title,
                              .figures = {median(p50[i]), median(p99[i]), median(p50_ratio[i]), median(p99_ratio[i])}});
    return table;
}

} // namespace responder::bench
