// SPDX-License-Identifier: GPL-2.0-only
//
// CaptureFile owns the file of a capture, or the row of files: it takes whole blocks, keeps each file within its size
// to the octet, begins the next one and removes the oldest. Each file begins with the section and its interfaces and
// ends with their statistics. Where the disk takes no more, the file is cut back to its last whole block and the
// capture is over; that is no error of the run.

#pragma once

#include "loader/capture/pcapng.h"
#include "loader/fd.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace responder {

struct CaptureLimits {
    std::uint64_t size = 0; // of a file, in octets; 0: none
    unsigned files = 0;     // the newest that are kept; 0: there is one file, and with its size the capture ends
};

class CaptureFile {
  public:
    // Opens the first file, which is nobody else's then. One that exists is emptied, but only by begin(); without that,
    // all is left as it was. "-" is standard output. Throws Error(io).
    CaptureFile(std::string name, const CaptureLimits& limits);
    CaptureFile(const CaptureFile&) = delete;
    CaptureFile& operator=(const CaptureFile&) = delete;
    ~CaptureFile();

    // What every file begins with, and how many interfaces it describes.
    void begin(pcapng::Octets header, std::size_t interfaces);

    // Writes whole blocks; gives back those that found no place. Once some do not, is_over().
    std::span<const std::uint8_t> append(std::span<const std::uint8_t> blocks);
    void end();

    // The end of the run is near: from now on, a reader that takes nothing for two seconds is waited for no longer.
    void hurry() noexcept { hurries_ = true; }

    // Of each interface, over all files. How many packets were delivered and when it ended, the file knows itself.
    std::vector<pcapng::Statistics>& statistics() noexcept { return statistics_; }

    bool is_over() const noexcept { return !why_over_.empty(); }
    const std::string& why_over() const noexcept { return why_over_; } // before end(): what took no more
    std::string_view name() const noexcept {
        return name_ == "-" ? "standard output" : std::string_view(name_);
    }                                                          // the latest
    unsigned files() const noexcept { return number_; }        // begun so far
    std::size_t kept() const noexcept { return kept_.size(); } // of these
    std::uint64_t octets() const noexcept { return octets_; }  // in all files

  private:
    void open();
    void next();
    bool write_header();
    std::size_t write(std::span<const std::uint8_t> blocks);
    std::size_t write_some(std::span<const std::uint8_t> octets, int& error);
    bool reader_is_ready();
    void close_file();

    std::string pattern_; // the name as given
    CaptureLimits limits_;
    pcapng::Octets header_;
    std::vector<pcapng::Statistics> statistics_;
    UniqueFd file_;
    std::string name_;
    bool is_new_ = false;     // made by us
    bool is_regular_ = false; // else it is a pipe, a terminal, a device: nothing can be taken back
    std::uint64_t size_ = 0;  // of the file so far
    unsigned number_ = 0;
    std::deque<std::string> kept_;
    std::uint64_t octets_ = 0;
    std::string why_over_;
    std::atomic<bool> hurries_{false};
};

} // namespace responder
