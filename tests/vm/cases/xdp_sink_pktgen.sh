# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
# program: xdp-sink
#
# The kernel's own pktgen sends two streams through a queue that loses some of them: the sink follows both by pktgen's
# signature, and what was sent is what came and what was lost, to the frame.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

# tell FILE LINE: of pktgen's, in "far"
tell() {
    # shellcheck disable=SC2016  # the inner shell expands
    ip netns exec far sh -c 'echo "$2" >"/proc/net/pktgen/$1"' tell "$1" "$2"
}

# add_stream DEVICE CPU SOURCE: 1000 frames a second, until they are stopped
add_stream() {
    local line
    tell "kpktgend_$2" "add_device $1"
    for line in "count 0" "delay 1000000" "pkt_size 60" "xmit_mode queue_xmit" "dst_mac 02:00:00:00:00:01" \
        "dst 198.18.0.1" "src_min $3" "src_max $3" "udp_dst_min 9" "udp_dst_max 9"; do
        tell "$1" "$line"
    done
}

sent() { ip netns exec far sed -n 's/.*pkts-sofar: *\([0-9]*\).*/\1/p' "/proc/net/pktgen/$1"; }
have_sent() { (($(sent far@0) >= $1 && $(sent far@1) >= $2)); }
# Neither the first frame nor the last of a stream may be lost: nobody could know.
send_more() { wait_until have_sent $(($(sent far@0) + 200)) $(($(sent far@1) + 200)) || fail "pktgen does not send"; }

lose() { tc -n far qdisc replace dev far root netem loss "$1%" limit 10000; }
lost() { tc -n far -s qdisc show dev far | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'; }

make_pair
modprobe pktgen
lose 0
add_stream far@0 0 198.18.0.11
add_stream far@1 1 198.18.0.12
start_sink --require-native

tell pgctrl start &
pktgen=$!
send_more
lose 20
send_more
send_more
lose 0
send_more
tell pgctrl stop
wait "$pktgen"
all=$(($(sent far@0) + $(sent far@1))) lost=$(lost)
echo "pktgen sent $all frames, of which the queue lost $lost"
((lost > 0)) || fail "nothing was lost"

stop_sink
expect "frames" $((all - lost)) "$(sink_says frames)"
expect "streams of pktgen's" 2 "$(grep -o '"format":"pktgen"' sink.json | wc -l)"
expect "lost, in both streams" "$lost" "$(grep -o '"lost":[0-9]*' sink.json | awk -F: '{ sum += $2 } END { print sum }')"
expect_clean_end
