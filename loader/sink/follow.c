/* SPDX-License-Identifier: GPL-2.0-only */

#include "loader/sink/follow.h"

#include <time.h>

#include "bpf/parse.h"
#include "bpf/signature/pattern.h"
#include "bpf/streams.h"

/* What the frame in hand is followed with, and what came of it. */
static _Thread_local struct {
	const struct follow_table *table;
	const struct socket_arrival *arrival;
	int followed;           /* it belongs to the stream at this place */
	__u32 place, sequence;
	int kind;               /* enum sequence_kind */
	__u32 wrong_octets;     /* in its payload */
	struct stream_packet packet;
} hand;

static __u32 stream_slots(void) { return hand.table->slots; }
static struct stream *stream_at(__u32 place) { return &hand.table->streams[place]; }

static struct stream_unplaced *stream_unplaced_of(__u32 table)
{
	(void)table;
	return hand.table->unplaced;
}

static struct stream_packet *stream_packet_room(void) { return &hand.packet; }

static __u32 stream_watched(__u32 port)
{
	for (__u32 i = 0; i < hand.table->watch_count; i++)
		if (hand.table->watch[i].port == port)
			return hand.table->watch[i].format;
	return STREAM_NONE;
}

static struct stream_rest *stream_rest_at(__u32 place) { return &hand.table->rests[place]; }
static int stream_has_histograms(void) { return hand.table->histograms != NULL; }
static struct stream_histograms *stream_histograms_at(__u32 place)
{
	return hand.table->histograms ? &hand.table->histograms[place] : NULL;
}
static int stream_clocks_in_step(void) { return hand.table->clocks_in_step; }

static __u64 stream_arrival(int exact)
{
	struct timespec now;

	if (hand.arrival)
		return hand.arrival->ns;
	clock_gettime(exact ? CLOCK_TAI : CLOCK_MONOTONIC_COARSE, &now);
	return (__u64)now.tv_sec * 1000000000 + (__u64)now.tv_nsec;
}

static void stream_followed(__u32 place, __u32 sequence, int kind)
{
	hand.followed = 1;
	hand.place = place;
	hand.sequence = sequence;
	hand.kind = kind;
}

/* What of the frame's payload is no longer as it was sent. */
static void prove_payload(const struct frame *f, struct span s)
{
	const __u8 *payload = (const __u8 *)(FRAME_AT(struct udphdr, s, f->l4) + 1);
	struct stream_payload *found = &hand.table->rests[hand.place].payload;
	__u32 wrong;

	if (f->payload_bytes > (__u64)(s.end - payload))
		return; /* a length that lies: under --all such a frame is taken too */
	wrong = pattern_check(hand.table->streams[hand.place].key.stream, hand.sequence, payload, f->payload_bytes);
	found->proved++;
	found->wrong_frames += wrong != 0;
	found->wrong_octets += wrong;
	hand.wrong_octets = wrong;
}

void follow_frame(const struct follow_table *table, const __u8 *data, __u32 length, const struct socket_arrival *arrival)
{
	struct span s = { data, data + length };
	struct frame f;

	parse_frame(&f, s, length);
	hand.table = table;
	hand.arrival = arrival;
	hand.followed = 0;
	hand.wrong_octets = 0;
	stream_follow(&f, s, 0);
	if (hand.followed && hand.table->streams[hand.place].key.format == STREAM_OURS)
		prove_payload(&f, s);
}

struct followed followed_last(void)
{
	struct followed f = { hand.followed ? &hand.table->streams[hand.place] : NULL, hand.kind, 0, hand.wrong_octets };
	const struct sequence *sequence;
	const struct sequence_gap *gap;

	if (!f.stream || f.kind != SEQUENCE_AHEAD)
		return f;
	sequence = &hand.table->rests[hand.place].sequence;
	if (!sequence->gap_count)
		return f;
	gap = &sequence->gap[(sequence->gap_count - 1) % SEQUENCE_GAPS];
	if (gap->arrival == sequence_arrived(sequence)) /* it was this frame's */
		f.skipped = gap->end - gap->first;
	return f;
}
