# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
# program: xdp-sink xdp-gen
#
# This kernel's verifier takes the program that hands frames to sockets, and its sockets give each of them to their reader,
# with the time that the program took.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

make_pair
start_sink --require-native --engine af_xdp --expect-frames 3000 --max-loss 0
cat sink.err
ip netns exec far xdp-gen far --stamp --count 3000 --rate 2000 --dst-mac 02:00:00:00:00:01 --src 198.18.0.2 --dst 198.18.0.1
stop_sink
expect "read from the socket" 3000 "$(sed 's/.*"received":\([0-9]*\).*/\1/' sink.json)"
expect "frames with a proved payload" 3000 "$(sink_says payload_proved_frames)"
expect "frames with a wrong payload" 0 "$(sink_says payload_wrong_frames)"
expect "who took the time" program "$(sink_says arrival_stamped_by)"
expect "a clock was set" 0 "$(sink_says clock_steps)"
expect_clean_end
