/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A limit on how much is answered: the virtual scheduling algorithm of ITU-T I.371 annex A (GCRA). Everything that is let
 * through takes some time; what comes when time has been taken for longer than CAP_BURST ahead is over the cap. All CPUs share
 * one account, so that it is of the port.
 */
#ifndef RESPONDER_RESPOND_CAP_H
#define RESPONDER_RESPOND_CAP_H

#include "../compiler.h"

enum {
	CAP_UNIT_BITS = 6,      /* a cost of a frame is in 2^-6 ns, */
	CAP_OCTET_BITS = 16,    /* and that of an octet in 2^-16 ns: below 0.1 % of what a frame takes at 10 Gb/s */
	CAP_TRIES = 4,
};
#define CAP_BURST (10000000ULL << CAP_UNIT_BITS) /* 10 ms */

/* `taken`: up to when time has been taken. */
static __always_inline int cap_is_reached(const volatile __u64 *taken, __u64 now_ns)
{
	return *taken > (now_ns << CAP_UNIT_BITS) + CAP_BURST;
}

/* Where others have been faster so many times in a row, the frame goes uncounted. */
static __always_inline void cap_take(volatile __u64 *taken, __u64 now_ns, __u64 cost)
{
	__u64 now = now_ns << CAP_UNIT_BITS;

	for (int i = 0; i < CAP_TRIES; i++) {
		__u64 before = *taken;

		if (__sync_bool_compare_and_swap(taken, before, (before > now ? before : now) + cost))
			return;
	}
}

#endif
