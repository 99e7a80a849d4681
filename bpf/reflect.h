/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the reflector does with a frame: which one asks for an answer, which guard keeps it from getting one, and the answer,
 * in place; a test frame is left to the caller, who turns it round (rewrite.h) or hands it to somebody who does. Plain C: no
 * map, no helper; whoever includes it provides the hooks.
 */
#ifndef RESPONDER_REFLECT_H
#define RESPONDER_REFLECT_H

#include "match.h"
#include "reflect_abi.h"
#include "reflect_guard.h"
#include "respond/address.h"
#include "respond/oam.h"
#include "respond/stamp.h"
#include "rewrite.h"
#include "signature/ours.h"

/* ---- hooks ---- */

/* Nanoseconds of CLOCK_TAI. */
static __u64 reflect_now(void);
/* The next number of this session, from 0 on. */
static __u32 reflect_next_number(const struct reflect_session *session);
/* How many were asked of this measurement, this one included. */
static __u32 reflect_next_loss(const struct reflect_loss *loss);

/* The port answers no more than so many frames, or octets with FCS, in a second. */
static int reflect_is_over_cap(__u64 octets);

/* ---- what asks for an answer ---- */

enum reflect_request {
	REFLECT_NOTHING,
	REFLECT_TEST,           /* a test frame: it goes back as it is */
	REFLECT_STAMP,
	REFLECT_OAM,
	REFLECT_PING,
};

static __always_inline const __u8 *reflect_payload(const struct frame *f, struct span s)
{
	return s.data + ((f->l4 + sizeof(struct udphdr)) & 0x7fff);
}

/* Sent to a lower port than from: so it is no reply, which another reflector would take for a request again. */
static __always_inline int reflect_has_our_signature(const struct frame *f, struct span s)
{
	const __u8 *payload = reflect_payload(f, s);
	const struct udphdr *udp = FRAME_AT(struct udphdr, s, f->l4);
	__u32 stream, sequence, sent;

	if (f->payload_bytes < OURS_LENGTH || payload + OURS_LENGTH > s.end || !FRAME_FITS(udp, s) ||
	    *(const word16 *)payload != to_net16(OURS_MAGIC) || to_host16(udp->source) <= f->destination_port)
		return 0;
	stream = to_host16(*(const word16 *)(payload + OURS_STREAM_OFFSET));
	sequence = to_host32(*(const word32 *)(payload + OURS_SEQUENCE_OFFSET));
	sent = to_host32(*(const word32 *)(payload + OURS_TIME_OFFSET));
	return to_host16(*(const word16 *)(payload + OURS_CHECK_OFFSET)) == ours_check(stream, sequence, sent);
}

static __always_inline int reflect_signature_fits(const struct frame *f, struct span s,
						  const volatile struct reflect_signature *signature)
{
	const __u8 *at = reflect_payload(f, s) + signature->offset;

	if ((__u32)signature->offset + signature->length > f->payload_bytes)
		return 0;
	for (__u32 i = 0; i < REFLECT_SIGNATURE_OCTETS; i++) {
		if (i >= signature->length)
			return 1;
		if (at + i + 1 > s.end || at[i] != signature->octets[i])
			return 0;
	}
	return 1;
}

static __always_inline int reflect_has_signature(const struct frame *f, struct span s,
						 const volatile struct reflect_cfg *cfg)
{
	for (__u32 i = 0; i < REFLECT_SIGNATURES; i++) {
		if (i >= cfg->signature_count)
			return 0;
		if (cfg->signature[i].port == f->destination_port && reflect_signature_fits(f, s, &cfg->signature[i]))
			return 1;
	}
	return 0;
}

static __always_inline int reflect_is_ping(const struct frame *f, struct span s)
{
	return f->ip == 4   ? f->protocol == IPPROTO_ICMP && respond_echo_request(f, s, ECHO4_REQUEST)
	       : f->ip == 6 ? f->protocol == IPPROTO_ICMPV6 && respond_echo_request(f, s, ECHO6_REQUEST)
			    : 0;
}

/* `f` is no control traffic. */
static __always_inline enum reflect_request reflect_request(const struct frame *f, struct span s,
							    const volatile struct reflect_cfg *cfg)
{
	if (likely(!f->fault)) {
		if (likely(f->protocol == IPPROTO_UDP && f->fragment != FRAGMENT_LATER)) {
			if (match_ports(&cfg->match, f->destination_port))
				return REFLECT_TEST;
			if (reflect_is_stamp_port(f->destination_port, cfg))
				return REFLECT_STAMP;
			if (cfg->ours && reflect_has_our_signature(f, s))
				return REFLECT_TEST;
			if (reflect_has_signature(f, s, cfg))
				return REFLECT_TEST;
		} else if (cfg->oam && oam_request(f, s, cfg->oam_level)) {
			return REFLECT_OAM;
		} else if (cfg->icmp && reflect_is_ping(f, s)) {
			return REFLECT_PING;
		}
		if (match_is_identified(f, s, &cfg->match))
			return REFLECT_TEST;
	} else if (cfg->match.all) {
		return REFLECT_TEST;
	}
	return reflect_is_from_tester(f, s, cfg) ? REFLECT_TEST : REFLECT_NOTHING;
}

/* ---- answers ---- */

/* The slot. STAMP_RARE: the frame is as it was. */
static __always_inline __u32 reflect_stamp(const struct frame *f, struct span s, const volatile struct reflect_cfg *cfg,
					   const volatile struct reflect_live *live, __u64 received_ns)
{
	struct ethhdr *eth = (struct ethhdr *)FRAME_AT(struct ethhdr, s, 0);
	struct udphdr *udp = (struct udphdr *)FRAME_AT(struct udphdr, s, f->l4);
	struct stamp *stamp = stamp_request(f, s);
	__be32 sequence;
	__u32 sum;

	keep_pointer(udp);
	if (cfg->stamp_authenticated || !stamp || !FRAME_FITS(udp, s) || !FRAME_FITS(eth, s))
		return SLOT_STAMP_RARE;
	sequence = stamp->sequence;
	if (cfg->stamp_stateful) {
		const struct iphdr *ip4 = frame_ipv4(f, s);
		const struct ipv6hdr *ip6 = frame_ipv6(f, s);
		struct reflect_session session = { .source_port = udp->source,
						   .destination_port = udp->dest,
						   .session = stamp->session };

		keep_pointer(ip4);
		keep_pointer(ip6);
		if (ip4)
			session.source[0] = ip4->saddr;
		else if (ip6)
			__builtin_memcpy(session.source, &ip6->saddr, sizeof(session.source));
		sequence = to_net32(reflect_next_number(&session));
	}
	rewrite_swap_macs(eth);
	rewrite_swap_ports(udp);
	sum = stamp_turn(f, s, stamp, sequence, &live->clock, received_ns);
	stamp_send(udp, stamp, sum, &live->clock, reflect_now());
	return SLOT_STAMP_REPLY;
}

static __always_inline __u32 reflect_oam(const struct frame *f, struct span s, const volatile struct reflect_cfg *cfg,
					 __u64 received_ns)
{
	struct ethhdr *eth = (struct ethhdr *)FRAME_AT(struct ethhdr, s, 0);
	struct oam *oam = (struct oam *)FRAME_AT(struct oam, s, f->l3);
	struct oam_delay *delay = (struct oam_delay *)FRAME_AT(struct oam_delay, s, f->l3);
	struct oam_loss *loss = (struct oam_loss *)FRAME_AT(struct oam_loss, s, f->l3);

	keep_pointer(delay);
	keep_pointer(loss);
	if (!FRAME_FITS(eth, s) || !FRAME_FITS(oam, s))
		return SLOT_OTHER_ETHERTYPE; /* cannot be */
	if (oam->opcode == OAM_DMM && FRAME_FITS(delay, s)) {
		delay->oam.opcode = OAM_DMR;
		rewrite_swap_macs(eth);
		delay->received_forward = oam_time(received_ns);
		delay->sent_back = oam_time(reflect_now());
		return SLOT_DELAY_REPLY;
	}
	if (oam->opcode == OAM_SLM && FRAME_FITS(loss, s)) {
		struct reflect_loss key = { .source = loss->source, .test = loss->test };

		__builtin_memcpy(key.source_mac, eth->h_source, ETH_ALEN);
		loss->oam.opcode = OAM_SLR;
		rewrite_swap_macs(eth);
		loss->responder = to_net16(cfg->oam_mep);
		loss->sent_back = to_net32(reflect_next_loss(&key));
		return SLOT_LOSS_REPLY;
	}
	oam->opcode = OAM_LBR;
	rewrite_swap_macs(eth);
	return SLOT_LOOPBACK_REPLY;
}

/* To whatever address it was: the guards have been. The frame as it was, where respond_echo has its own objections. */
static __always_inline __u32 reflect_ping(const struct frame *f, struct span s, const __u8 *own_mac)
{
	const struct iphdr *ip4 = frame_ipv4(f, s);
	const struct ipv6hdr *ip6 = frame_ipv6(f, s);
	__be32 address6[4];

	if (ip4)
		return respond_echo4(f, s, ip4->daddr, own_mac) ? SLOT_PING_REPLY : SLOT_ICMP;
	if (!ip6)
		return SLOT_ICMP; /* cannot be */
	__builtin_memcpy(address6, &ip6->daddr, sizeof(address6));
	return respond_echo6(f, s, address6, own_mac) ? SLOT_PING_REPLY : SLOT_ICMP;
}

/* Never returned, whatever is said; 0: not of that kind. */
static __always_inline __u32 reflect_control(const struct frame *f, struct span s)
{
	const struct ethhdr *eth = FRAME_AT(struct ethhdr, s, 0);

	if (!FRAME_FITS(eth, s))
		return SLOT_MALFORMED; /* cannot be; the verifier does not know */
	if (unlikely(match_is_control(eth->h_dest)))
		return SLOT_CONTROL;
	if (likely(f->protocol == IPPROTO_UDP))
		return unlikely(match_is_dhcp(f)) ? SLOT_DHCP : 0;
	if (f->ethertype == to_net16(ETH_P_ARP))
		return SLOT_ARP;
	return match_is_nd(f, s) ? SLOT_ND : 0;
}

/* On the wire, with FCS. What does not lie in the linear part is IP. */
static __always_inline __u64 reflect_octets(const struct frame *f, struct span s)
{
	__u64 linear = (__u64)(s.end - s.data), by_ip = f->l3 + f->l3_bytes;

	return (linear > by_ip ? linear : by_ip) + ETH_FCS_LEN;
}

static __always_inline __u32 reflect_answer(const struct frame *f, struct span s, enum reflect_request request,
					    const volatile struct reflect_cfg *cfg,
					    const volatile struct reflect_live *live, const __u8 *own_mac)
{
	__u64 received_ns = request == REFLECT_STAMP || request == REFLECT_OAM ? reflect_now() : 0;
	__u32 slot = reflect_guard(f, s, cfg, live, own_mac);

	if (slot)
		return slot;
	if (cfg->match.restricts) {
		slot = (__u32)match_restrictions(f, s, &cfg->match);
		if (slot != MATCH_TEST)
			return slot;
	}
	if (unlikely(live->refuse))
		return live->refuse;
	if (cfg->frame_cost || cfg->octet_cost) {
		/* What is not answered here takes nothing. */
		if (request == REFLECT_STAMP && (cfg->stamp_authenticated || !stamp_request(f, s)))
			return SLOT_STAMP_RARE;
		if (reflect_is_over_cap(reflect_octets(f, s)))
			return SLOT_CAPPED;
	}
	if (request == REFLECT_STAMP)
		return reflect_stamp(f, s, cfg, live, received_ns);
	if (request == REFLECT_OAM)
		return reflect_oam(f, s, cfg, received_ns);
	if (request == REFLECT_PING)
		return reflect_ping(f, s, own_mac);
	return MATCH_TEST;
}

/* Any frame: MATCH_TEST if it is to be turned round, or the slot; it is as it was unless the slot is that of an answer. */
static __always_inline __u32 reflect_frame(const struct frame *f, struct span s, const volatile struct reflect_cfg *cfg,
					   const volatile struct reflect_live *live, const __u8 *own_mac)
{
	__u32 slot = reflect_control(f, s);
	enum reflect_request request;

	if (cfg->answer.v4 || cfg->answer.v6)
		slot = respond_address(f, s, slot, &cfg->answer, &cfg->match, own_mac);
	if (slot)
		return slot;
	request = reflect_request(f, s, cfg);
	if (request)
		return reflect_answer(f, s, request, cfg, live, own_mac);
	if (f->fault)
		return f->fault == PARSE_MALFORMED ? SLOT_MALFORMED : SLOT_TOO_DEEP;
	return (__u32)match_reason(f);
}

#endif
