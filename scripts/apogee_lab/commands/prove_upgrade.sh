#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Upgrades apogee-tcp-dkms while a connection uses star, in a guest (prove_upgrade.py): DKMS builds
# and installs the new modules, that of the connection stays until it is loaded anew. The names are
# of the guest: $NOW is the time, $OUT the folder of what comes back.
cd "$OUT" || exit
date -s "@$NOW" >/dev/null
mkdir /own
mount -t tmpfs -o size=750m own /own
gunzip -c /lab/root.tar.gz | tar -xf - -C /own || fail "the root cannot be unpacked"
mv /lab/next.deb /own/
rm /lab/root.tar.gz
mkdir -p /own/tmp /own/run
mount -t proc proc /own/proc
mount -t sysfs sys /own/sys
mount -o bind /dev /own/dev
ln -s /proc/self/fd /own/dev/fd

# By its path: busybox would take its own env, and its own dpkg.
own() {
	chroot /own /usr/bin/env -i LC_ALL=C DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# send NAME: a connection with star; $sender, and in the file NAME what arrives
send() {
	ip netns exec far flow recv 5201 "$1" &
	receiver=$!
	sleep 0.5
	flow send 10.9.0.2 5201 --cc star --duration 9999 "$1.sent" &
	sender=$!
	sleep 2
}

ends() {
	kill $sender
	wait $sender
	kill $receiver
	wait $receiver
}

id() { cat /sys/module/tcp_star/notes/.note.gnu.build-id; }
sockets() { ss -tin 'dport = :5201'; }

own modprobe tcp_star || fail "modprobe"
id >loaded
send before
sockets >ss.before
own dpkg -i /next.deb >upgrade 2>&1 || fail "upgrade: $(tail -n 1 upgrade)"
[ "$(own modinfo -F next tcp_star)" = yes ] || fail "the new module is not installed"
id | cmp - loaded || fail "the upgrade has changed the module that is loaded"
sleep 2
sockets >ss.after
own modprobe -r tcp_star 2>refused && fail "not refused: modprobe -r beside a connection"
ends
until own modprobe -r tcp_star 2>/dev/null; do sleep 1; done
own modprobe tcp_star || fail "modprobe after the upgrade"
id | cmp -s - loaded && fail "the module is the old one after modprobe"
send after
ends
