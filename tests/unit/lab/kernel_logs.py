# SPDX-License-Identifier: GPL-2.0
"""Reports of kernels, each with the line that the lab makes of it, and what is none.

Those of 6.1, 7.3 and UML are what the module ``faults`` (tests/modules) or a stalled guest left in
the log, addresses and registers left out. The others have the wording of the kernel's source.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class KernelLog(NamedTuple):
    """An excerpt of a kernel's log without time stamps, and the verdict on it."""

    line: str
    text: str

    @property
    def messages(self) -> list[str]:
        """The excerpt's lines."""
        return self.text.splitlines()


#: A name, the verdict behind ``->``, the excerpt.
_TEXT = """\
## divide error
-> divide error: 0000 [#1] PREEMPT SMP NOPTI at toy_thread+0x18/0x28 [tcp_toy]
divide error: 0000 [#1] PREEMPT SMP NOPTI
CPU: 0 PID: 91 Comm: toy Tainted: G S         OE      6.1.0-56-amd64 #1  Debian 6.1.192-2
RIP: 0010:toy_thread+0x18/0x28 [tcp_toy]
---[ end trace 0000000000000000 ]---
Kernel panic - not syncing: Fatal exception
## lockdep, wait context
-> [ BUG: Invalid wait context ]
=============================
[ BUG: Invalid wait context ]
6.1.0-dbg #1 Tainted: G           O
-----------------------------
flow/89 is trying to lock:
## transmit queue
-> virtio_net virtio0 eth0: NETDEV WATCHDOG: CPU: 0: transmit queue 0 timed out 5000 ms
virtio_net virtio0 eth0: NETDEV WATCHDOG: CPU: 0: transmit queue 0 timed out 5000 ms
## warning
-> WARNING: CPU: 0 PID: 89 at net/ipv4/tcp_input.c:3029 tcp_fastretrans_alert+0x8f2/0xa30
faults: loading out-of-tree module taints kernel.
------------[ cut here ]------------
WARNING: CPU: 0 PID: 89 at net/ipv4/tcp_input.c:3029 tcp_fastretrans_alert+0x8f2/0xa30
Modules linked in: tcp_star(OE) sch_netem veth
CPU: 0 PID: 89 Comm: flow Tainted: G S         OE      6.1.0-56-amd64 #1  Debian 6.1.192-2
RIP: 0010:tcp_fastretrans_alert+0x8f2/0xa30
Call Trace:
 <IRQ>
 tcp_ack+0x97c/0x1350
---[ end trace 0000000000000000 ]---
## warning with a text
-> WARNING: CPU: 0 PID: 89 at tests/faults/faults.c:53 faults_init+0x40/0x1000 [faults]: a fault
-> that a test has planted
------------[ cut here ]------------
a fault that a test has planted
WARNING: CPU: 0 PID: 89 at tests/faults/faults.c:53 faults_init+0x40/0x1000 [faults]
Modules linked in: faults(OE+)
CPU: 0 PID: 89 Comm: modprobe Tainted: G S         OE      6.1.0-56-amd64 #1  Debian 6.1.192-2
## warning of 7.3
-> WARNING: faults.c:53 at faults_init+0x3c/0xff0 [faults], CPU#0: modprobe/100: a fault that a
-> test has planted
------------[ cut here ]------------
a fault that a test has planted
WARNING: faults.c:53 at faults_init+0x3c/0xff0 [faults], CPU#0: modprobe/100
Modules linked in: faults(OE+)
## warning of UML
-> WARNING: CPU: 0 PID: 31 at tests/faults/faults.c:53 faults_init+0x59/0x15e [faults]: a fault
-> that a test has planted
------------[ cut here ]------------
WARNING: CPU: 0 PID: 31 at tests/faults/faults.c:53 faults_init+0x59/0x15e [faults]
a fault that a test has planted
Modules linked in: faults(O+)
CPU: 0 PID: 31 Comm: modprobe Tainted: G           O       6.1.192-uml #1
## refcount
-> refcount_t: decrement hit 0; leaking memory: WARNING: CPU: 0 PID: 89 at lib/refcount.c:31
-> refcount_warn_saturate+0xfb/0x110
------------[ cut here ]------------
refcount_t: decrement hit 0; leaking memory.
WARNING: CPU: 0 PID: 89 at lib/refcount.c:31 refcount_warn_saturate+0xfb/0x110
Modules linked in: faults(OE+)
## atomic
-> BUG: scheduling while atomic: modprobe/89/0x00000002
BUG: scheduling while atomic: modprobe/89/0x00000002
Modules linked in: faults(OE+)
Call Trace:
 <TASK>
 dump_stack_lvl+0x44/0x5c
 __schedule_bug.cold+0x42/0x4e
## sleeping
-> BUG: sleeping function called from invalid context at include/linux/sched/mm.h:274
BUG: sleeping function called from invalid context at include/linux/sched/mm.h:274
in_atomic(): 1, irqs_disabled(): 0, non_block: 0, pid: 71, name: flow
preempt_count: 101, expected: 0
## null
-> BUG: kernel NULL pointer dereference, address: 0000000000000008 at faults_init+0xd6/0x1000
-> [faults]
BUG: kernel NULL pointer dereference, address: 0000000000000008
#PF: supervisor read access in kernel mode
#PF: error_code(0x0000) - not-present page
PGD 0 P4D 0
Oops: 0000 [#1] PREEMPT SMP NOPTI
CPU: 0 PID: 89 Comm: modprobe Tainted: G S         OE      6.1.0-56-amd64 #1  Debian 6.1.192-2
RIP: 0010:faults_init+0xd6/0x1000 [faults]
Call Trace:
 do_one_initcall+0x56/0x220
RIP: 0033:0x47fbe9
---[ end trace 0000000000000000 ]---
Kernel panic - not syncing: Fatal exception
## page fault
-> BUG: unable to handle page fault for address: ffffc90000a10000 at star_cong_control+0x41/0x2c0
-> [tcp_star]
BUG: unable to handle page fault for address: ffffc90000a10000
#PF: supervisor write access in kernel mode
Oops: Oops: 0002 [#1] SMP NOPTI
RIP: 0010:star_cong_control+0x41/0x2c0 [tcp_star]
## bug
-> kernel BUG at net/core/skbuff.c:112!: invalid opcode: 0000 [#1] PREEMPT SMP NOPTI
------------[ cut here ]------------
kernel BUG at net/core/skbuff.c:112!
invalid opcode: 0000 [#1] PREEMPT SMP NOPTI
CPU: 0 PID: 12 Comm: ksoftirqd/0 Not tainted 6.1.0-56-amd64 #1  Debian 6.1.192-2
RIP: 0010:skb_panic+0x4c/0x50
## general protection
-> general protection fault, probably for non-canonical address 0xdead000000000122: 0000 [#1] SMP
-> at tcp_write_queue_purge+0x58/0x310
general protection fault, probably for non-canonical address 0xdead000000000122: 0000 [#1] SMP
CPU: 0 PID: 12 Comm: ksoftirqd/0 Tainted: G           OE      6.1.0-56-amd64 #1
RIP: 0010:tcp_write_queue_purge+0x58/0x310
## oops
-> Oops: general protection fault, kernel NULL pointer dereference 0x8: 0000 [#1] SMP NOPTI at
-> read_nowhere+0xd7/0xff0 [faults]
Oops: general protection fault, kernel NULL pointer dereference 0x8: 0000 [#1] SMP NOPTI
RIP: 0010:read_nowhere+0xd7/0xff0 [faults]
## oops of arm64
-> Internal error: Oops: 0000000096000004 [#1] PREEMPT SMP at star_cong_control+0x30/0x2c0
-> [tcp_star]
Internal error: Oops: 0000000096000004 [#1] PREEMPT SMP
pc : star_cong_control+0x30/0x2c0 [tcp_star]
lr : tcp_ack+0x9f0/0x1350
## panic
-> Kernel panic - not syncing: sysrq triggered crash
sysrq: Trigger a crash
Kernel panic - not syncing: sysrq triggered crash
## kasan
-> BUG: KASAN: slab-use-after-free in star_pkts_acked+0x9d/0x120 [tcp_star]
==================================================================
BUG: KASAN: slab-use-after-free in star_pkts_acked+0x9d/0x120 [tcp_star]
Read of size 4 at addr ffff888007a1c3c8 by task flow/71

CPU: 0 PID: 71 Comm: flow Tainted: G           OE      6.1.192 #1
Call Trace:
 <IRQ>
 dump_stack_lvl+0x57/0x7d
 print_report+0x169/0x4c0
## kfence
-> BUG: KFENCE: out-of-bounds read in star_pkts_acked+0x9d/0x120 [tcp_star]
==================================================================
BUG: KFENCE: out-of-bounds read in star_pkts_acked+0x9d/0x120 [tcp_star]

Out-of-bounds read at 0xffff888007a1c3c8 (8B right of kfence-#12):
## ubsan
-> UBSAN: shift-out-of-bounds in include/apogee/star.h:118:20
UBSAN: shift-out-of-bounds in include/apogee/star.h:118:20
shift exponent 64 is too large for 64-bit type 'long long unsigned int'
CPU: 0 PID: 71 Comm: flow Tainted: G           OE      6.1.192 #1
## ubsan of 6.12
-> UBSAN: array-index-out-of-bounds in net/sched/sch_ets.c:93:20: index 18 is out of range for type
-> 'ets_class [16]'
------------[ cut here ]------------
UBSAN: array-index-out-of-bounds in net/sched/sch_ets.c:93:20
index 18 is out of range for type 'ets_class [16]'
CPU: 0 UID: 0 PID: 71 Comm: tc Not tainted 6.12.95 #1
## lockdep
-> WARNING: possible circular locking dependency detected at __dev_queue_xmit+0x1e7/0xd20

======================================================
WARNING: possible circular locking dependency detected
6.1.192 #1 Tainted: G           OE
------------------------------------------------------
tc/71 is trying to acquire lock:
ffff888007a1c3c8 (&sch->root_lock_key#3){+...}-{2:2}, at: __dev_queue_xmit+0x1e7/0xd20

but task is already holding lock:
ffff888007a1d0e0 (_xmit_ETHER#2){+.-.}-{2:2}, at: sch_direct_xmit+0x9e/0x3a0
## rcu usage
-> WARNING: suspicious RCU usage at net/ipv4/ip_tunnel.c:221
=============================
WARNING: suspicious RCU usage
6.1.192 #1 Not tainted
-----------------------------
net/ipv4/ip_tunnel.c:221 RCU-list traversed in non-reader section!!
## stall
-> rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: \t1-...!: (750 ticks this GP) idle=0d04/1/0x4000000000000000 softirq=208/208 fqs=28
rcu: rcu_preempt kthread starved for 694 jiffies! g-923 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x0 ->cpu=0
rcu: \tUnless rcu_preempt kthread gets sufficient CPU time, OOM is now expected behavior.
rcu: RCU grace-period kthread stack dump:
## stall elsewhere
-> rcu: INFO: rcu_sched detected stalls on CPUs/tasks:
rcu: INFO: rcu_sched detected stalls on CPUs/tasks:
rcu: \t1-...!: (1 GPs behind) idle=3514/0/0x3 softirq=671/671 fqs=3
## soft lockup
-> watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [modprobe:89] at delay_tsc+0x36/0x70
watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [modprobe:89]
Modules linked in: faults(OE+)
RIP: 0010:delay_tsc+0x36/0x70
## hard lockup
-> watchdog: Watchdog detected hard LOCKUP on cpu 1
watchdog: Watchdog detected hard LOCKUP on cpu 1
Modules linked in: faults(OE+)
## hung task
-> INFO: task ip:71 blocked for more than 120 seconds
INFO: task ip:71 blocked for more than 120 seconds.
      Tainted: G           OE      6.1.0-56-amd64 #1
"echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.
## device kept
-> unregister_netdevice: waiting for lo to become free. Usage count = 2
unregister_netdevice: waiting for lo to become free. Usage count = 2
## slab
-> BUG kmalloc-64 (Tainted: G           OE     ): Poison overwritten
=============================================================================
BUG kmalloc-64 (Tainted: G           OE     ): Poison overwritten
-----------------------------------------------------------------------------
## kmemleak
-> kmemleak: 2 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
kmemleak: 2 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
"""

LOGS = {
    name: KernelLog(" ".join(re.findall("-> (.*)", verdict)), text)
    for name, verdict, text in re.findall(r"## (.*)\n((?:-> .*\n)+)((?:(?!## ).*\n)+)", _TEXT)
}

#: The reports of a CPU that makes no progress.
STALLS = ("stall", "stall elsewhere", "soft lockup", "hard lockup")

#: Words of stock kernels, and of faults that are not the kernel's.
HARMLESS = """\
Linux version 6.1.0-56-amd64 (debian-kernel@lists.debian.org) (gcc-12) #1 SMP PREEMPT_DYNAMIC
Command line: console=ttyS0 quiet panic=-1 oops=panic random.trust_cpu=on nowatchdog
Kernel command line: console=ttyS0 quiet panic=-1 oops=panic random.trust_cpu=on nowatchdog
PCI: Using host bridge windows from ACPI; if necessary, use "pci=nocrs" and report a bug
acpi PNP0A03:00: fail to add MMCONFIG information, can't access extended configuration space
AMD-Vi: AMD IOMMUv2 functionality not available on this system - This is not a bug.
RAS: Correctable Errors collector initialized.
tsc: Fast TSC calibration failed
tcp_star: loading out-of-tree module taints kernel.
tcp_star: module verification failed: signature and/or required key missing - tainting kernel
rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.
rcu: \tMax phase no-delay instances is 400.
kfence: initialized - using 2097152 bytes for 255 objects
kmemleak: Kernel memory leak detector initialized (mem pool available: 15838)
ACPI BIOS Warning (bug): Optional FADT field Pm2ControlBlock has valid Length but zero Address
ACPI: [Firmware Bug]: BIOS _OSI(Linux) query ignored
Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on, data leaks possible!
NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.
traps: flow[71] general protection fault ip:401136 sp:7ffd4f8d2c30 error:0 in flow[401000+1000]
flow[72]: segfault at 0 ip 0000000000401136 sp 00007ffd4f8d2c30 error 4 in flow[401000+1000]
TCP: request_sock_TCP: Possible SYN flooding on port 5201. Sending cookies.
process 'cache/uml/linux' started with executable stack
clocksource: timekeeping watchdog on CPU0: Marking clocksource 'tsc' as unstable
reboot: Power down
"""
