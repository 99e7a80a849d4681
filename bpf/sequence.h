/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the sequence numbers of one stream say: lost, late, duplicate, and in what periods it was lost. Plain C: no map,
 * no helper, no clock. A packet in the usual order costs two words, which lie apart from all the rest.
 *
 *      retired: periods counted          window: one bit a number, set once it came           not yet
 *   ----------------------------------|1111111111 1111011111 1111111111 1110001111|----------------------->
 *            ^ open_run: lost numbers at its end                                   ^ next
 *
 * A number that is missing in the window may still come: then it was late (RFC 4737). What leaves the window unset is
 * lost, and a row of such numbers is a loss period (RFC 3357). A number in the usual order moves the head alone, by less than
 * SEQUENCE_STRIDE, and is marked in the window with the next one that does not. How many came at all is not counted but follows:
 * next - first - missing.
 *
 * Numbers on the wire have 32 bits; here they have 64, by the distance to the one that is expected. They begin above 2^32,
 * so that one below the first is no negative number.
 */
#ifndef RESPONDER_SEQUENCE_H
#define RESPONDER_SEQUENCE_H

#include "compiler.h"

enum {
	SEQUENCE_WORDS = 16,
	SEQUENCE_WINDOW = 64 * SEQUENCE_WORDS,
	SEQUENCE_STRIDE = 256,  /* the first of so many numbers is not left to the head: a power of two, from 64 to the window */
	SEQUENCE_GAPS = 16,     /* how many gaps back the extent of a late packet is known */
	SEQUENCE_BURSTS = 32,   /* loss periods by length: 1, 2, 3-4, 5-8, ... */
	SEQUENCE_CONFIRM = 64,  /* how far behind a doubtful number the next one may be, and how low one is that begins anew */
};

#define SEQUENCE_WIRE 0xffffffffULL
#define SEQUENCE_BASE (SEQUENCE_WIRE + 1)
/* Times may be of a clock that ticks as rarely as this: the kernel's tick costs next to nothing. */
#define SEQUENCE_GRAIN_NS 10000000ULL
/* A low number that came before is a duplicate; after this pause it is as well the sender's next run. */
#define SEQUENCE_PAUSE_NS (SEQUENCE_GRAIN_NS / 2)
/* No sender is faster than a frame in 2^5 ns, twice the line rate of 10 Gb/s: what seems to be is no loss. */
#define SEQUENCE_FASTEST 5

/* A jump: these numbers were skipped by the packet that was the `arrival`th. */
struct sequence_gap {
	__u64 first, end;
	__u64 arrival;
};

/* In sequence_head's `expected`: whatever comes, sequence_unusual() wants to see it. No number on the wire has this bit. */
#define SEQUENCE_HELD (1ULL << 32)

/* All that the usual packet looks at. */
struct sequence_head {
	__u64 last_ns;          /* when the packet before came */
	__u64 expected;         /* the next number, as on the wire */
};

struct sequence {
	__u64 next;             /* the highest number that came, plus one; 0: none has come. Behind by what the head took */
	__u64 first;            /* the number that it began with */
	__u64 missing;          /* of those from it to `next`: have not come by now */
	__u64 open_run;
	__u64 seen[SEQUENCE_WORDS];
	/* A number that is far off, or a duplicate after a pause: a damaged packet, or the sender has begun anew? */
	__u64 doubt_next;       /* what would follow it; 0: there is no doubt */
	__u64 doubt_idle_ns;    /* how long nothing had come before it */
	__u64 doubt_kind;       /* what it was counted as */

	__u64 duplicate;        /* these two fall again where a doubt turns out as no fault */
	__u64 stray;            /* fits nowhere: later than the window is long, or damaged; what is missing stays missing */

	/* Only rise. */
	/* Before it began anew: */
	__u64 lost_before;      /* to be added to what is missing now */
	__u64 arrived_before;
	__u64 late;             /* RFC 4737 section 3.3: behind one with a higher number */
	__u64 extent_sum, extent_known; /* section 4.2.1, of those late ones whose gap is still known */
	__u64 restarts;         /* the sender began anew */
	__u64 jumps;            /* gaps as long as the window and longer: by chance so, if the numbers are none */
	__u64 period_count;
	__u64 period[SEQUENCE_BURSTS];
	__u64 extent_max;
	__u64 period_max;
	__u64 beginnings;       /* restarts, the first one, and where that was found to be another */

	struct sequence_gap gap[SEQUENCE_GAPS];
	__u64 gap_count;
};

enum sequence_kind {
	SEQUENCE_NEXT,
	SEQUENCE_AHEAD,         /* behind a gap, or as the first */
	SEQUENCE_LATE,
	SEQUENCE_DUPLICATE,
	SEQUENCE_STRAY,
};

static __always_inline __u64 *sequence_word(struct sequence *q, __u64 number)
{
	return &q->seen[number / 64 % SEQUENCE_WORDS];
}

static __always_inline __u64 sequence_bit(__u64 number) { return 1ULL << (number & 63); }

/* Different numbers that came since it began. */
static __always_inline __u64 sequence_arrived(const struct sequence *q) { return q->next - q->first - q->missing; }

/* Nothing has confirmed the number that it began with. */
static __always_inline int sequence_is_single(const struct sequence *q) { return sequence_arrived(q) == 1; }

/* Its numbers are so low that all below the first were sent. */
static __always_inline int sequence_is_young(const struct sequence *q)
{
	return q->first - SEQUENCE_BASE < SEQUENCE_CONFIRM && q->next - q->first <= SEQUENCE_CONFIRM;
}

/* All packets, whatever became of them. */
static __always_inline __u64 sequence_packets(const struct sequence *q)
{
	return q->arrived_before + sequence_arrived(q) + q->duplicate + q->stray;
}

/* How many the head took since. */
static __always_inline __u32 sequence_taken(const struct sequence *q, const struct sequence_head *head)
{
	return low32(head->expected - q->next);
}

verified_apart int sequence_close_period(struct sequence *q)
{
	__u64 longest = 1;
	__u32 i = 0;

	if (!q || !q->open_run)
		return 0;
	for (; i < SEQUENCE_BURSTS - 1 && q->open_run > longest; i++)
		longest *= 2;
	q->period[i & (SEQUENCE_BURSTS - 1)]++;
	q->period_count++;
	if (q->open_run > q->period_max)
		q->period_max = q->open_run;
	q->open_run = 0;
	return 0;
}

/* These 64 numbers leave the window. */
verified_apart int sequence_retire(struct sequence *q, __u64 word)
{
	if (!q || (word == ~0ULL && !q->open_run))
		return 0;
	for (__u32 bit = 0; bit < 64; bit++) {
		if (word >> bit & 1)
			sequence_close_period(q);
		else
			q->open_run++;
	}
	return 0;
}

/* What the head took came: from `next` to the one before `end`. It lies in as few words as SEQUENCE_STRIDE does. */
verified_apart int sequence_mark(struct sequence *q, __u64 end)
{
	if (!q)
		return 0;
	for (__u32 i = 0; i < SEQUENCE_STRIDE / 64 && q->next < end; i++) {
		__u64 *word = sequence_word(q, q->next), first = sequence_bit(q->next), behind = (q->next | 63) + 1;

		if (first == 1) { /* the word's first number */
			sequence_retire(q, *word);
			*word = 0;
		}
		if (behind > end)
			behind = end;
		*word |= (sequence_bit(behind - 1) << 1) - first;
		q->next = behind;
	}
	return 0;
}

/* Marks what the head took. */
static __always_inline void sequence_follow(struct sequence *q, const struct sequence_head *head)
{
	__u32 taken = sequence_taken(q, head);

	if (taken)
		sequence_mark(q, q->next + taken);
}

static __always_inline void sequence_begin(struct sequence *q, __u64 number)
{
	q->first = number;
	q->missing = 0;
	q->next = number + 1;
	q->gap_count = 0;
	q->doubt_next = 0;
	q->beginnings++;
	/* Nothing before it is lost. What lies above it is not yet in the window, but in its word. */
	for (__u32 i = 0; i < SEQUENCE_WORDS; i++)
		q->seen[i] = ~0ULL;
	*sequence_word(q, number) = (sequence_bit(number) << 1) - 1;
}

/* Before the first: its sender begins with this number, so that what is missing from there on is lost. */
static __always_inline void sequence_expect(struct sequence *q, __u64 number)
{
	sequence_begin(q, SEQUENCE_BASE + number - 1);
	q->first++;
}

/* All that is in the window and has not come is lost: at the end of a stream, or before it begins anew. */
static __always_inline void sequence_flush(struct sequence *q)
{
	__u64 number = q->next - 1 + 64;

	if (!q->next)
		return;
	*sequence_word(q, q->next - 1) |= ~((sequence_bit(q->next - 1) << 1) - 1);
	for (__u32 i = 0; i < SEQUENCE_WORDS; i++, number += 64)
		sequence_retire(q, *sequence_word(q, number));
	sequence_close_period(q);
}

static __always_inline int sequence_forward(struct sequence *q, __u64 number)
{
	__u64 words = number / 64 - (q->next - 1) / 64, skipped = 0, ahead = number - q->next;

	if (ahead) {
		struct sequence_gap *gap = &q->gap[q->gap_count++ % SEQUENCE_GAPS];

		gap->first = q->next;
		gap->end = number;
		gap->arrival = sequence_arrived(q) + 1;
		q->missing += ahead;
		q->jumps += ahead >= SEQUENCE_WINDOW;
	}
	if (words > SEQUENCE_WORDS) {
		skipped = words - SEQUENCE_WORDS; /* as many were never in the window at all */
		words = SEQUENCE_WORDS;
	}
	for (__u32 i = 0; i < SEQUENCE_WORDS; i++) {
		__u64 *word = sequence_word(q, q->next - 1 + 64 * (i + 1ULL));

		if (i >= words)
			break;
		sequence_retire(q, *word);
		*word = 0;
	}
	q->open_run += 64 * skipped;
	*sequence_word(q, number) |= sequence_bit(number);
	q->next = number + 1;
	return ahead ? SEQUENCE_AHEAD : SEQUENCE_NEXT;
}

static __always_inline int sequence_backward(struct sequence *q, __u64 number)
{
	__u64 *word = sequence_word(q, number);
	__u64 extent = 0;

	if (*word & sequence_bit(number)) {
		q->duplicate++;
		return SEQUENCE_DUPLICATE;
	}
	*word |= sequence_bit(number);
	q->missing--;
	q->late++;
	/* The first with a higher number was the one that skipped this one. */
	for (__u32 i = 0; i < SEQUENCE_GAPS; i++) {
		const struct sequence_gap *gap = &q->gap[i];

		if (i < q->gap_count && number >= gap->first && number < gap->end)
			extent = sequence_arrived(q) - gap->arrival;
	}
	if (extent) {
		q->extent_known++;
		q->extent_sum += extent;
		if (extent > q->extent_max)
			q->extent_max = extent;
	}
	return SEQUENCE_LATE;
}

static __always_inline void sequence_begin_anew(struct sequence *q, __u64 number)
{
	q->lost_before += q->missing;
	q->arrived_before += sequence_arrived(q);
	sequence_flush(q);
	sequence_begin(q, number);
	q->restarts++;
}

/* As many numbers can have been sent in that time. */
static __always_inline __u64 sequence_plausible(__u64 idle_ns)
{
	return (idle_ns + SEQUENCE_GRAIN_NS) >> SEQUENCE_FASTEST;
}

/*
 * Does it follow the doubtful one? Behind a gap, where much is lost, as far as time allows; after a pause with some loss
 * between the two; else at once.
 */
static __always_inline int sequence_confirms(const struct sequence *q, __u64 number, __u64 idle_ns)
{
	__u64 most = q->doubt_idle_ns >= SEQUENCE_PAUSE_NS ? SEQUENCE_CONFIRM : 1;

	if (q->doubt_next > q->next)
		most = SEQUENCE_CONFIRM + sequence_plausible(idle_ns);
	return q->doubt_next && number - q->doubt_next < most;
}

/*
 * It began below its first number, by less than SEQUENCE_CONFIRM, while no more than that came since: those numbers were
 * skipped by the first packet (RFC 4737), and are marked in its own word or the one before.
 */
static __always_inline void sequence_lower(struct sequence *q, __u64 number)
{
	struct sequence_gap *gap = &q->gap[q->gap_count++ % SEQUENCE_GAPS];
	__u64 *word = sequence_word(q, number);
	__u64 below = sequence_bit(number) - 1, first_below = sequence_bit(q->first) - 1;

	gap->first = number;
	gap->end = q->first;
	gap->arrival = 1;
	q->missing += q->first - number;
	if (number / 64 == q->first / 64) {
		*word &= below | ~first_below;
	} else {
		*word &= below;
		*sequence_word(q, q->first) &= ~first_below;
	}
	q->first = number;
	q->doubt_next = 0;
}

/* The packet behind tells what a doubtful one was: it follows it, or it does not (RFC 3550 appendix A.1). */
static __always_inline int sequence_doubtful(struct sequence *q, __u64 number, enum sequence_kind kind,
					     __u64 idle_ns)
{
	__u64 before = q->doubt_next - 1, behind = number - q->doubt_next;

	if (number + 1 == q->doubt_next) {
		q->duplicate++;
		return SEQUENCE_DUPLICATE;
	}
	if (!sequence_confirms(q, number, idle_ns)) {
		if (kind == SEQUENCE_DUPLICATE)
			q->duplicate++;
		else
			q->stray++;
		q->doubt_next = number + 1;
		q->doubt_idle_ns = idle_ns;
		q->doubt_kind = kind;
		return kind;
	}
	if (q->doubt_kind == SEQUENCE_DUPLICATE)
		q->duplicate--;
	else
		q->stray--;
	if (sequence_is_single(q) && before < q->first && q->first - before < SEQUENCE_CONFIRM) {
		/* The only one before them came early. */
		sequence_lower(q, before);
		sequence_backward(q, before);
		return sequence_backward(q, number);
	}
	if (before >= q->next && before - q->next <= sequence_plausible(q->doubt_idle_ns)) {
		q->doubt_next = 0;
		sequence_forward(q, before);
	} else {
		before = SEQUENCE_BASE + (before & SEQUENCE_WIRE);
		number = before + 1 + behind;
		if (sequence_is_single(q)) { /* it was damaged */
			q->stray++;
			sequence_begin(q, before);
		} else {
			sequence_begin_anew(q, before);
		}
	}
	sequence_forward(q, number);
	return SEQUENCE_AHEAD;
}

static __always_inline int sequence_judge(struct sequence *q, __u32 wire, __u64 idle_ns)
{
	__u64 ahead, number;
	int low;

	if (!q->next) {
		sequence_begin(q, SEQUENCE_BASE + wire);
		return SEQUENCE_AHEAD;
	}
	ahead = (wire - q->next) & SEQUENCE_WIRE;
	number = q->next + ahead - (ahead > SEQUENCE_WIRE / 2 ? SEQUENCE_WIRE + 1 : 0);
	low = wire < SEQUENCE_CONFIRM;
	if (number < q->first && low && idle_ns < SEQUENCE_PAUSE_NS && sequence_is_young(q)) {
		sequence_lower(q, number);
		return sequence_backward(q, number);
	}
	if (number < q->first || (number < q->next && number / 64 + SEQUENCE_WORDS <= (q->next - 1) / 64)) {
		/*
		 * Later than can be judged; or the sender begins anew, after a pause, or so far back only with low numbers; or
		 * the first one was wrong.
		 */
		if (idle_ns < SEQUENCE_PAUSE_NS && !sequence_is_single(q) && !(low && q->next - number >= SEQUENCE_WINDOW) &&
		    !sequence_confirms(q, number, idle_ns)) {
			q->stray++;
			return SEQUENCE_STRAY;
		}
		return sequence_doubtful(q, number, SEQUENCE_STRAY, idle_ns);
	}
	if (number >= q->next && number - q->next >= SEQUENCE_WINDOW)
		return sequence_doubtful(q, number, SEQUENCE_STRAY, idle_ns);
	if (number < q->next && *sequence_word(q, number) & sequence_bit(number) &&
	    ((low && (idle_ns >= SEQUENCE_PAUSE_NS || number == q->first)) || sequence_confirms(q, number, idle_ns)))
		return sequence_doubtful(q, number, SEQUENCE_DUPLICATE, idle_ns);
	q->doubt_next = 0;
	return number >= q->next ? sequence_forward(q, number) : sequence_backward(q, number);
}

/* All that is not simply the next number, and the first of every SEQUENCE_STRIDE that is. */
verified_apart int sequence_unusual(struct sequence *q, struct sequence_head *head, __u32 wire, __u64 idle_ns)
{
	int kind;

	if (!q || !head)
		return SEQUENCE_STRAY; /* cannot be; the verifier wants to see it */
	sequence_follow(q, head);
	kind = sequence_judge(q, wire, idle_ns);
	head->expected = low32(q->next) | (q->doubt_next ? SEQUENCE_HELD : 0);
	return kind;
}

/* Where the head took nothing since, and somebody has moved the sequence: nor does it take the next one. */
static __always_inline void sequence_hold(const struct sequence *q, struct sequence_head *head)
{
	head->expected = low32(q->next) | SEQUENCE_HELD;
}

/* Not the first of every SEQUENCE_STRIDE. */
static __always_inline int sequence_is_usual(const struct sequence_head *head, __u32 wire)
{
	return wire == head->expected && wire & (SEQUENCE_STRIDE - 1);
}

static __always_inline void sequence_take_usual(struct sequence_head *head, __u32 wire, __u64 now_ns)
{
	head->last_ns = now_ns;
	head->expected = wire + 1ULL; /* behind the last one, SEQUENCE_HELD: 0 is such a first one anyway */
}

/* `now_ns`: of any clock. Where it is set, a gap or a duplicate of that moment may be taken for what it is not. */
static __always_inline int sequence_take(struct sequence *q, struct sequence_head *head, __u32 wire, __u64 now_ns)
{
	__u64 idle_ns = now_ns - head->last_ns;

	if (sequence_is_usual(head, wire)) {
		sequence_take_usual(head, wire, now_ns);
		return SEQUENCE_NEXT;
	}
	head->last_ns = now_ns;
	return sequence_unusual(q, head, wire, idle_ns);
}

#endif
