# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/shake/queue.md.

# SHAKE: the queue above
set -- scripts/lab run multipath --engine uml --set delay2=150ms --set ping=1 --duration 100 --repeat 5
for loss in 0% 1%; do
	"$@" --cc cubic,bbr,star --set loss1=$loss --set loss=$loss --set qdisc=pfifo_fast,fq_codel
	"$@" --cc cubic,bbr,star --set loss1=$loss --set loss=$loss --set qdisc=fq_codel --set qdisc_target=900ms \
	--set qdisc_interval=3s
	"$@" --cc cubic --set loss1=$loss --set loss=$loss --set qdisc=fq_codel --set repair=0
	"$@" --cc cubic --set loss1=$loss --set loss=$loss --set qdisc=fq_codel --set hold=0s,50ms
done

# Uploads and downloads: 2026-11-29
scripts/lab run multipath --engine uml --cc cubic --set direction=up,down --set via=shake,mptcp,bonding,plain \
	--set rate=2mbit --set loss1=1% --set loss=1% --duration 60 --repeat 3 \
	--json docs/results/shake/directions.jsonl
# one fast link with a short queue, with the tunnel and without
scripts/lab run multipath --engine uml --cc cubic,bbr --seed 1,2,3 --duration 30 --set paths=2 \
	--set rate=44mbit+1mbit --set delay1=13.8ms --set delay2=30ms --set queue=18 --set member_rate=1gbit \
	--set direction=up,down --set via=path1,plain --json docs/results/shake/fast.jsonl
