// SPDX-License-Identifier: GPL-2.0-only

#include "loader/stamp/reply.h"

#include "loader/stamp/time.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

namespace responder {

namespace {

// Where the fields of a packet begin. Those up to the session id are in requests too; the sequence number is the first.
struct Layout {
    std::size_t length, sent, error_estimate, session, received, sender_sequence, sender_sent, sender_error_estimate,
        sender_ttl;
};
constexpr Layout unauthenticated{44, 4, 12, 14, 16, 24, 28, 36, 40}; // RFC 8762 figures 2 and 5
constexpr Layout authenticated{112, 16, 24, 26, 32, 48, 64, 72, 80}; // figures 4 and 7
constexpr std::size_t hmac_offset = 96;                              // it covers what is before it
constexpr std::size_t shortest_request = 14;                         // TWAMP-Light's without padding
constexpr std::size_t sequence_octets = 4, time_octets = 8;

const Layout& layout_of(const StampKey* key) noexcept { return key != nullptr ? authenticated : unauthenticated; }

// ---- TLVs: flags, type, two octets of length, value ----

constexpr std::size_t tlv_header = 4;
enum TlvFlag : std::uint8_t { unrecognised = 0x80, malformed = 0x40, not_authentic = 0x20 };
enum TlvType : std::uint8_t {
    extra_padding = 1,
    timestamp_information = 3,
    class_of_service = 4,
    direct_measurement = 5,
    follow_up_telemetry = 7,
    hmac = 8,
};
// RFC 8972 section 4.3: where a clock's time is from, and how a stamp was taken.
constexpr std::uint8_t source_ntp = 1, source_free_running = 5, taken_by_software = 2;

void put32(std::uint8_t* octets, std::uint32_t value) noexcept {
    const std::uint32_t on_wire = htonl(value);
    std::memcpy(octets, &on_wire, sizeof(on_wire));
}

// Of the value of the TLV that begins at `at`; nullopt: it is longer than what there is.
std::optional<std::size_t> length_of_tlv(std::span<const std::uint8_t> tlvs, std::size_t at) noexcept {
    const std::size_t left = tlvs.size() - at;
    if (left < tlv_header)
        return std::nullopt;
    const std::size_t length = static_cast<std::size_t>(tlvs[at + 2]) << 8 | tlvs[at + 3];
    if (length > left - tlv_header)
        return std::nullopt;
    return length;
}

// Is what there is behind the packet meant as TLVs? TWAMP-Light's padding is not; RFC 8972 reserves type 0.
bool are_tlvs(std::span<const std::uint8_t> octets) noexcept {
    return octets.size() >= tlv_header &&
           std::any_of(octets.begin(), octets.begin() + tlv_header, [](std::uint8_t octet) { return octet != 0; });
}

struct Protection {
    bool holds;
    std::optional<std::size_t> hmac; // where that TLV begins
};

// RFC 8972 section 4.8: nothing but Extra Padding behind the HMAC TLV, and none only where that is all there is.
Protection check_protection(std::span<const std::uint8_t> tlvs, std::span<const std::uint8_t> sequence,
                            StampKey& key) noexcept {
    std::optional<std::size_t> found;
    std::size_t count = 0;
    bool only_padding = true;
    for (std::size_t at = 0; at < tlvs.size(); ++count) {
        const std::optional<std::size_t> length = length_of_tlv(tlvs, at);
        const bool padding = length && tlvs[at + 1] == extra_padding;
        if (!length || (found && !padding))
            return {false, {}};
        only_padding = only_padding && padding;
        if (tlvs[at + 1] == hmac) {
            if (*length != StampMac().size())
                return {false, {}};
            found = at;
        }
        at += tlv_header + *length;
    }
    if (!found)
        return {count == 1 && only_padding, {}};
    return {key.holds(tlvs.subspan(*found + tlv_header, StampMac().size()), {sequence, tlvs.first(*found)}), found};
}

void flag_all(std::span<std::uint8_t> tlvs, TlvFlag flag) noexcept {
    for (std::size_t at = 0; at < tlvs.size();) {
        tlvs[at] |= flag;
        const std::optional<std::size_t> length = length_of_tlv(tlvs, at);
        if (!length)
            return;
        at += tlv_header + *length;
    }
}

bool is_known(std::uint8_t type, const StampKey* key) noexcept {
    switch (type) {
    case extra_padding:
    case timestamp_information:
    case class_of_service:
    case direct_measurement:
    case follow_up_telemetry:
        return true;
    case hmac:
        return key != nullptr;
    default:
        return false;
    }
}

// Of a known type. False: its length is not one of this type's.
bool fill_in(std::uint8_t type, std::span<std::uint8_t> value, const StampContext& context,
             StampReply& reply) noexcept {
    switch (type) {
    case timestamp_information:
        if (value.size() < 4) // more are sub-TLVs, and stay
            return false;
        value[0] = value[2] = (ntohs(context.clock.error_estimate) & 0x8000) != 0 ? source_ntp : source_free_running;
        value[1] = value[3] = taken_by_software;
        return true;
    case class_of_service: {
        if (value.size() != 4)
            return false;
        // DSCP1 as wanted, then DSCP and ECN as they came, and RP: 0, for every DSCP is permitted.
        const unsigned wanted = value[0] >> 2, came = context.traffic_class;
        put32(value.data(), wanted << 26 | came << 18);
        reply.traffic_class = static_cast<std::uint8_t>(wanted << 2 | (came & 3));
        return true;
    }
    case direct_measurement:
        if (value.size() != 12)
            return false;
        put32(&value[4], context.accepted);
        put32(&value[8], context.returned);
        return true;
    case follow_up_telemetry:
        if (value.size() != 16)
            return false;
        std::ranges::fill(value, std::uint8_t{0});
        if (context.previous) {
            put32(value.data(), context.previous->number);
            stamp_write_time(&value[4], context.previous->sent_ns, &context.clock);
            value[12] = taken_by_software;
        }
        return true;
    default:
        return true;
    }
}

void answer_tlvs(std::span<std::uint8_t> tlvs, const StampContext& context, const StampKey* key,
                 StampReply& reply) noexcept {
    for (std::size_t at = 0; at < tlvs.size();) {
        const std::optional<std::size_t> length = length_of_tlv(tlvs, at);
        const bool has_type = tlvs.size() - at > 1;
        const bool known = has_type && is_known(tlvs[at + 1], key);
        tlvs[at] = known || !has_type ? 0 : unrecognised;
        if (!length || (known && !fill_in(tlvs[at + 1], tlvs.subspan(at + tlv_header, *length), context, reply))) {
            tlvs[at] |= malformed; // and the rest stays as it came
            return;
        }
        at += tlv_header + *length;
    }
}

} // namespace

StampVerdict judge_stamp(std::span<const std::uint8_t> request, StampKey* key) noexcept {
    if (request.size() < (key != nullptr ? authenticated.length : shortest_request))
        return StampVerdict::too_short;
    if (key != nullptr && !key->holds(request.subspan(hmac_offset, StampMac().size()), {request.first(hmac_offset)}))
        return StampVerdict::wrong_hmac;
    return StampVerdict::sound;
}

std::uint16_t stamp_session_id(std::span<const std::uint8_t> request, const StampKey* key) noexcept {
    std::uint16_t session = 0;
    const std::size_t at = layout_of(key).session;
    if (request.size() >= at + sizeof(session))
        std::memcpy(&session, &request[at], sizeof(session));
    return session;
}

bool asks_for_counters(std::span<const std::uint8_t> request, const StampKey* key) noexcept {
    const std::span<const std::uint8_t> tlvs = request.subspan(std::min(request.size(), layout_of(key).length));
    for (std::size_t at = 0; at < tlvs.size();) {
        const std::optional<std::size_t> length = length_of_tlv(tlvs, at);
        if (!length)
            return false;
        if (tlvs[at + 1] == direct_measurement)
            return true;
        at += tlv_header + *length;
    }
    return false;
}

StampReply write_stamp_reply(std::span<const std::uint8_t> request, const StampContext& context, StampKey* key,
                             std::span<std::uint8_t, stamp_room> room) noexcept {
    const Layout& at = layout_of(key);
    StampReply reply{std::max(request.size(), at.length), context.traffic_class};
    std::uint8_t* const out = room.data();
    std::memset(out, 0, at.length);
    std::memcpy(out + at.sender_sequence, request.data(), sequence_octets);
    std::memcpy(out + at.sender_sent, &request[at.sent], time_octets);
    std::memcpy(out + at.sender_error_estimate, &request[at.error_estimate], sizeof(context.clock.error_estimate));
    if (context.number)
        put32(out, *context.number);
    else
        std::memcpy(out, request.data(), sequence_octets);
    std::memcpy(out + at.error_estimate, &context.clock.error_estimate, sizeof(context.clock.error_estimate));
    const std::uint16_t session = stamp_session_id(request, key);
    std::memcpy(out + at.session, &session, sizeof(session));
    stamp_write_time(out + at.received, context.received_ns, &context.clock);
    out[at.sender_ttl] = context.ttl;

    if (request.size() <= at.length)
        return reply;
    const std::span<std::uint8_t> rest = room.subspan(at.length, request.size() - at.length);
    std::ranges::copy(request.subspan(at.length), rest.begin());
    if (!are_tlvs(rest))
        return reply;
    Protection protection{true, {}};
    if (key != nullptr)
        protection = check_protection(rest, request.first(sequence_octets), *key);
    if (!protection.holds) {
        flag_all(rest, not_authentic);
        return reply;
    }
    answer_tlvs(rest, context, key, reply);
    if (protection.hmac)
        std::ranges::copy(key->mac({room.first(sequence_octets), rest.first(*protection.hmac)}),
                          rest.begin() + static_cast<std::ptrdiff_t>(*protection.hmac + tlv_header));
    return reply;
}

void seal_stamp(std::span<std::uint8_t> reply, std::uint64_t sent_ns, const stamp_clock& clock,
                StampKey* key) noexcept {
    stamp_write_time(&reply[layout_of(key).sent], sent_ns, &clock);
    if (key != nullptr)
        std::ranges::copy(key->mac({reply.first(hmac_offset)}), reply.begin() + hmac_offset);
}

} // namespace responder
