// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two programs that count every frame and let it pass, each in a map of its own. For the cases about the machine
 * itself (libxdp's dispatcher, a kernel whose BTF is not to be seen): they need a program, not ours.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} first_frames SEC(".maps"), second_frames SEC(".maps");

static int count(void *frames)
{
	__u32 key = 0;
	__u64 *value = bpf_map_lookup_elem(frames, &key);

	if (value)
		__sync_fetch_and_add(value, 1);
	return XDP_PASS;
}

SEC("xdp")
int first(struct xdp_md *ctx __attribute__((unused)))
{
	return count(&first_frames);
}

SEC("xdp")
int second(struct xdp_md *ctx __attribute__((unused)))
{
	return count(&second_frames);
}

char _license[] SEC("license") = "GPL";
