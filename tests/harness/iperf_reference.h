// SPDX-License-Identifier: GPL-2.0-only
//
// What iperf's own receivers reckon, in floating point as they do it, written anew from their behaviour
// (esnet/iperf 3.12, src/iperf_udp.c; iperf 2.1.8, src/Reporter.c): what bpf/iperf.h is held against.

#pragma once

#include <cmath>
#include <cstdint>

namespace responder::test {

struct Microseconds {
    std::uint32_t seconds = 0, microseconds = 0;
    static Microseconds of_ns(std::uint64_t ns) {
        return {static_cast<std::uint32_t>(ns / 1'000'000'000), static_cast<std::uint32_t>(ns / 1000 % 1'000'000)};
    }
    double operator-(const Microseconds& other) const {
        const std::int64_t difference =
            (std::int64_t{seconds} - other.seconds) * 1'000'000 + (std::int64_t{microseconds} - other.microseconds);
        return static_cast<double>(difference) / 1e6;
    }
};

class IperfReference {
  public:
    enum class Kind { iperf2, iperf3 };
    explicit IperfReference(Kind kind) : kind_(kind) {}

    void take(std::uint64_t number, Microseconds sent, Microseconds arrived) {
        if (number >= packets_ + 1) {
            lost_ += static_cast<std::int64_t>(number - 1 - packets_);
            packets_ = number;
        } else {
            ++out_of_order_;
            if (kind_ == Kind::iperf3 && lost_ > 0)
                --lost_;
        }
        // iperf3 knows no negative time.
        const double transit = kind_ == Kind::iperf3 ? std::fabs(arrived - sent) : arrived - sent;
        if (datagrams_++ == 0)
            transit_ = transit;
        jitter_ += (std::fabs(transit - transit_) - jitter_) / 16.0;
        transit_ = transit;
    }

    void join(std::uint64_t first) { packets_ = before_ = first - 1; } // what was before is not known

    std::uint64_t packets() const { return packets_ - before_; }
    std::int64_t out_of_order() const { return out_of_order_; }
    std::int64_t lost() const {
        if (kind_ == Kind::iperf3)
            return lost_;
        return lost_ > out_of_order_ ? lost_ - out_of_order_ : 0;
    }
    double jitter_ms() const { return jitter_ * 1e3; }

  private:
    Kind kind_;
    std::uint64_t packets_ = 0, before_ = 0, datagrams_ = 0;
    std::int64_t lost_ = 0, out_of_order_ = 0;
    double transit_ = 0, jitter_ = 0;
};

} // namespace responder::test
