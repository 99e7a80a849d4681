// SPDX-License-Identifier: GPL-2.0-only

#include "loader/capture/capture_file.h"

#include "loader/clock.h"
#include "loader/error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <ctime>

namespace responder {

namespace {

constexpr const char* standard_output = "-";

// As dumpcap names the files of a row, so that Wireshark knows that they belong together: NAME_00001_20261130120000.EXT
std::string numbered(const std::string& name, unsigned number) {
    const auto own = name.rfind('/') + 1; // behind the folder's; 0 where there is none
    auto dot = name.rfind('.');
    if (dot == name.npos || dot <= own) // one in front hides the file
        dot = name.size();
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    return fmt::format("{}_{:05}_{:04}{:02}{:02}{:02}{:02}{:02}{}", name.substr(0, dot), number, local.tm_year + 1900,
                       local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, name.substr(dot));
}

// How much of it, in whole blocks, lies within so many octets; `each` is told of every one.
template <class Each>
std::size_t whole_blocks(std::span<const std::uint8_t> blocks, std::uint64_t within, Each each) {
    std::size_t end = 0;
    while (end < blocks.size()) {
        const pcapng::Block block = pcapng::first_block(blocks.subspan(end));
        if (end + block.length > within)
            break;
        each(block);
        end += block.length;
    }
    return end;
}

} // namespace

CaptureFile::CaptureFile(std::string name, const CaptureLimits& limits) : pattern_(std::move(name)), limits_(limits) {
    open();
    if (!file_)
        throw Error(ExitCode::io, "--pcap", why_over_);
}

CaptureFile::~CaptureFile() {
    if (is_new_ && header_.empty()) // of a start that failed
        ::unlink(name_.c_str());
}

void CaptureFile::open() {
    ++number_;
    name_ = limits_.files == 0 ? pattern_ : numbered(pattern_, number_);
    if (name_ == standard_output && isatty(STDOUT_FILENO)) {
        why_over_ = "standard output is a terminal; let it go into a program: | wireshark -k -i -";
        return;
    }
    // What was closed is /dev/null to read from: see run_command().
    if (name_ == standard_output && (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        why_over_ = "standard output is closed, or not open for writing";
        return;
    }
    if (name_ == standard_output) {
        file_.reset(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    } else {
        // A pipe is not waited for.
        constexpr int how = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK;
        file_.reset(::open(name_.c_str(), how | O_EXCL, 0666)); // less the umask, as of any file
        is_new_ = static_cast<bool>(file_);
        if (!is_new_ && errno == EEXIST)
            file_.reset(::open(name_.c_str(), how, 0666));
    }
    if (!file_) {
        const int error = errno;
        struct stat status {};
        const bool is_pipe = stat(name_.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
        why_over_ = fmt::format("open {}: {}", name_,
                                error == ENXIO && is_pipe ? "nobody reads this pipe; start its reader first"
                                                          : error_text(error));
        return;
    }
    if (name_ == standard_output)
        return;
    fcntl(file_.get(), F_SETFL, 0); // write() waits: for what, reader_is_ready() knows
    struct stat status {};
    is_regular_ = fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode);
    if (is_regular_ && flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        why_over_ = fmt::format("open {}: another capture writes into it", name_);
        file_.reset();
    }
}

void CaptureFile::begin(pcapng::Octets header, std::size_t interfaces) {
    header_ = std::move(header);
    statistics_.resize(interfaces);
    for (pcapng::Statistics& of_one : statistics_)
        of_one.started_ns = clock_now_ns(CLOCK_REALTIME);
    write_header();
}

bool CaptureFile::write_header() {
    size_ = 0;
    if (is_regular_ && ftruncate(file_.get(), 0) != 0)
        why_over_ = fmt::format("empty {}: {}", name_, error_text(errno));
    else
        write(header_);
    kept_.push_back(name_);
    return !is_over();
}

std::span<const std::uint8_t> CaptureFile::append(std::span<const std::uint8_t> blocks) {
    const std::size_t at_the_end = statistics_.size() * pcapng::longest_statistics_block;
    while (!blocks.empty() && !is_over()) {
        std::size_t fits = blocks.size();
        if (limits_.size != 0)
            fits = whole_blocks(blocks, limits_.size - std::min(limits_.size, size_ + at_the_end), [](auto) {});
        if (fits == 0) {
            next();
            continue;
        }
        blocks = blocks.subspan(write(blocks.first(fits)));
    }
    return blocks;
}

// The file is full, to its limit.
void CaptureFile::next() {
    if (size_ == header_.size()) // not even one block: the next file would be no better
        why_over_ = fmt::format("a frame is larger than --pcap-size {} lets a file be", limits_.size);
    else if (limits_.files == 0)
        why_over_ = fmt::format("{} has reached --pcap-size {}", name(), limits_.size);
    if (is_over())
        return;
    close_file();
    if (is_over())
        return;
    open();
    if (!file_ || !write_header())
        return;
    while (kept_.size() > limits_.files) {
        ::unlink(kept_.front().c_str());
        kept_.pop_front();
    }
}

// How much was written, in whole blocks.
std::size_t CaptureFile::write(std::span<const std::uint8_t> blocks) {
    int error = 0;
    const std::size_t written = write_some(blocks, error);
    const std::size_t whole = whole_blocks(blocks, written, [this](const pcapng::Block& block) {
        if (block.packet_of)
            ++statistics_.at(*block.packet_of).delivered;
    });
    size_ += whole;
    octets_ += whole;
    if (error != 0 && !is_over())
        why_over_ = fmt::format("write {}: {}", name(),
                                error == EPIPE       ? "its reader has gone"
                                : error == ETIMEDOUT ? "its reader takes nothing"
                                                     : error_text(error));
    if (whole != written && is_regular_) {
        [[maybe_unused]] const bool cut = ftruncate(file_.get(), static_cast<off_t>(size_)) == 0 &&
                                          lseek(file_.get(), static_cast<off_t>(size_), SEEK_SET) >= 0;
    }
    return whole;
}

std::size_t CaptureFile::write_some(std::span<const std::uint8_t> octets, int& error) {
    std::size_t written = 0;
    while (written < octets.size() && error == 0) {
        if (!is_regular_ && !reader_is_ready()) {
            error = ETIMEDOUT;
            break;
        }
        // A pipe that is ready takes so much without waiting.
        const std::size_t part =
            is_regular_ ? octets.size() - written : std::min<std::size_t>(octets.size() - written, PIPE_BUF);
        const ssize_t now = ::write(file_.get(), octets.data() + written, part);
        if (now >= 0)
            written += static_cast<std::size_t>(now);
        else if (errno != EINTR)
            error = errno;
    }
    return written;
}

// Of a pipe, a terminal, a device. False: it is waited for no longer.
bool CaptureFile::reader_is_ready() {
    using namespace std::chrono_literals;
    constexpr auto patience = 2s;
    pollfd reader{.fd = file_.get(), .events = POLLOUT, .revents = 0};
    std::optional<std::chrono::steady_clock::time_point> hurried_since;
    while (poll(&reader, 1, 100) == 0) {
        const auto now = std::chrono::steady_clock::now();
        if (hurries_ && !hurried_since)
            hurried_since = now;
        if (hurried_since && now - *hurried_since > patience)
            return false;
    }
    return true; // or gone, which write() will say
}

void CaptureFile::close_file() {
    pcapng::Octets blocks;
    for (std::size_t i = 0; i < statistics_.size(); ++i) {
        statistics_[i].ended_ns = clock_now_ns(CLOCK_REALTIME);
        const pcapng::Octets block = pcapng::statistics_block(static_cast<std::uint32_t>(i), statistics_[i]);
        blocks.insert(blocks.end(), block.begin(), block.end());
    }
    // Also on a disk that is full: what was cut back may have left room.
    if (is_regular_ || !is_over())
        write(blocks);
    file_.reset();
}

void CaptureFile::end() {
    if (file_)
        close_file();
}

} // namespace responder
