# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the test cases, sourced as /vm/case.sh: how to fail, a veth pair with a sender, and the sink on it.
set -euo pipefail

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# expect WHAT WANTED GOT
expect() {
    [[ $2 == "$3" ]] || fail "$1: expected '$2', got '$3'"
    echo "ok: $1: $3"
}

# wait_until COMMAND...: for at most half a minute
wait_until() {
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        "$@" && return
        sleep 0.1
    done
    return 1
}

# make_pair: veth "near" here, 198.18.0.1, and "far" in the namespace "far", 198.18.0.2. Neighbours are entered by hand
# and IPv6 is off, so that no frame is on the wire but the ones that a test sends.
make_pair() {
    ip netns add far
    ip link add near type veth peer name far netns far
    echo 1 >/proc/sys/net/ipv6/conf/near/disable_ipv6
    ip netns exec far sh -c 'echo 1 >/proc/sys/net/ipv6/conf/far/disable_ipv6'
    ip link set near address 02:00:00:00:00:01
    ip -n far link set far address 02:00:00:00:00:02
    ip link set near up
    ip -n far link set far up
    ip address add 198.18.0.1/24 dev near
    ip -n far address add 198.18.0.2/24 dev far
    ip neighbour replace 198.18.0.2 lladdr 02:00:00:00:00:02 dev near nud permanent
    ip -n far neighbour replace 198.18.0.1 lladdr 02:00:00:00:00:01 dev far nud permanent
}

# send_from_far COUNT [PORT]: that many UDP datagrams from "far" to "near", one frame each. Where the stack answers that
# nobody listens, the next write fails with that news instead of sending; so it is made again.
send_from_far() {
    # shellcheck disable=SC2016  # the inner shell expands
    ip netns exec far bash -c 'exec 3<>"/dev/udp/198.18.0.1/$2"
        for ((i = 0; i < $1; i++)); do until printf 0123456789abcdef >&3; do :; done; done' \
        send "$1" "${2:-9}" 2>/dev/null
}

# programs_on_near: how many XDP programs hang on "near"
programs_on_near() { ip -o link show near | grep -c 'prog/xdp' || true; }

near_is_taken() { [[ $(programs_on_near) == 1 ]]; }

# map_value NAME: entry 0 of a BPF array with 64-bit values.
map_value() {
    bpftool map lookup name "$1" key 0 0 0 0 | sed -n 's/.*"value": \([0-9]*\).*/\1/p'
}

# start_sink ARGUMENT...: xdp-sink on "near" in the background, back when it is attached; sets $sink. Its summary goes to
# sink.json and its talk to sink.err.
start_sink() {
    xdp-sink near --json "$@" >sink.json 2>sink.err &
    sink=$!
    wait_until sink_is_decided
    if ! sink_is_attached; then
        tail -n 40 sink.err >&2
        fail "xdp-sink did not attach"
    fi
}
sink_is_attached() { grep -Eq '^near: .*XDP .*on ' sink.err; }
sink_is_decided() { sink_is_attached || ! kill -0 "$sink" 2>/dev/null; }

# stop_sink: ends it as Ctrl-C does, and fails if it says FAIL or anything else than 0.
stop_sink() {
    local status=0
    kill -INT "$sink"
    wait "$sink" || status=$?
    cat sink.json
    expect "exit status of xdp-sink" 0 "$status"
}

# sink_says KEY: the first value of that name in its summary.
sink_says() {
    grep -o "\"$1\":[^,}]*" sink.json | head -n 1 | sed 's/^[^:]*://' | tr -d '"'
}

# expect_clean_end: the sink that was stopped ran in native mode, its books balance, and it is gone from the port.
expect_clean_end() {
    expect "mode" native "$(sink_says mode)"
    expect "left over in the balance" 0 "$(sink_says left_over)"
    expect "programs left on the port" 0 "$(programs_on_near)"
}

# start_unit UNIT: back when it is ready
start_unit() {
    if ! systemctl start "$1"; then
        journalctl --no-pager -u "$1" >&2
        fail "systemctl start $1"
    fi
    expect "state of $1" active "$(state_of "$1")"
}

state_of() { systemctl is-active "$1" || true; }

# expect_journal UNIT FRAMES: the summary that its command wrote there when it was stopped counts so many test frames.
expect_journal() {
    journalctl --no-pager -o cat -u "$1" | tee journal
    expect "test frames, in the journal of $1" "$2" \
        "$(sed -En 's/^ *(test frames|sent back)  *([0-9,]*), .*/\2/p' journal | tail -n 1 | tr -d ,)"
}
