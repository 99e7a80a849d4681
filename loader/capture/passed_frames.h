// SPDX-License-Identifier: GPL-2.0-only
//
// PassedFrames reads the copies that the sink's program makes of what passes up (bpf/passed.h): a buffer of the
// kernel's for each CPU. It wakes nobody; whoever reads comes by often enough.

#pragma once

#include "bpf/abi.h"
#include "loader/fd.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

struct perf_buffer; // libbpf

namespace responder {

class PassedFrames {
  public:
    using Handler = std::function<void(const passed_frame& about, std::span<const std::uint8_t> octets)>;

    // The map may go before this does. Throws Error.
    PassedFrames(int map_fd, Handler handler);

    void read() noexcept; // hands over what has come

  private:
    struct Free {
        void operator()(perf_buffer* buffer) const noexcept;
    };
    UniqueFd map_;
    Handler handler_;
    std::unique_ptr<perf_buffer, Free> buffer_;
};

} // namespace responder
