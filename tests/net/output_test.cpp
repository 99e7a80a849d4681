// SPDX-License-Identifier: GPL-2.0-only
//
// How a run ends and what it writes: stdout is data, stderr is talk.

#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

namespace responder::test {
namespace {

using namespace packet;

const Octets test_frame = Ethernet{} / Ipv4{} / Udp{} / payload(18);

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

// Of "2026-11-30T12:00:00.007Z".
std::chrono::system_clock::time_point time_of(const std::string& rfc3339) {
    std::tm calendar{};
    const char* fraction = strptime(rfc3339.c_str(), "%Y-%m-%dT%H:%M:%S", &calendar);
    if (!fraction)
        throw std::runtime_error("no time: " + rfc3339);
    return std::chrono::system_clock::from_time_t(timegm(&calendar)) +
           std::chrono::milliseconds(std::lround(std::stod(fraction) * 1000));
}

// Columns may move: one space for any number.
std::string squeezed(const std::string& text) { return std::regex_replace(text, std::regex(" +"), " "); }

std::size_t interval_lines(const std::string& text) {
    const std::regex row(R"( *[0-9]+\.[0-9] s  eth[0-9] .*)");
    const std::vector<std::string> lines = lines_of(text);
    return static_cast<std::size_t>(
        std::ranges::count_if(lines, [&](const std::string& line) { return std::regex_match(line, row); }));
}

TEST(Output, DurationEndsTheRun) {
    const Lab lab;
    const auto begin = std::chrono::steady_clock::now();
    Sink sink(lab, {"--duration", "5"});
    PacketSocket(lab.tester, "tx1").send(test_frame, 25);
    const Json summary = sink.wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(summary["ended_by"], "duration");
    EXPECT_EQ(test_frames(summary), 25U);
    EXPECT_GE(summary["duration_seconds"], 4.99);
    EXPECT_GE(took.count(), 4.99);
    EXPECT_LT(summary["duration_seconds"], took.count());
}

TEST(Output, CountEndsTheRun) {
    const Lab lab({.pairs = 2});
    Sink sink(lab, {"--count", "100"}, {.interfaces = {"eth1", "eth2"}});
    PacketSocket(lab.tester, "tx1").send(test_frame, 60);
    std::this_thread::sleep_for(100ms);
    ASSERT_TRUE(sink.process().running());
    PacketSocket(lab.tester, "tx2")
        .send(Ethernet{.destination = lab.responder_ports[1].mac} / Ipv4{} / Udp{} / payload(18), 40);
    const Json summary = sink.wait();
    EXPECT_EQ(summary["ended_by"], "count");
    EXPECT_EQ(test_frames(summary, 0) + test_frames(summary, 1), 100U);
}

TEST(Output, ALineAnInterval) {
    const Lab lab;
    const auto begin = std::chrono::steady_clock::now();
    Sink sink(lab, {"--interval", "500ms", "--duration", "60"}, {.json = false});
    PacketSocket(lab.tester, "tx1").send(test_frame, 1234);
    EXPECT_TRUE(eventually([&] { return interval_lines(sink.process().out()) >= 3; }));
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    const std::string out = sink.process().out();
    EXPECT_LE(static_cast<double>(interval_lines(out)) * 500ms, std::chrono::steady_clock::now() - begin) << out;
    EXPECT_TRUE(contains(out, " s, native XDP on veth, 1 queue, no line speed\n")) << out;
    EXPECT_TRUE(contains(sink.process().err(), "eth1: native XDP on veth, 1 receive queue, MTU 1500"));
    const std::string text = squeezed(out);
    EXPECT_TRUE(contains(text, "\n test frames 1,234, 78,976 bytes with FCS; traffic flowed for ")) << out;
    EXPECT_TRUE(contains(text, "\n while it flowed ")) << out;
    EXPECT_TRUE(contains(text, "\n over the run ")) << out;
    EXPECT_TRUE(contains(text, "\n sizes with FCS 64: 1,234\n")) << out;
    EXPECT_TRUE(contains(text, "\n balance program saw 1,234 = test 1,234 + passed 0; NIC received 1,234; left over 0 "
                               "(nothing was in flight)\n"))
        << out;
    EXPECT_TRUE(contains(out, "s left")) << out;
}

// Of the sparkline at the end of a line, from its first block on: how high they are, in eighths.
std::vector<int> levels_of_sparkline(const std::string& line) {
    const std::size_t first = line.find("\xe2\x96"); // the first two octets of "▁" to "█", U+2581 to U+2588
    std::vector<int> levels;
    for (std::size_t i = first; i < line.size();) {
        const bool nothing = line[i] == ' ';
        levels.push_back(nothing ? 0 : static_cast<unsigned char>(line.at(i + 2)) - 0x80);
        i += nothing ? 1 : 3;
    }
    return levels;
}

// A sender's rate that changes: each line ends with the last rates in blocks, the newest by the rate in that line.
TEST(OutputOnATerminal, ASparklineFollowsTheRate) {
    const Lab lab;
    Sink sink(lab, {"--interval", "200ms"},
              {.process = {.environment = {"LC_ALL=C.UTF-8"}, .out = Process::Output::terminal}, .json = false});
    std::size_t lines = 0;
    for (const char* rate : {"20000", "5000", "1000"}) {
        Traffic traffic(lab, {"--rate", rate});
        lines = interval_lines(sink.process().out()) + 4;
        EXPECT_TRUE(eventually([&] { return interval_lines(sink.process().out()) >= lines; }));
        traffic.end();
    }
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    const std::string out = sink.process().out();
    std::vector<double> rates;
    std::set<int> shown;
    for (std::string line : lines_of(out)) {
        std::erase(line, ',');
        std::smatch row;
        if (!std::regex_search(line, row, std::regex(R"(^ *[0-9.]+ s  eth1 +([0-9]+) )")))
            continue;
        rates.push_back(std::stod(row[1]));
        const auto recent = rates.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(rates.size(), 16));
        const double most = *std::max_element(recent, rates.end());
        const auto first = std::find_if(recent, rates.end(), [](double rate) { return rate != 0; });
        const std::vector<int> levels = levels_of_sparkline(line);
        ASSERT_EQ(levels.size(), static_cast<std::size_t>(rates.end() - first)) << line;
        for (std::size_t i = 0; i < levels.size(); ++i)
            ASSERT_NEAR(levels[i], 8 * first[static_cast<std::ptrdiff_t>(i)] / most, 1) << line;
        shown.insert(levels.begin(), levels.end());
    }
    EXPECT_GE(rates.size(), lines) << out;
    shown.erase(0);
    EXPECT_GE(shown.size(), 3U) << "three rates look alike: " << out;
    EXPECT_TRUE(contains(out, "█")) << out;
    EXPECT_FALSE(contains(out, "\x1b")) << "nothing but text, so that a screen can be copied";
}

// A table for people beside data for programs, and in either what can be shown there.
TEST(OutputOnATerminal, DrawsOnlyWhereItCanBeSeen) {
    const Lab lab;
    const auto shows = [&](const std::string& locale, Process::Output out, Process::Output err, bool json) {
        Sink sink(lab, {"--interval", "100ms"},
                  {.process = {.environment = {"LC_ALL=" + locale}, .out = out, .err = err}, .json = json});
        PacketSocket(lab.tester, "tx1").send(test_frame, 50);
        const auto& text = json ? &Process::err : &Process::out;
        const auto intervals = [&] { return interval_lines((sink.process().*text)()); };
        const std::size_t before = intervals();
        EXPECT_TRUE(eventually([&] { return intervals() >= before + 2; }));
        sink.process().signal(SIGINT);
        EXPECT_EQ(sink.process().wait().code, 0);
        const std::string both = sink.process().out() + sink.process().err();
        EXPECT_EQ(std::ranges::count_if(both, [](char c) { return c >= 0 && c < ' ' && c != '\n'; }), 0) << both;
        EXPECT_TRUE(!json || Json::accept(sink.process().out())) << sink.process().out();
        return contains(both, "█");
    };
    using enum Process::Output;
    EXPECT_TRUE(shows("C.UTF-8", terminal, pipe, false));
    EXPECT_FALSE(shows("C", terminal, pipe, false));
    EXPECT_FALSE(shows("C.UTF-8", pipe, terminal, false));
    EXPECT_TRUE(shows("C.UTF-8", pipe, terminal, true));
}

TEST(Output, ALineAPortAnInterval) {
    const Lab lab({.pairs = 2});
    Sink sink(lab, {"--interval", "500ms"}, {.interfaces = {"eth1", "eth2"}, .json = false});
    EXPECT_TRUE(eventually([&] { return interval_lines(sink.process().out()) >= 2; }));
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    EXPECT_EQ(interval_lines(sink.process().out()) % 2, 0U);
    EXPECT_EQ(count_of(sink.process().out(), "balance"), 2U);
}

TEST(Output, QuietIsTheSummaryAlone) {
    const Lab lab;
    Sink sink(lab, {"--quiet", "--interval", "200ms", "--duration", "1"}, {.json = false, .ready = false});
    EXPECT_EQ(sink.process().wait().code, 0);
    EXPECT_EQ(sink.process().err(), "");
    const std::string out = sink.process().out();
    EXPECT_EQ(interval_lines(out), 0U) << out;
    EXPECT_TRUE(contains(out, "balance")) << out;
}

TEST(Output, JsonSaysWhatItRanOn) {
    const Lab lab({.queues = 2});
    Sink sink(lab, {"--duration", "300ms", "--vlan", "7"});
    const Json summary = sink.wait();
    EXPECT_EQ(summary["schema_version"], 1);
    EXPECT_EQ(summary["program"], "xdp-sink");
    EXPECT_EQ(summary["argv"][1], "eth1");
    EXPECT_EQ(summary["argv"].back(), "--json");
    const std::regex rfc3339(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");
    EXPECT_TRUE(std::regex_match(summary["started"].get<std::string>(), rfc3339)) << summary["started"];
    EXPECT_TRUE(std::regex_match(summary["ended"].get<std::string>(), rfc3339)) << summary["ended"];
    EXPECT_TRUE(contains(summary["kernel"].get<std::string>(), "Linux "));
    const Json& port = summary["ports"][0];
    EXPECT_EQ(port["driver"], "veth");
    EXPECT_EQ(port["mac"], "02:00:00:00:00:01");
    EXPECT_EQ(port["queues"], 2);
    EXPECT_EQ(port["mode"], "native");
    EXPECT_EQ(port["takes"], "UDP port 9; UDP to 198.18.0.0/15, 2001:2::/48; only VLAN 7");
    EXPECT_FALSE(summary.contains("verdict"));
}

// Below "a.b[]": the first item of the array b in the object a.
Json below(Json node, const std::string& path) {
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, '.');) {
        const bool array = part.ends_with("[]");
        node = Json(node.at(array ? part.substr(0, part.size() - 2) : part));
        if (array)
            node = Json(node.at(0));
    }
    return node;
}

// Schema version 1: a key that is missing or renamed here is missing in somebody's script. More keys may come.
TEST(Output, JsonKeepsItsKeys) {
    const std::vector<std::pair<std::string, std::vector<std::string>>> keys = {
        {"",
         {"schema_version", "program", "version", "argv", "kernel", "started", "ended", "ended_by",
          "duration_seconds"}},
        {"ports[]",
         {"interface", "ifindex", "driver", "mac", "mtu", "speed_bps", "queues", "mode", "native_refused",
          "multi_buffer", "dispatcher", "takes", "duration_seconds"}},
        {"ports[].test",
         {"frames", "l1_bytes", "l2_bytes", "l3_bytes", "payload_bytes", "flowed_seconds", "flowed_at_most"}},
        {"ports[].test.while_it_flowed", {"frames_per_second", "l1_bps", "l2_bps", "l3_bps", "payload_bps"}},
        {"ports[].test.over_the_run", {"frames_per_second", "l1_bps", "l2_bps", "l3_bps", "payload_bps"}},
        {"ports[].test.sizes[]", {"first", "last", "frames"}},
        {"ports[].answered", {"arp_reply", "nd_reply", "ping_reply"}},
        {"ports[].passed",
         {"control", "arp", "nd", "dhcp", "malformed", "too_deep", "fragment", "tcp", "icmp", "udp", "other_ip",
          "other_ethertype", "other_mac", "other_vlan", "other_address"}},
        {"ports[].by_queue[]", {"queue", "test_frames", "test_l2_bytes", "answered_frames", "passed_frames"}},
        {"ports[].balance",
         {"nic_known", "program_saw", "after_the_end", "nic_received", "nic_leaves_out_dropped", "left_over",
          "in_flight", "settled"}},
        {"ports[].nic",
         {"rx_packets", "rx_bytes", "rx_missed", "rx_fifo_errors", "rx_over_errors", "rx_dropped", "rx_crc_errors",
          "rx_length_errors", "rx_frame_errors", "rx_errors"}},
        {"ports[]", {"driver_counters", "outages"}},
        {"verdict", {"result"}},
        {"verdict.conditions[]", {"wanted", "measured", "holds"}},
        {"", {"exit_code"}},
    };
    const Lab lab;
    Sink sink(lab, {"--expect-frames", "1"});
    PacketSocket(lab.tester, "tx1").send(test_frame);
    const Json summary = sink.end();
    for (const auto& [path, names] : keys) {
        const Json node = below(summary, path);
        for (const std::string& name : names)
            EXPECT_TRUE(node.contains(name.substr(0, name.find('[')))) << path << "." << name;
    }
}

TEST(Output, JsonStreamIsALineAnEvent) {
    const Lab lab;
    Sink sink(lab, {"--json-stream", "--interval", "200ms"}, {.json = false});
    PacketSocket sender(lab.tester, "tx1");
    sender.send(test_frame, 777);
    ASSERT_TRUE(sink.process().wait_for_out("\"event\":\"interval\""));
    lab.tester.ip("link set tx1 down");
    ASSERT_TRUE(sink.process().wait_for_out("\"event\":\"link\""));
    const auto intervals = [&] { return count_of(sink.process().out(), "\"event\":\"interval\""); };
    const std::size_t before = intervals();
    ASSERT_TRUE(eventually([&] { return intervals() > before; }));
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    const std::vector<std::string> lines = lines_of(sink.process().out());
    std::vector<std::string> events;
    std::uint64_t frames = 0;
    double seconds = 0;
    for (const std::string& line : lines) {
        const Json event = Json::parse(line, nullptr, false);
        ASSERT_FALSE(event.is_discarded()) << line;
        events.push_back(event["event"]);
        EXPECT_TRUE(event.contains("time"));
        if (event["event"] == "interval") {
            frames += event["frames"].get<std::uint64_t>();
            seconds += event["interval_seconds"].get<double>();
        } else if (event["event"] == "link") {
            EXPECT_EQ(event["text"], "eth1: the link is down");
        } else if (event["event"] == "start") {
            EXPECT_EQ(event["ports"][0]["interface"], "eth1");
        }
    }
    ASSERT_GE(events.size(), 5U);
    EXPECT_EQ(events.front(), "start");
    EXPECT_EQ(events.back(), "summary");
    EXPECT_EQ(frames, 777U);
    const Json summary = Json::parse(lines.back());
    EXPECT_EQ(test_frames(summary), 777U);
    EXPECT_EQ(summary["exit_code"], 0);
    EXPECT_LE(seconds, summary["ports"][0]["duration_seconds"].get<double>() + 0.01);
    expect_balanced(summary["ports"][0]);
}

TEST(Output, InterruptedAtFullSpeedItStillBalances) {
    const Lab lab;
    EXPECT_TRUE(once_in_ten([&] {
        Sink sink(lab, {});
        Traffic traffic(lab, {});
        EXPECT_TRUE(receives(lab, 10'001));
        const Json summary = sink.end();
        traffic.end();
        EXPECT_GT(test_frames(summary), 10'000U);
        return summary["ports"][0]["balance"]["settled"] == false;
    })) << "the traffic was over each time";
}

// What comes after the end of a planned run is in the books and in no figure, and waiting in vain for the traffic to
// settle, which takes 0.2 s, is in no duration.
TEST(Output, DurationMeansItsEndAlsoWhileTrafficGoesOn) {
    const Lab lab;
    Traffic traffic(lab, {"--rate", "50000"});
    double excess = 0;
    EXPECT_TRUE(once_in_ten([&] {
        Sink sink(lab, {"--duration", "300ms"});
        const Json summary = sink.wait();
        const Json& port = summary["ports"][0];
        const double from_start_to_end =
            std::chrono::duration<double>(time_of(summary["ended"]) - time_of(summary["started"])).count();
        const double longest =
            std::max(port["duration_seconds"].get<double>(), summary["duration_seconds"].get<double>());
        excess = longest - from_start_to_end;
        return port["balance"]["settled"] == false && port["balance"]["after_the_end"] > 2000U && excess < 0.15;
    })) << "a run is too long by "
        << excess << " s";
    traffic.end();
}

TEST(Output, BalanceAddsUpInText) {
    const Lab lab;
    Traffic traffic(lab, {"--rate", "50000"});
    EXPECT_TRUE(once_in_ten([&] {
        Sink sink(lab, {"--duration", "300ms"}, {.json = false});
        EXPECT_EQ(sink.process().wait().code, 0);
        std::string out = sink.process().out();
        std::erase(out, ',');
        std::smatch sum;
        if (!std::regex_search(
                out, sum,
                std::regex("program saw ([0-9]+) = test ([0-9]+) \\+ passed ([0-9]+) \\+ after the end ([0-9]+);")))
            return false;
        EXPECT_EQ(std::stoull(sum[1]), std::stoull(sum[2]) + std::stoull(sum[3]) + std::stoull(sum[4])) << out;
        return true;
    })) << "nothing came after the end";
    traffic.end();
}

// A sender's even rate, of which the readings every 20 ms see neither beginning nor end.
TEST(Output, AverageWhileTrafficFlowedIsTheSendersRate) {
    const Lab lab;
    EXPECT_TRUE(once_in_ten([&] {
        Sink sink(lab, {"--expect-rate", "19.9kfps"});
        const Json generated = generate(lab, {"--rate", "20000", "--duration", "1"});
        sink.process().signal(SIGINT);
        const bool pass = sink.process().wait().code == 0;
        const Json test = Json::parse(sink.process().out())["ports"][0]["test"];
        EXPECT_EQ(test["frames"], frames_sent(generated));
        EXPECT_EQ(test["flowed_at_most"], false);
        const double average = test["while_it_flowed"]["frames_per_second"];
        EXPECT_EQ(pass, average >= 19'900 * 0.999) << average;
        return std::abs(average - generated["frames_per_second"].get<double>()) < 200;
    }));
}

// What comes while the program is being attached must not look like more in less time.
TEST(Output, RateIsRightWhereTrafficFlowedAlready) {
    const Lab lab;
    EXPECT_TRUE(once_in_ten([&] {
        Traffic traffic(lab, {"--rate", "20000"});
        std::this_thread::sleep_for(300ms);
        Sink sink(lab, {"--duration", "1"});
        const Json test = sink.wait()["ports"][0]["test"];
        traffic.end();
        return std::abs(test["while_it_flowed"]["frames_per_second"].get<double>() - 20'000) < 400 &&
               test["over_the_run"]["frames_per_second"] <= 20'400;
    }));
}

TEST(Output, CountIsNotExceededByWhatComesAfterTheEnd) {
    const Lab lab;
    Traffic traffic(lab, {"--rate", "50000"});
    EXPECT_TRUE(once_in_ten([&] {
        Sink sink(lab, {"--count", "10000"}, {.ready = false});
        const Json summary = sink.wait();
        EXPECT_GE(test_frames(summary), 10'000U);
        const std::uint64_t after_the_end = summary["ports"][0]["balance"]["after_the_end"];
        return after_the_end > 2000 && test_frames(summary) - 10'000 < after_the_end;
    }));
    traffic.end();
}

TEST(Output, StartedAndEndedUnderFire) {
    const Lab lab;
    std::atomic<bool> stop = false;
    std::thread fire([&] {
        PacketSocket sender(lab.tester, "tx1");
        while (!stop)
            sender.send(test_frame, 64);
    });
    for (int run = 0; run < 5; ++run) {
        Sink sink(lab, {});
        EXPECT_TRUE(receives(lab, 101));
        EXPECT_GT(test_frames(sink.end()), 100U);
    }
    stop = true;
    fire.join();
}

// nohup is for the tester whose SSH session breaks: whoever ignores SIGHUP for the command wants it to go on.
TEST(Output, NohupIsHeeded) {
    const Lab lab;
    Sink sink(lab, {}, {.prefix = {"sh", "-c", "trap '' HUP; exec \"$@\"", "sh"}});
    sink.process().signal(SIGHUP);
    std::this_thread::sleep_for(300ms);
    EXPECT_TRUE(sink.process().running());
    sink.end();
}

TEST(Output, InterruptWorksInAScriptsBackground) { // where the shell has SIGINT ignored
    const Lab lab;
    Sink sink(lab, {}, {.prefix = {"sh", "-c", "trap '' INT; exec \"$@\"", "sh"}});
    EXPECT_EQ(sink.end(SIGINT)["ended_by"], "signal");
}

TEST(Output, ASecondSignalDoesNotCostTheSummary) {
    const Lab lab;
    Sink sink(lab, {});
    PacketSocket(lab.tester, "tx1").send(test_frame, 5);
    sink.process().signal(SIGINT);
    sink.process().signal(SIGTERM);
    EXPECT_EQ(test_frames(sink.end()), 5U);
}

class OutputLost : public testing::TestWithParam<std::tuple<std::string, Process::Output, Arguments>> {};

TEST_P(OutputLost, IsAnErrorOfItsOwn) {
    const auto& [name, out, arguments] = GetParam();
    const Lab lab;
    Sink sink(lab, arguments, {.process = {.out = out}, .json = false});
    PacketSocket(lab.tester, "tx1").send(test_frame, 5);
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, exit_io);
    EXPECT_TRUE(contains(sink.process().err(), "standard output")) << sink.process().err();
    EXPECT_TRUE(xdp_programs(lab.responder, "eth1").none());
    EXPECT_TRUE(feature_on(lab.responder, "eth1", "rx-vlan-offload"));
}

INSTANTIATE_TEST_SUITE_P(
    , OutputLost,
    testing::Values(std::tuple{"FullText", Process::Output::dev_full, Arguments{}},
                    std::tuple{"FullJson", Process::Output::dev_full, Arguments{"--json"}},
                    std::tuple{"FullStream", Process::Output::dev_full, Arguments{"--json-stream"}},
                    std::tuple{"NoReaderText", Process::Output::pipe_without_reader, Arguments{}},
                    std::tuple{"NoReaderStream", Process::Output::pipe_without_reader, Arguments{"--json-stream"}},
                    std::tuple{"ClosedText", Process::Output::closed, Arguments{}},
                    std::tuple{"ClosedJson", Process::Output::closed, Arguments{"--json"}}),
    [](const auto& test) { return std::get<0>(test.param); });

// stderr is talk: losing it loses no measurement, and no exit status.
class TalkLost : public testing::TestWithParam<std::pair<std::string, Process::Output>> {};

TEST_P(TalkLost, CostsNothingElse) {
    const Process::Options lost{.err = GetParam().second};
    const Lab lab;
    Sink sink(lab, {"--json-stream"}, {.process = lost, .json = false, .ready = false});
    ASSERT_TRUE(sink.process().wait_for_out("\"event\":\"start\""));
    PacketSocket(lab.tester, "tx1").send(test_frame, 50);
    lab.tester.ip("link set tx1 down"); // something to talk about
    EXPECT_TRUE(sink.process().wait_for_out("eth1: the link is down"));
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    EXPECT_EQ(test_frames(summary_of_stream(sink.process().out())), 50U);
    Sink wrong(lab, {}, {.process = lost, .interfaces = {"eth9"}, .ready = false});
    EXPECT_EQ(wrong.process().wait().code, exit_no_input);
    EXPECT_EQ(wrong.process().out(), "") << "what belongs to stderr went elsewhere";
}

INSTANTIATE_TEST_SUITE_P(, TalkLost,
                         testing::Values(std::pair{"Full", Process::Output::dev_full},
                                         std::pair{"NoReader", Process::Output::pipe_without_reader},
                                         std::pair{"Closed", Process::Output::closed}),
                         [](const auto& test) { return test.param.first; });

TEST(Output, HelpAndVersionIntoAFullDisk) {
    const Lab lab;
    for (const std::string option : {"--help", "--version"}) {
        Process process({TEST_XDP_SINK, option}, {.out = Process::Output::dev_full});
        EXPECT_EQ(process.wait().code, exit_io) << option;
    }
}

TEST(Output, UsageErrorsTouchNothing) {
    const Lab lab;
    expect_refused(lab, {"--port", "0"}, exit_usage, {"--port", "0"});
    expect_refused(lab, {"--no-such-option"}, exit_usage, {"--no-such-option", "--help"});
    expect_refused(lab, {}, exit_usage, {"eth1", "twice"}, {.interfaces = {"eth1", "eth1"}});
    Process process({TEST_XDP_SINK});
    EXPECT_EQ(process.wait().code, exit_usage);
    EXPECT_TRUE(contains(process.err(), "INTERFACE"));
}

} // namespace
} // namespace responder::test
