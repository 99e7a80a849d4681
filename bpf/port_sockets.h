/* SPDX-License-Identifier: GPL-2.0-only */
/* The AF_XDP sockets of a port. */
#ifndef RESPONDER_PORT_SOCKETS_H
#define RESPONDER_PORT_SOCKETS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* Key: receive queue. The loader makes it and puts the sockets in; without that engine it does not exist. */
struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} port_sockets SEC(".maps");

#endif
