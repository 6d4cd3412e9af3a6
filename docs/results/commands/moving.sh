# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/moving.md.

# Moving paths
S="scripts/lab run satellite --engine uml --seed 1,2,3,4,5 --set window=16MB --cc star,bbr,cubic,hybla"
$S --set ber=0,1e-7 --json docs/results/moving/still.jsonl
$S --set ber=0,1e-7,1e-6 --set event=delay:300ms@30s --json docs/results/moving/longer.jsonl
$S --set ber=0,1e-7,1e-6 --set event=delay:600ms@30s --json docs/results/moving/longest.jsonl
$S --set event=rate:2mbit@30s+queue:30kB@30s --json docs/results/moving/slower-short.jsonl
$S --set event=rate:2mbit@30s --json docs/results/moving/slower-long.jsonl
$S --set queue=15kB --set ber=0,1e-6,1e-5 --json docs/results/moving/ten-packets.jsonl
$S --set policer=100kB --set ber=0,1e-7 --json docs/results/moving/policer.jsonl
$S --set policer=600kB --json docs/results/moving/policer-deep.jsonl
$S --set event=stall@30s:100ms,stall@30s:200ms --json docs/results/moving/stall.jsonl
$S --set event=outage@30s:2s,outage@10s:500ms+outage@30s:500ms+outage@45s:1s --json docs/results/moving/outage.jsonl
$S --set event=loss:1%@30s:5s --json docs/results/moving/loss.jsonl
$S --set burst=0.1%:20% --json docs/results/moving/burst.jsonl
$S --set burst_time=1.2s:6ms --json docs/results/moving/burst-time.jsonl
$S --set ber=1e-6 --set jitter=5.8ms --set jitter_mean=20ms --json docs/results/moving/jitter-even.jsonl
$S --set ber=1e-6 --set jitter=23.1ms --set jitter_mean=60ms --json docs/results/moving/jitter-even-wide.jsonl
$S --set ber=1e-6 --set jitter=10ms --set jitter_mean=20ms --json docs/results/moving/jitter.jsonl
$S --set ber=1e-6 --set jitter=40ms --set jitter_mean=60ms --json docs/results/moving/jitter-wide.jsonl
scripts/lab run leo --engine uml --seed 1,2,3,4,5 --cc star,bbr,cubic,hybla --set window=16MB --set \
	loss=0.01%,0.2%,0.5%,1% --json docs/results/moving/leo.jsonl
scripts/lab run leo --engine uml --seed 1,2,3,4,5 --cc star,bbr,cubic --set window=16MB --set loss=0.5% \
	--set jitter=0s,1ms,3ms --set jitter_mean=5ms --json docs/results/moving/leo-jitter.jsonl
$S --set delay=25ms --set queue=62.5kB --set ber=0,1e-7,1e-6 --set event=delay:45ms@20s:20s --json \
	docs/results/moving/there-and-back.jsonl
$S --duration 80 --set ber=1e-6 --set event=rate:2mbit@20s:20s,rate:2mbit@20s:20s+queue:30kB@20s:20s --json \
	docs/results/moving/down-and-up.jsonl

# Ten flows of one kind
scripts/lab run satellite-shared --engine uml --seed 1,2,3,4,5 --duration 120 --set window=16MB --set flows=10 --cc \
	star,bbr,cubic,hybla --set queue=15kB,62.5kB,625kB --json docs/results/moving/ten.jsonl

scripts/lab run satellite-shared --engine uml --seed 1,2,3,4,5 --duration 120 --set window=16MB --set flows=10 \
	--cc star,cubic --set queue=15kB --set delay=246ms,248ms,252ms,256ms --json docs/results/moving/ten-delays.jsonl

# Every rate and round trip
for r in 2 10 50 250; do for d in 15 60 300; do q=$((r * d * 250)); [ $q -lt 15000 ] && q=15000
scripts/lab run satellite --engine uml --seed 1,2,3,4,5 --set window=64MB --set rate=${r}mbit --set delay=${d}ms \
	--set queue=${q}B --set ber=0,1e-7,1e-6 --cc star,bbr,hybla,cubic --json grid.jsonl
done; done     # all twelve, one after the other: docs/results/grid/star.jsonl and peers.jsonl

# An hour
scripts/lab run satellite --engine uml --cc star --set window=16MB --seed 1 --duration 3600 --set queue=5MB --set \
	ber=0,1e-6 --json docs/results/moving/hour.jsonl

# A trace from a file
python3 -c 'import math, random; d = random.Random(1); rate, sent = 8.0, 0.0
for ms in range(60000):
    if ms % 100 == 0: rate = min(24, max(1, rate * math.exp(d.uniform(-.25, .25))))
    sent += rate / 12
    while sent >= 1: print(ms + 1); sent -= 1' > cell.txt
scripts/lab run satellite --engine uml --cc star,bbr,cubic --set window=16MB --seed 1,2,3,4,5 \
	--set rate_trace=cell.txt --set delay=30ms --set queue=75kB,250kB --set ber=0,1e-6 --json \
	docs/results/moving/trace.jsonl

# trace-delays.jsonl: with --set delay=26ms,28ms,29ms,30ms,31ms,32ms,34ms, 250 kB and seed 1

# Requests
scripts/lab run requests --engine uml --seed 1,2,3,4,5 --duration 300 --set window=16MB --cc \
	star,cubic,bbr,star+star,star+cubic,star+bbr,cubic+star,cubic+cubic,cubic+bbr,bbr+star,bbr+cubic,bbr+bbr --json \
	docs/results/moving/requests.jsonl

# On a kept connection, a pause after each
scripts/lab run requests --engine uml --cc star,bbr,cubic --set sizes=1MB --set persistent=1 --set period=4s \
	--set window=16MB --repeat 3 --json docs/results/moving/persistent.jsonl
