/* SPDX-License-Identifier: GPL-2.0-only */

#include "loader/stamp/time.h"

#include "bpf/respond/stamp.h"

#include <string.h>

void stamp_write_time(__u8 *octets, __u64 tai_ns, const struct stamp_clock *clock)
{
	__be32 time[2];

	stamp_time(time, tai_ns, clock);
	memcpy(octets, time, sizeof(time));
}
