/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sender's program. It is attached nowhere: BPF_PROG_TEST_RUN hands it one live frame after the other, it makes the
 * next test frame of each and sends it out of the interface named by ctx.ingress_ifindex (XDP_TX).
 *
 * The kernel takes its pages back and hands them in again as the last receiver left them, on a veth with whatever a
 * reflector wrote into them. So the whole head is put down in every frame, and the pattern with our signature; payload
 * behind pktgen's is trusted to be still that of the template.
 *
 * Only one run at a time, so the state needs no lock.
 */

#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "compiler.h"
#include "generate_abi.h"
#include "signature/ours.h"
#include "signature/pattern.h"
#include "signature/pktgen.h"

/* More than the pairs of words in any frame's pattern; the verifier wants a bound, here all ones. */
enum { GENERATE_PAIRS = 1023 };
_Static_assert(GENERATE_PAIRS * PATTERN_PAIR > GENERATE_LARGEST, "no frame has more");

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

static __always_inline __u32 fold(__u64 sum)
{
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u32)((sum & 0xffff) + (sum >> 16));
}

static __always_inline __u16 udp_checksum(__u32 sum)
{
	__u16 checksum = (__u16)~fold(sum);

	return checksum ? checksum : 0xffff; /* 0 would say that there is none */
}

/*
 * The pattern that begins at `at` with `x`: what the frame's end cuts off of a pair. What is added to the sum of the UDP
 * checksum, summed in words of any size as they lie in the frame (RFC 1071).
 */
static __always_inline __u32 put_pattern_end(__u8 *at, const __u8 *end, __u64 x)
{
	__u32 pairs = (__u32)(end - at) / PATTERN_PAIR & GENERATE_PAIRS;
	__u64 word = pattern_word(x + pairs * PATTERN_STEP), sum = 0;

	at += pairs * PATTERN_PAIR;
	if (at + 8 <= end) {
		*(word64 *)at = to_little64(word);
		sum = (word & 0xffffffff) + (word >> 32);
		word = ~word;
		at += 8;
	}
	if (at + 4 <= end) {
		*(word32 *)at = to_little32(word);
		sum += word & 0xffffffff;
		word >>= 32;
		at += 4;
	}
	if (at + 2 <= end) {
		*(word16 *)at = to_little16(word);
		sum += word & 0xffff;
		word >>= 16;
		at += 2;
	}
	if (at + 1 <= end) {
		*at = (__u8)word;
		sum += word & 0xff;
	}
	return __builtin_bswap16((__u16)fold(sum));
}

/* And all that comes before, which adds nothing. The verifier follows every way on from each round, so it comes last. */
static __always_inline void put_pattern(__u8 *at, const __u8 *end, __u64 x)
{
	for (__u32 i = 0; i < GENERATE_PAIRS; i++) {
		__u64 word = to_little64(pattern_word(x));

		if (at + PATTERN_PAIR > end)
			break;
		*(word64 *)at = word;
		*(word64 *)(at + 8) = ~word;
		at += PATTERN_PAIR;
		x += PATTERN_STEP;
	}
}

/* What is added to the sum of the UDP checksum. There is room for OURS_LENGTH or PKTGEN_SEQUENCED_LENGTH. */
static __always_inline __u32 put_signature(__u8 *payload, struct generate_state *state)
{
	__u32 sequence, stream, check, time = 0;

	if (!generate_cfg.ours) {
		sequence = (__u32)state->frames;
		*(word32 *)(payload + PKTGEN_SEQUENCE_OFFSET) = to_net32(sequence);
		return (sequence >> 16) + (sequence & 0xffff);
	}
	sequence = state->sequence;
	stream = state->stream;
	if (generate_cfg.stamped) {
		time = (__u32)bpf_ktime_get_tai_ns();
		time |= !time; /* 0 would say that there is none */
		*(word32 *)(payload + OURS_TIME_OFFSET) = to_net32(time);
	}
	check = (__u32)ours_check(stream, sequence, time);
	*(word16 *)(payload + OURS_CHECK_OFFSET) = to_net16(check);
	*(word16 *)(payload + OURS_STREAM_OFFSET) = to_net16(stream);
	*(word32 *)(payload + OURS_SEQUENCE_OFFSET) = to_net32(sequence);
	if (stream + 1 < generate_cfg.streams) {
		state->stream = stream + 1;
	} else {
		state->stream = 0;
		state->sequence = sequence + 1;
	}
	return check + stream + (sequence >> 16) + (sequence & 0xffff) + (time >> 16) + (time & 0xffff);
}

SEC("xdp")
int xdp_generate(struct xdp_md *ctx)
{
	struct generate_state *state = &generate_state;
	const volatile struct generate_size *size;
	__u8 *data = (void *)(long)ctx->data, *udp;
	const __u8 *end = (const void *)(long)ctx->data_end;
	__u64 n = state->frames, pattern;
	__u32 sum = 0;

	/* A frame dropped here is none of ours: the run goes on, and nothing is counted. */
	if (n >= generate_run.limit)
		return XDP_DROP;
	if (((n & generate_run.stamp_mask) == 0 || n + 1 == generate_run.limit) && !stamp(state, n))
		return XDP_DROP;

	size = &generate_cfg.size[generate_cfg.size_count > 1 ? state->size & (GENERATE_SIZES - 1) : 0];
	if (generate_cfg.size_count > 1) {
		/* Every frame comes in as long as the template, which is as long as the largest size. */
		if (bpf_xdp_adjust_tail(ctx, (int)size->length - (int)(end - data)))
			return XDP_ABORTED;
		data = (void *)(long)ctx->data;
		end = (const void *)(long)ctx->data_end;
		state->size = state->size + 1 < generate_cfg.size_count ? state->size + 1 : 0;
	}
	if (data + generate_cfg.head_length > end)
		return XDP_ABORTED;
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
	if (udp + 8 + (generate_cfg.ours ? OURS_LENGTH : PKTGEN_SEQUENCED_LENGTH) > end)
		return XDP_ABORTED;
	pattern = pattern_begin(state->stream, state->sequence);
	sum += put_signature(udp + 8, state);
	if (generate_cfg.ours)
		sum += put_pattern_end(udp + 8 + OURS_LENGTH, end, pattern);
	if (generate_cfg.udp6)
		*(__be16 *)(udp + 6) = to_net16(udp_checksum(sum));

	state->frames = n + 1;
	if (generate_cfg.ours)
		put_pattern(udp + 8 + OURS_LENGTH, end, pattern);
	return XDP_TX;
}

/* What can be sent live by this kernel, without sending anything. */
SEC("xdp")
int xdp_generate_probe(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "GPL";
