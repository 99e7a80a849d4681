/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xdp-reflect's program: sends test frames back, answers the measurement protocols, and passes everything else up the stack
 * untouched. One slot of the counters a frame, so that the slots add up.
 */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "counters.h"
#include "port_sockets.h"
#include "reflect_abi.h"

const volatile struct reflect_cfg reflect_cfg;
struct reflect_live reflect_live;
/* May change while the program runs. */
__u32 reflect_watch_flows;
__u32 reflect_over; /* as sink_over: the first row of queue_counters for what comes after the run */

/* Least recently used ones make room. The number that comes next. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct reflect_session);
	__type(value, __u32);
} reflect_sessions SEC(".maps");

/* How many were asked so far. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct reflect_loss);
	__type(value, __u32);
} reflect_losses SEC(".maps");

static __always_inline __u64 reflect_now(void) { return bpf_ktime_get_tai_ns(); }

/* One more; how many it was before. */
static __always_inline __u32 reflect_count_up(void *map, const void *key)
{
	__u32 *number = bpf_map_lookup_elem(map, key), first = 1;

	if (number)
		return __sync_fetch_and_add(number, 1);
	bpf_map_update_elem(map, key, &first, BPF_ANY);
	return 0;
}

static __u32 reflect_next_number(const struct reflect_session *session)
{
	return reflect_count_up(&reflect_sessions, session);
}

static __u32 reflect_next_loss(const struct reflect_loss *loss) { return reflect_count_up(&reflect_losses, loss) + 1; }

/* Up to when the time of the caps has been taken (respond/cap.h). */
__u64 reflect_frames_taken, reflect_octets_taken;

static int reflect_is_over_cap(__u64 octets)
{
	__u64 now = bpf_ktime_get_ns();

	if (cap_is_reached(&reflect_frames_taken, now) || cap_is_reached(&reflect_octets_taken, now))
		return 1;
	if (reflect_cfg.frame_cost)
		cap_take(&reflect_frames_taken, now, reflect_cfg.frame_cost);
	if (reflect_cfg.octet_cost)
		cap_take(&reflect_octets_taken, now, octets * reflect_cfg.octet_cost >> (CAP_OCTET_BITS - CAP_UNIT_BITS));
	return 0;
}

#include "reflect.h"

/* Where reflect_any() describes its frame, as in the sink. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frame);
} reflect_described SEC(".maps");

/* From the program's entry to its verdict, of frames that go back; not where sockets send them, which take the time themselves. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct histogram);
} reflect_residence SEC(".maps");

/*
 * Set by user space again and again: the next frame is timed. Two readings of the clock take longer than all the rest of the
 * program, so not every frame can be.
 */
__u32 reflect_time_next;

/* Now, for a frame that is timed; 0 for the others. */
static __always_inline __u64 reflect_begin(void)
{
	volatile __u32 *next = &reflect_time_next;

	if (likely(!*next))
		return 0;
	*next = 0;
	return bpf_ktime_get_ns();
}

static __noinline int reflect_resided(__u64 began)
{
	__u32 key = 0;
	struct histogram *h = bpf_map_lookup_elem(&reflect_residence, &key);

	if (h)
		histogram_take(h, bpf_ktime_get_ns() - began);
	return 0;
}

static __always_inline struct span frame_span(const struct xdp_md *ctx)
{
	return (struct span){ (const __u8 *)(long)ctx->data, (const __u8 *)(long)ctx->data_end };
}

static __always_inline __u64 frame_length(struct xdp_md *ctx, struct span s)
{
	return reflect_cfg.multi_buffer ? bpf_xdp_get_buff_len(ctx) : (__u64)(s.end - s.data);
}

/* What has been judged to be a test frame goes back: at once, or from the socket of its queue. */
static __always_inline int reflect_back(struct xdp_md *ctx, const struct frame *f, struct span s, __u64 began, __u32 queue,
					__u32 over, int by_socket)
{
	if (by_socket && !over)
		return to_socket(ctx, began, queue);
	rewrite_turn(f, s, reflect_cfg.swap);
	return XDP_TX;
}

/* Beside reflect_any()'s verdict: the frame that is described in reflect_described is to be remembered, with its slot. */
enum { REFLECT_WATCH = 0x100, REFLECT_SLOT_SHIFT = 16 };

/* Any frame at all. Here come those that are not plain, and those that are not answered. */
static __always_inline int reflect_judge(struct xdp_md *ctx, __u64 began, int by_socket)
{
	struct span s = frame_span(ctx);
	__u64 length = frame_length(ctx, s);
	__u32 over = *(volatile __u32 *)&reflect_over, queue = ctx->rx_queue_index, key = 0, slot;
	struct frame *f = bpf_map_lookup_elem(&reflect_described, &key);

	if (!f)
		return XDP_PASS; /* cannot be */
	parse_frame(f, s, length);
	/* Forget what is known of the frame, as in the sink: one state for the verifier, instead of one a path. */
	asm volatile("" ::: "memory");
	s = frame_span(ctx);
	slot = reflect_frame(f, s, &reflect_cfg, &reflect_live, reflect_live.own_mac.bytes);
	count(queue + over, slot == MATCH_TEST ? match_size_bin(length) : slot, length, f);
	if (slot == MATCH_TEST)
		return reflect_back(ctx, f, s, began, queue, over, by_socket);
	if (slot < SLOT_ANSWER_END)
		return XDP_TX;
	return (slot < SLOT_REASON_END ? XDP_PASS : XDP_DROP) |
	       (*(volatile __u32 *)&reflect_watch_flows ? REFLECT_WATCH | slot << REFLECT_SLOT_SHIFT : 0);
}

static __noinline int reflect_any(struct xdp_md *ctx) { return reflect_judge(ctx, 0, 0); }
static __noinline int reflect_any_by_socket(struct xdp_md *ctx, __u64 began) { return reflect_judge(ctx, began, 1); }

static __noinline int reflect_watch(struct xdp_md *ctx, __u32 slot)
{
	__u32 key = 0;
	const struct frame *f = bpf_map_lookup_elem(&reflect_described, &key);
	struct span s = frame_span(ctx);

	return f ? watch_flow(f, s.data, s.end, slot) : 0;
}

enum { REFLECT_NOT_PLAIN = -1 };

static __always_inline int reflect_plain(struct xdp_md *ctx, const struct frame *f, struct span s, __u64 length,
					 __u64 began, int by_socket)
{
	enum reflect_request request;
	__u32 over, queue, slot;

	if (f->protocol != IPPROTO_UDP || reflect_control(f, s))
		return REFLECT_NOT_PLAIN;
	request = reflect_request(f, s, &reflect_cfg);
	if (request == REFLECT_NOTHING)
		return REFLECT_NOT_PLAIN;
	slot = reflect_answer(f, s, request, &reflect_cfg, &reflect_live, reflect_live.own_mac.bytes);
	if (unlikely(slot != MATCH_TEST && slot >= SLOT_ANSWER_END))
		return REFLECT_NOT_PLAIN;
	keep_pointer(ctx); /* clang would make one address of its fields' for both callers, which the verifier refuses */
	queue = ctx->rx_queue_index;
	over = *(volatile __u32 *)&reflect_over;
	count(queue + over, slot == MATCH_TEST ? match_size_bin(length) : slot, length, f);
	return slot == MATCH_TEST ? reflect_back(ctx, f, s, began, queue, over, by_socket) : XDP_TX;
}

/* The straight way, for UDP with plain headers; whatever is anything else starts again in reflect_any(). */
static __always_inline int reflect(struct xdp_md *ctx, int by_socket)
{
	struct span s = frame_span(ctx);
	__u64 length = frame_length(ctx, s), began = reflect_begin();
	int verdict = REFLECT_NOT_PLAIN;
	struct frame f;

	if (likely(!parse_ethernet(&f, s, length))) {
		if (f.ethertype == to_net16(ETH_P_IP)) {
			if (likely(!parse_ipv4(&f, s, PARSE_PLAIN)))
				verdict = reflect_plain(ctx, &f, s, length, began, by_socket);
		} else if (f.ethertype == to_net16(ETH_P_IPV6)) {
			if (likely(!parse_ipv6(&f, s, PARSE_PLAIN)))
				verdict = reflect_plain(ctx, &f, s, length, began, by_socket);
		}
	}
	if (unlikely(verdict == REFLECT_NOT_PLAIN)) {
		verdict = by_socket ? reflect_any_by_socket(ctx, began) : reflect_any(ctx);
		if (verdict & REFLECT_WATCH)
			reflect_watch(ctx, (__u32)verdict >> REFLECT_SLOT_SHIFT);
		verdict &= REFLECT_WATCH - 1;
	}
	if (!by_socket && unlikely(began) && verdict == XDP_TX)
		reflect_resided(began);
	return verdict;
}

SEC("xdp")
int xdp_reflect(struct xdp_md *ctx) { return reflect(ctx, 0); }

/* The same for AF_XDP; why it is a program of its own is said in the sink's. */
SEC("?xdp")
int xdp_reflect_by_socket(struct xdp_md *ctx) { return reflect(ctx, 1); }

char LICENSE[] SEC("license") = "GPL";
