// SPDX-License-Identifier: GPL-2.0-only
//
// What the process costs while it runs: memory, CPU time, allocations.

#include "tests/net/sink.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>

namespace responder::test {
namespace {

using namespace std::chrono_literals;

// utime + stime of proc(5), in seconds.
double cpu_seconds(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i)
        fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

TEST(Footprint, IdleItCostsLessThanTwoPercentOfACore) {
    const Lab lab;
    Sink sink(lab, {});
    const double before = cpu_seconds(sink.process().pid());
    const auto begin = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(10s);
    const double used = cpu_seconds(sink.process().pid()) - before;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(used / took.count(), 0.02) << used << " s of CPU in " << took.count() << " s";
    EXPECT_LT(sink.process().resident_kib(), 20'000U);
    sink.process().signal(SIGINT);
    EXPECT_LT(sink.process().wait().usage.ru_maxrss, 20'000);
}

// A copy of malloc() that counts stands in front of the C library's, and counts into a file that both processes map.
TEST(Footprint, NoAllocationWhileItRuns) {
    const std::string path = "/tmp/xdp-sink-test-allocations." + std::to_string(getpid());
    const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(ftruncate(file.get(), sizeof(std::atomic<std::uint64_t>)), 0);
    void* memory = mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    ASSERT_NE(memory, MAP_FAILED);
    const auto& allocations = *static_cast<std::atomic<std::uint64_t>*>(memory);

    const Lab lab({.pairs = 2, .addresses = true});
    const auto measure = [&](Arguments arguments) {
        arguments.insert(arguments.end(), {"--interval", "100ms"});
        Sink sink(lab, arguments,
                  {.process = {.environment = {"LD_PRELOAD=" TEST_COUNT_ALLOCATIONS, "COUNT_ALLOCATIONS=" + path}},
                   .interfaces = {"eth1", "eth2"},
                   .json = false});
        Traffic traffic(lab, {"--rate", "10000"}); // on one port: the other stays silent, and is looked at for flows
        std::this_thread::sleep_for(5s);           // past the look at the flows, whose few lines may allocate
        EXPECT_GT(allocations.load(), 100U) << "the counter does not count";
        const std::uint64_t before = allocations.load();
        const unsigned long resident = sink.process().resident_kib();
        std::this_thread::sleep_for(4s);
        const std::uint64_t made = allocations.load() - before;
        EXPECT_LE(sink.process().resident_kib(), resident + 100);
        traffic.end();
        sink.process().signal(SIGINT);
        EXPECT_EQ(sink.process().wait().code, 0);
        return made;
    };
    // 200 readings, 40 intervals of two ports: one allocation in an interval would be 40.
    EXPECT_LT(measure({}), 10U);
    EXPECT_LT(measure({"--json-stream"}), 10U);
    munmap(memory, sizeof(std::atomic<std::uint64_t>));
    unlink(path.c_str());
}

} // namespace
} // namespace responder::test
