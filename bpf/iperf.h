/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What iperf itself would say of a stream, by its own formulas and with their faults, from the same datagrams as they come
 * here: beside our own figures (sequence.h, delay.h) so that the two can be compared with what its server prints.
 *
 *     above the highest       the numbers between are lost
 *     otherwise               out of order, also a duplicate
 *     transit                 received - sent, in whole microseconds
 *     jitter                  += (|transit - the one before| - jitter) / 16
 *
 * iperf3 (esnet/iperf 3.12, src/iperf_udp.c, iperf_udp_recv()) takes one off the lost for each that is out of order, as long
 * as there are any; a number of 32 bits that wraps puts all that follow out of order. iperf 2 (2.1.8, src/Reporter.c,
 * reporter_handle_packet_server_udp()) takes them off at the end. Both reckon the jitter in floating point; here it is an
 * integer with so many bits behind the point that what is rounded off never adds up to a digit that they print.
 *
 * Plain C: no map, no helper, no clock.
 */
#ifndef RESPONDER_IPERF_H
#define RESPONDER_IPERF_H

#include "sequence.h"

enum {
	IPERF_JITTER_BITS = 24, /* behind the point of a microsecond: all roundings together stay below a millionth of one */
	IPERF_BEGINNING = 64,   /* where the first number to come is no higher, those below it are lost */
};

/* In microseconds. More, of a damaged time or another machine's clock, would not fit beside those bits. */
#define IPERF_MOST_DIFFERENCE (1LL << 38)

struct iperf_figures {
	__u64 highest;          /* number */
	__u64 before;           /* the highest before the first datagram: 0 where all were seen from the first one on */
	__u64 lost;             /* of iperf 2 before what is out of order is taken off */
	__u64 out_of_order;
	__s64 transit_us;       /* of the last datagram */
	__u64 jitter;           /* microseconds, with IPERF_JITTER_BITS */
};

struct iperf {
	struct iperf_figures figures;
	/* Before a number that is far ahead: a damaged one, which no socket gets to see, is taken back. */
	struct iperf_figures before_doubt;
	__u64 doubt_stray;      /* sequence.stray when it came; 0: there is no doubt */
	__u64 arrived_ns;       /* of the last datagram with data */
	__u64 words;            /* iperf3: at 8 and at 12 in the last datagram */
	__u64 is_wide;          /* iperf3: its number has 64 bits */
	__u64 fragmented;       /* datagrams of which only the first fragment was read */
	__u64 is_over;          /* iperf 2: its last datagram came */
	__u64 far_next;         /* what would follow the last datagram's number, which is far off; 0: it is not */
	__u64 kind;             /* enum sequence_kind of the last datagram */
	/* Of the datagram that is being taken. */
	__u64 number;
	__u64 wire;             /* the number for sequence_take() */
	__s64 transit_us;
	__u64 beginnings;       /* sequence.beginnings before it */
};

enum iperf_kind {
	IPERF_2,
	IPERF_3_GUESS,          /* signature/iperf3.h says how */
	IPERF_3_32,
	IPERF_3_64,
};

/* A datagram as it was read. */
struct iperf_datagram {
	__u64 number;           /* iperf3: the two words where it may be */
	__u64 sent_us;          /* of any clock */
	__u64 arrived_ns;       /* of any other */
};

static __always_inline void iperf_figure(struct iperf_figures *i, __u64 number, __s64 transit_us, int is_3)
{
	__s64 difference = transit_us - i->transit_us, jitter = i->jitter;

	if (difference < 0)
		difference = -difference;
	if (difference > IPERF_MOST_DIFFERENCE)
		difference = IPERF_MOST_DIFFERENCE;
	i->transit_us = transit_us;
	i->jitter += ((difference << IPERF_JITTER_BITS) - jitter + 8) >> 4;

	if (number > i->highest) {
		i->lost += number - 1 - i->highest;
		i->highest = number;
		return;
	}
	i->out_of_order++;
	if (is_3 && i->lost)
		i->lost--;
}

/* What stands when nothing follows: a number that nobody has confirmed is left out. */
static __always_inline const struct iperf_figures *iperf_settled(const struct iperf *i)
{
	return i->doubt_stray ? &i->before_doubt : &i->figures;
}

/* As before the first datagram, which is this one. */
static __always_inline void iperf_begin(struct iperf_figures *i, __u64 number, __s64 transit_us)
{
	i->highest = i->before = number <= IPERF_BEGINNING ? 0 : number - 1;
	i->lost = 0;
	i->out_of_order = 0;
	i->transit_us = transit_us;
	i->jitter = 0;
}

static __always_inline __u64 iperf3_number(__u64 words, __u64 is_wide) { return is_wide ? words : words >> 32; }

static __always_inline __u64 iperf3_is_wide(const struct iperf *i, __u64 words, int is_first, enum iperf_kind kind)
{
	__u64 change = words ^ i->words, high = change >> 32 != 0, low = (change & SEQUENCE_WIRE) != 0;

	if (kind != IPERF_3_GUESS)
		return kind == IPERF_3_64;
	if (is_first)
		return !(words >> 32);
	return high == low ? i->is_wide : low;
}

/* So far from the highest that the lower half does not tell how far: of 64 bits, the upper half is damaged. */
static __always_inline int iperf_is_far(const struct iperf *i, enum iperf_kind kind)
{
	__u64 ahead = i->number - iperf_settled(i)->highest;

	return (kind == IPERF_2 || i->is_wide) && ahead + SEQUENCE_BASE / 2 >= SEQUENCE_BASE;
}

/* The datagram before had this number, which began something, and is no more what it was counted as. */
static __always_inline void iperf_begin_before(struct iperf *i, struct sequence *q, __u64 before, int is_3)
{
	__u64 first = SEQUENCE_BASE + (before & SEQUENCE_WIRE);

	if (sequence_is_single(q)) {
		sequence_begin(q, first);
	} else {
		sequence_begin_anew(q, first);
		if (i->kind == SEQUENCE_STRAY)
			q->stray--;
		else if (i->kind == SEQUENCE_DUPLICATE)
			q->duplicate--;
		else
			q->arrived_before--;
	}
	iperf_begin(&i->figures, before, i->figures.transit_us);
	iperf_figure(&i->figures, before, i->figures.transit_us, is_3);
	i->doubt_stray = 0;
}

/*
 * Two steps around sequence_take(), which gets the number that the first one leaves in i->wire: so that no function needs
 * much of a BPF program's stack.
 */
static __always_inline void iperf_read(struct iperf *i, struct sequence *q, const struct iperf_datagram *d,
				       enum iperf_kind kind)
{
	int is_first = !q->next;

	i->is_over = 0;
	i->arrived_ns = d->arrived_ns;
	i->number = d->number;
	i->transit_us = d->arrived_ns / 1000 - d->sent_us;
	if (kind != IPERF_2) {
		__u64 is_wide = iperf3_is_wide(i, d->number, is_first, kind);

		if (!is_first && is_wide != i->is_wide) {
			/* The one before was read wrongly: it was the first, or the first of another test. */
			iperf_begin_before(i, q, iperf3_number(i->words, is_wide), 1);
			i->far_next = 0;
		}
		i->words = d->number;
		i->is_wide = is_wide;
		i->number = iperf3_number(d->number, is_wide);
	}
	if (is_first) {
		iperf_begin(&i->figures, i->number, i->transit_us);
		if (i->number && i->number <= IPERF_BEGINNING)
			sequence_expect(q, 1);
	}
	i->wire = low32(i->number);
	if (is_first || !iperf_is_far(i, kind)) {
		i->far_next = 0;
	} else if (i->far_next && i->number == i->far_next) {
		iperf_begin_before(i, q, i->number - 1, kind != IPERF_2);
		i->far_next = 0;
	} else {
		i->far_next = i->number + 1;
		/* Far off there too, and the number behind it confirms nothing. */
		i->wire = low32(q->next + SEQUENCE_BASE / 4);
		q->doubt_next = 0;
	}
	i->beginnings = q->beginnings;
}

static __always_inline void iperf_taken(struct iperf *i, const struct sequence *q, __u64 taken, enum iperf_kind kind)
{
	/* At the very first one, iperf_read() has done it. */
	if (q->beginnings != i->beginnings && !sequence_is_single(q)) {
		__u64 before = i->number - (q->next - 1 - q->first);

		iperf_begin(&i->figures, before, i->figures.transit_us);
		iperf_figure(&i->figures, before, i->figures.transit_us, kind != IPERF_2);
	} else if (i->doubt_stray && q->stray >= i->doubt_stray) {
		i->figures = i->before_doubt;
	}
	i->doubt_stray = 0;
	i->kind = taken;
	if (taken == SEQUENCE_STRAY && i->number > i->figures.highest) {
		i->before_doubt = i->figures;
		i->doubt_stray = q->stray;
	}
	iperf_figure(&i->figures, i->number, i->transit_us, kind != IPERF_2);
}

/*
 * The last datagram of iperf 2, without its sign: no data, but its server counts it, once. One with a number that could not
 * have been sent by then is damaged.
 */
static __always_inline void iperf_last(struct iperf *i, const struct iperf_datagram *d)
{
	__u64 most;

	if (i->is_over)
		return;
	if (i->doubt_stray)
		i->figures = i->before_doubt;
	i->doubt_stray = 0;
	most = i->figures.highest + SEQUENCE_WINDOW + sequence_plausible(d->arrived_ns - i->arrived_ns);
	if (d->number > most)
		return;
	iperf_figure(&i->figures, d->number, d->arrived_ns / 1000 - d->sent_us, 0);
	i->is_over = 1;
}

#endif
