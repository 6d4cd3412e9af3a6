# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/satellite.md.

# Open windows
scripts/lab run satellite --cc star,bbr,hybla,cubic,j,reno,westwood,highspeed,scalable --set window=16MB \
	--set ber=0,1e-8,1e-7,1e-6,1e-5 --repeat 5 --json docs/results/open.jsonl

# The paper's windows
scripts/lab run satellite --cc star,j,constant,bbr,cubic,hybla,westwood,highspeed,scalable,reno \
	--set ber=0,1e-8,1e-7,1e-6,1e-5 --repeat 5 --json docs/results/paper.jsonl
scripts/lab run satellite --cc star,j --set ber=1e-7 --repeat 20 --json docs/results/paper-20.jsonl

# ACK compression and a slow return path
scripts/lab run satellite --cc star --set ack_slot=20ms --set window=16MB --set ber=0,1e-8,1e-7,1e-6,1e-5 --repeat 5 \
	--json docs/results/compress.jsonl
scripts/lab run satellite --engine uml --cc star,bbr,cubic --set ack_slot=20ms --set window=16MB \
	--set ber=0,1e-8,1e-7,1e-6,1e-5 --repeat 5
scripts/lab run satellite --engine uml --cc star --set ack_rate=500kbit --set window=16MB \
	--set ber=0,1e-8,1e-7,1e-6,1e-5 --repeat 5 --json docs/results/slowreturn.jsonl
scripts/lab run satellite --engine uml --cc star,bbr,cubic --set ack_rate=500kbit --set window=16MB \
	--set ber=0,1e-8,1e-7,1e-6,1e-5 --repeat 5

# ACK blackout
scripts/lab run satellite --cc star,bbr,hybla,cubic,j,reno,westwood,highspeed,scalable --set ack_blackout=45s:1s \
	--set window=16MB --seed 1 --json docs/results/blackout-peers.jsonl
scripts/lab run satellite --engine uml --cc star --set ack_blackout=45s:1s --set tcp_frto=0,2 \
	--set tcp_early_retrans=0,3 --set tcp_timestamps=0,1 --set window=16MB --repeat 2 \
	--json docs/results/blackout-stack.jsonl
scripts/lab run satellite --engine uml --cc star --set star.aen=0,1 --set ack_blackout=45s:0.5s,45s:1s,45s:2s,45s:4s \
	--set window=16MB --seed 1 --json docs/results/aen.jsonl
scripts/lab run satellite --engine uml --cc star --set star.aen=0,1 --set ack_blackout=45s:0.5s,45s:1s,45s:2s,45s:4s \
	--set tcp_sack=0 --set tcp_timestamps=0 --set tcp_frto=0 --set tcp_early_retrans=0 --set window=16MB --seed 1 \
	--json docs/results/aen-bare.jsonl
scripts/lab run satellite --cc star,bbr,cubic --set data_blackout=45s:0.5s,45s:1s,45s:2s,45s:4s --set window=16MB \
	--seed 1 --json docs/results/data-blackout.jsonl

# Parameters
scripts/lab run satellite --cc star --set star.coexist=0 --set window=16MB --set ber=0,1e-8,1e-7,1e-6,1e-5 \
	--repeat 5 --json docs/results/coexist.jsonl
scripts/lab run satellite --engine uml --cc star --set star.first_interval_us=1,1000,100000 --set rate=1mbit,10mbit \
	--set window=16MB --seed 1 --duration 5 --json docs/results/first.jsonl
scripts/lab run satellite --engine uml --cc star --set star.pacing=0 --set window=16MB \
	--set ber=0,1e-8,1e-7,1e-6,1e-5 --seed 1 --json docs/results/pacing.jsonl
scripts/lab run satellite --engine uml --cc star --set star.pacing=0,1 --set queue=15kB,62.5kB,312.5kB \
	--set window=16MB --repeat 3 --json docs/results/pacing-short.jsonl

# Outages from a random moment on, data and ACKs
scripts/lab run satellite --engine uml --cc star,bbr,hybla,cubic --set window=16MB --repeat 5 \
	--set data_blackout=45s:0.5s,45s:1s,45s:2s,45s:4s --set blackout_spread=500ms --json docs/results/outages-data.jsonl
scripts/lab run satellite --engine uml --cc star,bbr,hybla,cubic --set window=16MB --repeat 5 \
	--set ack_blackout=45s:0.5s,45s:1s,45s:2s,45s:4s --set blackout_spread=500ms --json docs/results/outages-ack.jsonl
