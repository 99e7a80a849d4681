// SPDX-License-Identifier: GPL-2.0-only
//
// What the tests of the two command lines share.

#pragma once

#include "loader/error.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace responder::test {

using Arguments = std::vector<std::string>;

// The sentence, one line, of the Error(usage) that it throws; "not refused" where it throws none.
inline std::string refusal(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(static_cast<int>(error.code()), 64) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
        return error.what();
    }
    return "not refused";
}

inline void expect_words(const std::string& sentence, const std::vector<std::string>& words) {
    for (const std::string& word : words)
        EXPECT_NE(sentence.find(word), std::string::npos) << "no \"" << word << "\" in: " << sentence;
}

// `parse` is parse_sink_options() or its like; argv[0] means nothing to it.
template <class Parse>
auto parse_words(Parse parse, const Arguments& arguments) {
    std::vector<const char*> argv{"command"};
    for (const std::string& argument : arguments)
        argv.push_back(argument.c_str());
    return parse(static_cast<int>(argv.size()), argv.data());
}

} // namespace responder::test
