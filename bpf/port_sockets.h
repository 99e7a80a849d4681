/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The AF_XDP engine's part in the kernel: a test frame goes to the socket of its receive queue, with a time in front of it
 * (struct socket_arrival).
 */
#ifndef RESPONDER_PORT_SOCKETS_H
#define RESPONDER_PORT_SOCKETS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "abi.h"
#include "compiler.h"

/* Key: receive queue. The loader makes it and puts the sockets in; without that engine it does not exist. */
struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} port_sockets SEC(".maps");

/* This driver has no room for metadata: there is no time in front of a frame. */
__u32 sockets_unstamped;

static __always_inline int to_socket(struct xdp_md *ctx, __u64 ns, __u32 queue)
{
	struct socket_arrival *arrival;

	if (likely(!bpf_xdp_adjust_meta(ctx, -(int)sizeof(*arrival)))) {
		arrival = (struct socket_arrival *)(long)ctx->data_meta;
		if (arrival + 1 <= (struct socket_arrival *)(long)ctx->data)
			arrival->ns = ns;
	} else if (!sockets_unstamped) {
		sockets_unstamped = 1;
	}
	return (int)bpf_redirect_map(&port_sockets, queue, XDP_DROP);
}

#endif
