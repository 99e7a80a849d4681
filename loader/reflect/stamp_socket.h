// SPDX-License-Identifier: GPL-2.0-only
//
// Answers the STAMP requests that the XDP program leaves to the stack, by UDP sockets and one thread:
//
//     frame -> XDP program -> XDP_TX             what can be answered in place
//                          -> stack -> socket    the rest: short requests, TLVs, IP options, authenticated mode
//
// What the program refuses passes up too and comes here: the same guards are asked again.

#pragma once

#include "loader/fd.h"
#include "loader/reflect/options.h"
#include "loader/reflect/port.h"
#include "loader/reflect/stamp_guard.h"
#include "loader/stamp/reply.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

struct msghdr;

namespace responder {

// What became of a datagram that came to a socket. Those of `guarded` are in the program's slot of that guard.
// `dropped`: by the kernel, before they could be read.
enum class StampOutcome { replied, guarded, too_short, wrong_hmac, not_sent, dropped };

struct StampOutcomeName {
    StampOutcome outcome;
    std::string_view key, text;
};
inline constexpr StampOutcomeName stamp_outcome_names[] = {
    {StampOutcome::replied, "replies", "replies"},
    {StampOutcome::too_short, "too_short", "too short"},
    {StampOutcome::wrong_hmac, "wrong_hmac", "wrong HMAC"},
    {StampOutcome::not_sent, "not_sent", "could not be sent"},
    {StampOutcome::guarded, "guarded", "refused by a guard"},
    {StampOutcome::dropped, "dropped", "dropped (the socket was full, or the checksum wrong)"},
};

using StampCounts = std::array<std::uint64_t, std::size(stamp_outcome_names)>; // by StampOutcome

// Every request that was read, and that the guards let through.
std::uint64_t stamp_requests(const StampCounts& counts) noexcept;

class StampResponder {
  public:
    // `notes` gets which sockets are not to be had; with a key, without which nothing is answered, that is an Error.
    // `options` and `ports` outlive it.
    StampResponder(const ReflectOptions& options, std::span<const ReflectPort> ports, std::vector<std::string>& notes);
    StampResponder(const StampResponder&) = delete;
    StampResponder& operator=(const StampResponder&) = delete;
    ~StampResponder() { stop(); }

    void stop() noexcept;
    StampCounts counts(std::size_t port) const noexcept; // in the order of the ports

  private:
    struct OnPort {
        explicit OnPort(const ReflectPort& its);

        const ReflectPort& port;
        ProgramCounters counters;
        Snapshot snapshot; // room for a reading
        std::array<std::atomic<std::uint64_t>, std::size(stamp_outcome_names)> outcomes{};
    };
    struct Socket {
        OnPort& on;
        UniqueFd fd;
        std::uint16_t udp_port;
        bool v6;
    };
    struct Request; // as it came
    struct Previous {
        reflect_session session{};
        std::optional<StampContext::Sent> sent;
    };

    void open_sockets(OnPort& on, std::vector<std::string>& notes);
    void run() noexcept;
    void take(Socket& socket, unsigned most) noexcept;
    StampOutcome answer(Socket& socket, const Request& request) noexcept;
    static void count(OnPort& on, StampContext& context) noexcept;
    bool send(const Socket& socket, const Request& request, const StampReply& reply) noexcept;
    std::uint32_t next_number(const OnPort& on, const reflect_session& session) const noexcept;
    Previous& previous_of(const reflect_session& session) noexcept;

    const ReflectOptions& options_;
    std::optional<StampKey> key_;
    std::deque<OnPort> ports_; // they stay where they are
    std::vector<Socket> sockets_;
    std::vector<Previous> previous_; // of stateful sessions, by hash; whoever collides is forgotten
    std::vector<std::uint8_t> received_, reply_;
    std::atomic<bool> stop_{false};
    UniqueFd stop_event_;
    std::thread thread_; // the last: it uses all of the above
};

} // namespace responder
