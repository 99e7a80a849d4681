# SPDX-License-Identifier: GPL-2.0-only
#
# Cross-building for arm64 with Debian's compiler against the folder that tools/packaging/sysroot makes:
#   cmake -DCMAKE_TOOLCHAIN_FILE=tools/cmake/toolchain-arm64.cmake -DARM64_SYSROOT=$(tools/packaging/sysroot arm64)/root ...
# tools/package does that.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_STRIP aarch64-linux-gnu-strip)

# CMake reads this file again for each of its trial programs, which know only what is named here.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ARM64_SYSROOT)
if(NOT EXISTS "${ARM64_SYSROOT}/usr/include")
    message(FATAL_ERROR "ARM64_SYSROOT must be the folder that tools/packaging/sysroot arm64 made")
endif()
set(CMAKE_SYSROOT ${ARM64_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# Programs (clang, bpftool, scdoc) run here; everything else is the target's.
set(CMAKE_FIND_ROOT_PATH ${ARM64_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_DIR} "")
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ARM64_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${ARM64_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${ARM64_SYSROOT}/usr/lib/pkgconfig:${ARM64_SYSROOT}/usr/share/pkgconfig)
