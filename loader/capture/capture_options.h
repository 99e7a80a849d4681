// SPDX-License-Identifier: GPL-2.0-only
//
// A capture in the words of the command line, and what they mean.

#pragma once

#include "loader/capture/capture_file.h"

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace responder {

struct CapturePlan {
    std::string file; // "-": standard output
    CaptureLimits limits;
    std::uint32_t snaplen = 0;
    bool passed = false; // also the frames that pass up

    bool to_standard_output() const noexcept { return file == "-"; }
};

// As given; nothing where not.
struct CaptureOptions {
    std::optional<std::string> file, size, files, snaplen, traffic;

    void add_to(CLI::App& app);

    // nullopt: no capture is wanted. Throws Error(usage) that names the option and the value.
    std::optional<CapturePlan> build() const;
};

} // namespace responder
