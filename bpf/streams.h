/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test frames into streams: finds a frame's signature, the stream that it names, and follows the stream's sequence numbers.
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
#include "signature/ours.h"
#include "signature/pktgen.h"

enum { STREAM_PROBES = 64 };

/* ---- where the streams are: of whoever includes this ---- */

static __u32 stream_slots(void);                /* places that a table has, a power of two */
static struct stream *stream_at(__u32 place);   /* of all tables, one behind the other; NULL only to please the verifier */
static struct stream_unplaced *stream_unplaced_of(__u32 table);
/* When the frame arrived, in nanoseconds. Called once a frame, and only for one that belongs to a stream. */
static __u64 stream_arrival(__u32 sent);        /* of CLOCK_TAI, if `sent` is known; of any clock otherwise */
/* The frame belongs to this one. `kind`: enum sequence_kind. */
static void stream_followed(struct stream *stream, __u32 sequence, int kind);

/* ---- */

struct stream_packet {
	struct stream_key key;
	__u32 table;
	__u32 sequence;
	__u32 sent;             /* nanoseconds modulo 2^32 of the sender's CLOCK_TAI; 0: unknown */
	__u32 zero;
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

/* A stream's first place. */
static __always_inline __u32 stream_hash4(__u32 stream, __u32 address)
{
	return (__u32)((address ^ (__u64)stream << 32) * 0x9e3779b97f4a7c15ULL >> 40);
}

static __always_inline __u32 stream_hash(const struct stream_key *key)
{
	__u32 address = key->source[0] ^ key->source[1] ^ key->source[2] ^ key->source[3];

	if (key->format == STREAM_PKTGEN)
		address ^= key->destination[0] ^ key->destination[3] ^ (__u32)(key->source_port << 16 | key->destination_port);
	return stream_hash4(key->stream, address);
}

static __always_inline struct stream *stream_place(__u32 table, __u32 hash)
{
	return stream_at(table * stream_slots() + (hash & (stream_slots() - 1)));
}

static __always_inline void stream_count(struct stream *stream, __u32 sequence, __u32 sent)
{
	__u64 now = stream_arrival(sent);
	int kind;

	stream->frames++;
	kind = sequence_take(&stream->sequence, sequence, now);
	if (sent)
		delay_take(&stream->delay, (__u32)now, sent);
	stream_followed(stream, sequence, kind);
}

/* Any stream, wherever it lies, or a new one. */
verified_apart int stream_take(const struct stream_packet *packet)
{
	struct stream_unplaced *unplaced;
	__u32 hash, table;

	if (!packet)
		return 0;
	table = packet->table;
	hash = stream_hash(&packet->key);
	for (__u32 i = 0; i < STREAM_PROBES; i++) {
		struct stream *stream = stream_place(table, hash + i);

		if (!stream)
			return 0; /* cannot be */
		if (stream->key.format == STREAM_NONE)
			stream->key = packet->key;
		else if (!stream_key_equal(&stream->key, &packet->key))
			continue;
		stream_count(stream, packet->sequence, packet->sent);
		return 0;
	}
	unplaced = stream_unplaced_of(table);
	if (unplaced)
		unplaced->no_room++;
	return 0;
}

/*
 * The key of our own stream over IPv4, as far as it is not 0, in one word of a little-endian machine. On another machine
 * it is no stream's, and stream_take() finds the stream.
 */
static __always_inline __u64 stream_key_word(__u32 stream, __be32 source)
{
	return stream | STREAM_OURS << 16 | 4 << 24 | (__u64)source << 32;
}

/* When the frame says it was sent; 0: it does not. Its check is left to stream_follow(). */
static __always_inline __u32 stream_sent(const struct frame *f, struct span s)
{
	const struct udphdr *udp = FRAME_AT(struct udphdr, s, f->l4);
	const __u8 *payload;

	keep_pointer(udp);
	payload = (const __u8 *)(udp + 1);
	if (f->protocol != IPPROTO_UDP || f->fragment == FRAGMENT_LATER || f->payload_bytes < OURS_LENGTH ||
	    payload + OURS_LENGTH > s.end || *(const word16 *)payload != to_net16(OURS_MAGIC))
		return 0;
	return to_host32(*(const word32 *)(payload + OURS_TIME_OFFSET));
}

/* `f` is test traffic. Without a signature nothing happens. */
static __always_inline void stream_follow(const struct frame *f, struct span s, __u32 table)
{
	const struct udphdr *udp = FRAME_AT(struct udphdr, s, f->l4);
	const struct iphdr *ip4 = FRAME_AT(struct iphdr, s, f->l3);
	const struct ipv6hdr *ip6;
	__u32 stream = 0, sequence, sent = 0, is_ours;
	const __u8 *payload;

	keep_pointer(udp);
	keep_pointer(ip4);
	payload = (const __u8 *)(udp + 1);
	if (f->protocol != IPPROTO_UDP || f->fragment == FRAGMENT_LATER || f->payload_bytes < PKTGEN_SEQUENCED_LENGTH ||
	    payload + PKTGEN_SEQUENCED_LENGTH > s.end)
		return;
	is_ours = *(const word16 *)payload == to_net16(OURS_MAGIC);
	if (likely(is_ours)) {
		if (f->payload_bytes < OURS_LENGTH || payload + OURS_LENGTH > s.end)
			return;
		stream = to_host16(*(const word16 *)(payload + OURS_STREAM_OFFSET));
		sequence = to_host32(*(const word32 *)(payload + OURS_SEQUENCE_OFFSET));
		sent = to_host32(*(const word32 *)(payload + OURS_TIME_OFFSET));
		if (unlikely(to_host16(*(const word16 *)(payload + OURS_CHECK_OFFSET)) != ours_check(stream, sequence, sent))) {
			struct stream_unplaced *unplaced = stream_unplaced_of(table);

			if (unplaced)
				unplaced->damaged++;
			return;
		}
		if (f->ip == 4 && FRAME_FITS(ip4, s)) {
			struct stream *found = stream_place(table, stream_hash4(stream, ip4->saddr));

			if (likely(found && *(const word64 *)&found->key == stream_key_word(stream, ip4->saddr))) {
				stream_count(found, sequence, sent);
				return;
			}
		}
	} else if (*(const word32 *)payload == to_net32(PKTGEN_MAGIC)) {
		sequence = to_host32(*(const word32 *)(payload + PKTGEN_SEQUENCE_OFFSET));
	} else {
		return;
	}

	struct stream_packet packet = {
		.key = { .stream = (__u16)stream, .format = is_ours ? STREAM_OURS : STREAM_PKTGEN, .ip = (__u8)f->ip },
		.table = table,
		.sequence = sequence,
		.sent = sent,
	};

	ip4 = frame_ipv4(f, s);
	ip6 = frame_ipv6(f, s);
	if (ip4)
		packet.key.source[0] = ip4->saddr;
	else if (ip6)
		__builtin_memcpy(packet.key.source, &ip6->saddr, sizeof(packet.key.source));
	if (!is_ours) {
		if (ip4)
			packet.key.destination[0] = ip4->daddr;
		else if (ip6)
			__builtin_memcpy(packet.key.destination, &ip6->daddr, sizeof(packet.key.destination));
		packet.key.source_port = udp->source;
		packet.key.destination_port = udp->dest;
	}
	stream_take(&packet);
}

#endif
