// SPDX-License-Identifier: GPL-2.0-only

#include "loader/run/counting_port.h"

#include <thread>
#include <utility>

namespace responder {

void CountingPort::start_counting(int map_fd) {
    started_ = attached_at();
    counters_.emplace(map_fd, 0, queues_possible());
    counters_after_the_end_.emplace(map_fd, queues_possible(), queues_possible());
    now_ = counters_->empty_snapshot();
    now_.taken = interval_taken_ = started_; // frames that came by the first reading came after this
    poll();
    interval_missed_ = nic_rise().missed();
}

void CountingPort::stop() noexcept {
    count_from_row(queues_possible());
    stopped_ = Clock::now();
}

std::uint64_t CountingPort::poll() noexcept {
    const Clock::time_point before = now_.taken;
    counters_->read(now_);
    if (stopped_)
        now_.taken = *stopped_;
    const std::uint64_t test_frames = test_traffic(now_.total).frames;
    if (test_frames != test_frames_)
        busy_.add(before, now_.taken, test_frames - test_frames_);
    return test_frames_ = test_frames;
}

CountedInterval CountingPort::take_counted() noexcept {
    follow_nic();
    const std::uint64_t missed = nic_rise().missed();
    return {.slots = now_.total - std::exchange(interval_slots_, now_.total),
            .time = now_.taken - std::exchange(interval_taken_, now_.taken),
            .missed = missed - std::exchange(interval_missed_, missed)};
}

void CountingPort::restart_clock() noexcept { started_ = interval_taken_ = Clock::now(); }

// Waits until the sockets' threads have all test frames that were counted, and have sent what they send: on a busy
// machine one may not run for a while, and what waits in its ring is not lost. But not for ever: some may have got lost
// where nobody counts.
bool CountingPort::await_sockets() const noexcept {
    using namespace std::chrono_literals;
    const auto have = [&] {
        const SocketStatistics sockets = socket_statistics();
        return sockets.received + sockets.lost() >= test_frames() && sockets.to_send == 0;
    };
    for (const Clock::time_point deadline = Clock::now() + 2s; !have();) {
        if (Clock::now() >= deadline)
            return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

std::int64_t CountingPort::not_delivered(const SocketStatistics& sockets) const noexcept {
    return static_cast<std::int64_t>(test_frames() - sockets.received - sockets.lost());
}

Books CountingPort::books_so_far() {
    Books books;
    books.so_far = true;
    const std::uint64_t frames = poll();
    const std::uint64_t saw_before = all_traffic(now_.total).frames;
    if (sockets() != nullptr)
        books.sockets = socket_statistics(); // before the last reading of the program: no socket has more than that
    read_nic(books);
    books.settled = poll() == frames;
    close_balance(books, saw_before, all_traffic(now_.total).frames, passed_traffic(now_.total).frames);
    if (books.sockets)
        books.not_delivered = not_delivered(*books.sockets);
    return books;
}

Books CountingPort::close_books() {
    using namespace std::chrono_literals;
    Books books;
    Snapshot after = counters_after_the_end_->empty_snapshot();
    const auto saw = [&](Traffic (*some)(const SlotCounts&) noexcept) {
        return some(now_.total).frames + some(after.total).frames;
    };
    const auto read = [&] {
        poll();
        counters_after_the_end_->read(after);
        return saw(test_traffic);
    };
    std::uint64_t frames = 0;
    for (const Clock::time_point deadline = Clock::now() + 200ms; !books.settled && Clock::now() < deadline;) {
        frames = read();
        std::this_thread::sleep_for(50ms);
        books.settled = frames == read();
    }
    if (!stopped_) {
        stop();
        std::this_thread::sleep_for(1ms); // a run of the program that began before may still be under way
        read();
    }
    const std::uint64_t program_saw_before = saw(all_traffic);
    read_nic(books);
    books.settled = frames == read() && books.settled;
    books.after_the_end = all_traffic(after.total).frames;
    close_balance(books, program_saw_before, saw(all_traffic), saw(passed_traffic));
    if (sockets() != nullptr) {
        books.settled = await_sockets() && books.settled;
        books.sockets = socket_statistics();
        books.not_delivered = not_delivered(*books.sockets);
    }
    return books;
}

} // namespace responder
