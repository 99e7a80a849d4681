// SPDX-License-Identifier: GPL-2.0-only
//
// What a program under test is measured beside. xdp_drop and _pass do nothing, and xdp_redirect hands over. A program that answers changes its
// frame, which BPF_PROG_TEST_RUN does not put back before the next round: xdp_restored does, and goes on to the
// program in floor_next; with xdp_tx there, it is what that program is measured beside. xdp_numbered does so for streams.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/rewrite.h"
#include "bpf/signature/ours.h"

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

/* The shortest reflector. */
SEC("xdp")
int xdp_swap_macs(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;

	if ((void *)(eth + 1) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	rewrite_swap_macs(eth);
	return XDP_TX;
}

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} floor_sockets SEC(".maps");

SEC("xdp")
int xdp_redirect(struct xdp_md *ctx)
{
	return bpf_redirect_map(&floor_sockets, ctx->rx_queue_index, XDP_DROP);
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

SEC("xdp")
int xdp_clock(struct xdp_md *ctx __attribute__((unused)))
{
	return bpf_ktime_get_tai_ns() ? XDP_DROP : XDP_ABORTED;
}

SEC("xdp")
int xdp_tick(struct xdp_md *ctx __attribute__((unused)))
{
	return bpf_jiffies64() ? XDP_DROP : XDP_ABORTED;
}

/* Writes the next signature into an untagged IPv4 frame, of streams that take turns, and goes on to the program in floor_next. */
__u32 floor_streams; /* a power of two */
__u64 floor_number;
__u32 floor_stamped; /* with the time of sending */

SEC("xdp")
int xdp_numbered(struct xdp_md *ctx)
{
	unsigned char *payload = (void *)(long)ctx->data + 42;
	__u64 number = floor_number++;
	__u32 stream = number & (floor_streams - 1), sequence = (__u32)(number / floor_streams);
	__u32 time = floor_stamped ? (__u32)bpf_ktime_get_tai_ns() | 1 : 0;

	if (payload + OURS_LENGTH > (unsigned char *)(long)ctx->data_end)
		return XDP_ABORTED;
	*(word16 *)(payload + OURS_MAGIC_OFFSET) = to_net16(OURS_MAGIC);
	*(word16 *)(payload + OURS_CHECK_OFFSET) = to_net16(ours_check(stream, sequence, time));
	*(word16 *)(payload + OURS_STREAM_OFFSET) = to_net16(stream);
	*(word32 *)(payload + OURS_SEQUENCE_OFFSET) = to_net32(sequence);
	*(word32 *)(payload + OURS_TIME_OFFSET) = to_net32(time);
	bpf_tail_call(ctx, &floor_next, 0);
	return XDP_ABORTED;
}

char LICENSE[] SEC("license") = "GPL";
