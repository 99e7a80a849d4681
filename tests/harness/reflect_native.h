/* SPDX-License-Identifier: GPL-2.0-only */
/* The reflector's frame logic compiled as ordinary C, beside which the loaded program is tested. */
#ifndef RESPONDER_TEST_REFLECT_NATIVE_H
#define RESPONDER_TEST_REFLECT_NATIVE_H

#include <stddef.h>

#include "bpf/reflect_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the hooks say. */
struct reflect_native_state {
	__u64 now_ns;           /* of each reading one more than of the one before */
	__u32 number;           /* of every session */
	__u32 losses;
	int is_over_cap;
};

/*
 * Judges a frame of `length` bytes, of which `linear` are at `data`, and turns it round in place if it is to be answered.
 * Returns the slot; the size's for a test frame.
 */
__u32 reflect_native_run(void *data, size_t linear, size_t length, const struct reflect_cfg *cfg,
			 const struct reflect_live *live, struct reflect_native_state *state);

#ifdef __cplusplus
}
#endif

#endif
