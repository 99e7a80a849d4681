/* SPDX-License-Identifier: GPL-2.0-only */
/* The reflector's guards for a datagram that a socket has: the program's own, over headers made up for them. */
#ifndef RESPONDER_REFLECT_STAMP_GUARD_H
#define RESPONDER_REFLECT_STAMP_GUARD_H

#include "bpf/reflect_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of one datagram, all in network order; an IPv4 address is in [0]. */
struct stamp_endpoints {
	__u8 v6;
	__be32 source[4], destination[4];
	__be16 source_port, destination_port;
};

/*
 * 0, or the slot of the reason why it is not answered. What a socket does not know of a frame, its MAC addresses and VLAN
 * tags, is not looked at: `cfg` must not restrict by them.
 */
__u32 stamp_guard(const struct stamp_endpoints *endpoints, const struct reflect_cfg *cfg,
		  const volatile struct reflect_live *live);

#ifdef __cplusplus
}
#endif

#endif
