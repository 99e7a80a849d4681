/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers ARP, ND and ping in place for the address of the test, in the VLANs of the test only. */
#ifndef RESPONDER_RESPOND_ADDRESS_H
#define RESPONDER_RESPOND_ADDRESS_H

#include "../match.h"
#include "arp.h"
#include "echo.h"
#include "nd.h"

/* The slot of the answer that the frame is now; or `slot`, which the frame has otherwise, and the frame as it was. */
static __always_inline __u32 respond_address(const struct frame *f, struct span s, __u32 slot,
					     const volatile struct answer_cfg *cfg,
					     const volatile struct match_cfg *match, const __u8 *own_mac)
{
	__be32 address6[4];

	if (!match_tags(f, s, match))
		return slot;
	if (cfg->v4) {
		if (slot == SLOT_ARP && respond_arp(f, s, cfg->address4, own_mac))
			return SLOT_ARP_REPLY;
		if (respond_echo4(f, s, cfg->address4, own_mac))
			return SLOT_PING_REPLY;
	}
	if (cfg->v6) {
		for (int i = 0; i < 4; i++)
			address6[i] = cfg->address6[i];
		if (slot == SLOT_ND && respond_nd(f, s, address6, own_mac))
			return SLOT_ND_REPLY;
		if (respond_echo6(f, s, address6, own_mac))
			return SLOT_PING_REPLY;
	}
	return slot;
}

#endif
