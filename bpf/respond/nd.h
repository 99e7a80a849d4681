/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers neighbour solicitations for one IPv6 address in place (RFC 4861 sections 4.3, 4.4, 7.2). Duplicate address
 * detection (RFC 4862: source ::) is answered to all nodes, so that nobody else takes the address during a test.
 *
 * A solicitation without an option leaves no room for the advertisement's. Only two kinds come so: one to our own address,
 * whose answer may go without, and duplicate address detection, whose sender looks at the target only (RFC 4862 section
 * 5.4.4). Growing the frame instead would bar the program from libxdp's dispatcher before xdp-tools 1.6: it refuses
 * programs that can change packet data pointers.
 */
#ifndef RESPONDER_RESPOND_ND_H
#define RESPONDER_RESPOND_ND_H

#include "../parse.h"
#include "checksum.h"
#include "reply.h"

struct respond_nd {
	__u8 type, code;
	__u16 checksum;
	__be32 flags;
	__be32 target[4];
};

struct respond_nd_option {
	__u8 type, length;
	__u8 mac[ETH_ALEN];
};

enum {
	ND_SOLICITATION = 135,
	ND_ADVERTISEMENT = 136,
	ND_TARGET_MAC = 2,              /* option: target link-layer address */
	ND_OPTION_UNIT = 8,             /* bytes; options are multiples of it */
	ND_SOLICITED = 0x40000000,
	ND_OVERRIDE = 0x20000000,
	ND_HOP_LIMIT = 255,
};

/* True: the frame is now the advertisement. False: not a solicitation for this address; the frame is as it was. */
static __always_inline int respond_nd(const struct frame *f, struct span s, const __be32 *address, const __u8 *own_mac)
{
	static const __u8 all_nodes_mac[ETH_ALEN] = { 0x33, 0x33, 0, 0, 0, 1 };
	struct ethhdr *eth = reply_to(s, own_mac);
	struct ipv6hdr *ip = (struct ipv6hdr *)frame_ipv6(f, s);
	struct respond_nd *nd = (struct respond_nd *)FRAME_AT(struct respond_nd, s, f->l4);
	struct respond_nd_option *option;
	__be32 *source;
	__u32 sum, bytes = sizeof(*nd);
	int none;

	keep_pointer(ip);
	keep_pointer(nd);
	option = (struct respond_nd_option *)(nd + 1);
	/* No extension header: an advertisement is written where the solicitation stood. Its options must be whole. */
	if (!eth || !ip || !FRAME_FITS(nd, s) || ip->nexthdr != IPPROTO_ICMPV6 || ip->hop_limit != ND_HOP_LIMIT ||
	    f->l4_bytes < sizeof(*nd) || f->l4_bytes % ND_OPTION_UNIT)
		return 0;
	if (nd->type != ND_SOLICITATION || nd->code != 0 || !reply_address6_equal(nd->target, address))
		return 0;
	source = ip->saddr.s6_addr32;
	none = reply_address6_is_none(source);
	if (reply_address6_is_group(source) || reply_address6_equal(source, address) ||
	    (none && !reply_address6_is_group(ip->daddr.s6_addr32)))
		return 0;
	if (f->l4_bytes > sizeof(*nd) && (!FRAME_FITS(option, s) || option->length == 0))
		return 0;

	asm("" : "+r"(nd)); /* the checked pointer: clang would make it again, out of what the verifier has not seen checked */
	reply_swap_mac(eth, own_mac);
	nd->flags = to_net32(none ? ND_OVERRIDE : ND_SOLICITED | ND_OVERRIDE);
	if (none) {
		__builtin_memcpy(eth->h_dest, all_nodes_mac, ETH_ALEN);
		source[0] = to_net32(0xff020000);
		source[3] = to_net32(1);
	}
	reply_swap_address6(ip, address);
	nd->type = ND_ADVERTISEMENT;
	nd->checksum = 0;
	sum = to_net16(IPPROTO_ICMPV6) + checksum_add(&ip->saddr, 16); /* pseudo-header, RFC 8200 section 8.1 */
	sum += checksum_add(nd, sizeof(*nd) / 2);
	if (FRAME_FITS(option, s)) {
		option->type = ND_TARGET_MAC;
		option->length = 1;
		__builtin_memcpy(option->mac, own_mac, ETH_ALEN);
		sum += checksum_add(option, sizeof(*option) / 2);
		bytes += sizeof(*option);
	}
	ip->payload_len = to_net16(bytes);
	nd->checksum = (__u16)~checksum_fold(sum + to_net16(bytes));
	return 1;
}

#endif
