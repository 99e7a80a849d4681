# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
# program: xdp-sink xdp-gen
#
# This kernel's verifier takes the sink, in native mode, and every frame of a socket and of xdp-gen is counted, once.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

make_pair
start_sink --require-native --expect-frames 22000
cat sink.err
send_from_far 2000
ip netns exec far xdp-gen far --count 20000 --dst-mac 02:00:00:00:00:01 --src 198.18.0.2 --dst 198.18.0.1
stop_sink
expect_clean_end
