#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Uses the package apogee-bpf in a Debian that systemd has booted (prove_bpf_package.py). The file
# proven.txt is there in the end if all worked, else failed.txt with a line.
cd /result || exit

fail() {
	echo "$*" >failed.txt
	journalctl --no-pager >journal.txt
	exit 1
}

# refused WORDS COMMAND...: it must fail and say so
refused() {
	words=$1
	shift
	"$@" >refused.txt 2>&1 && fail "not refused: $*"
	grep -q "$words" refused.txt || fail "'$words' is not what it says: $*: $(cat refused.txt)"
}

has() { grep -qw "$1" /proc/sys/net/ipv4/tcp_available_congestion_control; }
gone() { ! has 'bpf_[a-z_]*' && [ ! -e /sys/fs/bpf/apogee ]; }
unit() { systemctl "$1" apogee-bpf.service; }
default() { echo "$1" >/proc/sys/net/ipv4/tcp_congestion_control; }

# capable CAPABILITIES COMMAND...: with no others
capable() {
	only=$1
	shift
	setpriv --bounding-set "-all,$only" "$@"
}

cat /sys/kernel/security/lockdown >lockdown.txt
unit is-active || fail "the unit has not started: $(unit status)"
[ "$(cat /proc/sys/net/ipv4/tcp_congestion_control)" = bpf_star ] || fail "sysctl.d came before it"
apogee-bpf status >status.txt || fail "status"
grep -q '^star, as bpf_star:.* aen=0' status.txt || fail "status: $(cat status.txt)"

# An upgrade leaves what is loaded, the default, and the connection.
./flow send 10.9.0.2 5201 --cc bpf_star --duration 30 sent.txt &
sleep 2
dpkg -i next.deb >upgrade.txt 2>&1 || fail "upgrade: $(cat upgrade.txt)"
[ -e "/proc/$!" ] || fail "the flow ended before the upgrade"
apogee-bpf status bpf_star >sockets.txt
wait $! || fail "flow"
grep -q '10.9.0.2:5201 cwnd' sockets.txt || fail "status lists no socket: $(cat sockets.txt)"
unit is-active || fail "an upgrade has stopped the unit"
[ "$(cat /proc/sys/net/ipv4/tcp_congestion_control)" = bpf_star ] || fail "an upgrade has changed the default"

apogee-bpf set star aen=1 || fail "set"
apogee-bpf status | grep -q ' aen=1' || fail "set does not show in status"
refused "parameter aen must be 0 to 1" apogee-bpf set star aen=2
refused "bpf_star is the default" apogee-bpf unload star
refused "bpf_star is the default" dpkg --remove apogee-bpf
has bpf_star || fail "a removal that is refused has unloaded it"
default cubic
{ unit stop && gone; } || fail "stopping the unit"

needed=+bpf,+net_admin,+perfmon
{ capable $needed apogee-bpf load star aen=0 && has bpf_star; } || fail "load with $needed"
refused "star is already loaded" apogee-bpf load star
refused "cannot be read: Operation not permitted" capable $needed apogee-bpf status
capable $needed,+sys_admin apogee-bpf status >/dev/null || fail "status with CAP_SYS_ADMIN"
{ capable $needed apogee-bpf unload star && gone; } || fail "unload with $needed"
refused "no CAP_PERFMON" capable +bpf,+net_admin apogee-bpf load star

printf 'star\n\nnone\n' >/etc/apogee-bpf.conf
unit start && fail "the unit starts with a wrong file"
journalctl --no-pager -u apogee-bpf >journal.txt
grep -q 'apogee-bpf: /etc/apogee-bpf.conf:3: unknown algorithm none' journal.txt ||
	fail "no line of a wrong file"
gone || fail "something of a wrong file is loaded"
cp as-installed.conf /etc/apogee-bpf.conf
unit reset-failed
{ unit start && gone; } || fail "the unit with the file as installed"
unit stop

echo compound >/etc/apogee-bpf.conf
unit start || fail "the unit with another algorithm"
apogee-bpf load star || fail "load beside the unit"
dpkg --purge apogee-bpf >purge.txt 2>&1 || fail "purge: $(cat purge.txt)"
gone || fail "it is there after purge"
find / -xdev -name '*apogee*' ! -path '/result/*' ! -path '/var/log/*' >left.txt
[ ! -s left.txt ] || fail "left by purge: $(cat left.txt)"
touch proven.txt
