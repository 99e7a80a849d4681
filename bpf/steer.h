/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The AF_XDP engine's part in the kernel: a test frame goes to the socket of its receive queue, with the time of its arrival
 * in front of it (struct socket_arrival).
 */
#ifndef RESPONDER_STEER_H
#define RESPONDER_STEER_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "parse.h"
#include "port_sockets.h"
#include "streams.h"

/* This driver has no room for metadata: whoever reads the socket takes the time. */
__u32 steer_unstamped;

static __always_inline int steer(struct xdp_md *ctx, const struct frame *f, struct span s, __u32 queue)
{
	__u64 now = stream_arrival(stream_has_histograms() || sink_cfg.exact_arrival || stream_sent(f, s));
	struct socket_arrival *arrival;

	if (likely(!bpf_xdp_adjust_meta(ctx, -(int)sizeof(*arrival)))) {
		arrival = (struct socket_arrival *)(long)ctx->data_meta;
		if (arrival + 1 <= (struct socket_arrival *)(long)ctx->data)
			arrival->ns = now;
	} else if (!steer_unstamped) {
		steer_unstamped = 1;
	}
	return bpf_redirect_map(&port_sockets, queue, XDP_DROP);
}

#endif
