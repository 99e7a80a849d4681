/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The border between kernel and user space: what the sink's program is told (rodata, set before it is loaded) and what
 * it counts (maps). Both sides compile this file; it holds data and no code. Addresses are in network order, ports,
 * EtherTypes and VLAN ids in host order.
 */
#ifndef RESPONDER_ABI_H
#define RESPONDER_ABI_H

#include <stddef.h>

#include <linux/types.h>

#include "delay.h"
#include "histogram.h"
#include "iperf.h"
#include "sequence.h"

/* ---- what is test traffic (bpf/match.h applies it) ---- */

/*
 * Most values that one option takes. Each list is searched in straight-line code that the verifier cuts down to the
 * values in use, so a larger number costs nothing while it is not used, and program length (a branch or two a value).
 */
enum {
	MATCH_PORTS = 16,
	MATCH_ETHERTYPES = 8,
	MATCH_VLANS = 8,
	MATCH_PREFIXES = 8,
	MATCH_MACS = 8,
};

struct match_range {
	__u16 first, last;
};

struct match_prefix4 {
	__be32 address, mask;
};

struct match_prefix6 {
	__be32 address[4], mask[4];
} __attribute__((aligned(8))); /* compared in halves */

struct match_mac {
	__u8 bytes[6];
};

/*
 * A frame is test traffic if at least one thing identifies it AND no list that restricts leaves it out.
 * An empty list identifies nothing and restricts nothing.
 */
struct match_cfg {
	/* identify */
	__u8 all;               /* every frame but link control, ARP, ND and DHCP, whatever its bytes mean */
	__u8 any_udp;           /* every UDP datagram */
	__u8 port_count, ethertype_count, network4_count, network6_count;
	/* restrict */
	__u8 any_mac;           /* also frames to another unicast MAC address than the port's own */
	union {
		struct {
			__u8 vlan_count, inner_vlan_count;
			__u8 source4_count, source6_count, destination4_count, destination6_count;
			__u8 source_mac_count, destination_mac_count;
		};
		__u64 restricts; /* all eight at once: one look tells a frame that nothing restricts it */
	};

	struct match_range port[MATCH_PORTS];              /* UDP destination */
	__u16 ethertype[MATCH_ETHERTYPES];                 /* of what is not IP */
	struct match_prefix4 network4[MATCH_PREFIXES];     /* UDP to these, on any port */
	struct match_prefix6 network6[MATCH_PREFIXES];
	struct match_range vlan[MATCH_VLANS];              /* outermost tag */
	struct match_range inner_vlan[MATCH_VLANS];        /* second tag */
	struct match_prefix4 source4[MATCH_PREFIXES], destination4[MATCH_PREFIXES];
	struct match_prefix6 source6[MATCH_PREFIXES], destination6[MATCH_PREFIXES];
	struct match_mac source_mac[MATCH_MACS], destination_mac[MATCH_MACS];
};

/* UDP to this port carries numbers of this format, enum stream_format: it is followed, and goes where it goes anyway. */
struct watch_port {
	__u16 port, format;
};

enum { WATCH_PORTS = 16 };

/* The address of the test, for which ARP, ND and ping are answered (bpf/respond/address.h). */
struct answer_cfg {
	__u8 v4, v6;            /* it is set */
	__be32 address4;
	__be32 address6[4];
};

struct sink_cfg {
	struct match_cfg match;
	__u8 multi_buffer;      /* loaded with BPF_F_XDP_HAS_FRAGS: a frame may be longer than its linear part */
	__u32 stream_slots;     /* places for streams that each table has, a power of two; 0: streams are not followed */
	__u8 streams_by_cpu;    /* a table of streams for each CPU, not for each queue */
	__u32 first_table;      /* that is the program's own; those before it are of the sockets' readers */
	__u8 watch_count;       /* 0 where streams are not followed */
	struct watch_port watch[WATCH_PORTS];
	__u8 histograms;        /* streams have histograms */
	__u8 clocks_in_step;    /* a transit time is a delay */
	__u32 tick_ns;          /* of the kernel's jiffies */
	struct answer_cfg answer;
	__u8 exact_arrival;     /* the time of all that goes to a socket is CLOCK_TAI, for a capture */
	__u32 copy_passed;      /* of what passes up, copy so many octets for a capture; 0: nothing */
};

/* In front of each copy of a frame that passed up (bpf/passed.h). */
struct passed_frame {
	__u64 time_ns;          /* CLOCK_TAI */
	__u64 lost;             /* copies that found no room, so far */
	__u32 length, captured; /* octets: of the frame, of the copy */
	__u32 queue;
	__u32 zero;
};

/* ---- what was counted ---- */

/*
 * Every frame is counted exactly once, in one slot, so that the slots add up to what the program saw. Test frames are
 * counted in the bin of their size, which makes the size histogram free. Sizes are with FCS (RFC 2544 section 9, RMON).
 * X(identifier, smallest size)
 */
#define SLOT_SIZE_BINS(X) \
	X(0, 0) \
	X(64, 64) \
	X(65, 65) \
	X(128, 128) \
	X(256, 256) \
	X(512, 512) \
	X(1024, 1024) \
	X(1519, 1519) \
	X(2048, 2048) \
	X(4096, 4096) \
	X(8192, 8192)

/* Answered by the program itself (XDP_TX). X(identifier, key in JSON, text for people) */
#define SLOT_ANSWERS(X) \
	X(ARP_REPLY, "arp_reply", "ARP replies") \
	X(ND_REPLY, "nd_reply", "neighbour advertisements") \
	X(PING_REPLY, "ping_reply", "ping replies")

/* The same, by the reflector only. */
#define REFLECT_ANSWERS(X) \
	X(STAMP_REPLY, "stamp_reply", "STAMP replies") \
	X(LOOPBACK_REPLY, "loopback_reply", "Ethernet OAM loopback replies") \
	X(DELAY_REPLY, "delay_reply", "Ethernet OAM delay replies") \
	X(LOSS_REPLY, "loss_reply", "Ethernet OAM synthetic loss replies")

/*
 * Passed up the stack, under the first reason that applies. X(identifier, key in JSON, text for people)
 * No option takes the first four.
 */
#define SLOT_REASONS(X) \
	X(CONTROL, "control", "link control (01:80:C2)") \
	X(ARP, "arp", "ARP") \
	X(ND, "nd", "neighbour discovery") \
	X(DHCP, "dhcp", "DHCP") \
	X(MALFORMED, "malformed", "malformed (a header or length that lies)") \
	X(TOO_DEEP, "too_deep", "over 2 VLAN tags or 8 IPv6 extension headers") \
	X(FRAGMENT, "fragment", "IP fragment without ports") \
	X(TCP, "tcp", "TCP") \
	X(ICMP, "icmp", "ICMP") \
	X(UDP, "udp", "UDP, not test traffic") \
	X(OTHER_IP, "other_ip", "other IP protocol") \
	X(OTHER_ETHERTYPE, "other_ethertype", "other EtherType") \
	X(OTHER_MAC, "other_mac", "test traffic, other MAC address") \
	X(OTHER_VLAN, "other_vlan", "test traffic, other VLAN") \
	X(OTHER_ADDRESS, "other_address", "test traffic, other IP address")

/* Why the reflector returned nothing to a frame that asks for it. X(identifier, key in JSON, text for people) */
#define REFLECT_REASONS(X) \
	X(GROUP, "group_address", "test traffic, to a broadcast or multicast address") \
	X(SOURCE_MAC, "source_mac", "test traffic, from a MAC address that no station has") \
	X(SOURCE_ADDRESS, "source_address", "test traffic, from an IP address that no station has") \
	X(NOT_ALLOWED, "not_allowed", "test traffic, source not on the link (--allow)") \
	X(FROM_REFLECTOR, "from_reflector", "test traffic, from the port of a reflector or service (--allow)") \
	X(STAMP_RARE, "stamp_rare", "STAMP that is not answered in the driver")

/* The same, and dropped: the stack would have to take the whole test. */
#define REFLECT_DROPS(X) \
	X(EXPIRED, "expired", "test traffic after --expire") \
	X(WITHHELD, "withheld", "test traffic withheld by --loop-probe") \
	X(CAPPED, "capped", "test traffic over --max-fps or --max-bps")

enum count_slot {
#define X(id, smallest) SLOT_SIZE_##id,
	SLOT_SIZE_BINS(X)
#undef X
	SLOT_SIZE_END,
	SLOT_ANSWER_FIRST = SLOT_SIZE_END,
	SLOT_BEFORE_ANSWERS = SLOT_ANSWER_FIRST - 1, /* so that the next enumerator is SLOT_ANSWER_FIRST */
#define X(id, key, text) SLOT_##id,
	SLOT_ANSWERS(X)
	REFLECT_ANSWERS(X)
	SLOT_ANSWER_END,
	SLOT_REASON_FIRST = SLOT_ANSWER_END,
	SLOT_BEFORE_REASONS = SLOT_REASON_FIRST - 1,
	SLOT_REASONS(X)
	REFLECT_REASONS(X)
	SLOT_REASON_END,
	SLOT_DROP_FIRST = SLOT_REASON_END,
	SLOT_BEFORE_DROPS = SLOT_DROP_FIRST - 1,
	REFLECT_DROPS(X)
#undef X
	SLOTS,
};

struct slot_count {
	__u64 frames;
	__u64 l2_bytes;         /* as the program sees a frame: without FCS */
	__u64 l3_bytes;         /* by IP's own length, so without padding; for others all behind the last tag */
	__u64 payload_bytes;    /* behind the UDP header; for others all behind the last header that was read */
};

/* Value of the per-CPU map queue_counters; key: its row. Counters only rise. */
struct slot_counters {
	struct slot_count slot[SLOTS];
};

/* ---- what passed by, while nobody finds any test traffic (key of passed_flows; its value: frames) ---- */

enum { PASSED_FLOWS = 1024 };

struct passed_flow_key {
	__be32 source[4], destination[4]; /* IPv4: in [0] */
	__u16 ethertype;
	__u16 destination_port;         /* 0: no UDP */
	__u16 vlan[2];                  /* ids, outermost first */
	__u8 destination_mac[6];
	__u8 tags;
	__u8 protocol;                  /* 0: no IP */
	__u8 slot;                      /* the reason that it passed, enum count_slot */
	__u8 zero[3];                   /* no hole: the kernel hashes every byte */
};

/* ---- what is put in front of a frame that goes to a socket (bpf/port_sockets.h) ---- */

struct socket_arrival {
	/*
	 * Of the sink: of CLOCK_TAI with exact_arrival, with histograms or where the frame says when it was sent; else of another
	 * clock. Of the reflector: when its program began, of CLOCK_MONOTONIC, where it is measured how long the frame stays; else 0.
	 */
	__u64 ns;
};

/* ---- streams: what the sequence numbers in test frames say (bpf/streams.h) ---- */

/*
 * X(identifier, name); each is in signature/. The first two are recognised on any port, the others on a watched one; of
 * these all but TRex's say when they were sent, by a clock of their own.
 */
#define STREAM_FORMATS(X) \
	X(OURS, "xdp-responder") \
	X(PKTGEN, "pktgen") \
	X(TREX, "trex") \
	X(RFC2544_MASTER, "rfc2544-master") \
	X(IPERF3, "iperf3")             /* as wide as it seems to be */ \
	X(IPERF3_32, "iperf3-32") \
	X(IPERF3_64, "iperf3-64") \
	X(IPERF2, "iperf2")

enum stream_format {
	STREAM_NONE,            /* this place is free */
#define X(id, name) STREAM_##id,
	STREAM_FORMATS(X)
#undef X
};

static __always_inline int stream_is_of_port(__u32 format) { return format >= STREAM_TREX; }
static __always_inline int stream_is_timed_by_port(__u32 format) { return format >= STREAM_RFC2544_MASTER; }
static __always_inline int stream_is_iperf(__u32 format) { return format >= STREAM_IPERF3; }
static __always_inline int stream_is_numbered(__u32 format)
{
	return format == STREAM_OURS || format == STREAM_TREX || format == STREAM_RFC2544_MASTER;
}

/*
 * What makes two frames ones of the same stream. Of our own streams over IPv4, that is all in the first eight octets, so that
 * one look tells them apart.
 */
struct stream_key {
	__u16 stream;           /* of formats that number their streams, stream_is_numbered() */
	__u8 format;            /* enum stream_format */
	__u8 ip;                /* 4 or 6 */
	__be32 source[4];       /* IPv4: in [0]; 0 of STREAM_TREX */
	__be32 destination[4];  /* 0 of STREAM_OURS and STREAM_TREX, like the ports */
	__be16 source_port, destination_port;
} __attribute__((aligned(8))); /* compared in words */

/* Whether what is behind our signature is what was sent. Proved by the reader of a socket, not in the kernel. */
struct stream_payload {
	__u64 proved;           /* frames */
	__u64 wrong_frames;
	__u64 wrong_octets;     /* in these */
};

/*
 * Value of sink_streams. No two CPUs may write to one at a time: each receive queue has a table of its own. In generic mode
 * several CPUs may serve one queue (RPS), and each CPU has one. Where frames go to sockets, the reader of the socket writes.
 *
 * It is what a frame in the usual order looks at: one cache line, the last, or all three where it says when it was sent.
 * Thousands of streams so fit into a processor's cache. All else of a stream is at the same place of other maps.
 */
struct stream {
	struct delay delay;     /* of frames that say when they were sent */
	struct gaps gaps;       /* of these and, with histograms, of all */
	struct stream_key key __attribute__((aligned(64)));
	struct sequence_head head;
	__u64 exact;            /* head.last_ns is of an exact clock */
} __attribute__((aligned(64)));

/* What head has taken since, in all that does not follow each frame. */
static __always_inline void stream_settle(struct stream *stream, struct sequence *q)
{
	if (stream->exact) {
		stream->delay.frames += sequence_taken(q, &stream->head);
		stream->gaps.count += sequence_taken(q, &stream->head);
	}
	sequence_follow(q, &stream->head);
}

/* Value of sink_stream_rests: one a place of sink_streams. */
struct stream_rest {
	struct sequence sequence;
	struct stream_payload payload;
	struct iperf iperf;     /* of iperf's */
};

/* Value of sink_histograms: one a place of sink_streams, or none at all. */
struct stream_histograms {
	struct histogram gaps;
	struct histogram delay; /* transit times if clocks_in_step, else beyond the smallest by then */
};

/* Value of sink_unplaced; key: table. Test frames that have a signature and are in no stream. Only rise. */
struct stream_unplaced {
	__u64 damaged;          /* the check of our signature is wrong */
	__u64 no_room;          /* every place that the stream may have is taken by another */
};

#ifdef __cplusplus
#define RESPONDER_ASSERT static_assert
#else
#define RESPONDER_ASSERT _Static_assert
#endif
RESPONDER_ASSERT(offsetof(struct match_cfg, destination_mac_count) == offsetof(struct match_cfg, restricts) + 7,
		 "one look at eight counts");
RESPONDER_ASSERT(sizeof(struct slot_count) == 32, "a count fills half a cache line");
RESPONDER_ASSERT(sizeof(struct stream_key) == 40 && offsetof(struct stream_key, source) == 4, "compared in words");
RESPONDER_ASSERT(offsetof(struct stream, key) == 128 &&
			 sizeof(struct stream) == 192,
		 "three cache lines, and each for those frames only that need it");
RESPONDER_ASSERT(sizeof(struct passed_flow_key) == 52, "no padding: the kernel hashes every byte");

#endif
