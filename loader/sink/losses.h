// SPDX-License-Identifier: GPL-2.0-only
//
// Where it was lost: one table in the order in which a frame comes by, each line from a counter with a name. What a
// frame was lost as is counted in one line only; what no counter tells apart is said.

#pragma once

#include "loader/sink/port.h"
#include "loader/sink/stack_losses.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace responder {

struct LossPlace {
    std::string_view key;                          // "wire"
    std::optional<std::uint64_t> frames;           // unknown where it is
    std::string text;                              // what was counted, and what it can not tell
    std::optional<std::uint64_t> of_all_sockets{}; // where `frames` are those of watched ports alone
};

// Behind the program, where streams are followed by the sockets' readers: test frames that none of them got.
std::uint64_t lost_in_ring(const Books& books);

// Of one port.
std::vector<LossPlace> loss_places(const StreamReport& streams, const Books& books);
// Behind the program, of all ports together: the stack's of the whole network namespace, the sockets' of watched ports.
std::vector<LossPlace> loss_places_behind(const StackLosses& stack);

} // namespace responder
