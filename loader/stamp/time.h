/* SPDX-License-Identifier: GPL-2.0-only */
/* A time stamp as in the replies of the XDP program. */
#ifndef RESPONDER_STAMP_TIME_H
#define RESPONDER_STAMP_TIME_H

#include "bpf/respond/stamp_clock.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes eight octets. `tai_ns`: of CLOCK_TAI. */
void stamp_write_time(__u8 *octets, __u64 tai_ns, const struct stamp_clock *clock);

#ifdef __cplusplus
}
#endif

#endif
