// SPDX-License-Identifier: GPL-2.0-only
//
// Capture writes frames into a pcapng file beside a measurement, which never waits for the disk:
//
//     packet loop of a queue --> FrameTap: ring of blocks --+
//     packet loop of a queue --> FrameTap: ring of blocks --+--> the capture's thread --> CaptureFile
//     program, what passes up --> perf buffers -------------+
//
// The frames of one queue are in the file in the order in which they came; those of several are not sorted by time
// (reordercap does that). Frames that should have been captured are written, lost, or came after the capture was over
// because the disk took no more: the three add up.

#pragma once

#include "loader/capture/capture_file.h"
#include "loader/capture/frame_tap.h"
#include "loader/capture/passed_frames.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace responder {

struct CaptureFigures {
    std::string file;     // the latest
    unsigned files = 0;   // begun
    std::size_t kept = 0; // of these
    std::uint64_t octets = 0;
    std::uint64_t written = 0, lost = 0, after_it_was_over = 0; // frames
    std::string why_over;                                       // before its time; else empty
};

class Capture {
  public:
    // Opens the file. Throws Error(io).
    Capture(const std::string& file, const CaptureLimits& limits, std::uint32_t snaplen);

    // Before begin(). The queues share the memory for what waits to be written. Throws Error(os).
    std::uint32_t add_interface(pcapng::Interface interface, unsigned queues);
    // What passes up goes into the file as well: the program leaves it in this map (bpf/passed.h).
    void add_passed(std::uint32_t interface, int map_fd);
    FrameTap& tap(std::uint32_t interface, unsigned queue) noexcept { return *interfaces_[interface].taps[queue]; }

    void begin(const pcapng::Section& section);

    // What only others know of an interface's frames.
    struct Counted {
        std::optional<std::uint64_t> received, dropped_by_interface;
        std::uint64_t lost_on_the_way = 0; // to the taps
        std::uint64_t passed_lost = 0;     // found no room in the kernel's buffers
    };
    // Writes what has come by now, and ends the file. `counted`: one an interface.
    void end(std::span<const Counted> counted);
    // Before its time; else empty.
    std::string_view why_over() const noexcept { return state_.is_over ? file_.why_over() : std::string_view(); }
    const CaptureFigures& figures() const noexcept { return figures_; } // after end()

  private:
    struct Interface {
        pcapng::Interface description;
        std::vector<std::unique_ptr<FrameTap>> taps;
        std::unique_ptr<PassedFrames> passed;
        std::uint64_t passed_lost = 0; // as the program has said it so far
    };

    void run(const std::stop_token& stop);
    bool write_what_there_is();
    void append(std::span<const std::uint8_t> blocks);
    void take_passed(std::uint32_t number, const passed_frame& about, std::span<const std::uint8_t> octets);
    std::uint64_t lost_in(const Interface& interface) const noexcept;

    CaptureFile file_;
    std::uint32_t snaplen_;
    CaptureState state_;
    std::vector<Interface> interfaces_;
    pcapng::Octets passed_;       // blocks
    std::uint64_t unwritten_ = 0; // frames on their way when the capture was over
    CaptureFigures figures_;
    std::mutex mutex_; // for the wait alone: what is shared is atomic
    std::condition_variable_any wake_;
    std::jthread thread_; // last: it ends first
};

} // namespace responder
