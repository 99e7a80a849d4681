// SPDX-License-Identifier: GPL-2.0-only

#include "loader/event_loop.h"

#include "loader/error.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace responder {

EventLoop::EventLoop() {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT); // also where a script's shell started us with it ignored, as it does with `&`
    sigaddset(&ends, SIGTERM);
    struct sigaction before {};
    if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) // nohup(1)
        sigaddset(&ends, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &ends, nullptr) != 0)
        throw Error::from_errno(ExitCode::os, "set up signals", errno);
    signals_.reset(signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_)
        throw Error::from_errno(ExitCode::os, "set up signals", errno);
    on_readable(signals_.get(), [this] {
        signalfd_siginfo info{};
        while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
            if (on_signal_)
                on_signal_();
        }
    });
}

void EventLoop::heed_signals() {
    sigset_t pending;
    sigpending(&pending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        if (sigismember(&pending, signal) == 1)
            throw Error(ExitCode::temporary, "the start", "a signal has ended it");
}

void EventLoop::on_tick(std::chrono::milliseconds period, std::function<void()> call) {
    timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    const timespec time{.tv_sec = period.count() / 1000, .tv_nsec = period.count() % 1000 * 1'000'000};
    const itimerspec schedule{.it_interval = time, .it_value = time};
    if (!timer_ || timerfd_settime(timer_.get(), 0, &schedule, nullptr) != 0)
        throw Error::from_errno(ExitCode::os, "set up a timer", errno);
    on_readable(timer_.get(), [this, call = std::move(call)] {
        std::uint64_t expirations = 0;
        if (read(timer_.get(), &expirations, sizeof(expirations)) == sizeof(expirations))
            call();
    });
}

void EventLoop::on_readable(int fd, std::function<void()> call) { watches_.push_back({fd, std::move(call)}); }

void EventLoop::run() {
    std::vector<pollfd> fds;
    for (const Watch& watch : watches_)
        fds.push_back({.fd = watch.fd, .events = POLLIN, .revents = 0});
    while (!stopped_) {
        if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR)
            throw Error::from_errno(ExitCode::os, "wait for events", errno);
        for (std::size_t i = 0; i < fds.size() && !stopped_; ++i) {
            if (fds[i].revents != 0)
                watches_[i].call();
        }
    }
}

} // namespace responder
