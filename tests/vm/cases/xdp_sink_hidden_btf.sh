# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
# program: xdp-sink
# option: --hide-btf
#
# The same where the kernel has no BTF to show, as a stock WLAN Pi: nothing of the sink leans on it.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

make_pair
start_sink --require-native --expect-frames 2000
send_from_far 2000
stop_sink
expect "mode" native "$(sink_says mode)"
expect "left over in the balance" 0 "$(sink_says left_over)"
expect "programs left on the port" 0 "$(ip -o link show near | grep -c xdp || true)"
