/* SPDX-License-Identifier: GPL-2.0-only */
/* The Internet checksum (RFC 1071) and its update (RFC 1624, equation 3) on words as they stand in the frame. */
#ifndef RESPONDER_RESPOND_CHECKSUM_H
#define RESPONDER_RESPOND_CHECKSUM_H

#include "../compiler.h"

static __always_inline __u16 checksum_fold(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)sum;
}

/* The checksum field after one 16-bit word that it covers has changed. */
static __always_inline __u16 checksum_update(__u16 checksum, __u16 before, __u16 after)
{
	return (__u16)~checksum_fold((__u16)~checksum + (__u16)~before + (__u32)after);
}

/* The sum of `words` words from `p` on, not folded. `words` must be a constant. */
static __always_inline __u32 checksum_add(const void *p, int words)
{
	const word16 *word = (const word16 *)p;
	__u32 sum = 0;

	UNROLL
	for (int i = 0; i < words; i++)
		sum += word[i];
	return sum;
}

#endif
