# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1
# arch: i386
# object: vm_count sink
#
# A kernel that was really built without BTF, which Debian 12's for i386 is, takes the sink's program (the same object:
# BPF is BPF). The sink itself is not built for such a machine.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

expect "kernel BTF" absent "$([[ -e /sys/kernel/btf ]] || echo absent)"
make_pair
ip link set dev near xdpdrv object vm_count.bpf.o program first
send_from_far 1000
expect "frames" 1000 "$(map_value first_frames)"
ip link set dev near xdpdrv off

bpftool prog load sink.bpf.o /sys/fs/bpf/sink type xdp
ip link set dev near xdpdrv pinned /sys/fs/bpf/sink
expect "the sink on the port" xdp_sink "$(ip -d link show near | sed -n 's/.*prog\/xdp id [0-9]* name \([^ ]*\) .*/\1/p')"
