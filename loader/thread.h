// SPDX-License-Identifier: GPL-2.0-only
//
// Starts a thread, or says why there is none to be had.

#pragma once

#include "loader/error.h"

#include <string>
#include <system_error>
#include <utility>

namespace responder {

// A std::thread or std::jthread. `whose`: "the reader of a socket". Throws Error(os).
template <class Thread, class Body>
Thread start_thread(const std::string& whose, Body body) {
    try {
        return Thread(std::move(body));
    } catch (const std::system_error& error) {
        throw Error::from_errno(ExitCode::os, "start a thread for " + whose, error.code().value(),
                                "`ulimit -u` or TasksMax= limits their number, `ulimit -v` their memory");
    }
}

} // namespace responder
