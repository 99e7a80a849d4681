// SPDX-License-Identifier: GPL-2.0-only

#include "loader/command.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace responder {

namespace {

// What a terminal would obey in an argument that an error repeats: C0, DEL and, in UTF-8, C1.
std::string printable(std::string text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto octet = static_cast<unsigned char>(text[i]);
        const bool c1 = i > 0 && text[i - 1] == '\xc2' && octet >= 0x80 && octet < 0xa0;
        if (c1)
            text[i - 1] = '?';
        if (c1 || octet < 0x20 || octet == 0x7f)
            text[i] = '?';
    }
    return text;
}

} // namespace

int run_command(std::string_view name, const std::function<ExitCode()>& body) {
    // A descriptor that was closed would go to the next thing opened, and output into that. Closed output stays an
    // error.
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
            const int same = open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    std::signal(SIGPIPE, SIG_IGN); // output that nobody reads is an error of write(), and says so
    std::signal(SIGXFSZ, SIG_IGN); // a limit on the size of files is one too, as a full disk is
    ExitCode code;
    try {
        return static_cast<int>(body());
    } catch (const Error& error) {
        say(printable(fmt::format("{}: {}", name, error.what())));
        code = error.code();
    } catch (const std::bad_alloc&) {
        say(fmt::format("{}: out of memory", name));
        code = ExitCode::os;
    } catch (const std::exception& error) {
        say(printable(fmt::format("{}: internal error: {}", name, error.what())));
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
