/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the times of sending in one stream's frames say. Only differences of transit times: the clocks of sender and
 * receiver need not agree, only run evenly. Plain C: no map, no helper, no clock.
 *
 *     transit(i) = received(i) - sent(i), of two clocks
 *     D(i)       = transit(i) - transit(i - 1), in order of arrival          RFC 3550 section 6.4.1
 *     jitter    += (|D(i)| - jitter) / 16
 *     variation  = transit(i) - the smallest transit                        RFC 5481 section 4.2 (PDV)
 */
#ifndef RESPONDER_DELAY_H
#define RESPONDER_DELAY_H

#include "compiler.h"

/* No network delays a frame by so much more than the one before: one of the clocks was set. In nanoseconds. */
#define DELAY_STEP 500000000LL

struct delay {
	__u64 frames;           /* with a time, and not behind a step */
	__u32 transit;          /* of the last one, modulo 2^32 */
	__u32 zero;
	__u64 jitter16;         /* 16 times the jitter, as in RFC 3550 appendix A.8 */
	/* Transit times, beyond that of the first. */
	__s64 last, least, most, sum;
	__u64 steps;            /* of a clock; the transit time is taken to have been as before */
};

/* Both in nanoseconds modulo 2^32. */
static __always_inline void delay_take(struct delay *d, __u32 received, __u32 sent)
{
	__u32 transit = received - sent;
	__s32 nearest = transit - d->transit; /* the shorter way round */
	__s64 difference = nearest, distance = difference < 0 ? -difference : difference;

	d->transit = transit;
	if (unlikely(!d->frames && !d->steps)) {
		d->frames = 1;
		return;
	}
	if (unlikely(distance > DELAY_STEP)) {
		d->steps++;
		return;
	}
	d->frames++;
	d->jitter16 += distance - ((d->jitter16 + 8) >> 4);
	d->last += difference;
	d->sum += d->last;
	if (d->last < d->least)
		d->least = d->last;
	else if (d->last > d->most)
		d->most = d->last;
}

#endif
