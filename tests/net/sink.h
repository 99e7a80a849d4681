// SPDX-License-Identifier: GPL-2.0-only
//
// The two commands as the tests run them: xdp-sink in the lab's responder, xdp-gen in its tester, both read through
// --json.

#pragma once

#include "loader/generate/frame_spec.h"
#include "tests/harness/lab.h"
#include "tests/harness/process.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace responder::test {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

constexpr int exit_verdict_fail = 1, exit_usage = 64, exit_no_input = 66, exit_unavailable = 69, exit_os = 71,
              exit_io = 74, exit_temporary = 75, exit_no_permission = 77;

class Sink {
  public:
    struct Options {
        Process::Options process = {};
        Arguments prefix = {};     // in front of the command: setpriv, env
        Arguments interfaces = {}; // the lab's first port unless said otherwise
        std::string command = TEST_XDP_SINK;
        const Namespace* where = nullptr; // the lab's responder
        bool json = true;                 // adds --json
        bool ready = true;                // waits until it counts
    };

    Sink(const Lab& lab, Arguments arguments) : Sink(lab, std::move(arguments), Options{}) {}
    Sink(const Lab& lab, Arguments arguments, Options options);

    Process& process() { return *process_; }
    bool wait_ready(); // it counts: everything that comes from now on is in its books

    // Sends the signal, waits for the end and returns the JSON document; expects the exit status, and that the books of
    // every port balance.
    Json end(int signal = SIGINT, int code = 0);
    Json wait(int code = 0, std::chrono::milliseconds timeout = patience); // for one that ends by itself

  private:
    std::vector<std::string> interfaces_;
    std::unique_ptr<Process> process_;
};

// xdp-reflect, read in the same way.
class Reflector : public Sink {
  public:
    Reflector(const Lab& lab, Arguments arguments) : Reflector(lab, std::move(arguments), Options{}) {}
    Reflector(const Lab& lab, Arguments arguments, Options options)
        : Sink(lab, std::move(arguments), as_reflector(std::move(options))) {}

  private:
    static Options as_reflector(Options options) {
        options.command = TEST_XDP_REFLECT;
        return options;
    }
};

// Of the summary's first port unless said otherwise.
const Json& streams_of(const Json& summary);
std::uint64_t test_frames(const Json& summary, std::size_t port = 0);
std::uint64_t answered(const Json& summary, const std::string& kind);
std::uint64_t passed(const Json& summary, const std::string& reason);
std::uint64_t refused(const Json& summary, const std::string& reason); // the reflector's

// Why frames were passed, and how many; only what is not 0.
using Reasons = std::map<std::string, std::uint64_t>;
Reasons passed(const Json& summary, std::size_t port = 0);
std::map<std::string, std::uint64_t> sizes(const Json& summary, std::size_t port = 0); // "64-64": frames, where not 0

// All slots add up to what the program saw and to what the NIC received; queues and sizes to the test frames.
void expect_balanced(const Json& port);

// The last line of --json-stream's.
Json summary_of_stream(const std::string& out);

// xdp-gen on the tester's port of that number, to the responder's; returns its summary. Expects that it exits with 0.
Json generate(const Lab& lab, Arguments arguments, std::size_t port = 0);
std::uint64_t frames_sent(const Json& generated);

// Of what depends on another process's having a CPU at the right moment: on a busy machine it has not each time.
template <class Run>
bool once_in_ten(Run run) {
    for (int i = 0; i < 10; ++i)
        if (run())
            return true;
    return false;
}

// xdp-gen in the background, until the test has seen enough.
class Traffic {
  public:
    explicit Traffic(const Lab& lab, Arguments arguments = {"--rate", "200000"});
    std::uint64_t end(); // frames that left

  private:
    Process process_;
};

// A description of frames from the first pair's tester to its responder.
FrameSpec spec_of(const Lab& lab, const std::string& source = "198.18.0.1",
                  const std::string& destination = "198.18.0.2");

// Both engines come to the same: a fixture of tests that run with each, by
// INSTANTIATE_TEST_SUITE_P(Engine, ..., each_engine, engine_name).
class EachEngine : public testing::TestWithParam<const char*> {
  protected:
    static Arguments with_engine(Arguments arguments) {
        arguments.insert(arguments.end(), {"--engine", GetParam()});
        return arguments;
    }
};
inline const auto each_engine = testing::Values("xdp", "af_xdp");
inline std::string engine_name(const testing::TestParamInfo<const char*>& engine) { return engine.param; }

// `xdp-sink` that must fail before it attaches: expects the code, nothing on stdout, one line on stderr that has all of
// these words, and no program left on any of the responder's ports beyond those that were there.
void expect_refused(const Lab& lab, Arguments arguments, int code, std::initializer_list<std::string> words,
                    Sink::Options options = {});

bool contains(const std::string& text, const std::string& part);
std::size_t count_of(const std::string& text, const std::string& part);

// `ip -d -s -j link show`, one object.
Json link_of(const Namespace& where, const std::string& interface);
// What the kernel counts as received on the responder's first port; and whether so many more frames come there.
std::uint64_t received(const Lab& lab);
bool receives(const Lab& lab, std::uint64_t frames);
bool feature_on(const Namespace& where, const std::string& interface, const std::string& feature); // as in ethtool -k

} // namespace responder::test
