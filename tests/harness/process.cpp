// SPDX-License-Identifier: GPL-2.0-only

#include "tests/harness/process.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <tuple>

extern char** environ;

namespace responder::test {

namespace {

std::pair<UniqueFd, UniqueFd> make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw std::runtime_error(std::string("pipe2: ") + std::strerror(errno));
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// A pseudo-terminal's two ends, the second of which passes on what is written as it is.
std::pair<UniqueFd, UniqueFd> make_terminal() {
    UniqueFd reader(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!reader || unlockpt(reader.get()) != 0)
        throw std::runtime_error(std::string("posix_openpt: ") + std::strerror(errno));
    UniqueFd writer(ioctl(reader.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios settings{};
    cfmakeraw(&settings);
    if (!writer || tcsetattr(writer.get(), TCSANOW, &settings) != 0)
        throw std::runtime_error(std::string("TIOCGPTPEER: ") + std::strerror(errno));
    return {std::move(reader), std::move(writer)};
}

std::vector<std::string> child_environment(const Process::Options& options) {
    std::vector<std::string> result = options.environment;
    const auto name_of = [](std::string_view variable) { return variable.substr(0, variable.find('=')); };
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view name = name_of(*variable);
        const bool replaced =
            std::ranges::any_of(options.environment, [&](const auto& v) { return name_of(v) == name; });
        if (!replaced && std::ranges::find(options.no_environment, name) == options.no_environment.end())
            result.emplace_back(*variable);
    }
    return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts)
        result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

} // namespace

Process::Process(std::vector<std::string> argv, const Options& options) : argv_(std::move(argv)) {
    const auto make = [](Output output) { return output == Output::terminal ? make_terminal() : make_pipe(); };
    auto [out_reader, out_writer] = make(options.out);
    auto [err_reader, err_writer] = make(options.err);
    for (auto [output, reader, writer] :
         {std::tuple{options.out, &out_reader, &out_writer}, {options.err, &err_reader, &err_writer}}) {
        if (output == Output::dev_full)
            writer->reset(open("/dev/full", O_WRONLY | O_CLOEXEC));
        if (output == Output::pipe_without_reader)
            reader->reset();
    }

    std::vector<std::string> arguments = argv_;
    std::vector<std::string> environment = child_environment(options);
    const std::vector<char*> arguments_c = pointers(arguments), environment_c = pointers(environment);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ < 0)
        throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
    if (pid_ == 0) { // only what is safe between fork and exec
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(126);
        if (options.network_namespace >= 0 && setns(options.network_namespace, CLONE_NEWNET) != 0)
            _exit(126);
        const int null = open("/dev/null", O_RDONLY);
        dup2(null, STDIN_FILENO);
        dup2(out_writer.get(), STDOUT_FILENO);
        dup2(err_writer.get(), STDERR_FILENO);
        if (options.out == Output::closed)
            close(STDOUT_FILENO);
        if (options.err == Output::closed)
            close(STDERR_FILENO);
        execvpe(arguments_c[0], arguments_c.data(), environment_c.data());
        _exit(127);
    }
    pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    out_pipe_ = std::move(out_reader);
    err_pipe_ = std::move(err_reader);
    reader_ = std::thread([this] { read_pipes(); });
}

Process::~Process() {
    if (!exit_) {
        signal(SIGKILL);
        try_reap(patience);
    }
    if (reader_.joinable())
        reader_.join();
    if (testing::Test::HasFailure()) {
        for (const std::string& argument : argv_)
            std::cerr << argument << ' ';
        std::cerr << "\n  ended with code " << exit_->code << ", signal " << exit_->signal << "; its stderr:\n" << err_;
    }
}

void Process::read_pipes() {
    pollfd fds[] = {{.fd = out_pipe_ ? out_pipe_.get() : -1, .events = POLLIN, .revents = 0},
                    {.fd = err_pipe_ ? err_pipe_.get() : -1, .events = POLLIN, .revents = 0}};
    std::string* texts[] = {&out_, &err_};
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        poll(fds, 2, -1);
        for (int i = 0; i < 2; ++i) {
            if (fds[i].fd < 0 || fds[i].revents == 0)
                continue;
            char buffer[65536];
            const ssize_t length = read(fds[i].fd, buffer, sizeof(buffer));
            if (length <= 0) {
                fds[i].fd = -1;
                continue;
            }
            const std::lock_guard lock(mutex_);
            texts[i]->append(buffer, static_cast<std::size_t>(length));
        }
    }
}

bool Process::try_reap(std::chrono::milliseconds timeout) {
    if (exit_)
        return true;
    pollfd ended{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
    if (poll(&ended, 1, static_cast<int>(timeout.count())) <= 0)
        return false;
    int status = 0;
    Exit exit;
    wait4(pid_, &status, 0, &exit.usage);
    exit.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    exit_ = exit;
    return true;
}

bool Process::running() { return !try_reap(0ms); }

void Process::signal(int number) {
    if (!exit_)
        syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
}

std::string Process::out() const {
    const std::lock_guard lock(mutex_);
    return out_;
}

std::string Process::err() const {
    const std::lock_guard lock(mutex_);
    return err_;
}

bool Process::wait_for(std::string Process::*text, std::string_view wanted, std::chrono::milliseconds timeout) {
    bool found = false;
    eventually(
        [&] {
            const bool ended = !running();
            if (ended && reader_.joinable())
                reader_.join(); // what it wrote last is in the pipe still
            const std::lock_guard lock(mutex_);
            found = (this->*text).find(wanted) != std::string::npos;
            return found || ended;
        },
        timeout);
    return found;
}

bool Process::wait_for_err(std::string_view text, std::chrono::milliseconds timeout) {
    return wait_for(&Process::err_, text, timeout);
}

bool Process::wait_for_out(std::string_view text, std::chrono::milliseconds timeout) {
    return wait_for(&Process::out_, text, timeout);
}

const Process::Exit& Process::wait(std::chrono::milliseconds timeout) {
    if (!try_reap(timeout)) {
        ADD_FAILURE() << argv_[0] << " did not end within " << timeout.count() << " ms";
        signal(SIGKILL);
        try_reap(patience);
    }
    if (reader_.joinable())
        reader_.join();
    return *exit_;
}

unsigned long Process::resident_kib() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string word; status >> word;) {
        unsigned long kib = 0;
        if (word == "VmRSS:" && status >> kib)
            return kib;
    }
    return 0;
}

std::string run(std::vector<std::string> argv, const Process::Options& options) {
    std::string text;
    for (const std::string& argument : argv)
        text += argument + ' ';
    Process process(std::move(argv), options);
    const Process::Exit exit = process.wait();
    EXPECT_EQ(exit.code, 0) << text << "\n" << process.err();
    return process.out();
}

} // namespace responder::test
