// SPDX-License-Identifier: GPL-2.0-only
//
// How often a run is read for those who ask, and that all who wait get the same.

#include "loader/run/show.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <string>

namespace responder::test {
namespace {

using namespace std::chrono_literals;

UniqueFd ask(const std::string& name) {
    UniqueFd client(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path + 1, name.size());
    EXPECT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address),
                      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())),
              0);
    return client;
}

std::string answer_to(const UniqueFd& client) {
    char room[64];
    const ssize_t octets = recv(client.get(), room, sizeof(room), 0);
    return octets < 0 ? "none yet" : std::string(room, static_cast<std::size_t>(octets));
}

TEST(ShowListener, ReadsNoMoreOftenThanSaidHoweverManyAsk) {
    const std::string name = fmt::format("unit/{}", getpid());
    ShowListener listener(name);
    ASSERT_TRUE(listener.listens()) << listener.error();
    int readings = 0;
    const auto answer_at = [&](Clock::duration time) {
        listener.answer(Clock::time_point(1h) + time, [&] { return fmt::format("reading {}", ++readings); });
    };
    answer_at(0ms);
    EXPECT_EQ(readings, 0) << "nobody has asked";
    const UniqueFd first = ask(name);
    answer_at(1ms);
    EXPECT_EQ(answer_to(first), "reading 1");
    EXPECT_EQ(answer_to(first), "") << "and is let go";
    const UniqueFd second = ask(name), third = ask(name);
    answer_at(2ms);
    answer_at(ShowListener::between_readings);
    EXPECT_EQ(answer_to(second), "none yet");
    answer_at(ShowListener::between_readings + 1ms);
    EXPECT_EQ(answer_to(second), "reading 2");
    EXPECT_EQ(answer_to(third), "reading 2");
    EXPECT_EQ(readings, 2);
}

} // namespace
} // namespace responder::test
