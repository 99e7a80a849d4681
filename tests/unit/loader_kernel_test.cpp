// SPDX-License-Identifier: GPL-2.0-only
//
// What the kernel's refusals and silences are taken for.

#include "loader/ethtool.h"
#include "loader/libbpf_log.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <limits>
#include <string_view>

namespace responder::test {
namespace {

TEST(LoadError, NoMemoryIsNoFaultOfOurs) {
    const Error error = load_error(-ENOMEM);
    EXPECT_EQ(error.code(), ExitCode::os);
    EXPECT_NE(std::string_view(error.what()).find("--streams"), std::string_view::npos) << error.what();
}

TEST(Ethtool, NoAnswerIsNoNumberOfQueues) { EXPECT_FALSE(ethtool::receive_queues(std::numeric_limits<int>::max())); }

} // namespace
} // namespace responder::test
