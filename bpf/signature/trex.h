/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What TRex writes at the end of each packet of a stream with latency statistics (cisco-system-traffic-generator/trex-core,
 * src/stx/stl/trex_stl_fs.h, struct flow_stat_payload_header): the last 16 octets of the payload, in the order of the
 * sender's machine, which is little-endian on all that TRex runs on:
 *
 *    0   8  magic 0xab
 *    1   8  which start of the stream this is
 *    2  16  number of the stream inside TRex (hw_id): no two of its streams have the same, whatever port they leave by
 *    4  32  sequence number, from 2^32 - 2 on at each start
 *    8  64  time of sending, in ticks of the sender's TSC
 *
 * Nothing on the wire says how long a tick is, so the time tells nothing. Addresses and ports may change from packet to
 * packet of one stream.
 */
#ifndef RESPONDER_SIGNATURE_TREX_H
#define RESPONDER_SIGNATURE_TREX_H

#define TREX_FIRST_SEQUENCE 0xfffffffeu

enum {
	TREX_MAGIC = 0xab,
	TREX_MAGIC_OFFSET = 0,
	TREX_STREAM_OFFSET = 2,
	TREX_SEQUENCE_OFFSET = 4,
	TREX_LENGTH = 16,
};

#endif
