/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The border between the sender's program and its user space. Both sides compile this file; it holds data and no code.
 *
 * User space lays out every frame (loader/generate/frame_spec.cpp); the program only puts it down. What differs from
 * one size to the next, lengths and checksums included, is therefore ready in `head`, and what is left for each frame
 * is a copy of some 50 octets, the signature's own fields with the pattern behind them, and the ports where they change.
 */
#ifndef RESPONDER_GENERATE_ABI_H
#define RESPONDER_GENERATE_ABI_H

#include <linux/types.h>

enum {
	GENERATE_SIZES = 16,
	GENERATE_LARGEST = 9216, /* with FCS: what is commonly called jumbo; no engine sends more */
	/* Ethernet, two tags, IPv6, UDP and a signature's first 4 octets: 14 + 8 + 40 + 8 + 4, in whole words of 8. */
	GENERATE_HEAD = 80,
	/* generate_run.interval and generate_state.due count 1/4096 ns: 0.1 ppm at a million frames a second, 52 days long. */
	GENERATE_INTERVAL_SHIFT = 12,
};

/* A frame of one size, as far as it is put down anew in every frame. */
struct generate_size {
	__u8 head[GENERATE_HEAD];
	/*
	 * UDP over IPv6: ones' complement sum of all that the checksum covers, of numbers in host order, with the first
	 * ports and a signature whose changing fields are 0. They are added to it.
	 */
	__u32 udp_sum;
	__u16 length;           /* without FCS */
	__u16 unused;
};

/* Read-only for the program, set before it is loaded: the verifier removes the code of what is not in use. */
struct generate_cfg {
	struct generate_size size[GENERATE_SIZES]; /* taken in turn */
	__u8 size_count;
	__u8 head_length;       /* octets of head in use: even, at least 8, and not above the smallest length */
	__u8 udp_offset;
	__u8 udp6;              /* UDP over IPv6: with checksum */
	__u8 ours;              /* our own signature (signature/ours.h); otherwise pktgen's (signature/pktgen.h) */
	__u8 stamped;           /* our own signature says when the frame was made: a reading of the clock a frame */
	__u8 zero[2];
	__u32 streams;          /* of our signature: taken in turn, each with numbers of its own */
	/* How many ports are taken in turn, from the one in head upwards. */
	__u32 source_ports, destination_ports;
};

/* Written by user space, also while the program runs. */
struct generate_run {
	__u64 limit;            /* frames in all; lowered to 0 it stops the sender at the next frame */
	__u64 interval;         /* between frames, see GENERATE_INTERVAL_SHIFT; 0: as fast as can be */
	__u64 stamp_mask;       /* the clock is read at frames whose number has none of these bits; needs 0 with an interval */
};

/* Written by the program; user space zeroes it between runs. */
struct generate_state {
	__u64 frames;           /* made so far, and so the number of the next one */
	__u64 first_ns;         /* CLOCK_MONOTONIC at frame 0 */
	__u64 last_ns;          /* and at the last frame at which the clock was read, */
	__u64 last_frame;       /* whose number this is */
	__u64 due;              /* when the next frame is, after first_ns */
	__u32 size;             /* of the next frame: index, and how far it is above the first port */
	__u32 source_port, destination_port;
	__u32 stream;           /* of the next frame, and its number in it */
	__u32 sequence;
	__u32 unused;
};

#ifdef __cplusplus
#define GENERATE_ASSERT static_assert
#else
#define GENERATE_ASSERT _Static_assert
#endif
GENERATE_ASSERT(sizeof(struct generate_size) == GENERATE_HEAD + 8, "no padding");
GENERATE_ASSERT(sizeof(struct generate_cfg) == GENERATE_SIZES * sizeof(struct generate_size) + 20, "no padding");
GENERATE_ASSERT(sizeof(struct generate_run) == 24, "no padding");
GENERATE_ASSERT(sizeof(struct generate_state) == 64, "no padding");
GENERATE_ASSERT(GENERATE_HEAD % 8 == 0, "copied in words");
GENERATE_ASSERT((GENERATE_SIZES & (GENERATE_SIZES - 1)) == 0, "an index is bounded by a mask");
#undef GENERATE_ASSERT

#endif
