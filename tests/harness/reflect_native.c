/* SPDX-License-Identifier: GPL-2.0-only */

#include "tests/harness/reflect_native.h"

#include "bpf/reflect.h"

static struct reflect_native_state *hooks;

static __u64 reflect_now(void) { return hooks->now_ns++; }

static __u32 reflect_next_number(const struct reflect_session *session)
{
	(void)session;
	return hooks->number++;
}

static __u32 reflect_next_loss(const struct reflect_loss *loss)
{
	(void)loss;
	return ++hooks->losses;
}

static int reflect_is_over_cap(__u64 octets)
{
	(void)octets;
	return hooks->is_over_cap;
}

__u32 reflect_native_run(void *data, size_t linear, size_t length, const struct reflect_cfg *cfg,
			 const struct reflect_live *live, struct reflect_native_state *state)
{
	struct span s = { (const __u8 *)data, (const __u8 *)data + linear };
	struct frame f;
	__u32 slot;

	hooks = state;
	parse_frame(&f, s, length);
	slot = reflect_frame(&f, s, cfg, live, live->own_mac.bytes);
	if (slot != MATCH_TEST)
		return slot;
	rewrite_turn(&f, s, cfg->swap);
	return (__u32)match_size_bin(length);
}
