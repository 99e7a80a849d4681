// SPDX-License-Identifier: GPL-2.0-only
//
// What a run of xdp-reflect does beside answering: it looks for loops, keeps to a cap, says how long frames stay, and
// is asked from elsewhere.

#include "loader/netdev.h"
#include "loader/run/show.h"
#include "tests/harness/packet.h"
#include "tests/net/sink.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <csignal>
#include <thread>

namespace responder::test {
namespace {

using namespace packet;

std::uint64_t all_test(const Json& summary) { // whatever became of it
    std::uint64_t frames = test_frames(summary);
    for (const Json& dropped : summary["ports"][0]["refused"])
        frames += dropped.get<std::uint64_t>();
    return frames;
}

// ---- loops ----

// Everything is test traffic for both, so one frame goes to and fro for ever.
TEST(ReflectLoop, AProbeFindsAndEndsIt) {
    for (const char* engine : {"xdp", "af_xdp"}) {
        const Lab lab({.pass = false});
        PacketSocket stack(lab.tester, lab.from().name);
        Reflector far(lab, {"--all", "--json-stream", "--loop-probe", "500ms", "--engine", engine}, {.json = false});
        Reflector near(lab, {"--all"}, {.interfaces = {lab.from().name}, .where = &lab.tester});
        stack.send(Ethernet{} / Ipv4{.source = "198.18.0.1", .destination = "198.18.0.2"} /
                   Udp{.source = 50'000, .destination = 50'000} / payload(18));
        EXPECT_TRUE(far.process().wait_for_err("that was a loop")) << engine;
        const auto total = [&] { return link_of(lab.tester, lab.from().name)["stats64"]["rx"]["packets"]; };
        const Json at_rest = total();
        std::this_thread::sleep_for(100ms); // it took microseconds to go round
        EXPECT_EQ(total(), at_rest) << engine;
        far.process().signal(SIGINT);
        EXPECT_EQ(far.process().wait().code, 0);
        const Json summary = summary_of_stream(far.process().out());
        EXPECT_EQ(refused(summary, "withheld"), 1U);
        EXPECT_GT(test_frames(summary), 1000U);
        EXPECT_TRUE(contains(far.process().out(), "that was a loop")) << "an event, too";
        near.end();
    }
}

TEST(ReflectLoop, ATesterGoesOn) {
    const Lab lab;
    Reflector reflector(lab, {"--tester", "198.18.0.1", "--loop-probe", "300ms"});
    Traffic traffic(lab, {"--rate", "20000", "--src", "198.18.0.1", "--port", "4000"});
    EXPECT_TRUE(reflector.process().wait_for_err("a tester, for it went on"));
    EXPECT_TRUE(eventually([&] { return count_of(reflector.process().err(), "a tester") >= 2; })) << "again and again";
    const std::uint64_t sent = traffic.end();
    const Json summary = reflector.end();
    EXPECT_FALSE(contains(reflector.process().err(), "was a loop"));
    EXPECT_EQ(all_test(summary), sent);
    EXPECT_GT(refused(summary, "withheld"), 0U);
    EXPECT_EQ(refused(summary, "expired"), 0U);
    EXPECT_LT(refused(summary, "withheld"), sent / 2);
}

// Of whose frames hardly one is withheld.
TEST(ReflectLoop, ASlowTesterToo) {
    const Lab lab;
    Reflector reflector(lab, {"--tester", "198.18.0.1", "--loop-probe", "300ms"});
    Traffic traffic(lab, {"--rate", "50", "--src", "198.18.0.1", "--port", "4000"});
    EXPECT_TRUE(reflector.process().wait_for_err("a tester, for it went on"));
    const std::uint64_t sent = traffic.end();
    const Json summary = reflector.end();
    EXPECT_FALSE(contains(reflector.process().err(), "was a loop"));
    EXPECT_EQ(all_test(summary), sent);
}

TEST(ReflectLoop, AnExpiredRunStaysSo) {
    const Lab lab;
    Reflector reflector(lab, {"--tester", "198.18.0.1", "--loop-probe", "100ms", "--expire", "600ms"});
    Traffic traffic(lab, {"--rate", "20000", "--src", "198.18.0.1", "--port", "4000"});
    EXPECT_TRUE(reflector.process().wait_for_err("--expire is over"));
    EXPECT_TRUE(receives(lab, 10'000));
    const std::uint64_t sent = traffic.end();
    const Json summary = reflector.end();
    EXPECT_EQ(all_test(summary), sent);
    EXPECT_GT(refused(summary, "expired"), 5000U);
    EXPECT_FALSE(contains(reflector.process().err(), "was a loop"));
}

// ---- caps ----

// Never more than the cap's share of the time, and 10 ms ahead; the rest is counted. Nearly as much, too: at least half
// of its share while frames were sent, once, for where the sender has no CPU for longer than 10 ms there is less to
// answer.
TEST(ReflectCap, FramesAndBits) {
    const struct {
        Arguments cap;
        double fps;
    } caps[] = {{{"--max-fps", "2000"}, 2000}, {{"--max-bps", "1M"}, 1e6 / (8 * 512)}, {{"--max-fps", "1"}, 1}};
    for (const auto& [cap, fps] : caps) {
        for (const char* engine : {"xdp", "af_xdp"}) {
            Arguments arguments = cap;
            arguments.insert(arguments.end(), {"--engine", engine});
            EXPECT_TRUE(once_in_ten([&] {
                const Lab lab;
                Reflector reflector(lab, arguments);
                const Json sent =
                    generate(lab, {"--port", "7", "--size", "512", "--rate", "20000", "--count", "10000"});
                const Json summary = reflector.end();
                const std::uint64_t back = test_frames(summary);
                EXPECT_EQ(back + refused(summary, "capped"), frames_sent(sent)) << cap[0];
                const double seconds = summary["duration_seconds"];
                EXPECT_LE(static_cast<double>(back), fps * (seconds + 0.01) + 2) << cap[0];
                EXPECT_GE(back, 1U);
                const double sending = static_cast<double>(frames_sent(sent)) / sent["frames_per_second"].get<double>();
                return static_cast<double>(back) >= fps * sending / 2;
            })) << cap[0]
                << ' ' << engine;
        }
    }
}

TEST(ReflectCap, BelowItNothingIsLost) {
    const Lab lab;
    Reflector reflector(lab, {"--max-fps", "10000000", "--max-bps", "100G"});
    const std::uint64_t sent =
        frames_sent(generate(lab, {"--port", "7", "--size", "64,1518", "--rate", "20000", "--count", "10000"}));
    const Json summary = reflector.end();
    EXPECT_EQ(test_frames(summary), sent);
    EXPECT_EQ(refused(summary, "capped"), 0U);
}

// ---- residence time ----

TEST(ReflectResidence, IsSaidOfSomeFrames) {
    for (const char* engine : {"xdp", "af_xdp"}) {
        const Lab lab;
        Reflector reflector(lab, {"--engine", engine});
        const std::uint64_t sent = frames_sent(generate(lab, {"--port", "7", "--rate", "20000", "--count", "10000"}));
        const Json residence = reflector.end()["ports"][0]["residence_ns"];
        EXPECT_EQ(residence["where"], "program only");
        EXPECT_EQ(residence["until"], std::string_view(engine) == "xdp" ? "verdict" : "sent");
        const std::uint64_t frames = residence["frames"];
        EXPECT_GE(frames, 2U) << engine; // some fifty a second, while they came
        EXPECT_LT(frames, sent) << engine;
        EXPECT_GT(residence["p50"], 0.0);
        EXPECT_LE(residence["p50"], residence["max"]);
        EXPECT_EQ(residence.contains("p99"), frames >= 100) << "of fewer it would be the largest";
        EXPECT_EQ(residence.contains("p99_9"), frames >= 1000);
    }
}

// The program answers these itself: with sockets, their time in it is no time of a test frame.
TEST(ReflectResidence, OfSocketsIsOfWhatTheySend) {
    for (const char* engine : {"xdp", "af_xdp"}) {
        const Lab lab;
        PacketSocket tester(lab.tester, lab.from().name);
        Reflector reflector(lab, {"--engine", engine, "--icmp"});
        for (int i = 0; i < 30; ++i) {
            tester.send(Ethernet{} / Ipv4{.source = "198.18.0.1", .destination = "198.18.0.2"} / Icmp{} / payload(56));
            std::this_thread::sleep_for(10ms); // as often as a frame is timed
        }
        const Json summary = reflector.end();
        EXPECT_EQ(answered(summary, "ping_reply"), 30U);
        const std::uint64_t frames = summary["ports"][0]["residence_ns"]["frames"];
        EXPECT_EQ(frames != 0, std::string_view(engine) == "xdp") << engine << " " << frames;
    }
}

TEST(ReflectResidence, NotOfFramesThatPass) {
    const Lab lab;
    Reflector reflector(lab, {});
    generate(lab, {"--port", "60000", "--src-port", "9", "--rate", "20000", "--count", "1000"});
    const Json summary = reflector.end();
    EXPECT_EQ(passed(summary, "udp"), 1000U);
    EXPECT_EQ(summary["ports"][0]["residence_ns"]["frames"], 0U);
    EXPECT_FALSE(summary["ports"][0]["residence_ns"].contains("p50"));
}

// ---- what is said ----

TEST(ReflectSays, WhatIsAnsweredArrives) {
    const Lab lab;
    PacketSocket tester(lab.tester, lab.from().name);
    Reflector reflector(lab, {"--icmp"});
    const Octets ping = Ethernet{} / Ipv4{.source = "198.18.0.1", .destination = "198.18.0.2"} / Icmp{} / payload(56);
    EXPECT_TRUE(eventually([&] {
        tester.send(ping);
        return contains(reflector.process().err(), "no test frame yet");
    }));
    EXPECT_TRUE(reflector.process().wait_for_err(" ping replies)"));
    EXPECT_FALSE(contains(reflector.process().err(), "Nothing else arrives either"));
    reflector.end();
}

TEST(ReflectSays, AtTheStartWhatIsLimited) {
    const Lab lab;
    const auto said = [&](const Arguments& arguments) {
        Reflector reflector(lab, arguments);
        reflector.end();
        return reflector.process().err();
    };
    const std::string limited =
        said({"--max-fps", "2000", "--max-bps", "900M", "--loop-probe", "10s", "--expire", "1m"});
    EXPECT_TRUE(contains(limited, "at most 2000 frames/s and 900M bit/s")) << limited;
    EXPECT_TRUE(contains(limited, "has come for 10 s without a pause is dropped for 10 ms")) << limited;
    EXPECT_TRUE(contains(limited, "answered for 60 s, then dropped (--expire)\n")) << limited;
    EXPECT_TRUE(contains(said({"--tester", "198.18.0.1"}), "3600 s, then dropped (--expire): a loop between"));
}

// ---- asked from elsewhere ----

Process show(const Lab& lab, const Arguments& words, const Arguments& prefix = {}) {
    Arguments argv = prefix;
    argv.insert(argv.end(), {TEST_XDP_REFLECT, "--show"});
    argv.insert(argv.end(), words.begin(), words.end());
    return Process(argv, {.network_namespace = lab.responder.fd()});
}

std::string shown(const Lab& lab, const Arguments& words, const Arguments& prefix = {}) {
    Process asking = show(lab, words, prefix);
    EXPECT_EQ(asking.wait().code, 0) << asking.err();
    return asking.out();
}

TEST(ReflectShow, CountsWhileItRuns) {
    for (const char* engine : {"xdp", "af_xdp"}) {
        const Lab lab;
        Reflector reflector(lab, {"--engine", engine});
        for (unsigned run = 1; run <= 2; ++run) {
            generate(lab, {"--port", "7", "--rate", "20000", "--count", "1000"});
            const Json so_far = Json::parse(shown(lab, {"eth1", "--json"}));
            EXPECT_EQ(test_frames(so_far), 1000 * run) << engine;
            EXPECT_EQ(so_far["ports"][0]["interface"], "eth1");
            EXPECT_EQ(so_far["program"], "xdp-reflect");
            EXPECT_EQ(so_far["ports"][0]["balance"]["settled"], true);
            const std::string text = shown(lab, {"eth1"});
            EXPECT_TRUE(contains(text, run == 1 ? " 1,000, " : " 2,000, "));
            EXPECT_TRUE(contains(text, " s so far, "));
            EXPECT_FALSE(contains(text, "settled"));
            EXPECT_FALSE(contains(text, "frames came"));
        }
        EXPECT_EQ(test_frames(reflector.end()), 2000U);
    }
}

// What comes while it is read is said, and the books are true of that moment.
TEST(ReflectShow, WhileFramesCome) {
    for (const char* engine : {"xdp", "af_xdp"}) {
        const Lab lab;
        Reflector reflector(lab, {"--engine", engine});
        Traffic traffic(lab, {"--port", "7"}); // as many as can come while it is read
        ASSERT_TRUE(receives(lab, 1000));
        EXPECT_TRUE(eventually([&] {
            const Json port = Json::parse(shown(lab, {"eth1", "--json"}))["ports"][0];
            if (port.contains("sockets")) {
                const Json& sockets = port["sockets"];
                EXPECT_EQ(sockets["received"].get<std::int64_t>() + sockets["rx_ring_full"].get<std::int64_t>() +
                              sockets["rx_dropped"].get<std::int64_t>() +
                              sockets["rx_invalid_descs"].get<std::int64_t>() +
                              sockets["not_delivered"].get<std::int64_t>(),
                          port["test"]["frames"].get<std::int64_t>());
                EXPECT_GE(sockets["not_delivered"], 0);
            }
            return !port["balance"]["settled"].get<bool>();
        })) << engine;
        EXPECT_TRUE(eventually([&] {
            const std::string text = shown(lab, {"eth1"});
            EXPECT_FALSE(contains(text, "settled"));
            return contains(text, "test frames came between them");
        })) << engine;
        traffic.end();
        reflector.end();
    }
}

// Of somebody else's run: counters and what is sent back, not how it was called. In ASCII, whatever is in it.
TEST(ReflectShow, IsNoCopyOfTheCommandLine) {
    const Lab lab;
    Reflector reflector(lab, {"--tester", "198.18.0.9", "--signature", "udp/3842@0:\u00fc"});
    const std::string text = shown(lab, {"eth1", "--json"});
    const Json so_far = Json::parse(text);
    std::vector<std::string> keys;
    for (const auto& [key, value] : so_far.items())
        keys.push_back(key);
    EXPECT_EQ(keys, (std::vector<std::string>{"duration_seconds", "kernel", "ports", "program", "schema_version",
                                              "started", "version"})); // sorted
    const std::string takes = so_far["ports"][0]["takes"];
    EXPECT_TRUE(contains(takes, "; udp/3842@0:\u00fc; everything from 198.18.0.9")) << takes;
    EXPECT_TRUE(contains(text, "udp/3842@0:\\u00fc"));
    const Json summary = reflector.end();
    EXPECT_EQ(summary["ports"][0]["takes"], takes);
    EXPECT_EQ(summary["argv"][1], "eth1");
}

// However fast one asks: a lower bound of the time that it takes.
TEST(ReflectShow, AnswersTenTimesASecondAtMost) {
    const Lab lab;
    Reflector reflector(lab, {});
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 8; ++i)
        shown(lab, {"eth1"});
    EXPECT_GE(std::chrono::steady_clock::now() - began, 700ms);
    reflector.end();
}

TEST(ReflectShow, NeedsNoPrivileges) {
    const Lab lab;
    Reflector reflector(lab, {});
    const Arguments nobody{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"};
    EXPECT_EQ(Json::parse(shown(lab, {"eth1", "--json"}, nobody))["ports"].size(), 1U);
}

TEST(ReflectShow, NobodyThereOrNoAnswer) {
    const Lab lab;
    const auto refused = [&](const Arguments& words, int code, const char* sentence) {
        Process asking = show(lab, words);
        EXPECT_EQ(asking.wait().code, code);
        EXPECT_TRUE(contains(asking.err(), sentence)) << asking.err();
        EXPECT_EQ(asking.out(), "");
    };
    refused({"eth1"}, exit_unavailable, "eth1: no xdp-reflect runs there");
    refused({"eth9"}, exit_no_input, "eth9");
    Reflector reflector(lab, {});
    reflector.process().signal(SIGSTOP);
    refused({"eth1"}, exit_unavailable, "does not answer");
    reflector.process().signal(SIGCONT);
    EXPECT_EQ(test_frames(reflector.end()), 0U);
    refused({"eth1"}, exit_unavailable, "no xdp-reflect runs there");
}

// Somebody else has the name already: that is said, and the run goes on.
TEST(ReflectShow, ATakenName) {
    const Lab lab;
    ShowListener squatter =
        lab.responder.in([&] { return ShowListener(show_name("xdp-reflect", Netdev::find("eth1").index(), "text")); });
    ASSERT_TRUE(squatter.listens());
    Reflector reflector(lab, {});
    EXPECT_TRUE(contains(reflector.process().err(), "--show will not find this run"));
    EXPECT_EQ(Json::parse(shown(lab, {"eth1", "--json"}))["ports"].size(), 1U);
    Process asking = show(lab, {"eth1"});
    ASSERT_TRUE(eventually([&] {
        squatter.answer(Clock::now(), [] {
            return std::string("\x1b[2J\x9b"
                               "2J\u0085\x7f\ttest frames 7\n");
        });
        return !asking.running();
    }));
    EXPECT_EQ(asking.wait().code, 0);
    EXPECT_EQ(asking.out(), "?[2J?2J????test frames 7\n");
    reflector.end();
}

// Clients that connect and never read, more than are waited for.
TEST(ReflectShow, NobodyMakesItWait) {
    const Lab lab;
    Reflector reflector(lab, {});
    std::vector<UniqueFd> clients;
    const int ifindex = link_of(lab.responder, "eth1")["ifindex"];
    for (const char* form : {"json", "text"}) {
        const std::string name = show_name("xdp-reflect", ifindex, form);
        lab.responder.in([&] {
            for (int i = 0; i < 50; ++i) {
                UniqueFd client(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
                sockaddr_un address{};
                address.sun_family = AF_UNIX;
                name.copy(address.sun_path + 1, name.size());
                if (connect(client.get(), reinterpret_cast<sockaddr*>(&address),
                            static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) == 0)
                    clients.push_back(std::move(client));
            }
        });
    }
    EXPECT_GE(clients.size(), 2U);
    const std::uint64_t sent = frames_sent(generate(lab, {"--port", "7", "--rate", "20000", "--count", "1000"}));
    EXPECT_EQ(test_frames(Json::parse(shown(lab, {"eth1", "--json"}))), sent);
    EXPECT_TRUE(contains(shown(lab, {"eth1"}), " 1,000, "));
    EXPECT_EQ(test_frames(reflector.end()), sent);
}

// ---- two on one port ----

TEST(ReflectPort, ASinkBesideItIsRefusedByNameAndTheOtherWayRound) {
    const Lab lab;
    {
        Reflector reflector(lab, {});
        Sink sink(lab, {}, {.ready = false});
        EXPECT_EQ(sink.process().wait().code, exit_unavailable);
        EXPECT_TRUE(contains(sink.process().err(), "xdp_reflect")) << sink.process().err();
        generate(lab, {"--port", "7", "--rate", "20000", "--count", "100"});
        EXPECT_EQ(test_frames(reflector.end()), 100U);
    }
    Sink sink(lab, {});
    Reflector reflector(lab, {}, {.ready = false});
    EXPECT_EQ(reflector.process().wait().code, exit_unavailable);
    EXPECT_TRUE(contains(reflector.process().err(), "xdp_sink")) << reflector.process().err();
    generate(lab, {"--port", "9", "--rate", "20000", "--count", "100"});
    EXPECT_EQ(test_frames(sink.end()), 100U);
}

} // namespace
} // namespace responder::test
