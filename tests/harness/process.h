// SPDX-License-Identifier: GPL-2.0-only
//
// Process owns one child: started with pipes (or a terminal) on stdout and stderr, read while it runs, waited for with
// a timeout, and reaped however the test ends. It dies with the test (PR_SET_PDEATHSIG), so a test that is killed
// leaves none behind.

#pragma once

#include "loader/fd.h"

#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace responder::test {

using namespace std::chrono_literals;

// Far beyond what anything here takes on a loaded machine: a wait that ends by this has found a fault.
constexpr std::chrono::seconds patience{20};

// Calls `condition` until it holds; false after `timeout`.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds timeout = patience) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

class Process {
  public:
    enum class Output { pipe, terminal, closed, pipe_without_reader, dev_full };

    struct Options {
        int network_namespace = -1;                   // a descriptor; -1: the test's own
        std::vector<std::string> environment = {};    // "NAME=value"
        std::vector<std::string> no_environment = {}; // names that the child does not get
        Output out = Output::pipe;
        Output err = Output::pipe;
    };

    struct Exit {
        int code = -1; // -1 where a signal ended it
        int signal = 0;
        rusage usage{};
    };

    // Call from the test's main thread: the kernel kills the child when the thread ends that made it.
    explicit Process(std::vector<std::string> argv) : Process(std::move(argv), Options{}) {}
    Process(std::vector<std::string> argv, const Options& options);
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process(); // ends what still runs, and shows the child's stderr if the test has failed

    pid_t pid() const noexcept { return pid_; }
    bool running();
    void signal(int number);

    std::string out() const; // so far
    std::string err() const;

    // True as soon as the text stands on stderr (stdout); false when the process ended without it, or after the
    // timeout.
    bool wait_for_err(std::string_view text, std::chrono::milliseconds timeout = patience);
    bool wait_for_out(std::string_view text, std::chrono::milliseconds timeout = patience);

    // Waits for the end; a process that does not end in time is killed, and that is a failure of the test. Afterwards
    // out() and err() are complete.
    const Exit& wait(std::chrono::milliseconds timeout = patience);

    // Resident memory now, in KiB; 0 if it has ended.
    unsigned long resident_kib() const;

  private:
    bool wait_for(std::string Process::*text, std::string_view wanted, std::chrono::milliseconds timeout);
    bool try_reap(std::chrono::milliseconds timeout);
    void read_pipes();

    std::vector<std::string> argv_;
    pid_t pid_ = -1;
    UniqueFd pidfd_;
    UniqueFd out_pipe_, err_pipe_;
    mutable std::mutex mutex_; // guards the two texts
    std::string out_, err_;
    std::optional<Exit> exit_;
    std::thread reader_;
};

// Runs a command to its end and returns its stdout; a status other than 0 is a failure of the test.
std::string run(std::vector<std::string> argv, const Process::Options& options = {});

} // namespace responder::test
