// SPDX-License-Identifier: GPL-2.0-only
//
// The two ends of a veth pair, for the benchmarks that send frames through it: xdp-gen at the near one, a bare program
// or a command at the far one. The sender has CPU 0, on which a veth's far end also runs; what works on the frames in
// user space gets another one.

#pragma once

#include "loader/attachment.h"
#include "tests/harness/lab.h"
#include "tests/harness/process.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace responder::bench {

using Json = nlohmann::json;

constexpr unsigned turns = 7; // of what is compared to a per cent

[[noreturn]] void fail(const std::string& what, const std::string& why);

// xdp-gen, until all is sent; what it says of it.
Json send(const test::Lab& lab, const std::vector<std::string>& options);

// A program of tests/harness/floor.bpf.c on an interface, for as long as the object lives.
enum class BareProgram { drop, swap_macs };
Attachment attach(const test::Namespace& where, const std::string& interface, BareProgram program);

std::vector<std::string> off_the_senders_cpu(std::vector<std::string> argv);

// A command at the far end.
class FarEnd {
  public:
    // Returns when it says on stderr that it is ready.
    FarEnd(const test::Lab& lab, std::vector<std::string> argv, std::string_view ready = "type into the tester");
    FarEnd(const FarEnd&) = delete;
    FarEnd& operator=(const FarEnd&) = delete;
    ~FarEnd() { end(); }

    // By SIGINT, unless it has come to its end; what it has printed.
    std::string end();

    test::Process& process() noexcept { return process_; }

  private:
    test::Process process_;
};

} // namespace responder::bench
