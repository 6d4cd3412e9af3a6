# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/aqm.md.

# One flow on the satellite link
scripts/lab run satellite --engine uml --cc star,bbr,cubic --set window=16MB --set aqm=fq_codel,cake \
	--set tcp_ecn=0,1 --set aqm_rtt=0,500ms --set ber=0,1e-6 --repeat 5

# Two flows, a queue of a tenth of a product
scripts/lab run satellite-shared --engine uml --set window=16MB --duration 120 --set queue=62.5kB \
	--set tcp_ecn=0,1 --cc star+cubic,star+reno,star+star,cubic+cubic,bbr+cubic,reno+reno --set aqm=fq_codel,cake \
	--set ber=0 --repeat 5
scripts/lab run satellite-shared --engine uml --set window=16MB --duration 120 --set queue=62.5kB \
	--set tcp_ecn=0,1 --cc star+cubic,star+reno,cubic+cubic,reno+reno --set aqm=fq_codel --set ber=1e-7 --repeat 5

# Two fast senders beside ten of Reno
scripts/lab run lfn --engine uml --cc hstcp_gentle,reno,highspeed,cubic --set warmup=30s --duration 40 \
	--set aqm=fq_codel --set tcp_ecn=0,1 --seed 1
