/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the reflector's program is told: reflect_cfg, read-only and set before it is loaded, and reflect_live, which follows
 * the port and the clock while it runs. What it counts is in abi.h. Addresses are in network order, ports in host order.
 */
#ifndef RESPONDER_REFLECT_ABI_H
#define RESPONDER_REFLECT_ABI_H

#include "abi.h"
#include "respond/cap.h"
#include "respond/stamp_clock.h"

enum {
	REFLECT_SIGNATURES = 8,
	REFLECT_SIGNATURE_OCTETS = 16,
	REFLECT_STAMP_PORTS = 4,
	REFLECT_ON_LINK = 4,
};

enum { OAM_ANY_LEVEL = 8 }; /* levels are 0 to 7 */

/* The deepest layer whose addresses change places. */
enum reflect_swap {
	REFLECT_SWAP_AUTO,      /* that the frame has */
	REFLECT_SWAP_MAC,
	REFLECT_SWAP_IP,
};

/* Of another maker's tester: UDP to this port is test traffic where these octets stand at this place of its payload. */
struct reflect_signature {
	__u16 port;
	__u8 offset, length;
	__u8 octets[REFLECT_SIGNATURE_OCTETS];
};

struct reflect_cfg {
	struct match_cfg match;         /* what is test traffic, beside what follows */
	__u8 ours;                      /* our own signature, on any UDP port */
	__u8 signature_count;
	struct reflect_signature signature[REFLECT_SIGNATURES];
	__u16 highest_port;             /* of all at which a reflector answers, this one or another */
	/* From these sources everything but control traffic is, whatever it is. */
	__u8 tester_mac_count, tester4_count, tester6_count;
	struct match_mac tester_mac[MATCH_MACS];
	struct match_prefix4 tester4[MATCH_PREFIXES];
	struct match_prefix6 tester6[MATCH_PREFIXES];

	/* Sources that are answered, beside those on the link; also where they ask from the port of a reflector. */
	__u8 allow4_count, allow6_count;
	struct match_prefix4 allow4[MATCH_PREFIXES];
	struct match_prefix6 allow6[MATCH_PREFIXES];

	__u8 swap;                      /* enum reflect_swap */
	__u8 stamp_count;
	__u8 stamp_stateful;
	__u8 stamp_authenticated;       /* all of it is left to the stack, where the key is */
	__u16 stamp_port[REFLECT_STAMP_PORTS];
	__u8 oam;                       /* Ethernet OAM is answered */
	__u8 oam_level;                 /* of this level only, or OAM_ANY_LEVEL */
	__u16 oam_mep;                  /* our id in synthetic loss replies */
	__u8 icmp;                      /* ping is answered, to any address */
	__u8 multi_buffer;              /* loaded with BPF_F_XDP_HAS_FRAGS: a frame may be longer than its linear part */
	/* What a frame, and each octet of it with FCS, takes of the time that is to be had (respond/cap.h); 0: no cap. */
	__u64 frame_cost, octet_cost;
	struct answer_cfg answer;
};

struct reflect_live {
	struct match_mac own_mac;
	__u32 refuse;                   /* 0, or the slot under which all test traffic is dropped now */
	struct stamp_clock clock;
	/* The port's own prefixes; an unused place fits no source. */
	struct match_prefix4 on_link4[REFLECT_ON_LINK];
	struct match_prefix6 on_link6[REFLECT_ON_LINK];
};

/* Key of reflect_sessions: a STAMP session-sender that counts on our own sequence (stateful, RFC 8762 section 4.3). */
struct reflect_session {
	__be32 source[4];               /* IPv4: in [0] */
	__be16 source_port, destination_port;
	__be16 session, zero;
};

/* Key of reflect_losses: a synthetic loss measurement (Y.1731 clause 9.22). */
struct reflect_loss {
	__u8 source_mac[6];
	__be16 source;                  /* its MEP id */
	__be32 test;
};

#endif
