# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
# program: xdp-sink xdp-reflect
# built: tools/systemd/xdp-sink@.service:/etc/systemd/system/xdp-sink@.service tools/systemd/xdp-reflect@.service:/etc/systemd/system/xdp-reflect@.service
# option: --systemd
#
# systemctl start xdp-sink@near, or xdp-reflect@near, is the command of the command line: ready when it is attached,
# without root, gone with systemctl stop and with its port, and what it counted is in the journal.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

command_has_ended() { [[ ! -e $process ]]; }

# check_unit COMMAND PORT CAPABILITIES: test traffic goes to this UDP port.
check_unit() {
    local command=$1 port=$2 unit=$1@near program
    # The unit names the place where the command is to be installed.
    program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "/etc/systemd/system/$command@.service")
    if [[ $program != "/usr/bin/$command" && ! -e $program ]]; then
        mkdir -p "${program%/*}"
        ln -s "/usr/bin/$command" "$program"
    fi

    make_pair
    start_unit "$unit"
    expect "programs on the port once start has returned" 1 "$(programs_on_near)"
    process=/proc/$(systemctl show -P MainPID "$unit")
    (($(sed -n 's/^Uid:\t\([0-9]*\)\t.*/\1/p' "$process/status") > 60000)) || fail "$command runs as root"
    expect "capabilities" "$3" "$(sed -n 's/^CapEff:\t//p' "$process/status")"

    send_from_far 1000 "$port"
    systemctl stop "$unit"
    expect "state after stop" inactive "$(state_of "$unit")"
    expect "programs on the port after stop" 0 "$(programs_on_near)"
    expect_journal "$unit" 1000

    # Whether systemd stops it first or it ends by itself first is a race; after the latter a start may wait for the port.
    systemctl start "$unit"
    process=/proc/$(systemctl show -P MainPID "$unit")
    ip link delete near
    wait_until command_has_ended || fail "$command lives on without its port"
    [[ $(systemctl is-active "$unit") != active ]] || fail "systemd calls $command without a port active"
    # The port that comes next is not this one's.
    systemctl stop "$unit"
    ip netns delete far
}

check_unit xdp-sink 9 000000c000003000
check_unit xdp-reflect 7 000000c000003400 # and CAP_NET_BIND_SERVICE
