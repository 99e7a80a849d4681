# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
# object: vm_count
#
# libxdp's dispatcher: two programs share one port, and each sees every frame.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

make_pair
xdp-loader load --mode native --prog-name first near vm_count.bpf.o
xdp-loader load --mode native --prog-name second near vm_count.bpf.o
xdp-loader status near
status=$(xdp-loader status near)
for name in xdp_dispatcher first second; do
    [[ $status == *$name* ]] || fail "xdp-loader status does not show $name"
done
[[ $status == *native* ]] || fail "the dispatcher is not attached in native mode"

send_from_far 1000
expect "frames the first program saw" 1000 "$(map_value first_frames)"
expect "frames the second program saw" 1000 "$(map_value second_frames)"

xdp-loader unload --all near
expect "programs left" 0 "$(ip -o link show near | grep -c xdp || true)"
