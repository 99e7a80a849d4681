/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xdp-sink's program: counts test traffic and drops it or hands it to a socket, answers ARP, ND and ping for the address of
 * the test, and passes everything else up the stack untouched. One slot of the counters a frame, so that the slots add up.
 */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "counters.h"
#include "match.h"
#include "parse.h"
#include "respond/address.h"

const volatile struct sink_cfg sink_cfg;

#include "stream_maps.h" /* its functions read sink_cfg, and so do those of the others */
#include "passed.h"
#include "port_sockets.h"

/* May change while the program runs. */
struct match_mac sink_own_mac;
__u32 sink_watch_flows;
/*
 * Not 0: the run is over, and this is the first row of queue_counters for what comes now. Nothing else tells of that: so all
 * figures of a run end with the same frame, whoever reads them and when.
 */
__u32 sink_over;

/*
 * Where sink_any() describes its frame: in a map, because the verifier does not track what a map holds. The many ways
 * through the parser come out as one, and what follows is verified once.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frame);
} sink_frame SEC(".maps");

static __always_inline struct span frame_span(const struct xdp_md *ctx)
{
	return (struct span){ (const __u8 *)(long)ctx->data, (const __u8 *)(long)ctx->data_end };
}

static __always_inline __u64 frame_length(struct xdp_md *ctx, struct span s)
{
	return sink_cfg.multi_buffer ? bpf_xdp_get_buff_len(ctx) : (__u64)(s.end - s.data);
}

/* UDP that passes, to a watched port: as far as a socket of this machine may get it. */
static __always_inline int is_watched(const struct frame *f, struct span s)
{
	const struct ethhdr *eth = FRAME_AT(struct ethhdr, s, 0);

	return sink_cfg.watch_count && FRAME_FITS(eth, s) && stream_watched(f->destination_port) != STREAM_NONE &&
	       match_to_us(eth->h_dest, &sink_cfg.match, sink_own_mac.bytes);
}

static __always_inline int steer(struct xdp_md *ctx, const struct frame *f, struct span s, __u32 queue)
{
	int exact = stream_has_histograms() || sink_cfg.exact_arrival || stream_sent(f, s);

	return to_socket(ctx, stream_arrival(exact), queue);
}

/* Beside sink_any()'s verdict: the frame that is described in sink_frame is to be followed. */
enum { SINK_FOLLOW = 0x100 };

/* Any frame at all. Here come those that are not plain, that are not test traffic, and that are to be answered. */
static __always_inline int sink_judge(struct xdp_md *ctx, int by_socket)
{
	struct span s = frame_span(ctx);
	__u64 length = frame_length(ctx, s);
	__u32 queue = ctx->rx_queue_index, over = *(volatile __u32 *)&sink_over, slot, key = 0, follow = 0;
	struct frame *f = bpf_map_lookup_elem(&sink_frame, &key);

	if (!f)
		return XDP_PASS; /* cannot be */
	parse_frame(f, s, length);
	/*
	 * Forget: clang what it knows of *f, which it would keep in registers along every path from here on; the verifier
	 * how far the frame has been checked, which would be a state for every path.
	 */
	asm volatile("" ::: "memory");
	s = frame_span(ctx);
	slot = match_frame(f, s, &sink_cfg.match, sink_own_mac.bytes);
	if (sink_cfg.answer.v4 || sink_cfg.answer.v6)
		slot = respond_address(f, s, slot, &sink_cfg.answer, &sink_cfg.match, sink_own_mac.bytes);
	if (sink_cfg.stream_slots && !over &&
	    (slot == MATCH_TEST ? !by_socket : slot == SLOT_UDP && is_watched(f, s)))
		follow = SINK_FOLLOW;
	if (slot == MATCH_TEST) {
		count(queue + over, match_size_bin(length), length, f);
		return by_socket && !over ? steer(ctx, f, s, queue) : XDP_DROP | follow;
	}
	if (slot >= SLOT_REASON_FIRST && *(volatile __u32 *)&sink_watch_flows)
		watch_flow(f, s.data, s.end, slot);
	count(queue + over, slot, length, f);
	if (slot < SLOT_ANSWER_END)
		return XDP_TX;
	if (sink_cfg.copy_passed && !over)
		copy_passed(ctx, length);
	return XDP_PASS | follow;
}

static __noinline int sink_any(struct xdp_md *ctx) { return sink_judge(ctx, 0); }
static __noinline int sink_any_to_socket(struct xdp_md *ctx) { return sink_judge(ctx, 1); }

/* Apart from sink_any(), because the stack of all functions that are called from one another is 512 octets. */
static __noinline int sink_follow(struct xdp_md *ctx)
{
	__u32 key = 0;
	const struct frame *f = bpf_map_lookup_elem(&sink_frame, &key);

	if (f)
		stream_follow(f, frame_span(ctx), stream_table(ctx->rx_queue_index));
	return 0;
}

enum { SINK_NOT_PLAIN = -1 };

static __always_inline int sink_plain(struct xdp_md *ctx, const struct frame *f, struct span s, __u64 length,
				      int by_socket)
{
	__u32 queue, over;

	if (unlikely(match_frame(f, s, &sink_cfg.match, sink_own_mac.bytes) != MATCH_TEST))
		return SINK_NOT_PLAIN;
	if (f->protocol != IPPROTO_UDP && (sink_cfg.answer.v4 || sink_cfg.answer.v6))
		return SINK_NOT_PLAIN; /* a ping may be test traffic, under --all, and is answered all the same */
	keep_pointer(ctx); /* clang would make one address of its fields' for several callers, which the verifier refuses */
	queue = ctx->rx_queue_index;
	over = *(volatile __u32 *)&sink_over;
	count(queue + over, match_size_bin(length), length, f);
	if (unlikely(over))
		return XDP_DROP;
	if (by_socket)
		return steer(ctx, f, s, queue);
	if (sink_cfg.stream_slots)
		stream_follow(f, s, stream_table(queue));
	return XDP_DROP;
}

/*
 * The straight way, for test traffic with plain headers, by the rules of sink_any(): 6 to 9 ns more than an empty program,
 * where one way for all frames takes 14. Whatever is anything else starts again in sink_any(), so that nothing but what
 * will be counted has to be kept on this way. It is written out for each IP version, because clang then knows which it is.
 */
static __always_inline int sink(struct xdp_md *ctx, int by_socket)
{
	struct span s = frame_span(ctx);
	__u64 length = frame_length(ctx, s);
	int verdict = SINK_NOT_PLAIN;
	struct frame f;

	if (likely(!parse_ethernet(&f, s, length))) {
		if (f.ethertype == to_net16(ETH_P_IP)) {
			if (likely(!parse_ipv4(&f, s, PARSE_PLAIN)))
				verdict = sink_plain(ctx, &f, s, length, by_socket);
		} else if (f.ethertype == to_net16(ETH_P_IPV6)) {
			if (likely(!parse_ipv6(&f, s, PARSE_PLAIN)))
				verdict = sink_plain(ctx, &f, s, length, by_socket);
		} else {
			verdict = sink_plain(ctx, &f, s, length, by_socket);
		}
	}
	if (likely(verdict != SINK_NOT_PLAIN))
		return verdict;
	verdict = by_socket ? sink_any_to_socket(ctx) : sink_any(ctx);
	if (verdict & SINK_FOLLOW)
		sink_follow(ctx);
	return verdict & ~SINK_FOLLOW;
}

SEC("xdp")
int xdp_sink(struct xdp_md *ctx) { return sink(ctx, 0); }

/*
 * The same for AF_XDP. A program of its own and not a switch: libxdp's dispatcher, which extends a program by others, is not
 * allowed one that may move the frame's metadata, used or not (newer kernels: "Extension program changes packet data").
 */
SEC("?xdp")
int xdp_sink_to_socket(struct xdp_md *ctx) { return sink(ctx, 1); }

char LICENSE[] SEC("license") = "GPL";
