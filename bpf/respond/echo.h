/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers ping in place: ICMP echo (RFC 792) and ICMPv6 echo (RFC 4443 section 4). Only the type and the addresses change,
 * so the checksum is updated, not summed anew: the size of the ping does not matter, and a ping whose checksum is wrong
 * gets an answer whose checksum is wrong. A ping with IP options or extension headers is not answered: turned round in
 * place, they would mean something else.
 */
#ifndef RESPONDER_RESPOND_ECHO_H
#define RESPONDER_RESPOND_ECHO_H

#include "../parse.h"
#include "checksum.h"
#include "reply.h"

struct respond_echo {
	__u8 type, code;
	__u16 checksum;
	__be16 identifier, sequence;
};

enum {
	ECHO_TTL = 64,
	ECHO4_REQUEST = 8, ECHO4_REPLY = 0,
	ECHO6_REQUEST = 128, ECHO6_REPLY = 129,
};

/* The type and code as the word that a checksum sums. */
static __always_inline __u16 respond_echo_word(__u8 type)
{
	return to_net16((__u16)(type << 8));
}

/* The echo header of a whole request to this very port, or NULL. */
static __always_inline struct respond_echo *respond_echo_request(const struct frame *f, struct span s, __u8 type)
{
	struct respond_echo *echo = (struct respond_echo *)FRAME_AT(struct respond_echo, s, f->l4);

	keep_pointer(echo);
	if (!FRAME_FITS(echo, s) || f->fragment || f->l4_bytes < sizeof(*echo) || echo->type != type || echo->code != 0)
		return NULL;
	return echo;
}

/* True: the frame is now the reply. False: not a ping to this address; the frame is as it was. */
static __always_inline int respond_echo4(const struct frame *f, struct span s, __be32 address, const __u8 *own_mac)
{
	struct iphdr *ip = (struct iphdr *)frame_ipv4(f, s);
	struct ethhdr *eth = reply_to(s, own_mac);
	struct respond_echo *echo;
	__u16 before, after;
	__u32 network;

	keep_pointer(ip);
	if (!ip || !eth || (eth->h_dest[0] & 1) || f->protocol != IPPROTO_ICMP || ip->ihl != 5 || ip->daddr != address)
		return 0;
	network = to_host32(ip->saddr) >> 24;
	if (network == 0 || network == 127 || network >= 224 || ip->saddr == address) /* nobody, or more than one */
		return 0;
	echo = respond_echo_request(f, s, ECHO4_REQUEST);
	if (!echo)
		return 0;

	reply_swap_mac(eth, own_mac);
	ip->daddr = ip->saddr;
	ip->saddr = address;
	before = to_net16((__u16)(ip->ttl << 8 | IPPROTO_ICMP));
	after = to_net16((__u16)(ECHO_TTL << 8 | IPPROTO_ICMP));
	ip->ttl = ECHO_TTL;
	ip->check = checksum_update(ip->check, before, after);
	echo->type = ECHO4_REPLY;
	echo->checksum =
		checksum_update(echo->checksum, respond_echo_word(ECHO4_REQUEST), respond_echo_word(ECHO4_REPLY));
	/* A reply can be all zeros, and only then would 0 be wrong; the other zero is right for every reply. */
	if (echo->checksum == 0)
		echo->checksum = 0xffff;
	return 1;
}

static __always_inline int respond_echo6(const struct frame *f, struct span s, const __be32 *address,
					 const __u8 *own_mac)
{
	struct ipv6hdr *ip = (struct ipv6hdr *)frame_ipv6(f, s);
	struct ethhdr *eth = reply_to(s, own_mac);
	struct respond_echo *echo;
	const __be32 *source;

	keep_pointer(ip);
	if (!ip || !eth || (eth->h_dest[0] & 1) || ip->nexthdr != IPPROTO_ICMPV6)
		return 0;
	source = ip->saddr.s6_addr32;
	if (!reply_address6_equal(ip->daddr.s6_addr32, address) || reply_address6_is_none(source) ||
	    reply_address6_is_group(source) || reply_address6_equal(source, address))
		return 0;
	echo = respond_echo_request(f, s, ECHO6_REQUEST);
	if (!echo)
		return 0;

	reply_swap_mac(eth, own_mac);
	reply_swap_address6(ip, address);
	ip->hop_limit = ECHO_TTL;
	echo->type = ECHO6_REPLY;
	echo->checksum =
		checksum_update(echo->checksum, respond_echo_word(ECHO6_REQUEST), respond_echo_word(ECHO6_REPLY));
	return 1;
}

#endif
