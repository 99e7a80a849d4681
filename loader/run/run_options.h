// SPDX-License-Identifier: GPL-2.0-only
//
// The part of the command line that each command has which takes frames from ports until something ends it.

#pragma once

#include "loader/ip_address.h"
#include "loader/match_options.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace responder {

enum class ModeChoice { automatic, native, generic };

// Who works on the frames: the XDP program itself, or a thread for each receive queue, to which it hands them.
enum class Engine { xdp, af_xdp };

struct RunOptions {
    std::vector<std::string> interfaces;
    MatchOptions match;
    std::vector<Prefix> addresses; // at most one of each family
    ModeChoice mode = ModeChoice::automatic;
    Engine engine = Engine::xdp;
    bool require_zerocopy = false;
    bool dispatcher = false;
    bool wait = false;
    bool force = false;

    std::optional<std::chrono::milliseconds> duration;
    std::optional<std::uint64_t> count;
    std::chrono::milliseconds interval{1000};
    bool quiet = false;
    bool json = false;
    bool json_stream = false;
    bool verbose = false;

    std::vector<std::string> argv;
};

// What to try where the kernel refuses the program; `usual`: by the mode alone.
std::string refusal_hint(const RunOptions& options, std::string usual);

// The options as words, between being asked for and being understood.
class RunArguments {
  public:
    // `engines`: what each of the two does in this command. What needs no understanding goes into `options`, which is
    // to stay where it is.
    void add_to(CLI::App& app, RunOptions& options, const std::string& engines);

    // `usual`: the engine where none was chosen. Throws Error(usage) that names the option and the value.
    void build(RunOptions& options, Engine usual) const;

  private:
    void build_mode(RunOptions& options) const;

    std::vector<std::string> addresses_;
    std::string mode_ = "auto";
    bool require_native_ = false;
    std::optional<std::string> engine_, duration_, count_, interval_;
};

} // namespace responder
