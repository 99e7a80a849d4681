/* SPDX-License-Identifier: GPL-2.0-only */
/* The reflector's test frames turned round in user space, by the same C as in the kernel (bpf/rewrite.h). */
#ifndef RESPONDER_REFLECT_TURN_H
#define RESPONDER_REFLECT_TURN_H

#include <stddef.h>

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A frame of `length` octets, of which `linear` are at `data`, in place. `swap`: enum reflect_swap. */
void turn_frame(__u8 *data, size_t linear, size_t length, __u32 swap);

#ifdef __cplusplus
}
#endif

#endif
