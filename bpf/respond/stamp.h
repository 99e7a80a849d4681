/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The session-reflector of STAMP (RFC 8762 section 4.3, RFC 8972 section 3) and TWAMP-Light (RFC 5357 appendix I), as far as
 * it can be had in place: a request of at least the size of the reply, with nothing behind it or padding. Plain C; the
 * times, the clock's error and the numbers of stateful sessions are the caller's.
 *
 * A packet, unauthenticated, in octets:
 *
 *         request                         reply
 *    0 4  sequence number                 sequence number: the request's, or of the session
 *    4 8  time of sending                 T3, time of sending
 *   12 2  error estimate                  error estimate of our clock
 *   14 2  session id (RFC 8972)           as it came
 *   16 8  -                               T2, time of receipt
 *   24 4  -                               sequence number of the request
 *   28 8  -                               its time of sending
 *   36 2  -                               its error estimate
 *   38 2  -                               0
 *   40 1  -                               its TTL or hop limit
 *   41 3  -                               0
 *   44    TLVs, or padding                as they came
 *
 * What moves stays where a checksum does not notice: it is updated by what is new and what goes.
 */
#ifndef RESPONDER_RESPOND_STAMP_H
#define RESPONDER_RESPOND_STAMP_H

#include "../parse.h"
#include "../rewrite.h"
#include "checksum.h"
#include "stamp_clock.h"

enum {
	STAMP_LENGTH = 44,
	STAMP_TTL = 255,
	STAMP_TLV_EXTRA_PADDING = 1,
	STAMP_TLV_HEADER = 4,
	STAMP_TLV_UNRECOGNISED = 0x80,  /* flag U: the sender sets it, who knows the type clears it */
};

struct stamp {
	__be32 sequence;
	__be32 sent[2];
	__be16 error_estimate;
	__be16 session;
	__be32 received[2];
	__be32 sender_sequence;
	__be32 sender_sent[2];
	__be16 sender_error_estimate;
	__be16 zero;
	__u8 sender_ttl;
	__u8 zeros[3];
};

/* `tai_ns`: of CLOCK_TAI. 2^61 / 10^9 is so near to a whole number that no nanosecond is off by 2^-32 s. */
static __always_inline void stamp_time(__be32 *time, __u64 tai_ns, const volatile struct stamp_clock *clock)
{
	__u64 seconds = tai_ns / 1000000000, ns = tai_ns - seconds * 1000000000;

	if (clock->format == STAMP_NTP)
		ns = ns * 2305843009ULL >> 29;
	time[0] = to_net32(low32(seconds + (__u64)clock->from_tai_s));
	time[1] = to_net32((__u32)ns);
}

/*
 * The STAMP packet of a datagram, or NULL where the reply cannot be had in place. `f` is UDP and whole; a reply would not
 * carry IP options or extension headers.
 */
static __always_inline struct stamp *stamp_request(const struct frame *f, struct span s)
{
	__u64 headers = f->ip == 4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	struct stamp *stamp = (struct stamp *)FRAME_AT(struct stamp, s, f->l4 + sizeof(struct udphdr));
	const __u8 *tlv;
	__u32 length;

	keep_pointer(stamp);
	if (f->l4 - f->l3 != headers || f->fragment || f->payload_bytes < STAMP_LENGTH || !FRAME_FITS(stamp, s))
		return NULL;
	if (f->payload_bytes < STAMP_LENGTH + STAMP_TLV_HEADER)
		return stamp;
	tlv = (const __u8 *)(stamp + 1);
	if (tlv + STAMP_TLV_HEADER > s.end)
		return NULL;
	length = (__u32)(tlv[2] << 8 | tlv[3]);
	/* TWAMP-Light's padding of zeros, or one TLV of padding up to the end; type 0 is reserved (RFC 8972 section 5.1) */
	if (*(const word32 *)tlv == 0 ||
	    (tlv[1] == STAMP_TLV_EXTRA_PADDING && !(tlv[0] & ~STAMP_TLV_UNRECOGNISED) &&
	     length == f->payload_bytes - STAMP_LENGTH - STAMP_TLV_HEADER))
		return stamp;
	return NULL;
}

/*
 * Turns the request round, but for its checksum and T3, which stamp_send() puts in at the last moment. Returns what is to be
 * added to the sum under the checksum. `sequence`: of the reply, as on the wire.
 */
static __always_inline __u32 stamp_turn(const struct frame *f, struct span s, struct stamp *stamp, __be32 sequence,
					const volatile struct stamp_clock *clock, __u64 received_ns)
{
	struct iphdr *ip4 = (struct iphdr *)frame_ipv4(f, s);
	struct ipv6hdr *ip6 = (struct ipv6hdr *)frame_ipv6(f, s);
	__u8 *tlv = (__u8 *)(stamp + 1);
	__u8 ttl = 0;
	__u32 sum;

	keep_pointer(ip4);
	keep_pointer(ip6);
	/* What goes, as its complement; session id and padding stay, and what moves stays in the sum. */
	sum = (__u16)~checksum_fold(checksum_add(&stamp->received, (STAMP_LENGTH - 16) / 2));

	if (ip4) {
		ttl = ip4->ttl;
		rewrite_swap_ip4(ip4);
		ip4->check = checksum_update(ip4->check, to_net16((__u16)(ttl << 8 | IPPROTO_UDP)),
					     to_net16((__u16)(STAMP_TTL << 8 | IPPROTO_UDP)));
		ip4->ttl = STAMP_TTL;
	} else if (ip6) {
		ttl = ip6->hop_limit;
		rewrite_swap_ip6(ip6);
		ip6->hop_limit = STAMP_TTL;
	}
	stamp->sender_sequence = stamp->sequence;
	stamp->sender_sent[0] = stamp->sent[0];
	stamp->sender_sent[1] = stamp->sent[1];
	stamp->sender_error_estimate = stamp->error_estimate;
	stamp->sequence = sequence;
	stamp->error_estimate = clock->error_estimate;
	stamp->zero = 0;
	*(word32 *)&stamp->sender_ttl = to_net32((__u32)ttl << 24);
	stamp_time(stamp->received, received_ns, clock);

	sum += checksum_add(&stamp->sequence, 2) + (__u32)stamp->error_estimate + to_net16((__u16)(ttl << 8));
	sum += checksum_add(stamp->received, 4);
	if (f->payload_bytes >= STAMP_LENGTH + STAMP_TLV_HEADER && tlv + STAMP_TLV_HEADER <= s.end &&
	    tlv[0] & STAMP_TLV_UNRECOGNISED) {
		sum += (__u16)~to_net16(STAMP_TLV_UNRECOGNISED << 8);
		tlv[0] &= (__u8)~STAMP_TLV_UNRECOGNISED;
	}
	return sum;
}

/* UDP over IPv4 may go without a checksum, and then stays so. */
static __always_inline void stamp_send(struct udphdr *udp, struct stamp *stamp, __u32 sum,
				       const volatile struct stamp_clock *clock, __u64 sent_ns)
{
	stamp_time(stamp->sent, sent_ns, clock);
	if (!udp->check)
		return;
	sum = checksum_fold(sum + checksum_add(stamp->sent, 4));
	udp->check = (__u16)~checksum_fold((__u16)~udp->check + sum);
	if (!udp->check)
		udp->check = 0xffff; /* RFC 768: 0 says that there is none */
}

#endif
