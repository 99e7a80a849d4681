/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters as maps, and the one way to count in them. */
#ifndef RESPONDER_COUNTERS_H
#define RESPONDER_COUNTERS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "parse.h"

/*
 * A row of counters for each receive queue, and another one for what comes when the run is over (sink_over). The loader
 * raises max_entries to twice the number of queues before it loads.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct slot_counters);
} queue_counters SEC(".maps");

/* What passed by while the command wants to know. Least recently seen ones make room: busy ones tend to stay. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PASSED_FLOWS);
	__type(key, struct passed_flow_key);
	__type(value, __u64);
} passed_flows SEC(".maps");

static __always_inline void count(__u32 row, __u32 slot, __u64 length, const struct frame *f)
{
	struct slot_counters *counters = bpf_map_lookup_elem(&queue_counters, &row);
	struct slot_count *c;

	if (unlikely(!counters)) {
		row = 0; /* cannot be: the map has a place for every queue; a lost count would be worse than a misplaced one */
		counters = bpf_map_lookup_elem(&queue_counters, &row);
	}
	if (!counters || slot >= SLOTS)
		return;
	c = &counters->slot[slot];
	c->frames++;
	c->l2_bytes += length;
	c->l3_bytes += f->l3_bytes;
	c->payload_bytes += f->payload_bytes;
}

static __noinline int watch_flow(const struct frame *f, const __u8 *data, const __u8 *end, __u32 slot)
{
	struct span s = { data, end };
	const struct ethhdr *eth = FRAME_AT(struct ethhdr, s, 0);
	const struct iphdr *ip4 = frame_ipv4(f, s);
	const struct ipv6hdr *ip6 = frame_ipv6(f, s);
	__u32 tags = frame_tags(f);
	struct passed_flow_key key = {
		.ethertype = to_host16(f->ethertype),
		.destination_port = (__u16)f->destination_port,
		.vlan = { tags >= 1 ? frame_vlan(s, 0) : 0, tags >= 2 ? frame_vlan(s, 1) : 0 },
		.tags = (__u8)tags,
		.protocol = (__u8)f->protocol,
		.slot = (__u8)slot,
	};
	__u64 *frames;

	if (!FRAME_FITS(eth, s))
		return 0;
	__builtin_memcpy(key.destination_mac, eth->h_dest, ETH_ALEN);
	if (ip4) {
		key.source[0] = ip4->saddr;
		key.destination[0] = ip4->daddr;
	} else if (ip6) {
		__builtin_memcpy(key.source, &ip6->saddr, sizeof(key.source));
		__builtin_memcpy(key.destination, &ip6->daddr, sizeof(key.destination));
	}
	frames = bpf_map_lookup_elem(&passed_flows, &key);
	if (!frames) {
		__u64 first = 1;

		bpf_map_update_elem(&passed_flows, &key, &first, BPF_NOEXIST);
		return 0;
	}
	__sync_fetch_and_add(frames, 1);
	return 0;
}

#endif
