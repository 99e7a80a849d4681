/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is answered by the reflector. The guards are on because a reflector on a network is a weapon: it must never answer a
 * group, never somebody far away who only claims to be here, and never another reflector or service, with which it would play
 * for ever. Plain C: no map, no helper, no hook.
 */
#ifndef RESPONDER_REFLECT_GUARD_H
#define RESPONDER_REFLECT_GUARD_H

#include "match.h"
#include "reflect_abi.h"
#include "respond/reply.h"

static __always_inline int reflect_is_stamp_port(__u32 port, const volatile struct reflect_cfg *cfg)
{
	for (__u32 i = 0; i < REFLECT_STAMP_PORTS; i++) {
		if (i >= cfg->stamp_count)
			return 0;
		if (cfg->stamp_port[i] == port)
			return 1;
	}
	return 0;
}

static __always_inline int reflect_is_from_tester(const struct frame *f, struct span s,
						  const volatile struct reflect_cfg *cfg)
{
	const struct ethhdr *eth = FRAME_AT(struct ethhdr, s, 0);
	const struct iphdr *ip4;
	const struct ipv6hdr *ip6;

	if (FRAME_FITS(eth, s) && match_macs(&cfg->tester_mac, cfg->tester_mac_count, eth->h_source))
		return 1;
	ip4 = frame_ipv4(f, s);
	if (ip4)
		return match_prefixes4(&cfg->tester4, cfg->tester4_count, ip4->saddr);
	ip6 = frame_ipv6(f, s);
	return ip6 && match_prefixes6(&cfg->tester6, cfg->tester6_count, &ip6->saddr);
}

static __always_inline int reflect_is_no_station_mac(const __u8 *mac)
{
	return (mac[0] & 1) || (!*(const word32 *)mac && !*(const word16 *)(mac + 4));
}

/* No single other station has it: this network, loopback, groups, everybody. */
static __always_inline int reflect_is_no_station4(__be32 address)
{
	__u32 network = to_host32(address) >> 24;

	return network - 1 >= 223 || network == 127; /* 0 is beyond it too */
}

static __always_inline int reflect_is_no_station6(const struct in6_addr *address)
{
	return reply_address6_is_group(address->s6_addr32) ||
	       (!*(const word64 *)address && !address->s6_addr32[2] &&
		to_host32(address->s6_addr32[3]) < 2); /* none, and loopback */
}

static __always_inline int reflect_is_on_link4(__be32 address, const volatile struct reflect_live *live)
{
	for (int i = 0; i < REFLECT_ON_LINK; i++)
		if ((address & live->on_link4[i].mask) == live->on_link4[i].address)
			return 1;
	return 0;
}

static __always_inline int reflect_is_on_link6(const struct in6_addr *address, const volatile struct reflect_live *live)
{
	const word64 *half = (const word64 *)address;

	for (int i = 0; i < REFLECT_ON_LINK; i++) {
		const volatile word64 *wanted = (const volatile word64 *)live->on_link6[i].address;
		const volatile word64 *mask = (const volatile word64 *)live->on_link6[i].mask;

		if ((half[0] & mask[0]) == wanted[0] && (half[1] & mask[1]) == wanted[1])
			return 1;
	}
	return 0;
}

/*
 * Of a prefix on the link the address that means all stations, or that of the prefix itself, which once meant the same. Their
 * last two bits are equal: most addresses need no look at the prefixes.
 */
static __always_inline int reflect_is_broadcast4(__be32 address, const volatile struct reflect_live *live)
{
	if (likely(((to_host32(address) + 1) & 3) > 1))
		return 0;
	for (int i = 0; i < REFLECT_ON_LINK; i++) {
		__be32 mask = live->on_link4[i].mask, station = address & ~mask;

		if ((address & mask) == live->on_link4[i].address && (!station || station == ~mask) &&
		    to_host32(~mask) > 1) /* RFC 3021: a prefix of 31 bits has two stations */
			return 1;
	}
	return 0;
}

/*
 * Somebody answers there as we do (RFC 862, 8762), or as we are told to; or may answer whatever comes, as services at the
 * system ports do (RFC 6335 section 6), or has no port to be answered at. Testers send from higher ones.
 */
static __always_inline int reflect_is_service_port(__u32 port, const volatile struct reflect_cfg *cfg)
{
	if (likely(port > cfg->highest_port))
		return 0;
	if (port < 1024 || port == 3842 || reflect_is_stamp_port(port, cfg))
		return 1;
	for (__u32 i = 0; i < REFLECT_SIGNATURES && i < cfg->signature_count; i++)
		if (cfg->signature[i].port == port)
			return 1;
	return match_ports(&cfg->match, port);
}

/* 0, or the slot of the reason why an IP source is not answered. */
static __always_inline __u32 reflect_guard_ip(const struct frame *f, struct span s,
					      const volatile struct reflect_cfg *cfg,
					      const volatile struct reflect_live *live)
{
	const struct udphdr *udp = FRAME_AT(struct udphdr, s, f->l4);
	const struct iphdr *ip4 = frame_ipv4(f, s);
	const struct ipv6hdr *ip6 = frame_ipv6(f, s);
	int allowed, on_link;

	keep_pointer(ip4);
	keep_pointer(ip6);
	if (ip4) {
		if (unlikely(reflect_is_no_station4(ip4->saddr) || reflect_is_broadcast4(ip4->saddr, live) ||
			     ip4->saddr == ip4->daddr))
			return SLOT_SOURCE_ADDRESS;
		if (unlikely(reflect_is_no_station4(ip4->daddr) || reflect_is_broadcast4(ip4->daddr, live)))
			return SLOT_GROUP;
		on_link = reflect_is_on_link4(ip4->saddr, live);
		allowed = match_prefixes4(&cfg->allow4, cfg->allow4_count, ip4->saddr);
	} else if (ip6) {
		const word64 *source = (const word64 *)&ip6->saddr, *destination = (const word64 *)&ip6->daddr;

		if (unlikely(reflect_is_no_station6(&ip6->saddr) ||
			     (source[1] == destination[1] && source[0] == destination[0])))
			return SLOT_SOURCE_ADDRESS;
		if (unlikely(reflect_is_no_station6(&ip6->daddr)))
			return SLOT_GROUP;
		on_link = reflect_is_on_link6(&ip6->saddr, live);
		allowed = match_prefixes6(&cfg->allow6, cfg->allow6_count, &ip6->saddr);
	} else {
		return 0;
	}
	if (allowed || reflect_is_from_tester(f, s, cfg))
		return 0;
	if (unlikely(!on_link))
		return SLOT_NOT_ALLOWED;
	if (f->protocol == IPPROTO_UDP && !f->fault && FRAME_FITS(udp, s) &&
	    unlikely(reflect_is_service_port(to_host16(udp->source), cfg)))
		return SLOT_FROM_REFLECTOR;
	return 0;
}

static __always_inline __u32 reflect_guard(const struct frame *f, struct span s, const volatile struct reflect_cfg *cfg,
					   const volatile struct reflect_live *live, const __u8 *own_mac)
{
	const struct ethhdr *eth = FRAME_AT(struct ethhdr, s, 0);

	if (!FRAME_FITS(eth, s))
		return SLOT_MALFORMED; /* cannot be; the verifier does not know */
	if (unlikely(eth->h_dest[0] & 1))
		return SLOT_GROUP;
	if (unlikely(!match_mac_equal(eth->h_dest, own_mac))) {
		if (!cfg->match.any_mac)
			return SLOT_OTHER_MAC;
		if (match_mac_equal(eth->h_source, eth->h_dest))
			return SLOT_SOURCE_MAC;
	}
	if (unlikely(reflect_is_no_station_mac(eth->h_source) || match_mac_equal(eth->h_source, own_mac)))
		return SLOT_SOURCE_MAC;
	if (unlikely(f->fragment == FRAGMENT_LATER))
		return SLOT_FRAGMENT;
	return reflect_guard_ip(f, s, cfg, live);
}

#endif
