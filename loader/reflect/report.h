// SPDX-License-Identifier: GPL-2.0-only
//
// What the reflector has to say of a run: text for people, JSON for programs.

#pragma once

#include "loader/error.h"
#include "loader/reflect/options.h"
#include "loader/reflect/port.h"
#include "loader/reflect/stamp_socket.h"
#include "loader/run/report_parts.h"

#include <chrono>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace responder {

struct ReflectRun {
    const ReflectOptions& options;
    std::span<const ReflectPort> ports;
    std::vector<Books> books;       // one a port
    std::vector<StampCounts> stamp; // of the sockets; one a port, or empty where STAMP is not answered
    std::chrono::system_clock::time_point started, ended;
    std::chrono::duration<double> duration;
    Ending ended_by;
    ExitCode exit_code;
};

// The summary, whole, of a run that goes on: to be written by whoever wants it. Counters, and what is sent back; not
// how the run was called. The JSON is in ASCII.
std::string reflect_text(const ReflectRun& run);
std::string reflect_json(const ReflectRun& run);

class ReflectReporter {
  public:
    virtual ~ReflectReporter() = default;
    virtual void start(const ReflectOptions& options, std::span<const ReflectPort> ports) = 0;
    virtual void interval(const ReflectPort& port, const CountedInterval& interval,
                          std::optional<std::chrono::duration<double>> left) = 0;
    virtual void event(const Port& port, std::string_view text) = 0;
    virtual void summary(const ReflectRun& run) = 0;
};

class ReflectText final : public ReflectReporter {
  public:
    explicit ReflectText(bool lines) : lines_(lines) {}
    void start(const ReflectOptions&, std::span<const ReflectPort>) override {} // the session introduces them itself
    void interval(const ReflectPort& port, const CountedInterval& interval,
                  std::optional<std::chrono::duration<double>> left) override;
    void event(const Port&, std::string_view) override {} // the session has it on stderr already
    void summary(const ReflectRun& run) override;

  private:
    void write();

    bool lines_;
    unsigned rows_since_heading_ = 0;
    Buffer buffer_;
};

class ReflectJson final : public ReflectReporter {
  public:
    // `stream`: a line for each event; otherwise one document at the end.
    explicit ReflectJson(bool stream) : output_(stream) {}
    void start(const ReflectOptions& options, std::span<const ReflectPort> ports) override;
    void interval(const ReflectPort& port, const CountedInterval& interval,
                  std::optional<std::chrono::duration<double>> left) override;
    void event(const Port& port, std::string_view text) override;
    void summary(const ReflectRun& run) override;

  private:
    JsonOutput output_;
};

} // namespace responder
