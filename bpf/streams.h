/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frames into streams: finds a frame's signature, the stream that it names, and follows the stream's sequence numbers.
 * Plain C: the tables and the clock are those of the includer.
 *
 * A table is a hash table in an array. Only one CPU at a time writes to it (see struct stream), so nothing in here needs a
 * lock, and a lookup is an addition where a map's own hash would cost as much as all the rest. What a stream may lie away
 * from its first place is bounded; a stream that finds no place is counted as such.
 */
#ifndef RESPONDER_STREAMS_H
#define RESPONDER_STREAMS_H

#include "abi.h"
#include "parse.h"
#include "signature/iperf2.h"
#include "signature/iperf3.h"
#include "signature/ours.h"
#include "signature/pktgen.h"
#include "signature/rfc2544_master.h"
#include "signature/trex.h"

enum { STREAM_PROBES = 64 };
/* From one place that a stream may have to the next: odd, and far in a table of any size, out of a row that is taken. */
#define STREAM_STRIDE 0x9e3779b1u

/* ---- where the streams are: of whoever includes this ---- */

static __u32 stream_slots(void);                /* places that a table has, a power of two */
static struct stream *stream_at(__u32 place);   /* of all tables, one behind the other; NULL only to please the verifier */
static struct stream_unplaced *stream_unplaced_of(__u32 table);
static struct stream_rest *stream_rest_at(__u32 place);
static int stream_has_histograms(void);
static struct stream_histograms *stream_histograms_at(__u32 place); /* NULL where there are none */
static int stream_clocks_in_step(void);         /* see struct stream_histograms */
/* When the frame arrived, in nanoseconds. Called once a frame, and only for one that belongs to a stream. */
static __u64 stream_arrival(int exact);         /* of CLOCK_TAI, if it is to be exact; of any clock otherwise */
/* The frame belongs to the stream at this place. `kind`: enum sequence_kind. */
static void stream_followed(__u32 place, __u32 sequence, int kind);
static __u32 stream_watched(__u32 port);        /* the format that a port is watched for; STREAM_NONE: it is not */

/* For one packet at a time. Not on the stack, of which a BPF program and all that it calls have 512 octets together. */
static struct stream_packet *stream_packet_room(void);

/* ---- */

struct stream_packet {
	struct stream_key key;
	__u32 table;
	__u16 is_last;          /* of iperf 2, which says nothing but that no more will come */
	__u16 is_fragment;      /* the first of a datagram */
	__u64 number;           /* a sequence number of 32 bits; of iperf's formats as in struct iperf_datagram, like the time */
	__u64 sent;             /* nanoseconds modulo 2^32 of the sender's clock; 0: unknown */
};

static __always_inline int stream_key_equal(const struct stream_key *a, const struct stream_key *b)
{
	const word64 *x = (const word64 *)a, *y = (const word64 *)b;
	__u64 difference = 0;

	UNROLL
	for (__u32 i = 0; i < sizeof(*a) / 8; i++)
		difference |= x[i] ^ y[i];
	return !difference;
}

/*
 * A stream's first place. Streams of one source that are numbered in a row lie in a row: none is in another's place, and few
 * pages of memory hold them.
 */
static __always_inline __u32 stream_hash4(__u32 stream, __u32 address)
{
	return (__u32)(address * 0x9e3779b97f4a7c15ULL >> 42) + stream;
}

static __always_inline __u32 stream_hash(const struct stream_key *key)
{
	__u32 address = key->source[0] ^ key->source[1] ^ key->source[2] ^ key->source[3];

	if (key->format != STREAM_OURS)
		address ^= key->destination[0] ^ key->destination[3] ^ ((__u32)key->source_port << 16 | key->destination_port);
	return stream_hash4(key->stream, address);
}

static __always_inline __u32 stream_place(__u32 table, __u32 hash)
{
	__u32 slots = stream_slots();

	return table * slots + (hash & (slots - 1));
}

/* Any frame of the stream that is at `place`: what its number was, enum sequence_kind. */
verified_apart int stream_measure(struct stream *stream, __u32 place, __u32 wire, __u32 sent, __u64 now)
{
	struct stream_histograms *histograms = stream_histograms_at(place);
	struct stream_rest *rest = stream_rest_at(place);
	int exact = sent || histograms, kind, timed = 0;
	struct delay *delay;
	__u64 last_ns, gap;

	if (!stream || !rest)
		return SEQUENCE_STRAY; /* cannot be */
	delay = &stream->delay;
	last_ns = stream->head.last_ns;
	stream_settle(stream, &rest->sequence);
	kind = sequence_take(&rest->sequence, &stream->head, wire, now);
	sequence_follow(&rest->sequence, &stream->head); /* this frame is counted here */
	stream_followed(place, wire, kind);
	gap = gaps_take(&stream->gaps, last_ns, (int)stream->exact, now, exact);
	stream->exact = exact;
	if (sent && kind <= SEQUENCE_LATE)
		timed = delay_take(delay, (__u32)now, sent, kind == SEQUENCE_NEXT, kind == SEQUENCE_LATE);
	else if (!sent && kind <= SEQUENCE_LATE)
		delay_pass(delay);
	if (exact && (!delay->frames || delay->apart != DELAY_SUCCESSIVE))
		stream->head.expected |= SEQUENCE_HELD; /* the next one has to come here too */
	if (!histograms)
		return kind;
	if (gap != GAPS_NONE)
		histogram_take(&histograms->gaps, gap);
	if (timed) {
		__s64 beyond = delay->last - (stream_clocks_in_step() && stream->key.format == STREAM_OURS ? 0 : delay->least);

		histogram_take(&histograms->delay, beyond < 0 ? 0 : (__u64)beyond);
	}
	return kind;
}

/* A frame in the usual order whose times lie outside what there was: true if they may, and then that is wider. */
verified_apart int stream_widen(struct stream *stream, __u64 gap, __s64 difference)
{
	if (!stream || !gaps_is_one(gap) || !delay_is_near(difference))
		return 0;
	gaps_widen(&stream->gaps, gap);
	delay_widen(&stream->delay, stream->delay.last + difference);
	delay_widen_pair(&stream->delay, difference);
	return 1;
}

/*
 * The same, in a few steps for a frame that comes in the usual order, without histograms. Few frames have times outside
 * what there was, so the straight path only compares. What it looks at is read before the clock, which waits for that:
 * cache misses so come at one time.
 */
static __always_inline void stream_count(struct stream *stream, __u32 place, __u32 wire, __u32 sent)
{
	struct sequence_head *head = &stream->head;
	struct delay *delay = &stream->delay;
	struct gaps *gaps = &stream->gaps;
	__u64 now, gap;
	__s64 difference;

	if (unlikely(stream_has_histograms())) {
		now = stream_arrival(1);
	} else if (!sent) {
		/* Numbers ask only how long nothing came. */
		now = stream_arrival(0);
		if (likely(sequence_is_usual(head, wire) && !stream->exact)) {
			sequence_take_usual(head, wire, now);
			stream_followed(place, wire, SEQUENCE_NEXT);
			return;
		}
	} else {
		read_ahead(delay->last);
		read_ahead(gaps->least);
		now = stream_arrival(1);
		gap = now - head->last_ns;
		difference = delay_between(delay->last, now - sent);
		if (likely(sequence_is_usual(head, wire) && stream->exact &&
			   (likely(gaps_has_had(gaps, gap) && delay_has_had(delay, difference)) ||
			    stream_widen(stream, gap, difference)))) {
			sequence_take_usual(head, wire, now);
			stream_followed(place, wire, SEQUENCE_NEXT);
			delay_take_usual(delay, difference);
			return;
		}
	}
	stream_measure(stream, place, wire, sent, now);
}

static __always_inline enum iperf_kind stream_iperf_kind(__u32 format)
{
	return format == STREAM_IPERF2	    ? IPERF_2
	       : format == STREAM_IPERF3_32 ? IPERF_3_32
	       : format == STREAM_IPERF3_64 ? IPERF_3_64
					    : IPERF_3_GUESS;
}

verified_apart int stream_iperf_read(struct stream_rest *rest, const struct stream_packet *packet, __u64 now)
{
	if (rest && packet) {
		const struct iperf_datagram datagram = { packet->number, packet->sent, now };

		if (packet->is_last) {
			iperf_last(&rest->iperf, &datagram);
			return 0;
		}
		rest->iperf.fragmented += packet->is_fragment;
		iperf_read(&rest->iperf, &rest->sequence, &datagram, stream_iperf_kind(packet->key.format));
	}
	return 0;
}

verified_apart int stream_iperf_taken(struct stream_rest *rest, int taken, __u32 format)
{
	if (rest)
		iperf_taken(&rest->iperf, &rest->sequence, taken, stream_iperf_kind(format));
	return 0;
}

/* Its head takes nothing, because iperf_read() may move the sequence. */
static __always_inline void stream_count_iperf(struct stream *stream, __u32 place, const struct stream_packet *packet)
{
	struct stream_rest *rest = stream_rest_at(place);
	__u32 sent = low32(packet->sent * 1000);
	__u64 now = stream_arrival(1);
	int kind;

	if (!rest)
		return; /* cannot be */
	stream_iperf_read(rest, packet, now);
	if (packet->is_last)
		return;
	sequence_hold(&rest->sequence, &stream->head);
	kind = stream_measure(stream, place, low32(rest->iperf.wire), sent | !sent, now);
	sequence_hold(&rest->sequence, &stream->head);
	stream_iperf_taken(rest, kind, packet->key.format);
}

/* Any stream, wherever it lies, or a new one. */
verified_apart int stream_take(const struct stream_packet *packet)
{
	struct stream_unplaced *unplaced;
	struct stream *stream = NULL;
	__u32 hash, table, place = 0;

	if (!packet)
		return 0;
	table = packet->table;
	hash = stream_hash(&packet->key);
	for (__u32 i = 0; i < STREAM_PROBES; i++) {
		place = stream_place(table, hash + i * STREAM_STRIDE);
		stream = stream_at(place);
		if (!stream)
			return 0; /* cannot be */
		if (stream->key.format == STREAM_NONE && !packet->is_last)
			stream->key = packet->key;
		else if (!stream_key_equal(&stream->key, &packet->key))
			stream = NULL;
		if (stream)
			break;
	}
	if (!stream) {
		unplaced = packet->is_last ? NULL : stream_unplaced_of(table);
		if (unplaced)
			unplaced->no_room++;
	} else if (stream_is_iperf(packet->key.format)) {
		stream_count_iperf(stream, place, packet);
	} else {
		stream_count(stream, place, (__u32)packet->number, (__u32)packet->sent);
	}
	return 0;
}

/* When the frame says it was sent, or 1 if it says so in another's way; 0: it does not. stream_follow() looks closer. */
static __always_inline __u32 stream_sent(const struct frame *f, struct span s)
{
	const struct udphdr *udp = FRAME_AT(struct udphdr, s, f->l4);
	const __u8 *payload;

	keep_pointer(udp);
	payload = (const __u8 *)(udp + 1);
	if (f->protocol != IPPROTO_UDP || f->fragment == FRAGMENT_LATER)
		return 0;
	if (stream_is_timed_by_port(stream_watched(f->destination_port)))
		return 1;
	if (f->payload_bytes < OURS_LENGTH || payload + OURS_LENGTH > s.end ||
	    *(const word16 *)payload != to_net16(OURS_MAGIC))
		return 0;
	return to_host32(*(const word32 *)(payload + OURS_TIME_OFFSET));
}

static __always_inline void stream_source(struct stream_key *key, const struct frame *f, struct span s)
{
	const struct iphdr *ip4 = frame_ipv4(f, s);
	const struct ipv6hdr *ip6 = frame_ipv6(f, s);

	if (ip4)
		key->source[0] = ip4->saddr;
	else if (ip6)
		__builtin_memcpy(key->source, &ip6->saddr, sizeof(key->source));
}

/* Of formats other than ours and TRex's, a stream is a flow. */
static __always_inline void stream_flow(struct stream_key *key, const struct frame *f, struct span s,
					const struct udphdr *udp)
{
	const struct iphdr *ip4 = frame_ipv4(f, s);
	const struct ipv6hdr *ip6 = frame_ipv6(f, s);

	stream_source(key, f, s);
	if (ip4)
		key->destination[0] = ip4->daddr;
	else if (ip6)
		__builtin_memcpy(key->destination, &ip6->daddr, sizeof(key->destination));
	key->source_port = udp->source;
	key->destination_port = udp->dest;
}

static __always_inline int stream_read_iperf(const __u8 *payload, const __u8 *end, __u32 payload_bytes,
					     struct stream_packet *packet)
{
	__u32 format = packet->key.format, number, number_high = 0, seconds, microseconds;

	if (payload_bytes < IPERF3_LENGTH || payload + IPERF3_LENGTH > end)
		return 0;
	if (format == STREAM_IPERF2) {
		number = to_host32(*(const word32 *)(payload + IPERF2_NUMBER_OFFSET));
		seconds = to_host32(*(const word32 *)(payload + IPERF2_SECONDS_OFFSET));
		microseconds = to_host32(*(const word32 *)(payload + IPERF2_MICROSECONDS_OFFSET));
		if (payload_bytes >= IPERF2_LENGTH_64 && payload + IPERF2_LENGTH_64 <= end &&
		    *(const word32 *)(payload + IPERF2_FLAGS_OFFSET) & to_net32(IPERF2_FLAG_64)) {
			number_high = to_host32(*(const word32 *)(payload + IPERF2_NUMBER_HIGH_OFFSET));
			packet->is_last = (__u16)(number_high >> 31);
		} else {
			packet->is_last = (__u16)(number >> 31);
			number_high = packet->is_last ? ~0U : 0;
		}
	} else {
		seconds = to_host32(*(const word32 *)(payload + IPERF3_SECONDS_OFFSET));
		microseconds = to_host32(*(const word32 *)(payload + IPERF3_MICROSECONDS_OFFSET));
		number_high = to_host32(*(const word32 *)(payload + IPERF3_NUMBER_OFFSET));
		number = 0;
		if (payload_bytes >= IPERF3_LENGTH_64 && payload + IPERF3_LENGTH_64 <= end)
			number = to_host32(*(const word32 *)(payload + IPERF3_LENGTH));
		else if (format == STREAM_IPERF3_64)
			return 0;
	}
	packet->number = (__u64)number_high << 32 | number;
	if (packet->is_last)
		packet->number = -packet->number;
	packet->sent = seconds * 1000000ULL + microseconds;
	return 1;
}

static __always_inline int stream_read_rfc2544_master(const __u8 *payload, const __u8 *end, __u32 payload_bytes,
						      struct stream_packet *packet)
{
	__u32 head, tail, sent;

	if (payload_bytes < RFC2544_MASTER_LENGTH || payload + RFC2544_MASTER_LENGTH > end)
		return 0;
	head = *(const word32 *)(payload + RFC2544_MASTER_HEAD_OFFSET);
	tail = *(const word32 *)(payload + RFC2544_MASTER_TAIL_OFFSET);
	if ((head != to_net32(RFC2544_MASTER_HEAD) || tail != to_net32(RFC2544_MASTER_TAIL)) &&
	    (head != to_net32(RFC2544_MASTER_Y1564_HEAD) || tail != to_net32(RFC2544_MASTER_Y1564_TAIL)))
		return 0;
	sent = to_host32(*(const word32 *)(payload + RFC2544_MASTER_TIME_LOW_OFFSET));
	packet->key.stream = to_host16(*(const word16 *)(payload + RFC2544_MASTER_STREAM_LOW_OFFSET));
	packet->number = to_host32(*(const word32 *)(payload + RFC2544_MASTER_SEQUENCE_OFFSET));
	packet->sent = sent | !sent;
	return 1;
}

static __always_inline int stream_read_trex(const __u8 *payload, const __u8 *end, __u32 payload_bytes,
					    struct stream_packet *packet)
{
	const __u32 offset = payload_bytes - TREX_LENGTH;
	const __u8 *trailer = payload + (offset & 0x3fff); /* the verifier wants to know how far that can be */

	keep_pointer(trailer);
	if (payload_bytes < TREX_LENGTH || offset > 0x3fff || packet->is_fragment || trailer + TREX_LENGTH > end ||
	    trailer[TREX_MAGIC_OFFSET] != TREX_MAGIC)
		return 0;
	packet->key.stream = to_little16(*(const word16 *)(trailer + TREX_STREAM_OFFSET));
	/* From 0 on, like others': by that it is seen when the sender begins anew. */
	packet->number = low32(to_little32(*(const word32 *)(trailer + TREX_SEQUENCE_OFFSET)) - TREX_FIRST_SEQUENCE);
	return 1;
}

/* UDP to a port that is watched for the packet's format: what only that format says. 0 where it is no data. */
static __attribute__((noinline)) int stream_read_of_port(const __u8 *payload, const __u8 *end, __u32 payload_bytes,
							 struct stream_packet *packet)
{
	if (packet->key.format == STREAM_TREX)
		return stream_read_trex(payload, end, payload_bytes, packet);
	if (packet->key.format == STREAM_RFC2544_MASTER)
		return stream_read_rfc2544_master(payload, end, payload_bytes, packet);
	return stream_read_iperf(payload, end, payload_bytes, packet);
}

/*
 * The key of our own stream over IPv4, as far as it is not 0, in one word of a little-endian machine. On another machine
 * it is no stream's, and stream_take() finds the stream.
 */
static __always_inline __u64 stream_key_word(__u32 stream, __be32 source)
{
	return stream | STREAM_OURS << 16 | 4 << 24 | (__u64)source << 32;
}

/*
 * Our own stream over IPv4 that lies at its first place. Looked up before all else is read, so that nothing but where the
 * payload is has to be kept meanwhile. 0: it is anything else, and nothing has happened.
 */
static __always_inline int stream_follow_plain(const struct frame *f, struct span s, __u32 table)
{
	const struct udphdr *udp = FRAME_AT(struct udphdr, s, f->l4);
	__u32 place, stream, sequence, sent;
	struct stream *found;
	const __u8 *payload;
	__u64 key;

	keep_pointer(udp);
	payload = (const __u8 *)(udp + 1);
	if (f->protocol != IPPROTO_UDP || f->fragment == FRAGMENT_LATER || f->ip != 4 || f->payload_bytes < OURS_LENGTH ||
	    payload + OURS_LENGTH > s.end || *(const word16 *)payload != to_net16(OURS_MAGIC))
		return 0;
	stream = to_host16(*(const word16 *)(payload + OURS_STREAM_OFFSET));
	key = stream_key_word(stream, f->source4);
	keep_pointer(key);
	place = stream_place(table, stream_hash4(stream, f->source4));
	found = stream_at(place);
	if (unlikely(!found || *(const word64 *)&found->key != key))
		return 0;
	sequence = to_host32(*(const word32 *)(payload + OURS_SEQUENCE_OFFSET));
	sent = to_host32(*(const word32 *)(payload + OURS_TIME_OFFSET));
	if (unlikely(to_host16(*(const word16 *)(payload + OURS_CHECK_OFFSET)) !=
		     ours_check((__u16)key, sequence, sent)))
		return 0;
	stream_count(found, place, sequence, sent);
	return 1;
}

/* `f` is test traffic, or to a watched port. Without a signature nothing happens. */
static __always_inline void stream_follow(const struct frame *f, struct span s, __u32 table)
{
	const struct udphdr *udp = FRAME_AT(struct udphdr, s, f->l4);
	__u32 format, stream = 0, sequence = 0, sent = 0;
	struct stream_packet *packet;
	const __u8 *payload;

	if (likely(stream_follow_plain(f, s, table)))
		return;
	keep_pointer(udp);
	payload = (const __u8 *)(udp + 1);
	if (f->protocol != IPPROTO_UDP || f->fragment == FRAGMENT_LATER || f->payload_bytes < PKTGEN_SEQUENCED_LENGTH ||
	    payload + PKTGEN_SEQUENCED_LENGTH > s.end)
		return;
	format = stream_watched(f->destination_port);
	if (stream_is_of_port(format)) {
		/* What it begins with may look like a signature. */
	} else if (*(const word16 *)payload == to_net16(OURS_MAGIC)) {
		format = STREAM_OURS;
		if (f->payload_bytes < OURS_LENGTH || payload + OURS_LENGTH > s.end)
			return;
		stream = to_host16(*(const word16 *)(payload + OURS_STREAM_OFFSET));
		sequence = to_host32(*(const word32 *)(payload + OURS_SEQUENCE_OFFSET));
		sent = to_host32(*(const word32 *)(payload + OURS_TIME_OFFSET));
		if (to_host16(*(const word16 *)(payload + OURS_CHECK_OFFSET)) != ours_check(stream, sequence, sent)) {
			struct stream_unplaced *unplaced = stream_unplaced_of(table);

			if (unplaced)
				unplaced->damaged++;
			return;
		}
	} else if (*(const word32 *)payload == to_net32(PKTGEN_MAGIC)) {
		format = STREAM_PKTGEN;
		sequence = to_host32(*(const word32 *)(payload + PKTGEN_SEQUENCE_OFFSET));
	} else {
		return;
	}

	packet = stream_packet_room();
	if (!packet)
		return; /* cannot be */
	*packet = (struct stream_packet){
		.key = { .stream = (__u16)stream, .format = (__u8)format, .ip = (__u8)f->ip },
		.table = table,
		.is_fragment = f->fragment == FRAGMENT_FIRST,
		.number = sequence,
		.sent = sent,
	};

	if (format == STREAM_OURS) {
		stream_source(&packet->key, f, s);
	} else {
		if (format != STREAM_TREX)
			stream_flow(&packet->key, f, s, udp);
		packet->key.stream = 0;
		if (stream_is_of_port(format) && !stream_read_of_port(payload, s.end, f->payload_bytes, packet))
			return;
	}
	stream_take(packet);
}

#endif
