// SPDX-License-Identifier: GPL-2.0-only
//
// Beside a real iperf: the sink says what was lost before it, and what behind it, and both together are what iperf
// misses. And the numbers of all other senders that --watch knows.

#include "bpf/signature/ours.h"
#include "bpf/signature/pktgen.h"
#include "tests/harness/impairment.h"
#include "tests/harness/iperf_reference.h"
#include "tests/harness/packet.h"
#include "tests/harness/sender_frames.h"
#include "tests/net/sink.h"
#include "tests/net/sockets.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <regex>
#include <set>
#include <utility>

namespace responder::test {
namespace {

using namespace packet;

std::uint64_t sum_of_streams(const Json& summary, const char* key) {
    std::uint64_t sum = 0;
    for (const Json& stream : streams_of(summary))
        sum += stream.at(key).get<std::uint64_t>();
    return sum;
}

const Json& lost_in(const Json& summary, const std::string& place) {
    for (const Json* places : {&summary["ports"][0]["lost_where"], &summary["lost_where"]})
        for (const Json& each : *places)
            if (each["place"] == place)
                return each;
    throw std::runtime_error("no place " + place + " in " + summary.dump());
}

std::uint64_t buffer_errors(const Lab& lab) {
    const std::string text = lab.responder.run({"nstat", "-asz", "UdpRcvbufErrors"});
    std::smatch found;
    return std::regex_search(text, found, std::regex("UdpRcvbufErrors +([0-9]+)")) ? std::stoull(found[1]) : 0;
}

class Iperf3Server {
  public:
    explicit Iperf3Server(const Lab& lab)
        : process_({"iperf3", "-s", "-1", "-J"}, {.network_namespace = lab.responder.fd()}) {
        EXPECT_TRUE(eventually([&] { return !lab.responder.run({"ss", "-Hltn", "sport = :5201"}).empty(); }));
    }
    void signal(int number) { process_.signal(number); }
    Json end() {
        EXPECT_EQ(process_.wait().code, 0) << process_.out();
        return Json::parse(process_.out());
    }

  private:
    Process process_;
};

Arguments iperf3_client(Arguments arguments) {
    Arguments argv{"iperf3", "-u", "-J", "-l", "100", "-c"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return argv;
}

// Datagrams of 100 octets.
std::uint64_t sent_by(const Json& client) { return client["end"]["sum"]["bytes"].get<std::uint64_t>() / 100; }
std::uint64_t read_by(const Json& server) { return server["end"]["sum_received"]["bytes"].get<std::uint64_t>() / 100; }

struct Iperf3Run {
    std::string name;
    Arguments arguments;
    std::size_t streams;
    friend std::ostream& operator<<(std::ostream& out, const Iperf3Run& run) { return out << run.name; }
};

class WatchIperf3 : public testing::TestWithParam<Iperf3Run> {};

TEST_P(WatchIperf3, FollowsItBesideItsServer) {
    const Lab lab({.addresses = true, .ipv6 = true});
    Sink sink(lab, {});
    Iperf3Server server(lab);
    Arguments arguments = GetParam().arguments;
    arguments.insert(arguments.end(), {"-b", "2M", "-k", "2000", "-w", "200K"});
    const Json client = Json::parse(run(iperf3_client(arguments), {.network_namespace = lab.tester.fd()}));
    const Json served = server.end();
    const Json summary = sink.end();
    ASSERT_EQ(streams_of(summary).size(), GetParam().streams);
    EXPECT_EQ(sum_of_streams(summary, "frames"), sent_by(client));
    for (const Json& stream : streams_of(summary)) {
        EXPECT_EQ(stream["format"], "iperf3");
        EXPECT_EQ(stream["lost"], 0U);
        EXPECT_EQ(stream["stray"], 0U);
        EXPECT_EQ(stream["restarts"], 0U);
        EXPECT_EQ(stream["iperf"]["packets"], stream["frames"]);
        EXPECT_EQ(stream["iperf"]["lost_packets"], 0U);
        EXPECT_GT(stream["iperf"]["jitter_ms"], 0.0);
    }
    EXPECT_EQ(test_frames(summary), 0U);
    EXPECT_EQ(lost_in(summary, "wire")["frames"], 0U);
    std::uint64_t lost = 0;
    for (const Json& stream : served["end"]["streams"])
        lost += stream["udp"]["lost_packets"].get<std::uint64_t>();
    EXPECT_EQ(lost_in(summary, "socket")["frames"], lost);
}

INSTANTIATE_TEST_SUITE_P(Runs, WatchIperf3,
                         testing::Values(Iperf3Run{"ipv4_two_streams", {"192.0.2.2", "-P", "2"}, 2},
                                         Iperf3Run{"ipv4_64_bits", {"192.0.2.2", "--udp-counters-64bit"}, 1},
                                         Iperf3Run{"ipv6", {"2001:db8::2"}, 1}),
                         [](const auto& iperf) { return iperf.param.name; });

TEST(Watch, WhatTheServerSendsBackIsNoStreamOfTheClient) {
    const Lab lab({.addresses = true});
    Sink sink(lab, {});
    Iperf3Server server(lab);
    run(iperf3_client({"192.0.2.2", "-R", "-k", "500", "-b", "2M"}), {.network_namespace = lab.tester.fd()});
    server.end();
    EXPECT_TRUE(streams_of(sink.end()).empty());
}

// A link that loses, doubles and delays before the sink, and a server behind it that keeps up or does not. Each
// datagram has one account: the link's book, the sink's or the server's.
struct ImpairedRun {
    std::string name;
    Arguments options;
    bool is_slow; // the server stands still for a while
};

class WatchImpairedIperf3 : public testing::TestWithParam<ImpairedRun> {
  protected:
    static constexpr std::uint64_t datagrams = 2000, untouched = 100;

    // iperf3 numbers from 1 on; number 0 of the link is the datagram by which a stream begins. More are lost than
    // doubled at any moment: else iperf3 would take no duplicate off its losses.
    static Fate fate_of(std::uint64_t number) {
        if (number <= 16 || number > datagrams - untouched)
            return Fate::pass;
        if (number % 50 == 3 || number / 7 == 100)
            return Fate::drop;
        if (number % 97 == 11)
            return Fate::duplicate;
        return number % 101 == 30 ? Fate::delay : Fate::pass;
    }

    static bool has_read_all(const Lab& lab) { // Recv-Q of the connected socket
        return lab.responder.run({"ss", "-Hun", "sport = :5201"}).starts_with("0 ");
    }

    // Its socket overflows.
    static void hold_up(const Lab& lab, Iperf3Server& server, const std::atomic<std::uint64_t>& sent) {
        ASSERT_TRUE(eventually([&] { return sent > 300; }));
        server.signal(SIGSTOP);
        EXPECT_TRUE(eventually([&] { return buffer_errors(lab) > 200; }));
        server.signal(SIGCONT);
    }
};

TEST_P(WatchImpairedIperf3, IsToldApartToTheDatagram) {
    const Lab lab({.addresses = true, .middle = true});
    std::atomic<std::uint64_t> sent = 0;
    Impairment link(lab, [&](std::uint64_t number) {
        sent = number;
        // The last one, and what the client says behind it, goes on when the server has read all others: it has room
        // in the socket, and so nothing is lost there behind the last that the server reads.
        if (number == datagrams) {
            EXPECT_TRUE(eventually([&] { return has_read_all(lab); }));
        }
        return fate_of(number);
    });
    Sink sink(lab, {});
    Iperf3Server server(lab);
    Arguments arguments{"192.0.2.2", "-k", std::to_string(datagrams), "-b", "800K"};
    arguments.insert(arguments.end(), GetParam().options.begin(), GetParam().options.end());
    Process client(iperf3_client(arguments), {.network_namespace = lab.tester.fd()});
    if (GetParam().is_slow)
        hold_up(lab, server, sent);
    ASSERT_EQ(client.wait().code, 0) << client.out();
    const Json served = server.end(); // while the link still hands on what the client says last
    const std::vector<Departure> departures = link.end(datagrams + 1);
    const Json summary = sink.end();

    std::uint64_t doubled = 0, delayed = 0;
    std::set<std::uint64_t> arrived;
    IperfReference reference(IperfReference::Kind::iperf3);
    for (const auto& [number, fate] : departures) {
        if (number == 0)
            continue;
        if (!arrived.insert(number).second)
            ++doubled;
        delayed += fate == Fate::delay;
        reference.take(number, {}, {});
    }
    const std::uint64_t frames = departures.size() - 1, lost = datagrams - arrived.size();
    ASSERT_GT(doubled, 10U);
    ASSERT_GT(delayed, 10U);
    ASSERT_GT(lost, doubled);

    // Before the sink.
    ASSERT_EQ(streams_of(summary).size(), 1U);
    const Json& stream = streams_of(summary)[0];
    EXPECT_EQ(stream["frames"], frames);
    EXPECT_EQ(stream["lost"], lost);
    EXPECT_EQ(lost_in(summary, "wire")["frames"], lost);
    EXPECT_EQ(stream["duplicate"], doubled);
    EXPECT_EQ(stream["late"], delayed);
    EXPECT_EQ(stream["stray"], 0U);
    EXPECT_EQ(stream["restarts"], 0U);
    EXPECT_EQ(stream["iperf"]["packets"], reference.packets());
    EXPECT_EQ(stream["iperf"]["lost_packets"], reference.lost());
    EXPECT_EQ(stream["iperf"]["out_of_order"], reference.out_of_order());

    // Behind it.
    const std::uint64_t socket = lost_in(summary, "socket")["frames"];
    EXPECT_EQ(socket, buffer_errors(lab));
    EXPECT_EQ(lost_in(summary, "NIC")["frames"], 0U);
    EXPECT_EQ(lost_in(summary, "program")["frames"], 0U);
    EXPECT_EQ(lost_in(summary, "stack")["frames"], 0U);

    // The server. A duplicate makes one lost datagram less of it, and what it has not read at the end, it never reads:
    // the numbers above its highest.
    const Json& own = served["end"]["streams"].at(0)["udp"];
    const std::uint64_t highest = own["packets"], server_lost = own["lost_packets"];
    const std::uint64_t read = read_by(served);
    EXPECT_EQ(server_lost, lost + socket - doubled);
    EXPECT_EQ(read + socket + (datagrams - highest), frames);
    if (GetParam().is_slow) {
        EXPECT_GT(socket, 200U);
        return;
    }
    EXPECT_EQ(socket, 0U);
    EXPECT_EQ(stream["iperf"]["lost_packets"], server_lost);
    EXPECT_EQ(stream["iperf"]["out_of_order"], own["out_of_order"]);
    EXPECT_EQ(stream["iperf"]["packets"], highest + (frames - read));
}

INSTANTIATE_TEST_SUITE_P(Runs, WatchImpairedIperf3,
                         testing::Values(ImpairedRun{"keeps_up", {"-w", "200K"}, false},
                                         ImpairedRun{"keeps_up_64_bits", {"-w", "200K", "--udp-counters-64bit"}, false},
                                         ImpairedRun{"small_buffer", {"-w", "20K"}, true},
                                         ImpairedRun{
                                             "small_buffer_64_bits", {"-w", "20K", "--udp-counters-64bit"}, true}),
                         [](const auto& impaired) { return impaired.param.name; });

TEST(Watch, Iperf2BesideItsServer) {
    const Lab lab({.addresses = true});
    Sink sink(lab, {});
    Process server({"iperf", "-s", "-u"}, {.network_namespace = lab.responder.fd()});
    ASSERT_TRUE(eventually([&] { return !lab.responder.run({"ss", "-Hlun", "sport = :5001"}).empty(); }));
    const std::string report = run({"iperf", "-u", "-c", "192.0.2.2", "-b", "2M", "-n", "150K", "-l", "100"},
                                   {.network_namespace = lab.tester.fd()});
    server.signal(SIGKILL);
    server.wait();
    const Json summary = sink.end();
    std::smatch found;
    const std::string line = report.substr(std::min(report.find("Server Report:"), report.size()));
    ASSERT_TRUE(std::regex_search(line, found, std::regex("([0-9]+)/ *([0-9]+) \\("))) << report;
    ASSERT_EQ(streams_of(summary).size(), 1U);
    const Json& stream = streams_of(summary)[0];
    EXPECT_EQ(stream["format"], "iperf2");
    EXPECT_EQ(stream["lost"], 0U);
    EXPECT_EQ(stream["iperf"]["packets"], std::stoull(found[2])) << report;
    EXPECT_EQ(stream["frames"], std::stoull(found[2]) - 1) << "the last one is no data";
    EXPECT_EQ(stream["iperf"]["lost_packets"].get<std::uint64_t>() +
                  lost_in(summary, "socket")["frames"].get<std::uint64_t>(),
              std::stoull(found[1]));
}

// README's example: nobody serves, and the sink takes it all.
TEST(Watch, WhereThePortIsTestTrafficItIsFollowedAndDropped) {
    const Lab lab({.addresses = true});
    Sink sink(lab, {"--port", "5001"});
    run({"iperf", "-u", "-c", "192.0.2.2", "-b", "2M", "-n", "50K", "-l", "100", "--no-udp-fin"},
        {.network_namespace = lab.tester.fd()});
    const Json summary = sink.end();
    EXPECT_GE(test_frames(summary), 500U);
    ASSERT_EQ(streams_of(summary).size(), 1U);
    EXPECT_EQ(streams_of(summary)[0]["format"], "iperf2");
    EXPECT_EQ(streams_of(summary)[0]["iperf"]["packets"], test_frames(summary)) << "with the last, which is no data";
    EXPECT_EQ(streams_of(summary)[0]["frames"], test_frames(summary) - 1);
    EXPECT_EQ(streams_of(summary)[0]["lost"], 0U);
    EXPECT_EQ(passed(summary, "udp"), 0U);
}

// The `number`th frame of each format.
struct WatchedFormat {
    std::string name, stream;
    bool is_timed;
    Octets (*payload)(std::uint64_t number);
};

const WatchedFormat watched_formats[] = {
    {"xdp-responder", "stream 5 from 192.0.2.1", false,
     [](std::uint64_t number) {
         return big_endian(OURS_MAGIC, 2) + big_endian(ours_check(5, number, 0), 2) + big_endian(5, 2) +
                big_endian(number, 4) + big_endian(0, 4);
     }},
    {"pktgen", "pktgen 192.0.2.1:40000 to 192.0.2.2:7000", false,
     [](std::uint64_t number) {
         return big_endian(PKTGEN_MAGIC, 4) + big_endian(number, 4) + big_endian(77, 4) + big_endian(5, 4);
     }},
    {"iperf3", "iperf3 192.0.2.1:40000 to 192.0.2.2:7000", true,
     [](std::uint64_t number) { return big_endian(77, 4) + big_endian(5, 4) + big_endian(number, 4) + Octets(9); }},
    {"iperf3-32", "iperf3-32 192.0.2.1:40000 to 192.0.2.2:7000", true,
     [](std::uint64_t number) { return big_endian(77, 4) + big_endian(5, 4) + big_endian(number, 4); }},
    {"iperf3-64", "iperf3-64 192.0.2.1:40000 to 192.0.2.2:7000", true,
     [](std::uint64_t number) { return big_endian(77, 4) + big_endian(5, 4) + big_endian(number, 8); }},
    {"iperf2", "iperf2 192.0.2.1:40000 to 192.0.2.2:7000", true,
     [](std::uint64_t number) { return big_endian(number, 4) + big_endian(77, 4) + big_endian(5, 4) + Octets(24); }},
    {"trex", "trex stream 513", false,
     [](std::uint64_t number) {
         Octets sequence = big_endian(0xfffffffe + number, 4);
         std::ranges::reverse(sequence);
         return Octets(40, 'x') + Octets{0xab, 2, 0x01, 0x02} + sequence + Octets(8, 0x77);
     }},
    {"rfc2544-master", "rfc2544-master stream 6 192.0.2.1:40000 to 192.0.2.2:7000", true,
     [](std::uint64_t number) {
         return Octets{'Y', '.', '1', '5', '6', '4', ' '} + big_endian(number, 4) + big_endian(77'000'000'005, 8) +
                big_endian(6, 4) + Octets{1};
     }},
};

// On their way up the stack, which no socket sees; or taken out of it.
struct WatchedWay {
    std::string name;
    Arguments arguments;
    bool is_taken = false;
};

const WatchedWay watched_ways[] = {
    {"xdp", {"--engine", "xdp"}},
    {"af_xdp", {"--engine", "af_xdp"}},
    {"af_xdp_generic", {"--engine", "af_xdp", "--mode", "generic"}},
    {"af_xdp_taken", {"--engine", "af_xdp", "--port", "7000"}, true},
};

struct WatchedRun {
    WatchedFormat format;
    WatchedWay way;
    friend std::ostream& operator<<(std::ostream& out, const WatchedRun& run) {
        return out << run.format.name << " by " << run.way.name;
    }
};

class WatchFormat : public testing::TestWithParam<WatchedRun> {};

TEST_P(WatchFormat, IsFollowedToTheFrame) {
    const WatchedFormat& format = GetParam().format;
    const WatchedWay& way = GetParam().way;
    constexpr std::uint64_t numbers = 600, held_back = 16;
    const Lab lab({.addresses = true});
    PacketSocket sender(lab.tester, lab.from().name);
    Arguments arguments{"--watch", "udp/7000:" + format.name};
    arguments.insert(arguments.end(), way.arguments.begin(), way.arguments.end());
    Sink sink(lab, arguments);
    std::uint64_t sent = 0, lost = 0, late = 0, duplicate = 0;
    const auto send = [&](std::uint64_t number) {
        sender.send(Ethernet{} / Ipv4{.source = "192.0.2.1", .destination = "192.0.2.2"} /
                    Udp{.source = 40'000, .destination = 7000} / Payload{format.payload(number)});
        ++sent;
    };
    // Behind each that is held back come the next fifteen.
    for (std::uint64_t number = 1; number <= numbers + held_back; ++number) {
        const std::uint64_t behind = number - held_back;
        if (number > held_back && behind % 100 == 30) {
            send(behind);
            ++late;
        }
        if (number > numbers || number % 100 == 30)
            continue;
        if (number % 50 == 7) {
            ++lost;
            continue;
        }
        send(number);
        if (number % 60 == 11) {
            send(number);
            ++duplicate;
        }
    }
    const Json summary = sink.end();
    ASSERT_EQ(streams_of(summary).size(), 1U);
    const Json& stream = streams_of(summary)[0];
    EXPECT_EQ(stream["name"], format.stream);
    EXPECT_EQ(stream["format"], format.name);
    EXPECT_EQ(stream["frames"], sent);
    EXPECT_EQ(stream["lost"], lost);
    EXPECT_EQ(stream["late"], late);
    EXPECT_EQ(stream["late_extent_max"], held_back - 1);
    EXPECT_EQ(stream["duplicate"], duplicate);
    EXPECT_EQ(stream["stray"], 0U);
    EXPECT_EQ(stream["restarts"], 0U);
    EXPECT_EQ(stream.contains("jitter_ns"), format.is_timed);
    EXPECT_EQ(test_frames(summary), way.is_taken ? sent : 0);
    EXPECT_EQ(passed(summary, "udp"), way.is_taken ? 0 : sent);
}

std::vector<WatchedRun> watched_runs() {
    std::vector<WatchedRun> runs;
    for (const WatchedFormat& format : watched_formats)
        for (const WatchedWay& way : watched_ways)
            runs.push_back({format, way});
    return runs;
}

INSTANTIATE_TEST_SUITE_P(Formats, WatchFormat, testing::ValuesIn(watched_runs()), [](const auto& run) {
    std::string name = run.param.format.name + "_" + run.param.way.name;
    std::ranges::replace(name, '-', '_');
    return name;
});

// As iperf3 would send them.
void send_iperf3(PacketSocket& sender, std::uint16_t port, std::uint64_t number, unsigned width = 32) {
    const Octets payload =
        big_endian(77, 4) + big_endian(number % 1'000'000, 4) + big_endian(number, width / 8) + Octets(88, 0x30);
    sender.send(Ethernet{} / Ipv4{.source = "192.0.2.1", .destination = "192.0.2.2"} /
                Udp{.source = 40'000, .destination = port} / Payload{payload});
    if (number % 128 == 127)
        std::this_thread::sleep_for(1ms);
}

TEST(Watch, LossBeforeAndBehindIsToldApartToTheDatagram) {
    constexpr std::uint64_t datagrams = 3000;
    const Lab lab({.addresses = true});
    const UniqueFd reader = udp_socket(lab.responder, "192.0.2.2", 5201);
    const int room = 100'000;
    ASSERT_EQ(setsockopt(reader.get(), SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
    PacketSocket sender(lab.tester, lab.from().name);
    Sink sink(lab, {});
    const std::uint64_t before = received(lab);
    std::uint64_t lost_before = 0;
    for (std::uint64_t number = 1; number <= datagrams; ++number) {
        if (number % 10 == 1) // also the first, whose number is known
            ++lost_before;
        else
            send_iperf3(sender, 5201, number);
    }
    ASSERT_TRUE(eventually([&] { return received(lab) - before >= datagrams - lost_before; }));
    const Json summary = sink.end();
    const timeval no_time{.tv_sec = 0, .tv_usec = 1000};
    ASSERT_EQ(setsockopt(reader.get(), SOL_SOCKET, SO_RCVTIMEO, &no_time, sizeof(no_time)), 0);
    std::uint64_t got = 0;
    while (!receive_from(reader).empty())
        ++got;
    EXPECT_GT(got, 10U);
    EXPECT_LT(got, datagrams - lost_before);
    EXPECT_EQ(streams_of(summary).at(0)["lost"], lost_before);
    EXPECT_EQ(lost_in(summary, "wire")["frames"], lost_before);
    EXPECT_EQ(lost_in(summary, "NIC")["frames"], 0U);
    EXPECT_EQ(lost_in(summary, "program")["frames"], 0U);
    EXPECT_EQ(lost_in(summary, "stack")["frames"], 0U);
    EXPECT_EQ(lost_in(summary, "socket")["frames"], datagrams - lost_before - got);
    EXPECT_EQ(lost_in(summary, "socket")["all_sockets_frames"], datagrams - lost_before - got);
}

TEST(Watch, LossIsInTheSummaryForPeople) {
    const Lab lab({.addresses = true});
    PacketSocket sender(lab.tester, lab.from().name);
    Sink sink(lab, {}, {.json = false});
    for (std::uint64_t number = 1; number <= 100; ++number)
        if (number % 10 != 5)
            send_iperf3(sender, 5201, number);
    sink.process().signal(SIGINT);
    EXPECT_EQ(sink.process().wait().code, 0);
    const std::string out = sink.process().out();
    EXPECT_TRUE(
        contains(out, "    iperf3 192.0.2.1:40000 to 192.0.2.2:5201: 90 frames, lost 10 (10.00 %) in 10 periods"))
        << out;
    EXPECT_TRUE(contains(out, "; as iperf reckons: lost 10/100, out of order 0, jitter ")) << out;
    EXPECT_TRUE(contains(out, "  lost where       wire 10, NIC 0, program 0\n    wire: ")) << out;
    EXPECT_TRUE(
        contains(out, "  stamps           another's sender, where it takes the time (a clock of its own), to XDP, "))
        << out;
    EXPECT_TRUE(contains(out, "\nbehind the program, of all ports together:\n  lost where       stack 0, socket 0\n"))
        << out;
    EXPECT_TRUE(
        contains(sink.process().err(), "followed on the way: iperf3 on UDP port 5201, iperf2 on UDP port 5001"));
}

// The option that takes them would break the test that is followed.
TEST(Watch, OfWhatIsFollowedTheLaterFragmentsAreNotMissing) {
    const Lab lab({.addresses = true});
    const UniqueFd sender = udp_socket(lab.tester, "192.0.2.1", 0);
    Sink sink(lab, {});
    std::uint32_t number = 0;
    ASSERT_TRUE(eventually([&] {
        Octets data(4000);
        const std::uint32_t words[] = {htonl(++number / 1000), htonl(number % 1000 * 1000), htonl(number)};
        std::memcpy(data.data(), words, sizeof(words));
        send_to(sender, "192.0.2.2", 5201, data);
        return contains(sink.process().err(), "later fragments");
    }));
    const std::string err = sink.process().err();
    EXPECT_TRUE(contains(err, ": the first ones are followed as iperf3 on their way up the stack\n")) << err;
    EXPECT_FALSE(contains(err, "--dst")) << err;
    sink.end();
}

TEST(Watch, WhatIsFollowedIsNotMissing) {
    const Lab lab({.addresses = true});
    PacketSocket sender(lab.tester, lab.from().name);
    Sink sink(lab, {"--watch", "udp/7000:iperf3-64"});
    std::uint64_t number = 0;
    ASSERT_TRUE(eventually([&] {
        send_iperf3(sender, 7000, ++number, 64);
        return contains(sink.process().err(), ":7000, ");
    }));
    const std::string err = sink.process().err();
    EXPECT_TRUE(contains(err, "eth1: no test frame yet, but streams that go up the stack are followed. What passed"))
        << err;
    EXPECT_TRUE(contains(err, " fps: followed as iperf3-64 on its way up the stack\n")) << err;
    EXPECT_FALSE(contains(err, "--port")) << err;
    sink.end();
}

// As at the line rate of 2.5 Gb/s after 19 minutes.
TEST(Watch, ANumberThatWrapsIsNoLoss) {
    const Lab lab({.addresses = true});
    PacketSocket sender(lab.tester, lab.from().name);
    Sink sink(lab, {"--max-loss", "0"});
    constexpr std::uint64_t wrap = std::uint64_t{1} << 32;
    for (std::uint64_t number = wrap - 1000; number < wrap + 1000; ++number)
        send_iperf3(sender, 5201, number & 0xffffffff);
    const Json summary = sink.end();
    ASSERT_EQ(streams_of(summary).size(), 1U);
    EXPECT_EQ(streams_of(summary)[0]["frames"], 2000U);
    EXPECT_EQ(streams_of(summary)[0]["lost"], 0U);
    EXPECT_EQ(streams_of(summary)[0]["late"], 0U);
    EXPECT_EQ(streams_of(summary)[0]["restarts"], 0U);
}

// iperf3 -u -l 2412: the second half does not say whose it is.
TEST(Watch, ADatagramLostThroughItsFragmentsIsTheStacks) {
    const Lab lab({.addresses = true});
    lab.responder.run({"sh", "-c", "echo 1 > /proc/sys/net/ipv4/ipfrag_time"});
    PacketSocket sender(lab.tester, lab.from().name);
    Sink sink(lab, {});
    for (unsigned number = 1; number <= 100; ++number) {
        const Octets first = big_endian(77, 4) + big_endian(number, 4) + big_endian(number, 4) + Octets(1460, 0x30);
        sender.send(Ethernet{} /
                    Ipv4{.source = "192.0.2.1", .destination = "192.0.2.2", .id = number, .more_fragments = true} /
                    Udp{.source = 40'000, .destination = 5201, .length = 8 + 2412, .checksum = 0} / Payload{first});
        if (number % 10 != 0)
            sender.send(Ethernet{} /
                        Ipv4{.source = "192.0.2.1",
                             .destination = "192.0.2.2",
                             .protocol = std::uint8_t{17},
                             .id = number,
                             .fragment_offset = 1480 / 8} /
                        Payload{Octets(940, 0x30)});
    }
    EXPECT_TRUE(eventually([&] {
        return std::regex_search(lab.responder.run({"nstat", "-asz", "IpReasmFails"}), std::regex("IpReasmFails +10 "));
    }));
    const Json summary = sink.end();
    EXPECT_EQ(lost_in(summary, "wire")["frames"], 0U);
    EXPECT_EQ(lost_in(summary, "stack")["frames"], 10U);
    EXPECT_TRUE(contains(lost_in(summary, "stack")["says"], "fragments that came to no datagram 10 (ReasmFails)"));
    EXPECT_EQ(streams_of(summary).at(0)["iperf"]["lost_packets"], 0U);
    EXPECT_EQ(streams_of(summary).at(0)["iperf"]["first_fragments"], 100U);
}

// To a watched port, and never seen before.
TEST(Watch, AScannerIsNoLoss) {
    const Lab lab({.addresses = true});
    PacketSocket sender(lab.tester, lab.from().name);
    Sink sink(lab, {"--max-loss", "0"});
    std::mt19937_64 random(9);
    for (std::uint64_t number = 1; number <= 100; ++number) {
        send_iperf3(sender, 5201, number);
        sender.send(Ethernet{} / Ipv4{.source = "192.0.2.9", .destination = "192.0.2.2"} /
                    Udp{.source = 40'000, .destination = 5201} /
                    Payload{big_endian(random(), 8) + big_endian(random(), 8) + Octets(84)});
    }
    const Json summary = sink.end();
    ASSERT_EQ(streams_of(summary).size(), 2U);
    EXPECT_EQ(streams_of(summary)[0]["lost"], 0U);
    EXPECT_FALSE(streams_of(summary)[0]["left_out"]);
    EXPECT_TRUE(streams_of(summary)[1]["left_out"]);
    EXPECT_FALSE(streams_of(summary)[1].contains("lost"));
    EXPECT_EQ(lost_in(summary, "wire")["frames"], 0U);
    EXPECT_TRUE(
        contains(summary["verdict"]["conditions"][0]["measured"].get<std::string>(), "their numbers are none: 1"));
}

TEST(Watch, PortsAreAddedAndTakenAway) {
    const Lab lab({.addresses = true});
    PacketSocket sender(lab.tester, lab.from().name);
    const auto send_to_each = [&] {
        for (std::uint64_t number = 1; number <= 100; ++number) {
            send_iperf3(sender, 5201, number);
            send_iperf3(sender, 7000, number, 64);
        }
    };
    {
        Sink sink(lab, {"--watch", "udp/7000:iperf3-64"});
        send_to_each();
        const Json summary = sink.end();
        ASSERT_EQ(streams_of(summary).size(), 2U);
        EXPECT_EQ(streams_of(summary)[0]["name"], "iperf3 192.0.2.1:40000 to 192.0.2.2:5201");
        EXPECT_EQ(streams_of(summary)[1]["name"], "iperf3-64 192.0.2.1:40000 to 192.0.2.2:7000");
        EXPECT_EQ(sum_of_streams(summary, "frames"), 200U);
        EXPECT_EQ(sum_of_streams(summary, "lost"), 0U);
    }
    Sink sink(lab, {"--watch", "none"});
    send_to_each();
    const Json summary = sink.end();
    EXPECT_TRUE(streams_of(summary).empty());
    EXPECT_EQ(summary["ports"][0]["lost_where"].size(), 3U);
    EXPECT_FALSE(summary.contains("lost_where")) << "no word of sockets";
}

} // namespace
} // namespace responder::test
