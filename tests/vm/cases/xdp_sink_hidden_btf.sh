# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
# program: xdp-sink
# option: --hide-btf
#
# A kernel that has no BTF to show, as a stock WLAN Pi: nothing of the sink leans on it.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

expect "files in /sys/kernel/btf" "" "$(ls /sys/kernel/btf)"
make_pair
start_sink --require-native --expect-frames 2000
send_from_far 2000
stop_sink
expect_clean_end
