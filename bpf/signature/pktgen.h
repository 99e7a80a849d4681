/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The signature of the kernel's pktgen (net/core/pktgen.c of Linux 6.1, struct pktgen_hdr), at the start of the UDP
 * payload: magic, sequence number, seconds and microseconds of CLOCK_REALTIME, 32 bits each in network order.
 * The sequence number counts the frames of one pktgen thread's device from 0, whatever flows it sends.
 */
#ifndef RESPONDER_SIGNATURE_PKTGEN_H
#define RESPONDER_SIGNATURE_PKTGEN_H

#define PKTGEN_MAGIC 0xbe9be955u

enum {
	PKTGEN_MAGIC_OFFSET = 0,
	PKTGEN_SEQUENCE_OFFSET = 4,
	PKTGEN_LENGTH = 16,
	PKTGEN_SEQUENCED_LENGTH = 8, /* where a frame ends before the time */
};

#endif
