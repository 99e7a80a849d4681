// SPDX-License-Identifier: GPL-2.0-only
//
// What a program under test is measured beside. xdp_drop and _pass do nothing. A program that answers changes its
// frame, which BPF_PROG_TEST_RUN does not put back before the next round: xdp_restored does, and goes on to the
// program in floor_next; with xdp_tx there, it is what that program is measured beside.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

enum { FLOOR_FRAME = 96 };

/* The front of the frame, as it is to be at the start of each round. */
unsigned char floor_frame[FLOOR_FRAME];

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} floor_next SEC(".maps");

SEC("xdp")
int xdp_drop(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_DROP;
}

SEC("xdp")
int xdp_pass(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_PASS;
}

SEC("xdp")
int xdp_tx(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_TX;
}

SEC("xdp")
int xdp_restored(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;

	if (data + FLOOR_FRAME > end)
		return XDP_ABORTED;
	__builtin_memcpy(data, floor_frame, FLOOR_FRAME);
	bpf_tail_call(ctx, &floor_next, 0);
	return XDP_ABORTED;
}

char LICENSE[] SEC("license") = "GPL";
