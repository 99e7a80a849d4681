/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the lab attaches to the tester's end: native XDP_TX leaves a veth only if there is an XDP program on its peer
 * (drivers/net/veth.c: without one the peer has no ring to put frames into).
 */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int xdp_pass(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_PASS;
}

/* For frames beyond a page. */
SEC("xdp.frags")
int xdp_pass_frags(struct xdp_md *ctx __attribute__((unused)))
{
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
