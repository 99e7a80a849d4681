// SPDX-License-Identifier: GPL-2.0-only

#include "loader/error.h"

#include <system_error>

namespace responder {

namespace {

std::string sentence(const std::string& what, const std::string& why, const std::string& hint) {
    std::string text = what;
    if (!why.empty())
        text += ": " + why;
    if (!hint.empty())
        text += "; " + hint;
    return text;
}

} // namespace

Error::Error(ExitCode code, std::string what, std::string why, std::string hint)
    : std::runtime_error(sentence(what, why, hint)), code_(code) {}

Error Error::from_errno(ExitCode code, std::string what, int error, std::string hint) {
    return Error(code, std::move(what), error_text(error), std::move(hint));
}

std::string error_text(int error) { return std::generic_category().message(error < 0 ? -error : error); }

} // namespace responder
