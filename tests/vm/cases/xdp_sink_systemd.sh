# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
# program: xdp-sink
# built: tools/systemd/xdp-sink@.service:/etc/systemd/system/xdp-sink@.service
# option: --systemd
#
# systemctl start xdp-sink@near is the sink of the command line: ready when it is attached, without root, gone with
# systemctl stop and with its port, and what it counted is in the journal.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

# The unit names the place where the sink is to be installed.
program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' /etc/systemd/system/xdp-sink@.service)
if [[ $program != /usr/bin/xdp-sink && ! -e $program ]]; then
    mkdir -p "${program%/*}"
    ln -s /usr/bin/xdp-sink "$program"
fi

make_pair
start_unit xdp-sink@near
expect "programs on the port once start has returned" 1 "$(programs_on_near)"
process=/proc/$(systemctl show -P MainPID xdp-sink@near)
(($(sed -n 's/^Uid:\t\([0-9]*\)\t.*/\1/p' "$process/status") > 60000)) || fail "the sink runs as root"
expect "capabilities" 000000c000003000 "$(sed -n 's/^CapEff:\t//p' "$process/status")"

send_from_far 1000
systemctl stop xdp-sink@near
expect "state after stop" inactive "$(state_of xdp-sink@near)"
expect "programs on the port after stop" 0 "$(programs_on_near)"
expect_journal xdp-sink@near 1000

# Whether systemd stops it first or it ends by itself first is a race; after the latter a start may wait for the port.
systemctl start xdp-sink@near
process=/proc/$(systemctl show -P MainPID xdp-sink@near)
ip link delete near
sink_has_ended() { [[ ! -e $process ]]; }
wait_until sink_has_ended || fail "the sink lives on without its port"
[[ $(systemctl is-active xdp-sink@near) != active ]] || fail "systemd calls a sink without a port active"
