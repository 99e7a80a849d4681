# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# kernel: 6.1
# arch: amd64 arm64
# deb
# option: --systemd
# timeout: 300
#
# The package, from dpkg -i to dpkg -P, on a PC and on the WLAN Pi's kind of machine: what it depends on suffices, its
# sink counts and its reflector sends back as services with options of their own, and nothing is left when it goes, though
# both were running.
# shellcheck disable=SC1091  # in the machine
. /vm/case.sh

unit=xdp-sink@near
echo "machine $(uname -m), $(dpkg-deb -f xdp-responder.deb Package Version Depends)"
make_pair

dpkg -i xdp-responder.deb
expect "the package" "install ok installed" "$(dpkg-query -W -f '${Status}' xdp-responder)"
dpkg -L xdp-responder >files
for program in xdp-sink xdp-reflect xdp-gen; do
    version=$("$program" --version)
    echo "$program --version: $version"
    [[ $(dpkg-query -W -f '${Version}' xdp-responder) == "${version##* }"* ]] || fail "the package is of another version"
    expect "man page of $program" yes "$(busybox zcat "/usr/share/man/man8/$program.8.gz" | grep -q '^\.TH' && echo yes)"
    # shellcheck disable=SC1090  # in the machine
    . "/usr/share/bash-completion/completions/$program"
    expect "completion of $program" yes "$(complete -p "$program" >/dev/null && echo yes)"
done
expect "Wireshark dissector" yes "$(grep -q 'Proto("xdp_responder"' /usr/share/xdp-responder/xdp-responder.lua && echo yes)"

# The sender here is the package's own.
start_sink --require-native --expect-frames 5000
ip netns exec far xdp-gen far --count 5000 --dst-mac 02:00:00:00:00:01 --src 198.18.0.2 --dst 198.18.0.1
stop_sink
expect_clean_end

# Port 9, which is counted by default, is not with these options.
echo 'SINK_OPTIONS=--port 5001 --require-native' >/etc/default/xdp-sink-near
systemctl enable "$unit"
start_unit "$unit"
expect "programs on the port" 1 "$(programs_on_near)"
send_from_far 1000 5001
send_from_far 10 9
systemctl stop "$unit"
expect "state after stop" inactive "$(state_of "$unit")"
expect "programs on the port after stop" 0 "$(programs_on_near)"
expect_journal "$unit" 1000

# Nor is port 5001 answered by default. What comes back is counted at the far end.
reflector=xdp-reflect@near
echo 'REFLECT_OPTIONS=--port 5001 --require-native' >/etc/default/xdp-reflect-near
systemctl enable "$reflector"
start_unit "$reflector"
ip netns exec far xdp-sink far --src 198.18.0.1 --count 1000 --expect-frames 1000 --duration 60 >far.txt 2>far.err &
sink=$!
wait_until grep -q '^far: .*XDP .*on ' far.err || fail "the sink at the far end: $(<far.err)"
send_from_far 1000 5001
wait "$sink" || fail "not all came back: $(<far.txt)"
systemctl stop "$reflector"
expect_journal "$reflector" 1000

# Both run when the package goes, the reflector on a port of its own.
ip link add spare type veth peer name far-spare
ip link set spare up
ip link set far-spare up
start_unit xdp-reflect@spare
start_unit "$unit"
send_from_far 500 5001
dpkg -r xdp-responder
expect "state after removal" inactive "$(state_of "$unit")"
expect "state of the reflector after removal" inactive "$(state_of xdp-reflect@spare)"
expect "programs on the port after removal" 0 "$(programs_on_near)"
expect "processes" "" "$(pgrep -x xdp-sink || pgrep -x xdp-reflect || true)"
expect_journal "$unit" 500
for gone in "$unit" "$reflector"; do
    ! systemctl cat "$gone" || fail "systemd still knows $gone"
done

dpkg -P xdp-responder
while read -r file; do
    [[ ! -e $file || -d $file ]] || fail "$file is left"
done <files
expect "what is left, beside the administrator's own files" "/etc/default/xdp-reflect-near /etc/default/xdp-sink-near" \
    "$(find / -xdev -path /root -prune -o \( -name '*xdp-sink*' -o -name '*xdp-reflect*' -o -name '*xdp-gen*' \
        -o -name '*xdp-responder*' \) -print | sort | paste -sd ' ')"
