/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bpf/streams.h compiled for this machine: what the program does with a test frame in the kernel, the reader of a
 * socket does here, in the same tables, and proves its payload besides.
 */
#ifndef RESPONDER_SINK_FOLLOW_H
#define RESPONDER_SINK_FOLLOW_H

#include "bpf/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A table of streams of which this thread is the only writer. */
struct follow_table {
	struct stream *streams;
	struct stream_rest *rests;
	struct stream_histograms *histograms; /* NULL: there are none */
	__u32 slots;            /* a power of two */
	int clocks_in_step;
	struct stream_unplaced *unplaced;
	const struct watch_port *watch;
	__u32 watch_count;
};

/* One test frame, as long as it is. `arrival`: NULL where nobody took the time; then it is taken here. */
void follow_frame(const struct follow_table *table, const __u8 *data, __u32 length, const struct socket_arrival *arrival);

/* What the frame that this thread followed last turned out to be. */
struct followed {
	const struct stream *stream; /* NULL: of none */
	int kind;               /* enum sequence_kind */
	__u64 skipped;          /* so many numbers just before its own have not come */
	__u32 wrong_octets;     /* in its payload */
};
struct followed followed_last(void);

#ifdef __cplusplus
}
#endif

#endif
