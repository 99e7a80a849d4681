# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1 newest
# option: --systemd
#
# systemd as PID 1, with what a unit of ours leans on: Type=notify, DynamicUser, capabilities, and a device to be bound to.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

expect "PID 1" systemd "$(cat /proc/1/comm)"
cat >/etc/systemd/system/case@.service <<'UNIT'
[Unit]
BindsTo=sys-subsystem-net-devices-%i.device
After=sys-subsystem-net-devices-%i.device
[Service]
Type=notify
NotifyAccess=all
DynamicUser=yes
AmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW CAP_BPF CAP_PERFMON
CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_RAW CAP_BPF CAP_PERFMON
RuntimeDirectory=case/%i
ProtectSystem=strict
PrivateTmp=yes
PrivateDevices=yes
ExecStart=/bin/bash -c 'id -u >/run/case/%i/uid; sleep 1; systemd-notify --ready --status=counting; exec sleep infinity'
UNIT
systemctl daemon-reload
make_pair
systemctl start case@near
expect "state" active "$(systemctl is-active case@near)"
expect "status text" counting "$(systemctl show -P StatusText case@near)"
(($(cat /run/case/near/uid) > 60000)) || fail "the service does not run as a dynamic user"
expect "capabilities" 000000c000003000 "$(sed -n 's/^CapEff:\t//p' "/proc/$(systemctl show -P MainPID case@near)/status")"
systemctl status --no-pager case@near

systemctl stop case@near
expect "state after stop" inactive "$(systemctl is-active case@near || true)"
systemctl start case@near
ip link delete near
for ((i = 0; i < 100; i++)); do
    [[ $(systemctl is-active case@near) == inactive ]] && break
    sleep 0.1
done
expect "state after the device went away" inactive "$(systemctl is-active case@near || true)"
