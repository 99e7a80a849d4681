// SPDX-License-Identifier: GPL-2.0-only
//
// How a set-up fails. Anything that cannot be set up throws Error; run_command() (command.h) is the one place that
// catches it, prints "what failed: why; try this" and turns it into the exit code. Packet loops never throw.

#pragma once

#include <stdexcept>
#include <string>

namespace responder {

// sysexits.h where it has a fitting code; tools/man/*.scd lists them for users.
enum class ExitCode : int {
    ok = 0,
    verdict_fail = 1,   // measured to the end, and an --expect or --max condition does not hold
    usage = 64,         // an option or a value is wrong
    no_input = 66,      // no such interface
    unavailable = 69,   // the port is taken: another XDP program sits on it
    internal = 70,      // a fault of ours, such as an object that the verifier refuses
    os = 71,            // the kernel lacks or refuses what is needed
    io = 74,            // output could not be written
    temporary = 75,     // no carrier, or the interface went away
    no_permission = 77, // a capability is missing
};

class Error : public std::runtime_error {
  public:
    // `what` names the thing and the act ("eth1: attach XDP program"); `why` is the reason ("Device or resource busy");
    // `hint`, where there is one, says what to do, as a sentence part that follows a semicolon.
    Error(ExitCode code, std::string what, std::string why, std::string hint = {});

    // For a failed system call: `why` is strerror(error).
    static Error from_errno(ExitCode code, std::string what, int error, std::string hint = {});

    ExitCode code() const noexcept { return code_; }

  private:
    ExitCode code_;
};

// strerror() without its static buffer.
std::string error_text(int error);

} // namespace responder
