/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Turns a frame round in place: source and destination change places, and no other octet. The Internet checksum is a sum
 * (RFC 1071), so that IP's and the transport's stay valid, and wrong ones stay wrong.
 */
#ifndef RESPONDER_REWRITE_H
#define RESPONDER_REWRITE_H

#include "parse.h"
#include "reflect_abi.h"

static __always_inline void rewrite_swap_macs(struct ethhdr *eth)
{
	word32 *destination = (word32 *)eth->h_dest, *source = (word32 *)eth->h_source;
	word16 *destination_rest = (word16 *)(eth->h_dest + 4), *source_rest = (word16 *)(eth->h_source + 4);
	__u32 front = *destination;
	__u16 rest = *destination_rest;

	*destination = *source;
	*destination_rest = *source_rest;
	*source = front;
	*source_rest = rest;
}

static __always_inline void rewrite_swap_ip4(struct iphdr *ip)
{
	__be32 destination = ip->daddr;

	ip->daddr = ip->saddr;
	ip->saddr = destination;
}

static __always_inline void rewrite_swap_ip6(struct ipv6hdr *ip)
{
	word64 *source = (word64 *)&ip->saddr, *destination = (word64 *)&ip->daddr;

	for (int i = 0; i < 2; i++) {
		__u64 half = destination[i];

		destination[i] = source[i];
		source[i] = half;
	}
}

/* UDP's and TCP's stand at the same place. */
static __always_inline void rewrite_swap_ports(struct udphdr *udp)
{
	__be16 destination = udp->dest;

	udp->dest = udp->source;
	udp->source = destination;
}

/* A whole frame, down to the layer of enum reflect_swap. */
static __always_inline void rewrite_turn(const struct frame *f, struct span s, __u32 swap)
{
	struct ethhdr *eth = (struct ethhdr *)FRAME_AT(struct ethhdr, s, 0);
	struct udphdr *ports = (struct udphdr *)FRAME_AT(struct udphdr, s, f->l4); /* TCP has them at the same place */
	struct iphdr *ip4;
	struct ipv6hdr *ip6;

	if (FRAME_FITS(eth, s))
		rewrite_swap_macs(eth);
	if (swap == REFLECT_SWAP_MAC)
		return;
	ip4 = (struct iphdr *)frame_ipv4(f, s);
	ip6 = (struct ipv6hdr *)frame_ipv6(f, s);
	keep_pointer(ip4);
	keep_pointer(ip6);
	if (ip4)
		rewrite_swap_ip4(ip4);
	else if (ip6)
		rewrite_swap_ip6(ip6);
	if (swap == REFLECT_SWAP_IP || f->fault || (f->protocol != IPPROTO_UDP && f->protocol != IPPROTO_TCP))
		return;
	if (f->l4_bytes >= sizeof(*ports) && FRAME_FITS(ports, s))
		rewrite_swap_ports(ports);
}

#endif
