// SPDX-License-Identifier: GPL-2.0-only

#include "loader/command.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace responder {

int run_command(std::string_view name, const std::function<ExitCode()>& body) {
    // A descriptor that was closed would go to the next thing opened, and output into that. Closed output stays an
    // error.
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
            const int same = open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    ExitCode code;
    try {
        return static_cast<int>(body());
    } catch (const Error& error) {
        say(fmt::format("{}: {}", name, error.what()));
        code = error.code();
    } catch (const std::bad_alloc&) {
        say("out of memory");
        code = ExitCode::os;
    } catch (const std::exception& error) {
        say(fmt::format("{}: internal error: {}", name, error.what()));
        code = ExitCode::internal;
    }
    return static_cast<int>(code);
}

void say(std::string_view line) noexcept {
    // One call, so that lines of several programs do not mix.
    const iovec parts[] = {{const_cast<char*>(line.data()), line.size()}, {const_cast<char*>("\n"), 1}};
    [[maybe_unused]] const ssize_t lost = writev(STDERR_FILENO, parts, 2);
}

void write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR)
                continue;
            throw Error::from_errno(ExitCode::io, fd == STDOUT_FILENO ? "write to standard output" : "write output",
                                    errno);
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

std::string_view rfc3339(std::chrono::system_clock::time_point time, char (&room)[32]) {
    using namespace std::chrono;
    const auto since_epoch = duration_cast<milliseconds>(time.time_since_epoch()).count();
    const std::time_t seconds = since_epoch / 1000;
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    const auto end =
        fmt::format_to_n(room, sizeof(room), "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                         utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, since_epoch % 1000);
    return {room, end.size};
}

std::string kernel_description() {
    utsname name{};
    if (uname(&name) != 0)
        return "unknown";
    return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

} // namespace responder
