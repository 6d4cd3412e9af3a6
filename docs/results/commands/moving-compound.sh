# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/moving-compound.md.

# Six stations
W="scripts/lab run wlan --engine uml --seed 1,2,3,4,5 --duration 30 --set n=6 --cc compound_plus,cubic,reno,bbr"
to=docs/results/compound/moving
$W --set warmup=10s --set phase=fixed,random --json $to/still.jsonl
$W --set start=20s --json $to/come.jsonl
$W --set warmup=10s --set phy_rate=12 --json $to/slow-radio.jsonl
$W --set warmup=10s --set rate=10mbit --json $to/slow-wire.jsonl
$W --set warmup=10s --set delay=150ms --json $to/long-wire.jsonl

# Three flows on a wire
D="scripts/lab run satellite-shared --engine uml --seed 1,2,3,4,5 --duration 30 --cc compound_plus,cubic,bbr \
	--set flows=3 --set rate=20mbit --set delay=60ms --set queue=150kB --set window=1MB"
$D --set event=none,delay:120ms@12s,rate:10mbit@12s,rate:10mbit@0s:12s,outage@12s:1s --json $to/events.jsonl
$D --set policer=150kB --json $to/policer.jsonl
$D --set jitter=10ms --set jitter_mean=20ms --json $to/jitter.jsonl
$D --set burst_time=5s:10ms --json $to/bursts.jsonl
scripts/lab run satellite-shared --engine uml --seed 1,2,3,4,5 --duration 120 --cc compound_plus --set flows=3 \
	--set rate=20mbit --set delay=60ms --set queue=150kB --set window=1MB --set event=delay:120ms@12s \
	--json $to/longer.jsonl
