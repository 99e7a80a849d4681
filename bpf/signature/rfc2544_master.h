/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What rfc2544-master, the sender that belongs to reflector-native, writes at the start of each payload
 * (krisarmstrong/rfc2544-master, src/dataplane/common/packet.c), all in network order:
 *
 *    0  56  "RFC2544", or "Y.1564 " in that kind of test
 *    7  32  sequence number, from 0 on at each trial; 0 in all frames of the two seconds in which it warms up
 *   11  64  time of sending: nanoseconds of the sender's CLOCK_MONOTONIC
 *   19  32  stream, by now always 0, or the service of a Y.1564 test, 1 to 8
 *   23   8  flags
 */
#ifndef RESPONDER_SIGNATURE_RFC2544_MASTER_H
#define RESPONDER_SIGNATURE_RFC2544_MASTER_H

/* Seven letters as two words, which have the fourth in common. */
#define RFC2544_MASTER_HEAD 0x52464332u /* "RFC2" */
#define RFC2544_MASTER_TAIL 0x32353434u /* "2544" */
#define RFC2544_MASTER_Y1564_HEAD 0x592e3135u /* "Y.15" */
#define RFC2544_MASTER_Y1564_TAIL 0x35363420u /* "564 " */

enum {
	RFC2544_MASTER_HEAD_OFFSET = 0,
	RFC2544_MASTER_TAIL_OFFSET = 3,
	RFC2544_MASTER_SEQUENCE_OFFSET = 7,
	RFC2544_MASTER_TIME_LOW_OFFSET = 15, /* its lower half */
	RFC2544_MASTER_STREAM_LOW_OFFSET = 21, /* its lower half */
	RFC2544_MASTER_LENGTH = 24,
};

#endif
