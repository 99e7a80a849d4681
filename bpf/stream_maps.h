/* SPDX-License-Identifier: GPL-2.0-only */
/* The sink's tables of streams as maps, which user space reads where they lie; and the kernel's clocks. */
#ifndef RESPONDER_STREAM_MAPS_H
#define RESPONDER_STREAM_MAPS_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "streams.h"

/*
 * The loader raises max_entries: of sink_streams, sink_stream_rests and, if there are any, sink_histograms to
 * sink_cfg.stream_slots a table, of sink_unplaced to the number of tables.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stream);
} sink_streams SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stream_rest);
} sink_stream_rests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stream_histograms);
} sink_histograms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stream_unplaced);
} sink_unplaced SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stream_packet);
} sink_packet SEC(".maps");

static __always_inline __u32 stream_slots(void) { return sink_cfg.stream_slots; }

static __always_inline struct stream *stream_at(__u32 place) { return bpf_map_lookup_elem(&sink_streams, &place); }

static __always_inline struct stream_rest *stream_rest_at(__u32 place)
{
	return bpf_map_lookup_elem(&sink_stream_rests, &place);
}

static __always_inline int stream_has_histograms(void) { return sink_cfg.histograms; }

static __always_inline struct stream_histograms *stream_histograms_at(__u32 place)
{
	return sink_cfg.histograms ? bpf_map_lookup_elem(&sink_histograms, &place) : NULL;
}

static __always_inline int stream_clocks_in_step(void) { return sink_cfg.clocks_in_step; }

static __always_inline struct stream_unplaced *stream_unplaced_of(__u32 table)
{
	return bpf_map_lookup_elem(&sink_unplaced, &table);
}

static __always_inline struct stream_packet *stream_packet_room(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&sink_packet, &key);
}

/* The kernel's tick is no coarser than its coarse clock, and costs a nanosecond where an exact reading costs forty. */
static __always_inline __u64 stream_arrival(int exact)
{
	return exact ? bpf_ktime_get_tai_ns() : bpf_jiffies64() * sink_cfg.tick_ns;
}

/* A payload is too long to be proved here. */
static __always_inline void stream_followed(__u32 place, __u32 sequence, int kind)
{
	(void)place;
	(void)sequence;
	(void)kind;
}

static __always_inline __u32 stream_watched(__u32 port)
{
	for (__u32 i = 0; i < WATCH_PORTS; i++) {
		if (i >= sink_cfg.watch_count)
			break;
		if (sink_cfg.watch[i].port == port)
			return sink_cfg.watch[i].format;
	}
	return STREAM_NONE;
}

static __always_inline __u32 stream_table(__u32 queue)
{
	return sink_cfg.first_table + (sink_cfg.streams_by_cpu ? bpf_get_smp_processor_id() : queue);
}

#endif
