/* SPDX-License-Identifier: GPL-2.0-only */

#include "loader/reflect/stamp_guard.h"

#include "bpf/reflect_guard.h"

#include <string.h>

struct headers {
	struct ethhdr eth;
	union {
		struct {
			struct iphdr ip;
			struct udphdr udp;
		} v4;
		struct {
			struct ipv6hdr ip;
			struct udphdr udp;
		} v6;
	};
} __attribute__((packed));

__u32 stamp_guard(const struct stamp_endpoints *endpoints, const struct reflect_cfg *cfg,
		  const volatile struct reflect_live *live)
{
	struct udphdr udp = { .source = endpoints->source_port,
			      .dest = endpoints->destination_port,
			      .len = to_net16(sizeof(udp)) };
	struct headers headers = {};
	struct span s = { (const __u8 *)&headers, (const __u8 *)(&headers + 1) };
	struct frame f;
	__u32 slot;

	if (endpoints->v6) {
		headers.eth.h_proto = to_net16(ETH_P_IPV6);
		headers.v6.ip.version = 6;
		headers.v6.ip.nexthdr = IPPROTO_UDP;
		headers.v6.ip.payload_len = to_net16(sizeof(udp));
		memcpy(&headers.v6.ip.saddr, endpoints->source, sizeof(headers.v6.ip.saddr));
		memcpy(&headers.v6.ip.daddr, endpoints->destination, sizeof(headers.v6.ip.daddr));
		headers.v6.udp = udp;
	} else {
		headers.eth.h_proto = to_net16(ETH_P_IP);
		headers.v4.ip.version = 4;
		headers.v4.ip.ihl = 5;
		headers.v4.ip.protocol = IPPROTO_UDP;
		headers.v4.ip.tot_len = to_net16(sizeof(headers.v4));
		headers.v4.ip.saddr = endpoints->source[0];
		headers.v4.ip.daddr = endpoints->destination[0];
		headers.v4.udp = udp;
	}
	parse_frame(&f, s, sizeof(headers));
	slot = reflect_guard_ip(&f, s, cfg, live);
	if (!slot && !match_addresses(&f, s, &cfg->match))
		slot = SLOT_OTHER_ADDRESS;
	return slot ? slot : live->refuse;
}
