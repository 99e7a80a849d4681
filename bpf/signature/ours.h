/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our own signature: the first 14 octets of a test frame's UDP payload, all in network order. A VLAN-tagged IPv4 frame of
 * 64 octets has just room for it.
 *
 *    0  16  magic 0x7852
 *    2  16  check: the ten octets behind it through ours_check()
 *    4  16  stream
 *    6  32  sequence number, from 0 on, of this stream
 *   10  32  time of sending: nanoseconds modulo 2^32 of the sender's CLOCK_TAI; 0: none given
 *
 * Magic and check together are 32 bits, by which random octets are taken for a signature once in 2^32 frames. A frame with
 * the magic and a wrong check was damaged on its way. Each field lies in a frame as its size wants it, for IPv4.
 * The payload behind it is a pattern of stream and sequence number (pattern.h).
 */
#ifndef RESPONDER_SIGNATURE_OURS_H
#define RESPONDER_SIGNATURE_OURS_H

#include "../compiler.h"

enum {
	OURS_MAGIC = 0x7852,
	OURS_MAGIC_OFFSET = 0,
	OURS_CHECK_OFFSET = 2,
	OURS_STREAM_OFFSET = 4,
	OURS_SEQUENCE_OFFSET = 6,
	OURS_TIME_OFFSET = 10,
	OURS_LENGTH = 14,
};

/*
 * Of values in host order. A multiplication by an odd number carries every bit into the upper 16: a changed field goes
 * unnoticed once in 2^16 times, or less. The constants are fractions of the golden ratio and of the square root of 3.
 */
static __always_inline __u64 ours_check(__u64 stream, __u64 sequence, __u64 time)
{
	__u64 fields = (sequence << 32 | time) ^ (stream + 1) * 0xbb67ae8584caa73bULL;

	return fields * 0x9e3779b97f4a7c15ULL >> 48;
}

#endif
