/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What iperf 2's UDP sender writes at the start of each datagram (iperf 2.1.8, include/payloads.h, struct UDP_datagram and
 * client_hdr_v1), all in network order:
 *
 *    0  32  number of the datagram, lower half; from 1 on (before 2.0.10 from 0 on)
 *    4  32  seconds of the sender's CLOCK_REALTIME
 *    8  32  microseconds
 *   12  32  upper half; in old versions what is now at 16
 *   16  32  flags, of which one says that the upper half is there
 *
 * The number of the last datagram is negative, and it is sent again, ten milliseconds apart and each time one lower, until
 * the server answers: those are no data.
 */
#ifndef RESPONDER_SIGNATURE_IPERF2_H
#define RESPONDER_SIGNATURE_IPERF2_H

enum {
	IPERF2_NUMBER_OFFSET = 0,
	IPERF2_SECONDS_OFFSET = 4,
	IPERF2_MICROSECONDS_OFFSET = 8,
	IPERF2_NUMBER_HIGH_OFFSET = 12,
	IPERF2_FLAGS_OFFSET = 16,
	IPERF2_LENGTH_64 = 20,
	IPERF2_FLAG_64 = 0x08000000,
};

#endif
