# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
# program: xdp-sink
# object: vm_count
#
# With --dispatcher the sink shares its port: a program that was there before sees every frame and stays; without it the
# sink refuses the port.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

make_pair
xdp-loader load --mode native --prog-name first near vm_count.bpf.o

status=0
xdp-sink near --duration 1 2>refused.err || status=$?
cat refused.err
expect "exit status on a taken port" 69 "$status"

start_sink --dispatcher --expect-frames 1000
xdp-loader status near
expect "programs in the dispatcher" 2 "$(xdp-loader status near | grep -c '^ =>')"
send_from_far 1000
stop_sink
expect "frames the other program saw" 1000 "$(map_value first_frames)"
expect "programs left in the dispatcher" 1 "$(xdp-loader status near | grep -c '^ =>')"
expect "the one that is left" first "$(xdp-loader status near | awk '$1 == "=>" { print $3 }')"

# Another joins while the sink runs, and then somebody takes all of them off: the sink notices the second only.
start_sink --dispatcher
xdp-loader load --mode native --prog-name second near vm_count.bpf.o
send_from_far 500
sleep 1.5 # longer than it takes the sink to look
kill -0 "$sink" || fail "the sink ended when another program joined"
xdp-loader unload near --all
status=0
wait "$sink" || status=$?
cat sink.json
expect "exit status of a sink whose program was taken off" 75 "$status"
expect "frames" 500 "$(sink_says frames)"
expect "ended by" program "$(sink_says ended_by)"

# Newer kernels' dispatcher takes no program that moves metadata, as the one for sockets does: then it is said what to leave out.
status=0
xdp-sink near --dispatcher --engine af_xdp --duration 1 2>sockets.err || status=$?
cat sockets.err
[[ $status == 0 ]] && grep -q "through libxdp's dispatcher" sockets.err && exit
expect "exit status where sockets' program cannot share the port" 71 "$status"
grep -q "newer kernels let no program that hands frames to sockets share a port: leave --dispatcher out" sockets.err ||
    fail "it does not say what to leave out"
