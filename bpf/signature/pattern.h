/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What stands in the payload behind our own signature (ours.h), in every frame: a pseudo-random pattern of the frame's
 * stream and sequence number. So each octet of it can be proved, and that a frame's payload is its own, without a field.
 *
 * In arithmetic modulo 2^64:
 *
 *    m      = (stream * 2^32 + sequence + 1) * 0x9e3779b97f4a7c15
 *    x(0)   = (m ^ (m >> 32)) * 0xbf58476d1ce4e5b9
 *    x(i+1) = x(i) + 0x9e3779b97f4a7c15
 *    w(i)   = x(i) ^ (x(i) >> 32)
 *
 * The pattern is w(0), its complement, w(1), its complement, .., each of eight octets with the lowest first, and ends where
 * the payload does, also within a word. A whole pair adds nothing to the UDP checksum.
 */
#ifndef RESPONDER_PATTERN_H
#define RESPONDER_PATTERN_H

#include "../compiler.h"
#include "ours.h"

enum { PATTERN_PAIR = 16 };

#define PATTERN_STEP 0x9e3779b97f4a7c15ULL

static __always_inline __u64 pattern_begin(__u64 stream, __u64 sequence)
{
	__u64 m = ((stream << 32) + sequence + 1) * PATTERN_STEP;

	return (m ^ (m >> 32)) * 0xbf58476d1ce4e5b9ULL;
}

static __always_inline __u64 pattern_word(__u64 x) { return x ^ (x >> 32); }

/* Octet `i` of the pattern that begins with `x`. */
static __always_inline __u8 pattern_octet(__u64 x, __u32 i)
{
	__u64 word = pattern_word(x + i / PATTERN_PAIR * PATTERN_STEP);

	return (i & 8 ? ~word : word) >> 8 * (i & 7) & 0xff;
}

#ifndef __bpf__

static __always_inline __u64 pattern_load(const __u8 *at, __u32 octets)
{
	__u64 word = 0;

	__builtin_memcpy(&word, at, octets);
	return to_little64(word);
}

static __attribute__((noinline, cold, unused)) __u32 pattern_count_wrong(__u64 x, const __u8 *at, __u32 length)
{
	__u32 wrong = 0;

	for (__u32 i = 0; i < length; i++)
		wrong += at[i] != pattern_octet(x, i);
	return wrong;
}

/* How many of the octets behind the signature, in a payload of `length`, are not as they were sent. */
static inline __u32 pattern_check(__u32 stream, __u32 sequence, const __u8 *payload, __u32 length)
{
	const __u8 *begin = payload + OURS_LENGTH, *at = begin, *end = payload + length;
	const __u64 first = pattern_begin(stream, sequence);
	__u64 x = first, different = 0, word;

	if (length <= OURS_LENGTH)
		return 0;
	for (; end - at >= PATTERN_PAIR; at += PATTERN_PAIR, x += PATTERN_STEP) {
		word = pattern_word(x);
		different |= (pattern_load(at, 8) ^ word) | (pattern_load(at + 8, 8) ^ ~word);
	}
	word = pattern_word(x);
	if ((end - at) & 8) {
		different |= pattern_load(at, 8) ^ word;
		word = ~word;
		at += 8;
	}
	if ((end - at) & 4) {
		different |= (pattern_load(at, 4) ^ word) & 0xffffffff;
		word >>= 32;
		at += 4;
	}
	if ((end - at) & 2) {
		different |= (pattern_load(at, 2) ^ word) & 0xffff;
		word >>= 16;
		at += 2;
	}
	if ((end - at) & 1)
		different |= (*at ^ word) & 0xff;
	return likely(!different) ? 0 : pattern_count_wrong(first, begin, length - OURS_LENGTH);
}

#endif

#endif
