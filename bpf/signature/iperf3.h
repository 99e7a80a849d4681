/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What iperf3's UDP sender writes at the start of each datagram (esnet/iperf 3.12 and 3.21, src/iperf_udp.c, iperf_udp_send()),
 * all in network order:
 *
 *    0  32  seconds of the sender's CLOCK_MONOTONIC
 *    4  32  microseconds
 *    8  32  number of the datagram, from 1 on in each stream
 *       64  with --udp-counters-64bit
 *
 * Nothing on the wire says how wide the number is: the two sides agree on it over TCP. In 32 bits, what stands behind it is
 * the sender's buffer, which is the same in every datagram. So one datagram and the next tell:
 *
 *                       word at 8      word at 12
 *     32 bits           changes        stays
 *     64 bits           stays          changes
 *
 * Only where every datagram carries other data (iperf3 -F, 32 bits), or at the one wrap of the lower half in 64 bits, both
 * change, and only in a duplicate does neither; then it remains as it was taken to be. The first one is taken by itself:
 * where the word at 8 is 0, there are 64 bits.
 *
 * A stream begins with a datagram of four octets (Linux: "6789"), which is no data; the server answers it.
 */
#ifndef RESPONDER_SIGNATURE_IPERF3_H
#define RESPONDER_SIGNATURE_IPERF3_H

enum {
	IPERF3_SECONDS_OFFSET = 0,
	IPERF3_MICROSECONDS_OFFSET = 4,
	IPERF3_NUMBER_OFFSET = 8,
	IPERF3_LENGTH = 12,
	IPERF3_LENGTH_64 = 16,
};

#endif
