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

attached() { ip -o link show near | grep -c 'prog/xdp' || true; }

make_pair
if ! systemctl start xdp-sink@near; then
    journalctl --no-pager -u xdp-sink@near >&2
    fail "systemctl start"
fi
expect "state" active "$(systemctl is-active xdp-sink@near)"
expect "programs on the port once start has returned" 1 "$(attached)"
process=/proc/$(systemctl show -P MainPID xdp-sink@near)
(($(sed -n 's/^Uid:\t\([0-9]*\)\t.*/\1/p' "$process/status") > 60000)) || fail "the sink runs as root"
expect "capabilities" 000000c000003000 "$(sed -n 's/^CapEff:\t//p' "$process/status")"

send_from_far 1000
systemctl stop xdp-sink@near
expect "state after stop" inactive "$(systemctl is-active xdp-sink@near || true)"
expect "programs on the port after stop" 0 "$(attached)"
journalctl --no-pager -o cat -u xdp-sink@near
journalctl --no-pager -o cat -u xdp-sink@near | grep -Eq '\b1[, ]?000\b' || fail "the journal does not say 1000 frames"

# Whether systemd stops it first or it ends by itself first is a race; after the latter a start may wait for the port.
systemctl start xdp-sink@near
process=/proc/$(systemctl show -P MainPID xdp-sink@near)
ip link delete near
for ((i = 0; i < 100; i++)); do
    [[ -e $process ]] || break
    sleep 0.1
done
[[ ! -e $process ]] || fail "the sink lives on without its port"
[[ $(systemctl is-active xdp-sink@near) != active ]] || fail "systemd calls a sink without a port active"
