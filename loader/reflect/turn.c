/* SPDX-License-Identifier: GPL-2.0-only */

#include "loader/reflect/turn.h"

#include "bpf/rewrite.h"

void turn_frame(__u8 *data, size_t linear, size_t length, __u32 swap)
{
	struct span s = { data, data + linear };
	struct frame f;

	parse_frame(&f, s, length);
	rewrite_turn(&f, s, swap);
}
