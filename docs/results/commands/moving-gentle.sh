# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/moving-gentle.md.

# Two flows of one kind
L="scripts/lab run lfn --engine uml --seed 1,2,3,4,5 --duration 30 --set rate=100mbit --set delay=60ms"
A="$L --set reno=0 --cc hstcp_gentle,cubic,bbr,highspeed,reno" to=docs/results/gentle/moving
$A --set queue=833 --json $to/events.jsonl --set \
	event=none,delay:130ms@12s,delay:25ms@12s,rate:50mbit@12s,rate:50mbit@0s:12s,outage@12s:1s
$A --set queue=83 --json $to/short.jsonl
$A --set queue=833 --set policer=1250kB --json $to/policer.jsonl
$A --set queue=833 --set jitter=10ms --set jitter_mean=20ms --json $to/jitter.jsonl
$A --set queue=833 --set burst_time=5s:5ms --json $to/bursts.jsonl
