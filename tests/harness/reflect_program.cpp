// SPDX-License-Identifier: GPL-2.0-only

#include "tests/harness/reflect_program.h"

#include "loader/reflect/options.h"

#include <bpf/libbpf.h>

#include <algorithm>
#include <cstring>

namespace responder::test {

reflect_cfg default_reflect() {
    const char* const argv[] = {"xdp-reflect", "eth1"};
    return parse_reflect_options(2, argv)->program;
}

ReflectProgram::ReflectProgram(const reflect_cfg& cfg) : cfg_(cfg) {
    std::memcpy(const_cast<reflect_cfg*>(const_cast<const reflect_cfg*>(&skeleton_->rodata->reflect_cfg)), &cfg_,
                sizeof(cfg_));
    reflect_live& live = skeleton_->bss->reflect_live;
    std::ranges::copy(packet::own_mac.bytes, live.own_mac.bytes);
    live.clock = {.from_tai_s = 2'208'988'800 - static_cast<__s64>(tai_offset_s),
                  .error_estimate = 0x0a81,
                  .format = STAMP_NTP,
                  .zero = 0};
    std::memset(live.on_link4, 0xff, sizeof(live.on_link4));
    std::memset(live.on_link6, 0xff, sizeof(live.on_link6));
    live.on_link4[0] = prefix4("10.0.0.0", 8);
    live.on_link6[0] = prefix6("2001:db8::", 32);
    bpf_map__set_autocreate(skeleton_->maps.port_sockets, false);
    skeleton_.load();
    counter_ = SlotCounter(bpf_map__fd(skeleton_->maps.queue_counters));
}

} // namespace responder::test
