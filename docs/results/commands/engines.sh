# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/engines.md.

# Do both engines measure the same?
scripts/lab run satellite --engine uml --cc star,bbr,cubic --set window=16MB --set ber=0,1e-8,1e-7,1e-6,1e-5 \
	--repeat 5 \
	--json docs/results/engines-open.jsonl
scripts/lab run satellite --engine uml --cc star,bbr,cubic,hybla,reno,westwood --set ber=0,1e-7,1e-6,1e-5 --repeat 5 \
	--json docs/results/engines-paper.jsonl
scripts/lab run satellite-shared --engine uml --cc star+cubic --set window=16MB --set ber=1e-7 --repeat 5 --json \
	docs/results/engines-shared.jsonl
scripts/lab run wlan --engine uml --cc compound_plus,reno,compound,cubic --set n=10 --set warmup=20s \
	--duration 30 --repeat 5 --json docs/results/engines-wlan.jsonl
scripts/lab run wlan --engine uml --cc '3*compound_plus+3*cubic' --set n=6 --set warmup=20s --duration 30 \
	--repeat 5 --json docs/results/engines-wlan-mixes.jsonl
scripts/lab run wlan --engine uml --cc compound_plus --set n=6 --set down=1 --set compound_plus.gamma=10,30 \
	--set warmup=20s --duration 30 --repeat 5 --json docs/results/engines-wlan-down.jsonl
scripts/lab run radio --engine uml --cc cubic --set ber=1e-5 --set segment=0,auto --set delay=50ms \
	--set window=72 --repeat 5 --json docs/results/engines-radio.jsonl
scripts/lab run lfn --engine uml --cc reno,hstcp_gentle --set rate=100mbit --set reno_rate=10mbit \
	--set queue=417 --set warmup=20s --duration 40 --repeat 5 --json docs/results/engines-lfn.jsonl
scripts/lab run lfn --engine uml --cc hstcp_gentle --set rate=100mbit --set reno_rate=10mbit --set queue=417 \
	--set warmup=20s --set aqm=red --duration 40 --repeat 5 --json docs/results/engines-lfn-red.jsonl
scripts/lab run multipath --engine uml --cc cubic --set delay2=150ms --set loss1=1% --set loss=1% \
	--set via=shake,mptcp --duration 100 --repeat 5 --json docs/results/engines-multipath.jsonl
scripts/lab run multipath --engine uml --cc cubic --set delay2=150ms --set loss1=1% --set loss=1% \
	--set qdisc=fq_codel --duration 100 --repeat 5 --json docs/results/engines-multipath.jsonl
scripts/lab run satellite --engine uml --cc bbr --set window=16MB --set ber=1e-5 \
	--seed 6,7,8,9,10,11,12,13,14,15,16,17,18,19,20 --json docs/results/engines-bbr.jsonl
scripts/lab run satellite-shared --cc star+cubic,star+reno --set window=16MB --duration 120 --set queue=62.5kB \
	--set ber=0 --repeat 5 --json docs/results/engines-short-qemu.jsonl
scripts/lab run satellite --engine uml --cc star --set star.coexist=0 --set star.pacing=0 --set ber=1e-7 \
	--repeat 5 --json docs/results/engines-published.jsonl
scripts/lab run satellite --engine uml --cc j --set ber=1e-7 --repeat 5 --json docs/results/engines-published.jsonl
scripts/lab run satellite-shared --engine uml --cc star+star --set star.coexist=0 --set star.pacing=0 \
	--set queue=15kB --set ber=1e-8 --repeat 5 --json docs/results/engines-pairs.jsonl
scripts/lab run satellite-shared --engine uml --cc j+j --set queue=15kB --set ber=1e-8 --repeat 5 --json \
	docs/results/engines-pairs.jsonl
scripts/lab run satellite --cc star,bbr --set data_blackout=45s:4s --set blackout_spread=500ms --set window=16MB \
	--repeat 5 --json docs/results/engines-outages-data-qemu.jsonl
scripts/lab run satellite --cc star,bbr --set ack_blackout=45s:4s --set blackout_spread=500ms --set window=16MB \
	--repeat 5 --json docs/results/engines-outages-ack-qemu.jsonl
scripts/lab run satellite --engine uml --cc star --set window=16MB --set aqm=fq_codel --set tcp_ecn=1 \
	--set ber=0,1e-6 --repeat 5 --json docs/results/engines-aqm.jsonl
scripts/lab run satellite --cc star --set ack_rate=500kbit --set window=16MB --set ber=1e-6 --repeat 5 --json \
	docs/results/engines-slowreturn-qemu.jsonl
scripts/lab run wlan --engine uml --cc compound_plus --set compound_plus.rule=3 --set compound_plus.relearn=0 \
	--set compound_plus.excess=0 --set compound_plus.fit=0 --set compound_plus.letter=1 --set n=20 --set warmup=20s \
	--duration 30 --repeat 5 --json docs/results/engines-wlan-published.jsonl
scripts/lab run satellite --cc star,bbr --set window=16MB --set ber=1e-6 --set event=delay:600ms@30s --repeat 5 \
	--json docs/results/engines-moving-qemu.jsonl
scripts/lab run satellite --cc star,bbr --set window=16MB --set ber=1e-7 --set policer=100kB --repeat 5 --json \
	docs/results/engines-moving-qemu.jsonl
scripts/lab run satellite --cc star,bbr --set window=16MB --set ber=1e-6 --set queue=15kB --repeat 5 --json \
	docs/results/engines-moving-qemu.jsonl
scripts/lab run satellite --cc star,bbr --set window=16MB --set event=rate:2mbit@30s+queue:30kB@30s --repeat 5 \
	--json docs/results/engines-moving-qemu.jsonl
scripts/lab run leo --cc star,bbr --set window=16MB --set loss=0.2% --repeat 5 --json \
	docs/results/engines-leo-qemu.jsonl
scripts/lab run satellite-shared --cc star,bbr --set window=16MB --duration 120 --set flows=10 \
	--set queue=62.5kB --repeat 5 --json docs/results/engines-ten-qemu.jsonl
# engine qemu the same, without --engine uml, to engines-NAME-qemu.jsonl;
# open.jsonl, paper.jsonl and compress*.jsonl, slowreturn-peers.jsonl: satellite.md; sharing-star.jsonl: sharing.md;
# outages-*.jsonl: satellite.md; moving, and engines-moving.jsonl from its files: moving.md
scripts/lab compare-engines docs/results/open.jsonl docs/results/engines-open.jsonl
scripts/lab compare-engines docs/results/paper.jsonl docs/results/engines-paper.jsonl
scripts/lab compare-engines docs/results/compress.jsonl docs/results/compress-peers.jsonl
scripts/lab compare-engines docs/results/engines-shared-qemu.jsonl docs/results/engines-shared.jsonl
scripts/lab compare-engines docs/results/engines-short-qemu.jsonl docs/results/sharing-star.jsonl
scripts/lab compare-engines docs/results/engines-published-qemu.jsonl docs/results/engines-published.jsonl
scripts/lab compare-engines docs/results/engines-pairs-qemu.jsonl docs/results/engines-pairs.jsonl
scripts/lab compare-engines docs/results/engines-outages-data-qemu.jsonl docs/results/outages-data.jsonl \
	--columns "lost s,goodput Mbit/s"
scripts/lab compare-engines docs/results/engines-outages-ack-qemu.jsonl docs/results/outages-ack.jsonl \
	--columns "lost s,goodput Mbit/s"
scripts/lab compare-engines docs/results/engines-moving-qemu.jsonl docs/results/engines-moving.jsonl
scripts/lab compare-engines docs/results/engines-leo-qemu.jsonl docs/results/moving/leo.jsonl
scripts/lab compare-engines docs/results/engines-ten-qemu.jsonl docs/results/moving/ten.jsonl \
	--columns "goodput Mbit/s,Jain"
scripts/lab compare-engines docs/results/engines-aqm-qemu.jsonl docs/results/engines-aqm.jsonl
scripts/lab compare-engines docs/results/engines-slowreturn-qemu.jsonl docs/results/slowreturn-peers.jsonl
scripts/lab compare-engines docs/results/engines-wlan-qemu.jsonl docs/results/engines-wlan.jsonl \
	--columns "Jain,RTT ms,goodput Mbit/s"
scripts/lab compare-engines docs/results/engines-wlan-published-qemu.jsonl \
	docs/results/engines-wlan-published.jsonl --columns "Jain,RTT ms,goodput Mbit/s"
scripts/lab compare-engines docs/results/engines-wlan-mixes-qemu.jsonl docs/results/engines-wlan-mixes.jsonl \
	--columns "Jain,RTT ms,goodput Mbit/s"
scripts/lab compare-engines docs/results/engines-wlan-down-qemu.jsonl docs/results/engines-wlan-down.jsonl \
	--columns "uploads,downloads,RTT ms"
scripts/lab compare-engines docs/results/engines-lfn-qemu.jsonl docs/results/engines-lfn.jsonl \
	--columns "fast flows,Reno flows"
scripts/lab compare-engines docs/results/engines-lfn-red-qemu.jsonl docs/results/engines-lfn-red.jsonl \
	--columns "fast flows,Reno flows"
scripts/lab compare-engines docs/results/engines-radio-qemu.jsonl docs/results/engines-radio.jsonl
scripts/lab compare-engines docs/results/engines-multipath-qemu.jsonl docs/results/engines-multipath.jsonl
