/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lets the headers below compile for the BPF machine (clang) and for this one (gcc or clang, as C): the frame logic
 * is written once.
 */
#ifndef RESPONDER_COMPILER_H
#define RESPONDER_COMPILER_H

#include <linux/types.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/*
 * A function that the verifier checks once and on its own, whatever its callers know of the arguments. It returns an int
 * and takes numbers and pointers, which it must test for NULL.
 */
#ifdef __bpf__
#define verified_apart __attribute__((noinline))
#else
#define verified_apart static inline
#endif

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Where the usual frame goes: clang lays its path out straight. A jump that is taken costs as much as four instructions. */
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/*
 * A pointer that has been checked stays the one that is used. Left alone, clang may compute it anew at its use, and then the
 * verifier, where it does not know the offset, does not know that it is the same.
 */
#define keep_pointer(p) asm("" : "+r"(p))

/* Reads it now, so that its cache line is there later. */
#define read_ahead(x) asm volatile("" : : "r"(x))

/* Not <asm/byteorder.h>: on some machines it is made of their own instructions, which BPF does not have. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define to_host16(x) __builtin_bswap16((__u16)(x))
#define to_host32(x) __builtin_bswap32((__u32)(x))
#define to_little16(x) ((__u16)(x))
#define to_little32(x) ((__u32)(x))
#define to_little64(x) (x)
#else
#define to_host16(x) ((__u16)(x))
#define to_host32(x) ((__u32)(x))
#define to_little16(x) __builtin_bswap16((__u16)(x))
#define to_little32(x) __builtin_bswap32((__u32)(x))
#define to_little64(x) __builtin_bswap64(x)
#endif
#define to_net16(x) to_host16(x)
#define to_net32(x) to_host32(x)

/* Without a cast, which in C++ wants another form. */
static __always_inline __u32 low32(__u64 x) { return x & 0xffffffff; }

/*
 * Bytes of a frame as words, whatever type they are otherwise read as. Frames are at least two-aligned; all machines that
 * we serve load a wider word from there as well.
 */
typedef __u16 __attribute__((may_alias)) word16;
typedef __u32 __attribute__((may_alias)) word32;
typedef __u64 __attribute__((may_alias)) word64;

#endif
