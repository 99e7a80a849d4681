/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A distribution of times, log-linear: each octave is cut into 64 buckets of the same width, so that the middle of a bucket
 * is less than 0.8 % from any time in it, and below 128 ns each nanosecond has one of its own. Histograms of the same times
 * add up bucket by bucket. Plain C: no map, no helper, no clock.
 *
 *     ns        0 ... 127 | 128 130 132 ... 254 | 256 260 264 ... 508 | 512 ...   ... 2^35 - 1 (34 s) and more
 *     buckets  128 of 1   |       64 of 2       |       64 of 4       |                 in the last one
 */
#ifndef RESPONDER_HISTOGRAM_H
#define RESPONDER_HISTOGRAM_H

#include "compiler.h"

enum {
	HISTOGRAM_FINE = 64,    /* buckets an octave */
	HISTOGRAM_FINE_BITS = 6,
	HISTOGRAM_BITS = 35,
	HISTOGRAM_BUCKETS = (HISTOGRAM_BITS - HISTOGRAM_FINE_BITS + 1) * HISTOGRAM_FINE,
};

struct histogram {
	__u64 count[HISTOGRAM_BUCKETS]; /* only rise */
};

/*
 * The octave is searched for by halving: the BPF machine counts no leading zeros. Five jumps, which the times of one stream
 * take the same way most of the time: some 3 ns a frame, where a multiplication and a table took as long and a cache line.
 */
static __always_inline __u32 histogram_index(__u64 ns)
{
	__u32 shift = 0;

	if (ns >> HISTOGRAM_BITS)
		return HISTOGRAM_BUCKETS - 1;
	if (ns >> (HISTOGRAM_FINE_BITS + 16)) {
		shift = 16;
		ns >>= 16;
	}
	if (ns >> (HISTOGRAM_FINE_BITS + 8)) {
		shift += 8;
		ns >>= 8;
	}
	if (ns >> (HISTOGRAM_FINE_BITS + 4)) {
		shift += 4;
		ns >>= 4;
	}
	if (ns >> (HISTOGRAM_FINE_BITS + 2)) {
		shift += 2;
		ns >>= 2;
	}
	if (ns >> (HISTOGRAM_FINE_BITS + 1)) {
		shift += 1;
		ns >>= 1;
	}
	return shift * HISTOGRAM_FINE + low32(ns);
}

static __always_inline void histogram_take(struct histogram *h, __u64 ns)
{
	__u32 index = histogram_index(ns);

	if (index < HISTOGRAM_BUCKETS) /* the verifier wants to see it */
		h->count[index]++;
}

#endif
