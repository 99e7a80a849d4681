/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sender's program. It is attached nowhere: BPF_PROG_TEST_RUN hands it one live frame after the other, it makes the
 * next test frame of each and sends it out of the interface named by ctx.ingress_ifindex (XDP_TX).
 *
 * The kernel takes its pages back and hands them in again as the last receiver left them, on a veth with whatever a
 * reflector wrote into them. So the whole head is put down in every frame; payload behind it is trusted to be still
 * that of the template.
 *
 * Only one run at a time, so the state needs no lock.
 */

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "compiler.h"
#include "generate_abi.h"

const volatile struct generate_cfg generate_cfg;
struct generate_run generate_run;
struct generate_state generate_state;

/* Reads the clock for frame `n`. False: it is not time for it yet. */
static __always_inline bool stamp(struct generate_state *state, __u64 n)
{
	__u64 now = bpf_ktime_get_ns();

	if (n == 0)
		state->first_ns = now;
	else if (now - state->first_ns < state->due >> GENERATE_INTERVAL_SHIFT)
		return false;
	/* Not from `now`: a frame that is late does not make the others late. */
	state->due += generate_run.interval;
	state->last_ns = now;
	state->last_frame = n;
	return true;
}

static __always_inline void put_head(__u8 *data, const volatile __u8 *head)
{
	const __u32 length = generate_cfg.head_length;
	const __u32 last = length - 8;

	UNROLL
	for (__u32 at = 0; at < GENERATE_HEAD; at += 8)
		if (at + 8 <= length)
			*(__u64 *)(data + at) = *(const volatile __u64 *)(head + at);
	/* What does not make a word, with the end of the word before it. */
	if (length & 7)
		*(__u64 *)(data + last) = *(const volatile __u64 *)(head + last);
}

static __always_inline __u16 udp_checksum(__u32 sum)
{
	__u16 checksum;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	checksum = (__u16)~sum;
	return checksum ? checksum : 0xffff; /* 0 would say that there is none */
}

SEC("xdp")
int xdp_generate(struct xdp_md *ctx)
{
	__u8 *data = (void *)(long)ctx->data;
	const __u8 *end = (const void *)(long)ctx->data_end;
	struct generate_state *state = &generate_state;
	const volatile struct generate_size *size;
	__u64 n = state->frames;
	__u32 sum = 0;
	__u8 *udp;

	/* A frame dropped here is none of ours: the run goes on, and nothing is counted. */
	if (n >= generate_run.limit)
		return XDP_DROP;
	if (((n & generate_run.stamp_mask) == 0 || n + 1 == generate_run.limit) && !stamp(state, n))
		return XDP_DROP;

	if (data + generate_cfg.head_length > end)
		return XDP_ABORTED;
	size = &generate_cfg.size[generate_cfg.size_count > 1 ? state->size & (GENERATE_SIZES - 1) : 0];
	put_head(data, size->head);

	udp = data + generate_cfg.udp_offset;
	if (udp + 8 > end)
		return XDP_ABORTED;
	if (generate_cfg.udp6)
		sum = size->udp_sum;
	if (generate_cfg.source_ports > 1) {
		__u32 port = state->source_port;

		*(__be16 *)udp = to_net16(to_host16(*(__be16 *)udp) + port);
		sum += port;
		state->source_port = port + 1 < generate_cfg.source_ports ? port + 1 : 0;
	}
	if (generate_cfg.destination_ports > 1) {
		__u32 port = state->destination_port;

		*(__be16 *)(udp + 2) = to_net16(to_host16(*(__be16 *)(udp + 2)) + port);
		sum += port;
		state->destination_port = port + 1 < generate_cfg.destination_ports ? port + 1 : 0;
	}
	if (size->sequenced && udp + 8 + GENERATE_TIME_OFFSET <= end) {
		__u32 sequence = (__u32)n;

		*(__be32 *)(udp + 8 + GENERATE_SEQUENCE_OFFSET) = to_net32(sequence);
		sum += (sequence >> 16) + (sequence & 0xffff);
	}
	if (generate_cfg.udp6)
		*(__be16 *)(udp + 6) = to_net16(udp_checksum(sum));

	if (generate_cfg.size_count > 1) {
		/* Every frame comes in as long as the template, which is as long as the largest size. */
		if (bpf_xdp_adjust_tail(ctx, (int)size->length - (int)(end - data)))
			return XDP_ABORTED;
		state->size = state->size + 1 < generate_cfg.size_count ? state->size + 1 : 0;
	}
	state->frames = n + 1;
	return XDP_TX;
}

/* What can be sent live by this kernel, without sending anything. */
SEC("xdp")
int xdp_generate_probe(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "GPL";
