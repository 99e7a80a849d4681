/* SPDX-License-Identifier: GPL-2.0-only */

#include "tests/harness/frame_native.h"

#include <string.h>

#include "bpf/match.h"
#include "bpf/parse.h"
#include "bpf/respond/address.h"

/* 1: plain and alike; 0: not plain; -1: plain and not alike. */
static int compare_plain(const struct frame *full, struct span s, size_t length)
{
	struct frame plain;

	memset(&plain, 0xa5, sizeof(plain));
	plain.fault = parse_ethernet(&plain, s, length);
	if (!plain.fault && plain.ethertype == to_net16(ETH_P_IP))
		plain.fault = parse_ipv4(&plain, s, PARSE_PLAIN);
	else if (!plain.fault && plain.ethertype == to_net16(ETH_P_IPV6))
		plain.fault = parse_ipv6(&plain, s, PARSE_PLAIN);
	if (plain.fault)
		return 0;
	return plain.l3 == full->l3 && plain.l4 == full->l4 && plain.l3_bytes == full->l3_bytes &&
			       plain.l4_bytes == full->l4_bytes && plain.payload_bytes == full->payload_bytes &&
			       plain.ethertype == full->ethertype &&
			       plain.destination_port == full->destination_port && plain.ip == full->ip &&
			       plain.protocol == full->protocol && plain.fragment == full->fragment && !full->fault
		       ? 1
		       : -1;
}

struct frame_native frame_native_run(void *data, size_t linear, size_t length, const struct sink_cfg *cfg,
				     const struct match_mac *own_mac)
{
	struct span s = { (const __u8 *)data, (const __u8 *)data + linear };
	const __u8 *own = own_mac->bytes;
	struct frame_native result = { 0 };
	struct frame f;
	int plain;

	parse_frame(&f, s, length);
	plain = compare_plain(&f, s, length);
	result.plain = plain > 0;
	result.plain_differs = plain < 0;
	result.l3_bytes = f.l3_bytes;
	result.payload_bytes = f.payload_bytes;
	result.slot = linear < ETH_HLEN ? SLOT_MALFORMED : (__u32)match_frame(&f, s, &cfg->match, own);

	if (linear >= ETH_HLEN)
		result.slot = respond_address(&f, s, result.slot, &cfg->answer, &cfg->match, own);
	if (result.slot == MATCH_TEST)
		result.slot = match_size_bin(length);
	return result;
}
