/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine's clock as a STAMP reply tells of it. */
#ifndef RESPONDER_RESPOND_STAMP_CLOCK_H
#define RESPONDER_RESPOND_STAMP_CLOCK_H

#include <linux/types.h>

enum stamp_format {
	STAMP_NTP,              /* RFC 5905: seconds since 1900 in UTC, and their 2^32th parts */
	STAMP_PTP,              /* IEEE 1588, truncated (RFC 8877 section 4.3): seconds since 1970 in TAI, and nanoseconds */
};

struct stamp_clock {
	__s64 from_tai_s;       /* to add to the seconds of CLOCK_TAI, for the format in use */
	__be16 error_estimate;  /* RFC 4656 section 4.1.2, with Z for PTP's format */
	__u16 format;           /* enum stamp_format */
	__u32 zero;
};

#endif
