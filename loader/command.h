// SPDX-License-Identifier: GPL-2.0-only
//
// What every command of ours does the same way: errors become one sentence and an exit code, output that cannot be
// written is an error, times are written as RFC 3339.

#pragma once

#include "loader/error.h"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace responder {

// Runs a command's main; catches Error (and what the standard library throws), prints "NAME: what failed: why; try
// this" on stderr, one line without control characters, and returns the exit code for the process.
int run_command(std::string_view name, const std::function<ExitCode()>& body);

// A line of talk on stderr. Where nobody can hear it, it is lost and nothing else: a measurement goes on.
void say(std::string_view line) noexcept;

// Writes all of it to a file descriptor. Throws Error(io).
void write_all(int fd, std::string_view text);

// UTC with milliseconds: 2026-11-30T12:00:00.000Z. At least 25 bytes of room; allocates nothing.
std::string_view rfc3339(std::chrono::system_clock::time_point time, char (&room)[32]);

// Name and release of the running kernel, and its machine ("Linux 6.1.0-39-arm64 aarch64").
std::string kernel_description();

} // namespace responder
