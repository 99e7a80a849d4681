// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two programs of somebody else: the first counts every frame, and both let it pass.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} first_frames SEC(".maps");

SEC("xdp")
int first(struct xdp_md *ctx __attribute__((unused)))
{
	__u32 key = 0;
	__u64 *value = bpf_map_lookup_elem(&first_frames, &key);

	if (value)
		__sync_fetch_and_add(value, 1);
	return XDP_PASS;
}

SEC("xdp")
int second(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
