/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the headers of a frame say. One bounds check a header, against the end of the data and against the length that the
 * header around it claims, so that a field is never read from bytes that are not that field. Plain C: no map, no helper.
 *
 * IEEE 802.1Q and 802.1ad tags, IPv4 (RFC 791), IPv6 and its extension headers (RFC 8200), UDP (RFC 768).
 */
#ifndef RESPONDER_PARSE_H
#define RESPONDER_PARSE_H

#include <stddef.h>

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "compiler.h"

enum {
	PARSE_TAGS = 2,         /* VLAN tags that are looked through */
	PARSE_EXTENSIONS = 8,   /* IPv6 extension headers, likewise */
};

/* How far to look: a caller in a hurry leaves the rare headers to another who is not. */
enum parse_effort {
	PARSE_PLAIN,            /* neither IPv4 options nor fragments nor IPv6 extension headers */
	PARSE_FULL,
};

/* Why a frame was not read to its end. */
enum parse_fault {
	PARSE_OK,
	PARSE_MALFORMED,        /* a header does not fit into what surrounds it, or a length lies */
	PARSE_TOO_DEEP,         /* more tags or extension headers than are looked through */
	PARSE_NOT_PLAIN,        /* has what PARSE_PLAIN leaves to PARSE_FULL */
};

enum parse_fragment {
	FRAGMENT_NONE,
	FRAGMENT_FIRST,
	FRAGMENT_LATER,         /* no L4 header in it */
};

/* What can be read of a frame: its linear part, where it has several. */
struct span {
	const __u8 *data, *end;
};

/*
 * The description of a frame: places are offsets into its span, so that it holds no pointer and can lie anywhere.
 * No field is narrower than 32 bits, because BPF has no narrower arithmetic.
 */
struct frame {
	__u64 l3;                       /* behind the last tag */
	__u64 l4;                       /* behind the last IP header; without one, and in a later fragment, l3 */
	__u32 l3_bytes;
	__u32 l4_bytes;                 /* of IP only */
	__u32 payload_bytes;
	__u32 ethertype;                /* the last one, in network order; below 1536 an IEEE 802.3 length */
	__u32 destination_port;         /* UDP only; 0 otherwise */
	__be32 source4;                 /* IPv4 only */
	__u32 ip;                       /* 4, 6, or 0; if set, the whole IP header can be read at l3 */
	__u32 protocol;                 /* of IP, behind the extension headers */
	__u32 fragment;                 /* enum parse_fragment */
	__u32 fault;                    /* enum parse_fault; all fields that were read before it was found stand */
};

/*
 * The header at an offset. The mask is larger than any offset (the longest is behind eight extension headers of 2 KiB
 * each) and says so to the verifier, where it does not know the value.
 */
#define FRAME_AT(type, s, offset) ((const type *)((s).data + ((offset) & 0x7fff)))
#define FRAME_FITS(header, s) ((const __u8 *)((header) + 1) <= (s).end)

/* The IP header, or NULL where there is none of that version. */
static __always_inline const struct iphdr *frame_ipv4(const struct frame *f, struct span s)
{
	const struct iphdr *ip = FRAME_AT(struct iphdr, s, f->l3);

	return f->ip == 4 && FRAME_FITS(ip, s) ? ip : NULL;
}

static __always_inline const struct ipv6hdr *frame_ipv6(const struct frame *f, struct span s)
{
	const struct ipv6hdr *ip = FRAME_AT(struct ipv6hdr, s, f->l3);

	return f->ip == 6 && FRAME_FITS(ip, s) ? ip : NULL;
}

struct parse_tag {
	__be16 tci;
	__be16 ethertype;
};

static __always_inline __u32 frame_tags(const struct frame *f)
{
	return ((__u32)f->l3 - ETH_HLEN) / sizeof(struct parse_tag);
}

/* VLAN id of a tag that was read, 0 being the outermost. */
static __always_inline __u32 frame_vlan(struct span s, int i)
{
	const struct parse_tag *tag = FRAME_AT(struct parse_tag, s, ETH_HLEN) + i;

	return FRAME_FITS(tag, s) ? to_host16(tag->tci) & 0x0fff : 0;
}

static __always_inline int parse_is_tag(__u32 ethertype)
{
	return ethertype == to_net16(ETH_P_8021Q) || ethertype == to_net16(ETH_P_8021AD);
}

/* f->l4_bytes is what IP says is there. */
static __always_inline enum parse_fault parse_udp(struct frame *f, struct span s, const struct udphdr *udp)
{
	__u32 udp_bytes;

	if (unlikely(!FRAME_FITS(udp, s)))
		return PARSE_MALFORMED;
	udp_bytes = to_host16(udp->len);
	if (f->fragment)
		udp_bytes = f->l4_bytes; /* its length is that of the whole datagram */
	/*
	 * Shorter than IP's is legal, and what RFC 2544's own test frame table has (C.2.6.4). Where IP leaves less than a
	 * header, no length can be right.
	 */
	if (unlikely(udp_bytes < sizeof(*udp) || udp_bytes > f->l4_bytes))
		return PARSE_MALFORMED;
	f->destination_port = to_host16(udp->dest);
	f->payload_bytes = udp_bytes - (__u32)sizeof(*udp);
	return PARSE_OK;
}

static __always_inline enum parse_fault parse_ipv4(struct frame *f, struct span s, enum parse_effort effort)
{
	const struct iphdr *ip = FRAME_AT(struct iphdr, s, f->l3);
	__u32 options, header, total;

	if (unlikely(!FRAME_FITS(ip, s)))
		return PARSE_MALFORMED;
	options = *(const __u8 *)ip - 0x45u; /* in words; version 4 and IHL 5 to 15 in one */
	if (effort == PARSE_PLAIN && options)
		return PARSE_NOT_PLAIN;
	header = sizeof(*ip) + options * 4;
	total = to_host16(ip->tot_len);
	if (unlikely(options > 10 || total < header || total > f->l3_bytes))
		return PARSE_MALFORMED;
	if (unlikely(ip->frag_off & to_net16(0x3fff))) { /* more to come, or not at the start */
		if (effort == PARSE_PLAIN)
			return PARSE_NOT_PLAIN;
		f->fragment = ip->frag_off & to_net16(0x1fff) ? FRAGMENT_LATER : FRAGMENT_FIRST;
	}

	f->ip = 4;
	f->source4 = ip->saddr;
	f->protocol = ip->protocol;
	f->l3_bytes = total;
	f->l4_bytes = f->payload_bytes = total - header;
	if (f->fragment == FRAGMENT_LATER)
		return PARSE_OK;
	f->l4 = f->l3 + header;
	return f->protocol == IPPROTO_UDP ? parse_udp(f, s, (const struct udphdr *)((const __u8 *)ip + header)) : PARSE_OK;
}

/*
 * The IPv6 extension headers that can be stepped over, by protocol number: how long each is. A table, not a chain of
 * tests: eight headers of six kinds would be more paths than the verifier walks.
 */
enum {
	EXTENSION = 0x80,
	EXTENSION_FRAGMENT = 0x40,      /* RFC 8200 section 4.5; its second byte is not a length */
	EXTENSION_LENGTH = 0x20,
	EXTENSION_PLUS_2 = 0x10,        /* the length byte leaves out two units, not one */
	EXTENSION_UNIT = 0x0c,          /* bytes */
};

static const __u8 parse_extension[256] = {
	[IPPROTO_HOPOPTS] = EXTENSION | EXTENSION_LENGTH | 8,
	[IPPROTO_ROUTING] = EXTENSION | EXTENSION_LENGTH | 8,
	[IPPROTO_DSTOPTS] = EXTENSION | EXTENSION_LENGTH | 8,
	[IPPROTO_MH] = EXTENSION | EXTENSION_LENGTH | 8,
	[IPPROTO_FRAGMENT] = EXTENSION | EXTENSION_FRAGMENT | 8,
	[IPPROTO_AH] = EXTENSION | EXTENSION_LENGTH | EXTENSION_PLUS_2 | 4, /* RFC 4302 section 2.2 */
};

static __always_inline __u32 parse_extension_size(__u8 kind, __u8 length)
{
	__u32 units = 1u + !!(kind & EXTENSION_PLUS_2) + length * (__u32)!!(kind & EXTENSION_LENGTH);

	return (units * (kind & EXTENSION_UNIT)) & 0xfff; /* never more; the verifier of 6.1 loses the bound otherwise */
}

/* A jumbogram (RFC 2675) says 0 for its length, which is a lie here: no Ethernet frame is that long. */
static __always_inline enum parse_fault parse_ipv6(struct frame *f, struct span s, enum parse_effort effort)
{
	const struct ipv6hdr *ip = FRAME_AT(struct ipv6hdr, s, f->l3);
	const __u8 *next;
	__u32 fragment = 0, left, size;
	__u8 protocol, kind;

	if (unlikely(!FRAME_FITS(ip, s)))
		return PARSE_MALFORMED;
	left = to_host16(ip->payload_len);
	if (unlikely((*(const __u8 *)ip & 0xf0) != 0x60 || left + sizeof(*ip) > f->l3_bytes))
		return PARSE_MALFORMED;
	protocol = ip->nexthdr;
	next = (const __u8 *)(ip + 1);
	if (effort == PARSE_PLAIN && protocol != IPPROTO_UDP && parse_extension[protocol])
		return PARSE_NOT_PLAIN;
	f->ip = 6;
	f->l3_bytes = sizeof(*ip) + left;
	f->payload_bytes = left;

	if (effort == PARSE_FULL) {
		UNROLL
		for (int i = 0; i <= PARSE_EXTENSIONS; i++) {
			kind = parse_extension[protocol];
			if (!kind || (fragment & 0xfff8))
				break; /* in a later fragment the middle of something follows */
			if (i == PARSE_EXTENSIONS)
				return PARSE_TOO_DEEP;
			if (next + 8 > s.end)
				return PARSE_MALFORMED;
			size = parse_extension_size(kind, next[1]);
			fragment |= (__u32)(next[2] << 8 | next[3]) * !!(kind & EXTENSION_FRAGMENT);
			protocol = next[0];
			next += size;
			if (size > left || next > s.end)
				return PARSE_MALFORMED;
			left -= size;
		}
		if (fragment & 0xfff9) /* neither offset nor more to come: a whole datagram (RFC 6946) */
			f->fragment = fragment & 0xfff8 ? FRAGMENT_LATER : FRAGMENT_FIRST;
	}

	f->protocol = protocol;
	f->l4_bytes = f->payload_bytes = left;
	if (f->fragment == FRAGMENT_LATER)
		return PARSE_OK;
	f->l4 = (__u64)(next - s.data);
	return protocol == IPPROTO_UDP ? parse_udp(f, s, (const struct udphdr *)next) : PARSE_OK;
}

/*
 * `length`: of the whole frame, of which the span is what can be read. Malformed for a frame too short for an Ethernet
 * header, which no driver delivers; then nothing in `f` has a meaning.
 */
static __always_inline enum parse_fault parse_ethernet(struct frame *f, struct span s, __u64 length)
{
	const struct ethhdr *eth = FRAME_AT(struct ethhdr, s, 0);
	const struct parse_tag *tag;

	*f = (struct frame){};
	if (unlikely(!FRAME_FITS(eth, s)))
		return PARSE_MALFORMED;
	f->ethertype = *FRAME_AT(__be16, s, 2 * ETH_ALEN); /* ethhdr is packed: clang would read it bytewise */
	f->l3 = ETH_HLEN;

	UNROLL
	for (int i = 0; i <= PARSE_TAGS; i++) {
		f->l4 = f->l3;
		f->l3_bytes = f->payload_bytes = (__u32)(length - f->l3);
		if (likely(!parse_is_tag(f->ethertype)))
			break;
		if (i == PARSE_TAGS)
			return PARSE_TOO_DEEP;
		tag = FRAME_AT(struct parse_tag, s, f->l3);
		if (unlikely(!FRAME_FITS(tag, s)))
			return PARSE_MALFORMED;
		f->ethertype = tag->ethertype;
		f->l3 += sizeof(*tag);
	}
	return PARSE_OK;
}

static __always_inline void parse_frame(struct frame *f, struct span s, __u64 length)
{
	f->fault = parse_ethernet(f, s, length);
	if (f->fault)
		return;
	if (f->ethertype == to_net16(ETH_P_IP))
		f->fault = parse_ipv4(f, s, PARSE_FULL);
	else if (f->ethertype == to_net16(ETH_P_IPV6))
		f->fault = parse_ipv6(f, s, PARSE_FULL);
}

#endif
