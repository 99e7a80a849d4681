/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers Ethernet OAM in place: loopback (IEEE 802.1Q clause 21.7, ITU-T G.8013/Y.1731 clause 9.3), two-way delay (9.15) and
 * synthetic loss (9.22). Messages to a group are not answered. Plain C; times and counters are the caller's.
 */
#ifndef RESPONDER_RESPOND_OAM_H
#define RESPONDER_RESPOND_OAM_H

#include "../parse.h"
#include "../reflect_abi.h"

enum { OAM_ETHERTYPE = 0x8902 };

enum oam_opcode {
	OAM_LBR = 2, OAM_LBM = 3,
	OAM_DMR = 46, OAM_DMM = 47,
	OAM_SLR = 54, OAM_SLM = 55,
};

struct oam {
	__u8 level_version, opcode, flags, first_tlv;
};

struct oam_time {
	__be32 seconds, nanoseconds; /* IEEE 1588's, truncated to 32 bits of seconds */
};

struct oam_delay {
	struct oam oam;
	struct oam_time sent_forward, received_forward, sent_back, received_back;
};

struct oam_loss {
	struct oam oam;
	__be16 source, responder;       /* MEP ids */
	__be32 test;
	__be32 sent_forward, sent_back; /* counts */
};

/* The request in it, enum oam_opcode, whose whole header can be read; 0: none that is answered. */
static __always_inline __u32 oam_request(const struct frame *f, struct span s, __u32 level)
{
	const struct oam *oam = FRAME_AT(struct oam, s, f->l3);

	if (f->ethertype != to_net16(OAM_ETHERTYPE) || !FRAME_FITS(oam, s))
		return 0;
	if (level != OAM_ANY_LEVEL && oam->level_version >> 5 != level)
		return 0;
	if (oam->opcode == OAM_LBM)
		return FRAME_FITS(FRAME_AT(__be32, s, f->l3 + sizeof(*oam)), s) ? OAM_LBM : 0;
	if (oam->opcode == OAM_DMM)
		return FRAME_FITS(FRAME_AT(struct oam_delay, s, f->l3), s) ? OAM_DMM : 0;
	if (oam->opcode == OAM_SLM)
		return FRAME_FITS(FRAME_AT(struct oam_loss, s, f->l3), s) ? OAM_SLM : 0;
	return 0;
}

/* `tai_ns`: of CLOCK_TAI. */
static __always_inline struct oam_time oam_time(__u64 tai_ns)
{
	__u64 seconds = tai_ns / 1000000000;

	return (struct oam_time){ to_net32(low32(seconds)), to_net32(low32(tai_ns - seconds * 1000000000)) };
}

#endif
