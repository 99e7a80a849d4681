/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frame logic of bpf/ compiled as ordinary C, beside which the loaded program is tested: what the compiler for the
 * BPF machine, the verifier's cuts and the program's short cuts made of it must come to the same.
 */
#ifndef RESPONDER_TEST_FRAME_NATIVE_H
#define RESPONDER_TEST_FRAME_NATIVE_H

#include <stddef.h>

#include "bpf/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct frame_native {
    __u32 slot; /* enum count_slot; the size's for test traffic */
    __u32 l3_bytes, payload_bytes;
    __u32 plain;         /* the parser's short cut took it, and all that it says is what the whole parser says */
    __u32 plain_differs; /* it took it, and something differs: always a fault */
};

/*
 * Classifies a frame of `length` bytes, of which `linear` are at `data`, and answers it in place if it is to be
 * answered.
 */
struct frame_native frame_native_run(void* data, size_t linear, size_t length, const struct sink_cfg* cfg,
                                     const struct match_mac* own_mac);

#ifdef __cplusplus
}
#endif

#endif
