// SPDX-License-Identifier: GPL-2.0-only
//
// What a capture keeps of frames of 1518 octets through a veth pair, at the line rate of 2.5 GbE and at full speed:
// xdp-sink --pcap, and tcpdump with a buffer as large as xdp-sink's, both writing into the same memory file system. The
// sender has CPU 0, on which a veth's far end also runs; tcpdump has another one.

#include "loader/wire.h"
#include "tests/bench/benchmarks.h"
#include "tests/bench/veth_ends.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>
#include <tuple>
#include <vector>

namespace responder::bench {

namespace {

using namespace test;
constexpr unsigned size = 1518;
constexpr const char* ring_kib = "65536"; // as xdp-sink has
constexpr unsigned few_turns = 3;

struct Captured {
    std::vector<double> sent, kept, lost_percent, said_percent; // one a turn
};

class CaptureBench {
  public:
    CaptureBench() : lab_({.addresses = true}) {
        std::string pattern = "/dev/shm/capture-XXXXXX";
        if (mkdtemp(pattern.data()) == nullptr)
            fail("make a folder", pattern);
        folder_ = pattern;
        // So that a veth takes what xdp-gen sends also while no program is at its far end.
        lab_.responder.run({"ethtool", "-K", lab_.to().name, "gro", "on"});
    }
    ~CaptureBench() { std::filesystem::remove_all(folder_); }

    void sink(Captured& captured, const std::string& rate) {
        FarEnd sink(lab_, {BENCH_XDP_SINK, lab_.to().name, "--json", "--pcap", file()}, "capture: ");
        const Json sent = send_at(rate);
        const Json said = Json::parse(sink.end());
        const Json& port = said.at("ports").at(0);
        const double test = port.at("test").at("frames");
        const double lost =
            test - port.at("sockets").at("received").get<double>() + said.at("capture").at("lost_frames").get<double>();
        add(captured, sent, said.at("capture").at("written_frames"), lost);
    }

    void tcpdump(Captured& captured, const std::string& rate) {
        FarEnd tcpdump(lab_,
                       off_the_senders_cpu({"tcpdump", "-n", "-i", lab_.to().name, "-Z", "root", "-B", ring_kib, "-w",
                                            file(), "udp", "port", "9"}),
                       "listening on");
        const Json sent = send_at(rate);
        tcpdump.end();
        const std::string err = tcpdump.process().err();
        const auto count = [&](const char* what) {
            std::smatch found;
            if (!std::regex_search(err, found, std::regex(fmt::format("([0-9]+) packets? {}", what))))
                fail("tcpdump", err);
            return std::stod(found[1]);
        };
        add(captured, sent, count("captured"), count("dropped by kernel"));
    }

  private:
    std::string file() const { return folder_ / "capture"; }

    Json send_at(const std::string& rate) const {
        std::vector<std::string> options{"--dst",  "192.0.2.2",          "--src",      "192.0.2.1",
                                         "--size", std::to_string(size), "--duration", "1"};
        if (!rate.empty())
            options.insert(options.end(), {"--rate", rate});
        return send(lab_, options);
    }

    static void add(Captured& captured, const Json& said, double kept, double said_lost) {
        const double sent = said.at("frames_sent"), rate = said.at("frames_per_second");
        captured.sent.push_back(rate);
        captured.kept.push_back(rate * kept / sent);
        captured.lost_percent.push_back(100 * (sent - kept) / sent);
        captured.said_percent.push_back(100 * said_lost / sent);
    }

    Lab lab_;
    std::filesystem::path folder_;
};

} // namespace

Table capture_rate(const Settings&) {
    CaptureBench bench;
    Table table{.key = "capture_rate",
                .title = "Capturing frames of 1518 bytes through a veth pair",
                .note =
                    "For a second each, the median of turns taken one after the other; a lost frame was sent and is "
                    "not in the file.",
                .columns = {{.key = "sent_per_second", .title = "sent/s"},
                            {.key = "captured_per_second", .title = "captured/s"},
                            {.key = "lost_percent", .title = "lost %", .decimals = 2},
                            {.key = "said_lost_percent", .title = "lost % as it says", .decimals = 2}},
                .rows = {}};
    const std::string line_rate = std::to_string(2'500'000'000 / (8 * (size + wire::preamble_and_gap_bytes)));
    for (const auto& [key, title, rate] :
         {std::tuple{"line_rate", "2.5 GbE", line_rate}, {"full_speed", "full speed", ""}}) {
        Captured sink, tcpdump;
        for (unsigned turn = 0; turn < few_turns; ++turn) {
            bench.sink(sink, rate);
            bench.tcpdump(tcpdump, rate);
        }
        const auto row = [&](const std::string& program, const std::string& command, const Captured& captured) {
            table.rows.push_back({.key = fmt::format("{}_{}", program, key),
                                  .title = fmt::format("{}, {}", command, title),
                                  .figures = {median(captured.sent), median(captured.kept),
                                              median(captured.lost_percent), median(captured.said_percent)},
                                  .has_limit = false});
        };
        row("sink", "xdp-sink --pcap", sink);
        row("tcpdump", fmt::format("tcpdump -B {} -w", ring_kib), tcpdump);
    }
    return table;
}

} // namespace responder::bench
