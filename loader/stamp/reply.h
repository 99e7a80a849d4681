// SPDX-License-Identifier: GPL-2.0-only
//
// The reply to a STAMP request (RFC 8762 section 4.3, RFC 8972 section 4), octets from octets: all that
// bpf/respond/stamp.h does, and what it leaves. Knows neither sockets nor clocks. `key`: of authenticated mode, nullptr
// in the other.

#pragma once

#include "bpf/respond/stamp_clock.h"
#include "loader/stamp/key.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace responder {

enum class StampVerdict { sound, too_short, wrong_hmac };

// Is a request one of this mode? Nothing is read of one that is not.
StampVerdict judge_stamp(std::span<const std::uint8_t> request, StampKey* key) noexcept;

// Of a sound request, as on the wire.
std::uint16_t stamp_session_id(std::span<const std::uint8_t> request, const StampKey* key) noexcept;

// Does it have a Direct Measurement TLV, so that it is worth while to count?
bool asks_for_counters(std::span<const std::uint8_t> request, const StampKey* key) noexcept;

// What is not in the request itself.
struct StampContext {
    stamp_clock clock{};
    std::uint64_t received_ns = 0;       // of CLOCK_TAI
    std::uint8_t ttl = 255;              // or hop limit
    std::uint8_t traffic_class = 0;      // DSCP and ECN
    std::optional<std::uint32_t> number; // of the reply in its session; nullopt: that of the request
    struct Sent {
        std::uint32_t number;
        std::uint64_t sent_ns;
    };
    std::optional<Sent> previous;             // reply of the session
    std::uint32_t accepted = 0, returned = 0; // test frames on the port, this one included
};

struct StampReply {
    std::size_t length;
    std::uint8_t traffic_class;
};

constexpr std::size_t stamp_room = 65536; // for any reply: as long as its request, or as the shortest there is

// Of a sound request, but for what seal_stamp() puts in at the last moment.
StampReply write_stamp_reply(std::span<const std::uint8_t> request, const StampContext& context, StampKey* key,
                             std::span<std::uint8_t, stamp_room> reply) noexcept;

// T3, and the HMAC over it.
void seal_stamp(std::span<std::uint8_t> reply, std::uint64_t sent_ns, const stamp_clock& clock, StampKey* key) noexcept;

} // namespace responder
