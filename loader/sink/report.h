// SPDX-License-Identifier: GPL-2.0-only
//
// What a run has to say, and the two ways to say it: text for people, JSON for programs. A reporter renders into a
// buffer of its own that it keeps, and writes that: a line an interval allocates nothing.

#pragma once

#include "loader/capture/capture.h"
#include "loader/error.h"
#include "loader/run/report_parts.h"
#include "loader/sink/clocks.h"
#include "loader/sink/losses.h"
#include "loader/sink/picture.h"
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
    const SinkPort& port;
    SinkPort::Interval interval;
    std::optional<std::chrono::duration<double>> left; // of --duration
};

struct RunReport {
    const SinkOptions& options;
    const ClockFloor& clock;
    std::span<const SinkPort> ports;
    std::span<const Books> books;     // one a port
    std::optional<StackLosses> stack; // where ports are watched; of all together
    std::chrono::system_clock::time_point started, ended;
    std::chrono::duration<double> duration; // by a clock that does not step
    Ending ended_by;
    const CaptureFigures* capture; // nullptr: there was none
    std::optional<Verdict> verdict;
    ExitCode exit_code;
};

class Reporter {
  public:
    virtual ~Reporter() = default;
    virtual void start(const SinkOptions& options, std::span<const SinkPort> ports) = 0;
    virtual void interval(std::span<const IntervalReport> reports) = 0;
    virtual void event(const Port& port, std::string_view text) = 0;
    virtual void capture_over(std::string_view text) = 0; // before the run is
    virtual void summary(const RunReport& run) = 0;
};

class TextReporter final : public Reporter {
  public:
    enum class To { data, talk }; // stdout, which must not fail; stderr, which may
    // `lines`: also a line an interval.
    TextReporter(To to, bool lines);
    void start(const SinkOptions&, std::span<const SinkPort> ports) override; // the session introduces them itself
    void interval(std::span<const IntervalReport> reports) override;
    void event(const Port&, std::string_view) override {} // talk: the session has it on stderr already
    void capture_over(std::string_view) override {}       // as well
    void summary(const RunReport& run) override;

  private:
    void heading(bool sockets);
    void write();

    bool is_talk_;
    bool lines_;
    std::size_t rows_since_heading_ = 0;
    bool draws_;                        // on a terminal that can
    std::vector<Sparkline> sparklines_; // of the rate, a port
    fmt::memory_buffer buffer_;
};

class JsonReporter final : public Reporter {
  public:
    // `stream`: a line for each event; otherwise one document at the end.
    explicit JsonReporter(bool stream) : output_(stream) {}
    void start(const SinkOptions& options, std::span<const SinkPort> ports) override;
    void interval(std::span<const IntervalReport> reports) override;
    void event(const Port& port, std::string_view text) override;
    void capture_over(std::string_view text) override;
    void summary(const RunReport& run) override;

  private:
    JsonOutput output_;
};

} // namespace responder
