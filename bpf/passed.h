/* SPDX-License-Identifier: GPL-2.0-only */
/* Copies of frames that pass up the stack, for a capture in user space. */
#ifndef RESPONDER_PASSED_H
#define RESPONDER_PASSED_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"

/* A buffer for each CPU. Nothing is copied where no reader has put one in. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} sink_passed SEC(".maps");

/* Copies that found no room. */
__u64 sink_passed_lost;

/* The longest that a record of the kernel's buffers can hold, whose length has 16 bits. */
#define PASSED_LONGEST 0xff00u

static __always_inline void copy_passed(struct xdp_md *ctx, __u64 length)
{
	__u32 captured = sink_cfg.copy_passed < PASSED_LONGEST ? sink_cfg.copy_passed : PASSED_LONGEST;
	struct passed_frame about = {
		.time_ns = bpf_ktime_get_tai_ns(),
		.lost = *(volatile __u64 *)&sink_passed_lost,
		.length = (__u32)length,
		.queue = ctx->rx_queue_index,
	};

	if (length < captured)
		captured = (__u32)length;
	about.captured = captured;
	if (bpf_perf_event_output(ctx, &sink_passed, BPF_F_CURRENT_CPU | (__u64)captured << 32, &about, sizeof(about)))
		__sync_fetch_and_add(&sink_passed_lost, 1);
}

#endif
