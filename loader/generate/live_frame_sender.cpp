// SPDX-License-Identifier: GPL-2.0-only

#include "loader/generate/live_frame_sender.h"

#include "loader/error.h"
#include "loader/thread.h"

#include <bpf/bpf.h>
#include <fmt/format.h>
#include <linux/bpf.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <limits>
#include <mutex>
#include <span>
#include <thread>

namespace responder {

namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock; // CLOCK_MONOTONIC, as is bpf_ktime_get_ns()
using namespace std::chrono_literals;

constexpr int loopback_ifindex = 1; // in every namespace (include/net/flow.h of the kernel)

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

// Pages of one run of the kernel's, after which the next is begun: as many as can be (223 s of waiting, longer of
// sending), and so far below 2^32 that the kernel's own count, which grows by whole batches, does not wrap.
constexpr std::uint32_t run_frames = 0xFFFF0000;

// Frames that the kernel makes before it has them sent. A veth's ring holds 256. A sender that keeps a pace has them
// sent at least every microsecond, as it drops a page in some 50 ns.
constexpr std::uint32_t batch_full_speed = 64;
constexpr std::uint32_t batch_paced = 16;

// Without a pace the clock is read at every 1024th frame, which is nothing to a frame and 0.2 ms to the duration.
constexpr std::uint64_t stamp_mask_full_speed = 1023;

constexpr auto tick = 10ms;           // how soon a stop is obeyed
constexpr auto look_interval = 100ms; // at the interface and its counter
constexpr auto patience = 2s;         // until an interface that sends nothing is given up

// Interrupts a system call. Nothing else: the signal must only have a handler for that.
void wake(int) {}
const int wake_signal = SIGRTMIN;

void install_wake_signal() {
    struct sigaction action {};
    action.sa_handler = wake; // without SA_RESTART
    sigaction(wake_signal, &action, nullptr);
}

// A thread starts with the signals blocked that its creator has blocked. The sending thread takes only the one that
// wakes it, so that SIGINT and the like go to others.
class OtherSignalsBlocked {
  public:
    OtherSignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        sigdelset(&all, wake_signal);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~OtherSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    OtherSignalsBlocked(const OtherSignalsBlocked&) = delete;
    OtherSignalsBlocked& operator=(const OtherSignalsBlocked&) = delete;

  private:
    sigset_t before_{};
};

void sleep_until(steady_clock::time_point time) noexcept {
    const auto since_boot = time.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
    timespec at{};
    at.tv_sec = seconds.count();
    at.tv_nsec = nanoseconds(since_boot - seconds).count();
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr); // ends early when woken
}

// Where the kernel hands the driver no frame, a counter of everybody's frames rises all the same.
void check_driver(const LinkState& link) {
    if (link.index == loopback_ifindex)
        throw Error(ExitCode::os, link.name, "the loopback interface cannot send XDP frames",
                    "send from one end of a veth pair and receive at the other");
    // A veth can where its far end takes them, which may come to do so later.
    if (link.kind == "veth")
        return;
    if (const auto features = xdp_features(link.index); features && (*features & xdp_feature_transmit) == 0)
        throw Error(ExitCode::os, link.name, "its driver cannot send XDP frames (ndo_xdp_xmit)",
                    link.kind.empty() ? "some can only with an XDP program on the port"
                                      : "send from a physical port or from one end of a veth pair");
}

void check_fit(const LinkState& link, const FrameSpec& spec) {
    if (!link.up || !link.carrier)
        throw Error(ExitCode::temporary, link.name, link.up ? "no carrier" : "the interface is down",
                    link.up ? "is the cable plugged in and the far end up?"
                            : fmt::format("ip link set {} up", link.name));
    // The kernel allows for one tag beyond the MTU, and drops what is longer without a word.
    const auto tags = static_cast<unsigned>(spec.vlans.size());
    const unsigned needed = spec.largest_size() - fcs_length - 14 - 4 * std::min(tags, 1U);
    if (needed > link.mtu)
        throw Error(ExitCode::usage, fmt::format("frame size {}", spec.largest_size()),
                    fmt::format("it needs an MTU of {}, and {} has {}", needed, link.name, link.mtu),
                    fmt::format("ip link set {} mtu {}", link.name, needed));
}

// `frame` is what every frame is made from. To a program that sends, `ifindex` is the port that it sends from; 0: to
// one that does not. Returns 0 or -errno.
int run_live(int program, std::span<const std::uint8_t> frame, int ifindex, std::uint32_t repeat,
             std::uint32_t batch) noexcept {
    xdp_md context{};
    context.data_end = static_cast<__u32>(frame.size());
    context.ingress_ifindex = static_cast<__u32>(ifindex);
    bpf_test_run_opts options{};
    options.sz = sizeof(options);
    options.data_in = frame.data();
    options.data_size_in = static_cast<__u32>(frame.size());
    options.ctx_in = &context;
    options.ctx_size_in = sizeof(context);
    options.repeat = static_cast<int>(repeat);
    options.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
    options.batch_size = batch;
    return bpf_prog_test_run_opts(program, &options) == 0 ? 0 : -errno;
}

// A live frame and what the kernel keeps beside it share a page, whose size depends on the machine. 0: none at all.
unsigned largest_live_size(int program) {
    const std::vector<std::uint8_t> octets(largest_frame_size);
    const auto works = [&](unsigned size) {
        return run_live(program, std::span(octets).first(size - fcs_length), 0, 1, 1) == 0;
    };
    if (!works(smallest_frame_size))
        return 0;
    unsigned good = smallest_frame_size;
    unsigned bad = largest_frame_size + 1;
    while (good + 1 < bad) {
        const unsigned middle = (good + bad) / 2;
        (works(middle) ? good : bad) = middle;
    }
    return good;
}

} // namespace

// One send(). The threads share the second half; the rest is set before the sending one starts, or watch()'s own.
struct LiveFrameSender::Run {
    const SendPlan& plan;
    std::uint64_t limit;
    std::uint64_t counter_at_start;
    std::uint32_t carrier_losses; // before it
    bool slow = false;            // a pace at which every frame is a run of the kernel's
    std::uint32_t batch = batch_full_speed;
    steady_clock::time_point begin = steady_clock::now();
    steady_clock::time_point next_look = begin + look_interval;

    std::atomic<bool> finish{false};
    std::mutex mutex{};
    std::condition_variable changed{};
    bool done = false;
    int error = 0;
};

LiveFrameSender::LiveFrameSender(const Netdev& netdev, const FrameSpec& spec) : netdev_(netdev), counter_(netdev) {
    spec.validate();
    check_driver(counter_.link());
    check_fit(counter_.link(), spec);
    skeleton_->rodata->generate_cfg = generate_config(spec);
    skeleton_.load();
    program_ = bpf_program__fd(skeleton_->progs.xdp_generate);
    template_ = template_frame(spec);
    install_wake_signal();
    probe(spec);
}

void LiveFrameSender::probe(const FrameSpec& spec) {
    const int error = test_run(bpf_program__fd(skeleton_->progs.xdp_generate_probe), 1, 1);
    if (error == 0)
        return;
    if (error != -EINVAL)
        throw Error::from_errno(error == -EPERM ? ExitCode::no_permission : ExitCode::os, "send live frames", error);
    const unsigned largest = largest_live_size(bpf_program__fd(skeleton_->progs.xdp_generate_probe));
    if (largest == 0)
        throw Error(ExitCode::os, "send live frames", "this kernel has none", "Linux 5.18 and later have them");
    if (largest >= spec.largest_size())
        throw Error::from_errno(ExitCode::os, fmt::format("{}: send live frames", netdev_.name()), error);
    throw Error(ExitCode::usage, fmt::format("frame size {}", spec.largest_size()),
                fmt::format("this kernel makes live frames of up to {} bytes, FCS included", largest));
}

int LiveFrameSender::test_run(int program, std::uint32_t repeat, std::uint32_t batch) const noexcept {
    return run_live(program, template_, netdev_.index(), repeat, batch);
}

generate_state LiveFrameSender::state() const noexcept {
    const volatile generate_state& shared = skeleton_->bss->generate_state;
    generate_state copy{};
    copy.frames = shared.frames;
    copy.first_ns = shared.first_ns;
    copy.last_ns = shared.last_ns;
    copy.last_frame = shared.last_frame;
    return copy;
}

void LiveFrameSender::stop_program() const noexcept { std::atomic_ref(skeleton_->bss->generate_run.limit).store(0); }

// The sending thread.
void LiveFrameSender::work(Run& run) const noexcept {
    int error = 0;
    steady_clock::time_point first = run.begin; // when the first frame was due: the others are due after it
    while (!run.finish && error == 0) {
        const std::uint64_t sent = state().frames;
        if (sent >= run.limit)
            break;
        if (run.slow) {
            if (sent == 0)
                first = steady_clock::now();
            const auto due = first + nanoseconds(std::llround(static_cast<double>(sent) * 1e9 / run.plan.rate_fps));
            sleep_until(due);
            if (!run.finish && steady_clock::now() >= due)
                error = test_run(program_, 1, 1);
        } else {
            // Paced, the kernel also counts the pages that are dropped while the program waits.
            const bool paced = run.plan.rate_fps > 0;
            const std::uint64_t repeat = paced ? run_frames : std::min<std::uint64_t>(run.limit - sent, run_frames);
            error = test_run(program_, static_cast<std::uint32_t>(repeat), run.batch);
        }
        if (error == -EINTR)
            error = 0;
    }
    const std::lock_guard lock(run.mutex);
    run.error = error;
    run.done = true;
    run.changed.notify_one();
}

// The calling thread, until the sending one is done.
void LiveFrameSender::watch(Run& run, pthread_t thread, Sent& sent, const std::atomic<bool>& stop) noexcept {
    const auto done = [&] { return run.done; };
    std::unique_lock lock(run.mutex);
    do {
        const auto wake_up = std::min(steady_clock::now() + tick, deadline(run));
        if (run.changed.wait_until(lock, wake_up, done))
            return;
    } while (observe(run, sent, stop));

    stop_program();
    run.finish = true;
    // Again and again: a signal that comes just before the system call does not interrupt it.
    do
        pthread_kill(thread, wake_signal);
    while (!run.changed.wait_for(lock, 1ms, done));
}

steady_clock::time_point LiveFrameSender::deadline(const Run& run) const noexcept {
    if (run.plan.duration <= 0ns)
        return steady_clock::time_point::max();
    const std::uint64_t first_ns = state().first_ns;
    // A run that has not made its first frame after a second makes none.
    return (first_ns != 0 ? steady_clock::time_point(nanoseconds(first_ns)) : run.begin + 1s) + run.plan.duration;
}

bool LiveFrameSender::observe(Run& run, Sent& sent, const std::atomic<bool>& stop) {
    const auto now = steady_clock::now();
    if (stop) {
        sent.end = Sent::End::stopped;
        return false;
    }
    const std::uint64_t frames = state().frames;
    if (now >= deadline(run) || frames >= run.limit)
        return false;
    if (now < run.next_look)
        return true;
    run.next_look = now + look_interval;
    if (!counter_.read()) {
        sent.end = Sent::End::interface_gone;
        return false;
    }
    const LinkState& link = counter_.link();
    sent.link_was_down |= !link.up || !link.carrier || link.carrier_down_count != run.carrier_losses;
    if (now - run.begin > patience && frames > 0 && counter_.value() == run.counter_at_start) {
        sent.end = Sent::End::nothing_leaves;
        return false;
    }
    return true;
}

// Frames may still be on their way to the counter, and some drivers bring it up to date once a second.
void LiveFrameSender::settle(const Run& run, Sent& sent) {
    const auto begin = steady_clock::now();
    auto last_change = begin;
    for (;;) {
        const std::uint64_t before = counter_.value();
        const bool there = counter_.read();
        const auto now = steady_clock::now();
        sent.counted = counter_.value() - run.counter_at_start;
        sent.link_is_down = !counter_.link().up || !counter_.link().carrier;
        sent.link_was_down |= sent.link_is_down;
        if (!there)
            sent.end = Sent::End::interface_gone;
        if (counter_.value() != before)
            last_change = now;
        if (!there || sent.counted >= sent.handed_over || now - last_change > 1s || now - begin > 3s)
            return;
        std::this_thread::sleep_for(5ms);
    }
}

Sent LiveFrameSender::send(const SendPlan& plan, const std::atomic<bool>& stop) {
    if (!counter_.read())
        throw Error(ExitCode::temporary, netdev_.name(), "the interface is gone");
    Run run{.plan = plan,
            .limit = plan.frames != 0 ? plan.frames : no_limit,
            .counter_at_start = counter_.value(),
            .carrier_losses = counter_.link().carrier_down_count};
    __u64 interval = 0;
    if (plan.rate_fps > 0) {
        run.batch = batch_paced;
        run.slow = plan.rate_fps < slow_rate_fps;
        if (!run.slow)
            interval = static_cast<__u64>(std::llround(1e9 / plan.rate_fps * (1U << GENERATE_INTERVAL_SHIFT)));
        // A pace and a duration make a number of frames; the end of the duration still holds for a sender that lags.
        if (plan.duration > 0ns) {
            const double frames = 1e-9 * static_cast<double>(plan.duration.count()) * plan.rate_fps;
            run.limit = std::min(run.limit, std::max<std::uint64_t>(std::llround(frames), 1));
        }
    }
    skeleton_->bss->generate_state = {};
    skeleton_->bss->generate_run = {
        .limit = run.limit, .interval = interval, .stamp_mask = plan.rate_fps > 0 ? 0 : stamp_mask_full_speed};

    Sent sent{.counter = counter_.kind()};
    std::thread thread = [&] {
        const OtherSignalsBlocked blocked;
        return start_thread<std::thread>("sending", [&] { work(run); });
    }();
    watch(run, thread.native_handle(), sent, stop);
    thread.join();

    if (run.error == -ENODEV)
        sent.end = Sent::End::interface_gone;
    else if (run.error != 0)
        throw Error::from_errno(ExitCode::os, fmt::format("{}: send live frames", netdev_.name()), run.error);

    const generate_state end = state();
    sent.handed_over = end.frames;
    if (end.last_frame > 0) {
        const double interval_ns =
            static_cast<double>(end.last_ns - end.first_ns) / static_cast<double>(end.last_frame);
        sent.seconds = 1e-9 * interval_ns * static_cast<double>(end.frames);
    }
    settle(run, sent);
    return sent;
}

} // namespace responder
