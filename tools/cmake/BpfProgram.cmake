# SPDX-License-Identifier: GPL-2.0-only
#
# bpf_program(NAME SOURCE): compiles SOURCE for the BPF machine and makes two things of it:
#   target NAME_skeleton (INTERFACE): `#include "NAME.skel.h"`, the object embedded in the header;
#   the file ${CMAKE_BINARY_DIR}/bpf/NAME.bpf.o, for `ip link set ... xdp object` and for the verifier tests.
# Depends on the headers that clang itself reports, so that a changed header is never missed.

find_program(BPF_CLANG NAMES clang-14 clang-15 clang-16 clang-17 clang-18 clang-19 clang REQUIRED)
find_program(BPFTOOL NAMES bpftool PATHS /usr/sbin /sbin REQUIRED)
find_program(BPF_STRIP NAMES llvm-strip-14 llvm-strip-15 llvm-strip-16 llvm-strip-17 llvm-strip-18 llvm-strip-19
    llvm-strip REQUIRED)

# asm/types.h is not in clang's search path for a machine that is not this one; BPF is as wide as the host.
set(bpf_asm_include /usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
if(NOT EXISTS ${bpf_asm_include}/asm/types.h AND EXISTS /usr/${CMAKE_LIBRARY_ARCHITECTURE}/include/asm/types.h)
    set(bpf_asm_include /usr/${CMAKE_LIBRARY_ARCHITECTURE}/include)
endif()

function(bpf_program name source)
    set(directory ${CMAKE_BINARY_DIR}/bpf)
    set(object ${directory}/${name}.bpf.o)
    set(skeleton ${directory}/${name}.skel.h)
    file(MAKE_DIRECTORY ${directory})
    get_filename_component(source ${source} ABSOLUTE)
    # The prefix map: BTF names the source file, and a package must not depend on where it was built.
    # -mcpu=v3: 32-bit arithmetic and jumps, known to every kernel we serve. -g: the BTF that maps are defined in.
    add_custom_command(OUTPUT ${object}
        COMMAND ${BPF_CLANG} -target bpf -mcpu=v3 -std=gnu11 -O2 -g -Wall -Wextra -Werror
            -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.
            -I${CMAKE_SOURCE_DIR} -isystem ${bpf_asm_include} -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
        COMMAND ${BPF_STRIP} -g ${object}
        DEPENDS ${source} DEPFILE ${object}.d
        COMMENT "BPF ${name}" VERBATIM)
    add_custom_command(OUTPUT ${skeleton}
        COMMAND ${BPFTOOL} gen skeleton ${object} name ${name}_bpf > ${skeleton}.new
        COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.new ${skeleton}
        DEPENDS ${object} COMMENT "BPF skeleton ${name}" VERBATIM)
    add_custom_target(${name}_object ALL DEPENDS ${object})
    add_custom_target(${name}_skeleton_header DEPENDS ${skeleton})
    add_library(${name}_skeleton INTERFACE)
    add_dependencies(${name}_skeleton ${name}_skeleton_header)
    target_include_directories(${name}_skeleton SYSTEM INTERFACE ${directory})
    target_link_libraries(${name}_skeleton INTERFACE PkgConfig::libbpf)
endfunction()
