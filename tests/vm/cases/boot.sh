# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
#
# The machine is what the other cases take it for.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

echo "kernel $(uname -r), two processors, $(sed -n 's/^PRETTY_NAME=//p' /etc/os-release)"
expect "user" 0 "$(id -u)"
expect "processors" 2 "$(nproc)"
expect "loopback" up "$(ip -o link show lo up | grep -q UP && echo up)"
expect "kernel BTF" yes "$([[ -s /sys/kernel/btf/vmlinux ]] && echo yes)"
for place in /proc /sys /dev /dev/pts /run /tmp /sys/fs/bpf /sys/fs/cgroup /sys/kernel/tracing /sys/kernel/debug; do
    mountpoint -q "$place" || fail "$place is not mounted"
done
expect "output device" pipe "$(stat -L -c %F /dev/stdout | sed 's/fifo/pipe/')"
for module in veth 8021q sch_netem bonding tun dummy pktgen r8169; do
    modprobe "$module" || fail "the module $module does not load"
done
make_pair
ping -q -c 1 -W 5 198.18.0.2 >/dev/null || fail "no ping through the veth pair"
for program in bpftool xdp-loader ethtool tc; do
    command -v "$program" >/dev/null || fail "no $program"
done
