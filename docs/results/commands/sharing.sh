# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/sharing.md.

# What another flow gets beside star
scripts/lab run satellite-shared --engine uml --cc star+cubic,star+reno,star+bbr --set window=16MB --duration 120 \
	--repeat 5 --set queue=12.5kB,62.5kB,312.5kB,625kB,1250kB --set ber=0,1e-7 --json docs/results/sharing-star.jsonl
scripts/lab run satellite-shared --engine uml --cc star+cubic,star+reno,star+bbr --set star.coexist=0 \
	--set window=16MB --duration 120 --repeat 5 --set queue=12.5kB,62.5kB,312.5kB,625kB,1250kB --set ber=0,1e-7 \
	--json docs/results/sharing-letter.jsonl
scripts/lab run satellite-shared --engine uml --cc cubic+cubic,reno+reno,bbr+bbr,bbr+cubic,bbr+reno \
	--set window=16MB --duration 120 --repeat 5 --set queue=12.5kB,62.5kB,312.5kB,625kB,1250kB --set ber=0,1e-7 \
	--json docs/results/sharing-others.jsonl
scripts/lab beside docs/results/sharing-star.jsonl docs/results/sharing-letter.jsonl docs/results/sharing-others.jsonl

# Two equal flows
scripts/lab run satellite-shared --engine uml --cc star+star,j+j --set window=16MB --duration 120 --repeat 5 \
	--set queue=15kB,625kB --set ber=0,1e-8,1e-7,1e-6,1e-5 --json docs/results/twins.jsonl

# A late start
scripts/lab run satellite-shared --engine uml --cc star+star --set start=0s+30s --set window=16MB --duration 120 \
	--repeat 5 --set queue=15kB,625kB --set ber=0,1e-8,1e-7,1e-6,1e-5 --json docs/results/late.jsonl
