// SPDX-License-Identifier: GPL-2.0-only
//
// Through a veth pair and back: frames a second that return, and how long one takes. xdp-reflect beside a program that
// only swaps MAC addresses, beside DPDK's testpmd on AF_XDP and beside a UDP echo server. The sender has CPU 0, on
// which a veth's far end also runs; what reflects in user space has another one.

#include "loader/clock.h"
#include "loader/error.h"
#include "loader/fd.h"
#include "loader/netdev.h"
#include "tests/bench/benchmarks.h"
#include "tests/bench/veth_ends.h"
#include "tests/harness/one_cpu.h"
#include "tests/harness/packet.h"
#include "tests/peers/testpmd.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace responder::bench {

namespace {

using namespace test;
// argv of xdp-reflect at the far end.
std::vector<std::string> reflector(const Lab& lab, const std::vector<std::string>& options) {
    std::vector<std::string> argv{BENCH_XDP_REFLECT, lab.to().name, "--json"};
    argv.insert(argv.end(), options.begin(), options.end());
    return off_the_senders_cpu(argv);
}

// ---- frames a second ----

class RateBench {
  public:
    RateBench() : lab_({.pass = false}), counting_(attach(lab_.tester, lab_.from().name, BareProgram::drop)) {}

    double bare() const {
        const Attachment swapping = attach(lab_.responder, lab_.to().name, BareProgram::swap_macs);
        return returned();
    }
    double ours(const std::vector<std::string>& options) const {
        const FarEnd far_end(lab_, reflector(lab_, options));
        return returned();
    }
    double testpmd(const char* forwarding) const {
        if (!Testpmd::is_there())
            return no_figure;
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
        const Json sent = send(lab_, {"--port", "7", "--duration", "1"});
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
        double lost; // of which no answer came in time
    };

    DelayBench() : lab_({.addresses = true}) {}

    Delay reflected(const std::vector<std::string>& options) const {
        const FarEnd far_end(lab_, reflector(lab_, options));
        return measure();
    }
    Delay echoed(const char* how) const {
        const FarEnd server(lab_, off_the_senders_cpu({BENCH_UDP_ECHO, "7", how}), "ready");
        return measure();
    }

  private:
    // From before send() to after recv() at a socket that asks without end, a round trip at a time. Each datagram
    // carries its number, so that an answer which comes late is not taken for the next one's.
    Delay measure() const {
        constexpr std::uint32_t round_trips = 3000;
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
        std::vector<double> us;
        for (std::uint32_t number = 0; number < round_trips; ++number) {
            std::array<char, 64> datagram{};
            std::memcpy(datagram.data(), &number, sizeof(number));
            const std::uint64_t start = clock_now_ns(CLOCK_MONOTONIC);
            ::send(socket.get(), datagram.data(), datagram.size(), 0);
            std::uint64_t now = start;
            for (bool answered = false; !answered && now - start < patience_ns;) {
                std::uint32_t answer = 0;
                answered =
                    recv(socket.get(), &answer, sizeof(answer), MSG_DONTWAIT) == sizeof(answer) && answer == number;
                now = clock_now_ns(CLOCK_MONOTONIC);
                if (answered)
                    us.push_back(1e-3 * static_cast<double>(now - start));
            }
            std::this_thread::sleep_for(200us); // light load: each finds the far end at rest
        }
        if (us.size() < round_trips / 2)
            fail("round trips", "most datagrams do not come back");
        std::ranges::sort(us);
        return {.p50_us = us[us.size() / 2],
                .p99_us = us[us.size() * 99 / 100],
                .lost = static_cast<double>(round_trips - us.size())};
    }

    Lab lab_;
};

} // namespace

Table reflect_rate(const Settings&) {
    const RateBench bench;
    const struct {
        std::string key, title;
        std::function<double()> measure;
        std::size_t beside; // which row it is compared with
    } rows[] = {
        {"bare", "attached program that only swaps MAC addresses", [&] { return bench.bare(); }, 0},
        {"xdp", "xdp-reflect", [&] { return bench.ours({}); }, 0},
        {"macswap", "testpmd macswap, AF_XDP", [&] { return bench.testpmd("macswap"); }, 2},
        {"af_xdp_mac", "xdp-reflect --engine af_xdp --swap mac",
         [&] {
             return bench.ours({"--engine", "af_xdp", "--swap", "mac"});
         },
         2},
        {"5tswap", "testpmd 5tswap, AF_XDP", [&] { return bench.testpmd("5tswap"); }, 4},
        {"af_xdp", "xdp-reflect --engine af_xdp",
         [&] {
             return bench.ours({"--engine", "af_xdp"});
         },
         4},
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
                "one after the other." +
                std::string(Testpmd::is_there() ? "" : " No testpmd is here: tools/prepare test says why."),
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
    double lost[std::size(rows)] = {};
    for (unsigned turn = 0; turn < turns; ++turn)
        for (std::size_t i = 0; i < std::size(rows); ++i) {
            const DelayBench::Delay delay = rows[i].measure();
            p50[i].push_back(delay.p50_us);
            p99[i].push_back(delay.p99_us);
            lost[i] += delay.lost;
            p50_ratio[i].push_back(p50[i].back() / p50[0].back());
            p99_ratio[i].push_back(p99[i].back() / p99[0].back());
        }
    Table table{
        .key = "reflect_delay",
        .title = "Round trip of one UDP datagram through a veth pair, 5000 a second at most",
        .note = "In microseconds, at a socket of the tester's that never sleeps. Ratios are to xdp-reflect, medians "
                "of turns taken one after the other. Lost: no answer within 100 ms, of all turns.",
        .columns = {{.key = "p50_us", .title = "p50", .decimals = 1},
                    {.key = "p99_us", .title = "p99", .decimals = 1},
                    {.key = "p50_ratio", .title = "p50 ratio", .decimals = 2},
                    {.key = "p99_ratio", .title = "p99 ratio", .decimals = 2},
                    {.key = "lost", .title = "lost"}},
        .rows = {}};
    for (std::size_t i = 0; i < std::size(rows); ++i)
        table.rows.push_back(
            {.key = rows[i].key,
             .title = rows[i].title,
             .figures = {median(p50[i]), median(p99[i]), median(p50_ratio[i]), median(p99_ratio[i]), lost[i]}});
    return table;
}

} // namespace responder::bench
