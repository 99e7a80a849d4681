/* SPDX-License-Identifier: GPL-2.0-only */
/* What every answer starts with: is one due, and back to whoever asked, from this port. */
#ifndef RESPONDER_RESPOND_REPLY_H
#define RESPONDER_RESPOND_REPLY_H

#include "../match.h"

/*
 * The Ethernet header of a frame that may be answered, or NULL: it came for this port or for a group, from one other
 * station. An answer to a group or to ourselves would be a storm or a loop.
 */
static __always_inline struct ethhdr *reply_to(struct span s, const __u8 *own_mac)
{
	struct ethhdr *eth = (struct ethhdr *)FRAME_AT(struct ethhdr, s, 0);

	if (!FRAME_FITS(eth, s) || (eth->h_source[0] & 1) || match_mac_equal(eth->h_source, own_mac))
		return NULL;
	return (eth->h_dest[0] & 1) || match_mac_equal(eth->h_dest, own_mac) ? eth : NULL;
}

static __always_inline void reply_swap_mac(struct ethhdr *eth, const __u8 *own_mac)
{
	__builtin_memcpy(eth->h_dest, eth->h_source, ETH_ALEN);
	__builtin_memcpy(eth->h_source, own_mac, ETH_ALEN);
}

/* To whoever the packet came from, from `address`. */
static __always_inline void reply_swap_address6(struct ipv6hdr *ip, const __be32 *address)
{
	for (int i = 0; i < 4; i++) {
		ip->daddr.s6_addr32[i] = ip->saddr.s6_addr32[i];
		ip->saddr.s6_addr32[i] = address[i];
	}
}

static __always_inline int reply_address6_equal(const __be32 *a, const __be32 *b)
{
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

static __always_inline int reply_address6_is_none(const __be32 *a)
{
	return !(a[0] | a[1] | a[2] | a[3]);
}

static __always_inline int reply_address6_is_group(const __be32 *a)
{
	return *(const __u8 *)a == 0xff;
}

#endif
