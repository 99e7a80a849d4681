/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the times of one stream's frames say. Plain C: no map, no helper, no clock.
 *
 *     transit(i) = received(i) - sent(i), of two clocks
 *     D(i)       = transit(i) - transit(i - 1), in order of arrival          RFC 3550 section 6.4.1
 *     jitter    += (|D(i)| - jitter) / 16
 *     IPDV(i)    = transit(i) - transit(i - 1), in order of sending          RFC 5481 section 4.1, RFC 3393
 *     PDV(i)     = transit(i) - the smallest transit                         RFC 5481 section 4.2
 *
 * All but the transit times themselves are differences: the clocks of sender and receiver need not agree, only run evenly.
 * Where they do agree, to less than the two seconds that 32 bits tell apart, a transit time is the one-way delay (RFC 7679).
 *
 * An IPDV takes two frames with successive numbers, of which the second came right behind the first: a frame that is lost or
 * late breaks two pairs, and nothing is made up for them. Frames that came twice or are astray have no delay at all.
 */
#ifndef RESPONDER_DELAY_H
#define RESPONDER_DELAY_H

#include "compiler.h"

/* No network delays a frame by so much more than the one before: one of the clocks was set. In nanoseconds. */
#define DELAY_STEP 500000000

/* Why the last frame is not the one before the next. */
enum delay_apart {
	DELAY_SUCCESSIVE,       /* it is */
	DELAY_LATE,             /* it was late */
	DELAY_DOUBTFUL,         /* its time is far off: damaged, or a clock was set? */
	DELAY_UNTIMED,          /* it did not say when it was sent */
};

struct delay {
	__u64 frames;           /* with a time that fits; behind by what took delay_take_usual() */
	__u64 jitter16;         /* 16 times the jitter, as in RFC 3550 appendix A.8 */
	/* Transit times, the first one taken as less than 2^31 ns either way. */
	__s64 last, least, most;
	__u64 sum;              /* of them, modulo 2^64: where clocks are seconds apart it wraps within some 2^32 frames */
	__u64 ipdv_sum;         /* of their absolute values */
	__s64 ipdv_least, ipdv_most;

	__u64 unpaired;         /* of the frames: have no IPDV */
	__u32 apart;            /* enum delay_apart, of the last frame */
	__u32 doubt;            /* a transit time that is far off, modulo 2^32 */
	__u32 wild;             /* frames with such a time, which changed nothing else */
	__u32 steps;            /* of a clock; all transit times are moved to where it stands now */
};

/* From one frame to the next, whatever it is, where both times of arrival are exact. */
struct gaps {
	__u64 count;            /* like delay.frames */
	__u64 least, most;
	/* While the clock is exact: when the first came, and later by what was no gap. Otherwise the sum of all gaps. */
	__u64 began_ns;
};

#define GAPS_NONE (~0ULL)
/* The clock was not set back in between. */
static __always_inline int gaps_is_one(__u64 gap) { return !(gap >> 63); }

static __always_inline void gaps_widen(struct gaps *g, __u64 gap)
{
	if (gap < g->least)
		g->least = gap;
	if (gap > g->most)
		g->most = gap;
}

static __always_inline void gaps_add(struct gaps *g, __u64 gap)
{
	g->count++;
	gaps_widen(g, gap);
}

/* As one before it was; then the clock was not set back either. */
static __always_inline int gaps_has_had(const struct gaps *g, __u64 gap) { return gap >= g->least && gap <= g->most; }

/* How long after the one before a frame came; GAPS_NONE where nobody knows. */
static __always_inline __u64 gaps_take(struct gaps *g, __u64 last_ns, int last_exact, __u64 now_ns, int exact)
{
	__u64 gap = now_ns - last_ns;

	if (exact && last_exact && gaps_is_one(gap)) {
		gaps_add(g, gap);
		return gap;
	}
	if (!g->count)
		g->least = GAPS_NONE;
	if (last_exact)
		g->began_ns = last_ns - g->began_ns; /* the sum */
	if (exact)
		g->began_ns = now_ns - g->began_ns;
	return GAPS_NONE;
}

/* Modulo 2^32, the shorter way round. */
static __always_inline __s64 delay_between(__u64 from, __u64 to)
{
	__s64 difference = (to - from) << 32;

	return difference >> 32;
}

static __always_inline int delay_is_near(__s64 difference)
{
	return difference <= DELAY_STEP && difference >= -DELAY_STEP;
}

static __always_inline __u64 delay_distance(__s64 difference) { return difference < 0 ? -difference : difference; }

static __always_inline void delay_move(struct delay *d, __s64 difference)
{
	d->jitter16 += delay_distance(difference) - ((d->jitter16 + 8) >> 4);
	d->last += difference;
	d->sum += d->last;
}

static __always_inline void delay_widen(struct delay *d, __s64 transit)
{
	if (transit < d->least)
		d->least = transit;
	if (transit > d->most)
		d->most = transit;
}

static __always_inline void delay_add(struct delay *d, __s64 difference)
{
	d->frames++;
	delay_move(d, difference);
	delay_widen(d, d->last);
}

static __always_inline void delay_widen_pair(struct delay *d, __s64 difference)
{
	if (difference < d->ipdv_least)
		d->ipdv_least = difference;
	if (difference > d->ipdv_most)
		d->ipdv_most = difference;
}

static __always_inline void delay_add_pair(struct delay *d, __s64 difference)
{
	d->ipdv_sum += delay_distance(difference);
	delay_widen_pair(d, difference);
}

/* Of a frame with the number behind the last one's: its transit time and its IPDV are such as there were before. */
static __always_inline int delay_has_had(const struct delay *d, __s64 difference)
{
	__s64 transit = d->last + difference;

	return difference >= d->ipdv_least && difference <= d->ipdv_most && transit >= d->least && transit <= d->most;
}

/* Such a frame, but for what follows from its number: that it is one more. */
static __always_inline void delay_take_usual(struct delay *d, __s64 difference)
{
	delay_move(d, difference);
	d->ipdv_sum += delay_distance(difference);
}

/* A time that is far off. The next one tells what it was: true if it is as far off, then a clock has been set. */
static __always_inline int delay_confirms_step(struct delay *d, __u32 transit)
{
	__s64 step = delay_between(d->last, d->doubt);
	__s64 distance = delay_between(d->doubt, transit);

	if (d->apart != DELAY_DOUBTFUL || !delay_is_near(distance)) {
		d->wild++;
		d->doubt = transit;
		d->apart = DELAY_DOUBTFUL;
		return 0;
	}
	d->wild--;
	d->steps++;
	d->last += step;
	d->least += step;
	d->most += step;
	d->sum += step * d->frames;
	return 1;
}

/* A frame without a time: those before and behind it are no pair. */
static __always_inline void delay_pass(struct delay *d)
{
	if (d->frames && d->apart == DELAY_SUCCESSIVE)
		d->apart = DELAY_UNTIMED;
}

/*
 * Both times in nanoseconds modulo 2^32. `next`: the frame has the number that was expected; `late`: it has one below that.
 * True if the time fits: then d->last is the frame's transit time.
 */
static __always_inline int delay_take(struct delay *d, __u32 received, __u32 sent, int next, int late)
{
	__u32 transit = received - sent;
	__s64 difference = delay_between(d->last, transit);

	if (!d->frames) {
		d->last = d->least = d->most = delay_between(0, transit);
		d->sum = d->last;
		d->ipdv_least = 0x7fffffff;
		d->ipdv_most = -0x7fffffff;
		d->frames = d->unpaired = 1;
		return 1;
	}
	if (!delay_is_near(difference)) {
		if (!delay_confirms_step(d, transit))
			return 0;
		difference = delay_between(d->last, transit);
	}
	delay_add(d, difference);
	if (next && d->apart == DELAY_SUCCESSIVE)
		delay_add_pair(d, difference);
	else
		d->unpaired++;
	d->apart = late ? DELAY_LATE : DELAY_SUCCESSIVE;
	return 1;
}

#endif
