/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers ARP requests for one IPv4 address in place (RFC 826); probes as well (RFC 5227: sender address 0). */
#ifndef RESPONDER_RESPOND_ARP_H
#define RESPONDER_RESPOND_ARP_H

#include "../parse.h"
#include "reply.h"

struct respond_arp {
	__be16 hardware_type, protocol_type;
	__u8 hardware_length, protocol_length;
	__be16 operation;
	__u8 sender_mac[ETH_ALEN];
	__u8 sender_address[4];
	__u8 target_mac[ETH_ALEN];
	__u8 target_address[4];
};

/* True: the frame is now the reply. False: not a request for this address; the frame is as it was. */
static __always_inline int respond_arp(const struct frame *f, struct span s, __be32 address, const __u8 *own_mac)
{
	struct respond_arp *arp = (struct respond_arp *)FRAME_AT(struct respond_arp, s, f->l3);
	struct ethhdr *eth = reply_to(s, own_mac);
	__be32 target, sender;

	keep_pointer(arp);
	if (!eth || !FRAME_FITS(arp, s))
		return 0;
	__builtin_memcpy(&target, arp->target_address, sizeof(target));
	__builtin_memcpy(&sender, arp->sender_address, sizeof(sender));
	if (arp->hardware_type != to_net16(1) || arp->protocol_type != to_net16(ETH_P_IP) ||
	    arp->hardware_length != ETH_ALEN || arp->protocol_length != 4 || arp->operation != to_net16(1) ||
	    target != address || sender == address)
		return 0;
	if ((arp->sender_mac[0] & 1) || match_mac_equal(arp->sender_mac, own_mac))
		return 0;

	arp->operation = to_net16(2);
	__builtin_memcpy(arp->target_mac, arp->sender_mac, ETH_ALEN);
	__builtin_memcpy(arp->target_address, &sender, sizeof(sender));
	__builtin_memcpy(arp->sender_mac, own_mac, ETH_ALEN);
	__builtin_memcpy(arp->sender_address, &address, sizeof(address));
	/* To the sender that the packet names, who need not be the one that put it on the wire. */
	__builtin_memcpy(eth->h_dest, arp->target_mac, ETH_ALEN);
	__builtin_memcpy(eth->h_source, own_mac, ETH_ALEN);
	return 1;
}

#endif
