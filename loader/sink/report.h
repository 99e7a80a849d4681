// SPDX-License-Identifier: GPL-2.0-only
//
// What a run has to say, and the two ways to say it: text for people, JSON for programs. A reporter renders into a buffer
// of its own that it keeps, and writes that to its file descriptor: a line an interval allocates nothing.

#pragma once

#include "loader/error.h"
#include "loader/json.h"
#include "loader/sink/figures.h"
#include "loader/sink/port.h"
#include "loader/sink/verdict.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace responder {

struct IntervalReport {
    const Port& port;
    Port::Interval interval;
    std::optional<std::chrono::duration<double>> left; // of --duration
};

struct RunReport {
    const SinkOptions& options;
    std::span<const Port> ports;
    std::span<const Books> books; // one a port
    std::chrono::system_clock::time_point started, ended;
    std::string_view ended_by; // "duration", "count", "signal", "interface"
    std::optional<Verdict> verdict;
    ExitCode exit_code;
};

class Reporter {
  public:
    virtual ~Reporter() = default;
    virtual void start(const SinkOptions& options, std::span<const Port> ports, std::chrono::system_clock::time_point now) = 0;
    virtual void interval(std::span<const IntervalReport> reports) = 0;
    virtual void event(const Port& port, std::string_view text) = 0;
    virtual void summary(const RunReport& run) = 0;
};

class TextReporter final : public Reporter {
  public:
    // `lines`: also a line an interval; `full`: also the summary.
    TextReporter(int fd, bool lines, bool full) : fd_(fd), lines_(lines), full_(full) {}
    void start(const SinkOptions& options, std::span<const Port> ports, std::chrono::system_clock::time_point now) override;
    void interval(std::span<const IntervalReport> reports) override;
    void event(const Port&, std::string_view) override {} // talk: the session has it on stderr already
    void summary(const RunReport& run) override;

  private:
    void heading();
    void write();

    int fd_;
    bool lines_;
    bool full_;
    unsigned rows_since_heading_ = 0;
    fmt::memory_buffer buffer_;
};

class JsonReporter final : public Reporter {
  public:
    // `stream`: a line for each event; otherwise one document at the end.
    JsonReporter(int fd, bool stream) : fd_(fd), stream_(stream) {}
    void start(const SinkOptions& options, std::span<const Port> ports, std::chrono::system_clock::time_point now) override;
    void interval(std::span<const IntervalReport> reports) override;
    void event(const Port& port, std::string_view text) override;
    void summary(const RunReport& run) override;

  private:
    void begin_event(std::string_view event);
    void write();

    int fd_;
    bool stream_;
    JsonWriter json_;
};

} // namespace responder
