// SPDX-License-Identifier: GPL-2.0-only
//
// LiveFrameSender sends test frames by BPF_PROG_TEST_RUN with live frames (Linux 5.18): the kernel gives our program
// (bpf/generate.bpf.c) one page after the other and hands what it makes of it to the interface's driver, as
// XDP_REDIRECT would. No socket and no skb is involved, and the program is attached nowhere. The driver must have
// ndo_xdp_xmit.
//
// One run of the kernel's lasts for the whole time, in a thread of its own, because a run of more than one frame costs
// some 24 ms to begin and to end on x86 (the kernel waits for two grace periods). The calling thread watches it and
// ends it: by the limit that the program obeys at the next frame, and then by a signal to that thread, which ends the
// run. The signal is SIGRTMIN, and the handler is ours.
//
// Pace: the program itself waits for each frame's moment, by dropping pages until it has come. This is even to a
// microsecond and keeps a CPU busy. Below slow_rate_fps every frame is a run of its own instead, with sleep in between:
// as even as the system's timers. In both a frame that is late does not delay the others.

#pragma once

#include "bpf/generate_abi.h"
#include "generate.skel.h"
#include "loader/generate/frame_spec.h"
#include "loader/generate/sent_counter.h"
#include "loader/netdev.h"
#include "loader/skeleton.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace responder {

struct SendPlan {
    std::uint64_t frames = 0;             // 0: no limit
    std::chrono::nanoseconds duration{0}; // from the first frame on; 0: no limit
    double rate_fps = 0;                  // 0: as fast as can be
};

struct Sent {
    enum class End {
        planned,        // all frames, or the whole duration
        stopped,        // by the caller
        interface_gone, // the counter's last reading is up to 100 ms older than the end
        nothing_leaves, // two seconds, and the interface has sent nothing
    };
    End end = End::planned;
    std::uint64_t handed_over = 0; // frames made and given to the driver
    std::uint64_t counted = 0;     // by how much the interface's counter rose, which may include frames of others
    SentCounter::Kind counter = SentCounter::Kind::tx_packets;
    bool link_was_down = false; // at any time
    bool link_is_down = false;  // at the end
    // From the first frame to one interval after the last, by the clock that the program read; none for a single frame.
    std::optional<double> seconds{};

    std::uint64_t left() const noexcept { return counted < handed_over ? counted : handed_over; }
    std::uint64_t refused() const noexcept { return handed_over - left(); }
};

class LiveFrameSender {
  public:
    static constexpr double slow_rate_fps = 10'000;

    // Throws Error where the frames are none or do not fit, the interface has no link or a driver that sends no XDP
    // frames, as far as the kernel says so, or the kernel has no live frames.
    LiveFrameSender(const Netdev& netdev, const FrameSpec& spec);

    // Starts at frame 0 and blocks until the end. `stop` may be set by another thread or in a signal handler; it is
    // obeyed within 10 ms. Then waits for the interface's counter to come to rest, at most three seconds.
    // Throws Error where the kernel refuses to go on; one run at a time.
    Sent send(const SendPlan& plan, const std::atomic<bool>& stop);

  private:
    struct Run;

    void probe(const FrameSpec& spec);
    int test_run(int program, std::uint32_t repeat, std::uint32_t batch) const noexcept; // 0 or -errno

    void work(Run& run) const noexcept;
    // An exception in here would leave the sending thread alone.
    void watch(Run& run, pthread_t thread, Sent& sent, const std::atomic<bool>& stop) noexcept;
    // Reads the interface and its counter when it is time to, and notes in `sent` what they say; false: the end has
    // come.
    bool observe(Run& run, Sent& sent, const std::atomic<bool>& stop);
    std::chrono::steady_clock::time_point deadline(const Run& run) const noexcept;
    void settle(const Run& run, Sent& sent);

    generate_state state() const noexcept;
    void stop_program() const noexcept;

    Netdev netdev_;
    Skeleton<generate_bpf> skeleton_;
    int program_ = -1;
    std::vector<std::uint8_t> template_;
    SentCounter counter_;
};

} // namespace responder
