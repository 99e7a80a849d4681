# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
# object: vm_count
# option: --hide-btf
#
# A kernel whose BTF is not to be seen, as on a stock WLAN Pi: programs whose maps are defined in BTF load all the same.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

expect "files in /sys/kernel/btf" "" "$(ls /sys/kernel/btf)"
make_pair
ip link set dev near xdpdrv object vm_count.bpf.o program first
send_from_far 1000
expect "frames, loaded by ip" 1000 "$(map_value first_frames)"
ip link set dev near xdpdrv off

bpftool prog loadall vm_count.bpf.o /sys/fs/bpf/case type xdp
ip link set dev near xdpdrv pinned /sys/fs/bpf/case/second
send_from_far 1000
expect "frames, loaded by bpftool" 1000 "$(map_value second_frames)"
