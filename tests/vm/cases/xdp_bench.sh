# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: trixie
#
# xdp-bench, the tool that people compare ours with, counts what was sent. On Debian 13's kernel, because Debian 12's
# xdp-tools has no xdp-bench and kernel 7.3 lacks a tracepoint (xdp_redirect_map_err) that 1.5.4 will not start without.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

make_pair
xdp-bench drop --xdp-mode native --interval 1 near >bench.out 2>bench.err &
bench=$!
wait_until near_is_taken || fail "xdp-bench attached nothing: $(cat bench.err)"
send_from_far 5000
sleep 1.5
kill -INT "$bench"
wait "$bench" || fail "xdp-bench ended with $?"
cat bench.out
received=$(sed -n 's/^ *Packets received *: *//p' bench.out | tr -d ', ')
expect "frames xdp-bench counted" 5000 "$received"
