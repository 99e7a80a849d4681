/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which frames are test traffic, and under which reason the others pass. Plain C: no map, no helper. In a BPF program the
 * configuration is read-only data whose values the verifier knows: what is switched off is cut out of the program.
 */
#ifndef RESPONDER_MATCH_H
#define RESPONDER_MATCH_H

#include <linux/icmpv6.h>

#include "abi.h"
#include "parse.h"

/* Left for match_frame() to say of a frame that is test traffic; never a slot of the counters. */
enum { MATCH_TEST = SLOTS };

/*
 * Does `condition` hold for one of the first `count` items? Written out sixteen times, with the count tested before each
 * item, so that the verifier can drop what lies behind the count (clang refuses to unroll such a loop). Volatile rodata is
 * read where it stands: a copy would lose what the verifier knows of it. What remains of an option that is off is the
 * load, so an option is looked at last: behind what the frame itself says, and behind the options that are often on.
 */
#define MATCH_ITEM(i, list, count, condition)                                                                          \
	if ((i) >= sizeof(list) / sizeof((list)[0]) || (i) >= (count))                                                 \
		break;                                                                                                 \
	item = &(list)[(i) % (sizeof(list) / sizeof((list)[0]))];                                                      \
	if (condition) {                                                                                               \
		found_ = 1;                                                                                            \
		break;                                                                                                 \
	}
#define MATCH_4_ITEMS(i, list, count, condition)                                                                       \
	MATCH_ITEM((i) + 0u, list, count, condition)                                                                   \
	MATCH_ITEM((i) + 1u, list, count, condition)                                                                   \
	MATCH_ITEM((i) + 2u, list, count, condition)                                                                   \
	MATCH_ITEM((i) + 3u, list, count, condition)
#define MATCH_ANY(list, count, condition)                                                                              \
	({                                                                                                             \
		const volatile __typeof__((list)[0]) *item;                                                                \
		int found_ = 0;                                                                                        \
		do {                                                                                                   \
			MATCH_4_ITEMS(0u, list, count, condition)                                                      \
			MATCH_4_ITEMS(4u, list, count, condition)                                                      \
			MATCH_4_ITEMS(8u, list, count, condition)                                                      \
			MATCH_4_ITEMS(12u, list, count, condition)                                                     \
		} while (0);                                                                                           \
		found_;                                                                                                \
	})

static __always_inline int match_ports(const volatile struct match_cfg *cfg, __u32 port)
{
	return MATCH_ANY(cfg->port, cfg->port_count, port >= item->first && port <= item->last);
}

static __always_inline int match_vlans(const volatile struct match_range (*list)[MATCH_VLANS], __u8 count, __u32 id)
{
	return MATCH_ANY(*list, count, id >= item->first && id <= item->last);
}

static __always_inline int match_mac_equal(const __u8 *a, const __u8 *b)
{
	return *(const word32 *)a == *(const word32 *)b && *(const word16 *)(a + 4) == *(const word16 *)(b + 4);
}

static __always_inline int match_macs(const volatile struct match_mac (*list)[MATCH_MACS], __u8 count,
				      const __u8 *mac)
{
	return MATCH_ANY(*list, count,
			 *(const word32 *)mac == *(const volatile word32 *)item->bytes &&
				 *(const word16 *)(mac + 4) == *(const volatile word16 *)(item->bytes + 4));
}

static __always_inline int match_prefixes4(const volatile struct match_prefix4 (*list)[MATCH_PREFIXES], __u8 count,
					   __be32 address)
{
	return MATCH_ANY(*list, count, (address & item->mask) == item->address);
}

static __always_inline int match_prefixes6(const volatile struct match_prefix6 (*list)[MATCH_PREFIXES], __u8 count,
					   const struct in6_addr *address)
{
	const word64 *half = (const word64 *)address;

	return MATCH_ANY(*list, count,
			 (half[0] & ((const volatile word64 *)item->mask)[0]) ==
					 ((const volatile word64 *)item->address)[0] &&
				 (half[1] & ((const volatile word64 *)item->mask)[1]) ==
					 ((const volatile word64 *)item->address)[1]);
}

static __always_inline int match_is_control(const __u8 *destination_mac)
{
	return (*(const word32 *)destination_mac & to_net32(0xffffff00)) == to_net32(0x0180c200);
}

static __always_inline int match_to_us(const __u8 *destination_mac, const volatile struct match_cfg *cfg,
				       const __u8 *own_mac)
{
	return likely(match_mac_equal(destination_mac, own_mac)) || (destination_mac[0] & 1) || cfg->any_mac;
}

/* IGMP's younger sibling MLD is not in here: only what resolves addresses and finds routers (RFC 4861). */
static __always_inline int match_is_nd(const struct frame *f, struct span s)
{
	const struct icmp6hdr *icmp = FRAME_AT(struct icmp6hdr, s, f->l4);

	return f->ip == 6 && f->protocol == IPPROTO_ICMPV6 && f->fragment != FRAGMENT_LATER &&
	       f->l4_bytes >= sizeof(*icmp) && FRAME_FITS(icmp, s) && icmp->icmp6_type >= 133 &&
	       icmp->icmp6_type <= 137;
}

static __always_inline int match_is_dhcp(const struct frame *f)
{
	__u32 client_or_server = f->destination_port - (f->ip == 4 ? 67 : 546);

	return client_or_server < 2;
}

static __always_inline int match_is_identified(const struct frame *f, struct span s,
					       const volatile struct match_cfg *cfg)
{
	const struct iphdr *ip4;
	const struct ipv6hdr *ip6;

	if (f->protocol != IPPROTO_UDP) {
		if (!f->ip && MATCH_ANY(cfg->ethertype, cfg->ethertype_count, to_host16(f->ethertype) == *item))
			return 1;
		return cfg->all;
	}
	if (f->fragment != FRAGMENT_LATER && match_ports(cfg, f->destination_port))
		return 1;
	ip4 = frame_ipv4(f, s);
	if (ip4 && match_prefixes4(&cfg->network4, cfg->network4_count, ip4->daddr))
		return 1;
	ip6 = frame_ipv6(f, s);
	if (ip6 && match_prefixes6(&cfg->network6, cfg->network6_count, &ip6->daddr))
		return 1;
	return cfg->any_udp || cfg->all;
}

static __always_inline int match_tags(const struct frame *f, struct span s, const volatile struct match_cfg *cfg)
{
	__u32 tags = frame_tags(f);

	if (cfg->vlan_count && !(tags >= 1 && match_vlans(&cfg->vlan, cfg->vlan_count, frame_vlan(s, 0))))
		return 0;
	return !cfg->inner_vlan_count ||
	       (tags == 2 && match_vlans(&cfg->inner_vlan, cfg->inner_vlan_count, frame_vlan(s, 1)));
}

/* A restriction by address needs an address: it leaves out whatever is not IP, and IP of the other version. */
static __always_inline int match_addresses(const struct frame *f, struct span s,
					   const volatile struct match_cfg *cfg)
{
	const struct iphdr *ip4;
	const struct ipv6hdr *ip6;
	int by_source, by_destination;

	if (!cfg->source4_count && !cfg->source6_count && !cfg->destination4_count && !cfg->destination6_count)
		return 1;
	by_source = cfg->source4_count || cfg->source6_count;
	by_destination = cfg->destination4_count || cfg->destination6_count;
	ip4 = frame_ipv4(f, s);
	if (ip4)
		return (!by_source || match_prefixes4(&cfg->source4, cfg->source4_count, ip4->saddr)) &&
		       (!by_destination || match_prefixes4(&cfg->destination4, cfg->destination4_count, ip4->daddr));
	ip6 = frame_ipv6(f, s);
	return ip6 && (!by_source || match_prefixes6(&cfg->source6, cfg->source6_count, &ip6->saddr)) &&
	       (!by_destination || match_prefixes6(&cfg->destination6, cfg->destination6_count, &ip6->daddr));
}

static __always_inline int match_restrictions(const struct frame *f, struct span s,
					      const volatile struct match_cfg *cfg)
{
	const struct ethhdr *eth = FRAME_AT(struct ethhdr, s, 0);

	keep_pointer(cfg); /* in a register; clang would load the address again for each count */
	if (!FRAME_FITS(eth, s))
		return SLOT_MALFORMED; /* cannot be; the verifier does not know */
	if (cfg->source_mac_count && !match_macs(&cfg->source_mac, cfg->source_mac_count, eth->h_source))
		return SLOT_OTHER_MAC;
	if (cfg->destination_mac_count &&
	    !match_macs(&cfg->destination_mac, cfg->destination_mac_count, eth->h_dest))
		return SLOT_OTHER_MAC;
	if (!match_tags(f, s, cfg))
		return SLOT_OTHER_VLAN;
	return match_addresses(f, s, cfg) ? MATCH_TEST : SLOT_OTHER_ADDRESS;
}

/* A frame's own words for why it is not test traffic. */
static __always_inline int match_reason(const struct frame *f)
{
	if (!f->ip)
		return SLOT_OTHER_ETHERTYPE;
	if (f->protocol == IPPROTO_UDP)
		return f->fragment == FRAGMENT_LATER ? SLOT_FRAGMENT : SLOT_UDP;
	if (f->protocol == IPPROTO_TCP)
		return SLOT_TCP;
	return f->protocol == (f->ip == 4 ? IPPROTO_ICMP : IPPROTO_ICMPV6) ? SLOT_ICMP : SLOT_OTHER_IP;
}

/*
 * MATCH_TEST, or the slot of the reason why not. `f` as parse_ethernet() and the parser of its EtherType left it; a frame
 * too short for an Ethernet header must not come here.
 */
static __always_inline int match_frame(const struct frame *f, struct span s, const volatile struct match_cfg *cfg,
				       const __u8 *own_mac)
{
	const struct ethhdr *eth = FRAME_AT(struct ethhdr, s, 0);

	if (!FRAME_FITS(eth, s))
		return SLOT_MALFORMED; /* cannot be; the verifier does not know */
	if (unlikely(match_is_control(eth->h_dest)))
		return SLOT_CONTROL;
	if (f->fault && !cfg->all)
		return f->fault == PARSE_MALFORMED ? SLOT_MALFORMED : SLOT_TOO_DEEP;
	if (likely(f->protocol == IPPROTO_UDP)) {
		if (unlikely(match_is_dhcp(f)))
			return SLOT_DHCP;
	} else if (f->ethertype == to_net16(ETH_P_ARP)) {
		return SLOT_ARP;
	} else if (match_is_nd(f, s)) {
		return SLOT_ND;
	}

	if (unlikely(!match_is_identified(f, s, cfg)))
		return match_reason(f);

	if (unlikely(!match_to_us(eth->h_dest, cfg, own_mac)))
		return SLOT_OTHER_MAC;
	return likely(!cfg->restricts) ? MATCH_TEST : match_restrictions(f, s, cfg);
}

/* Where a test frame is counted: its size, with FCS. */
static __always_inline enum count_slot match_size_bin(__u64 length)
{
	__u64 size = length + ETH_FCS_LEN;

	if (size <= 64)
		return likely(size == 64) ? SLOT_SIZE_64 : SLOT_SIZE_0;
	if (size < 512)
		return size < 128 ? SLOT_SIZE_65 : size < 256 ? SLOT_SIZE_128 : SLOT_SIZE_256;
	if (size < 1519)
		return size < 1024 ? SLOT_SIZE_512 : SLOT_SIZE_1024;
	if (size < 4096)
		return size < 2048 ? SLOT_SIZE_1519 : SLOT_SIZE_2048;
	return size < 8192 ? SLOT_SIZE_4096 : SLOT_SIZE_8192;
}

#endif
