# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/gentle.md.

# Beside ten Reno senders
run="scripts/lab run lfn --engine uml --set warmup=80s --duration 100 --repeat 5"
$run --set n=1,2,5,10 --cc reno,highspeed
$run --set n=1,2,5,10 --cc hstcp_gentle --set trace=module
$run --set n=1,2,5,10 --cc hstcp_gentle --set trace=module \
	--set hstcp_gentle.response=1 --set hstcp_gentle.samples=0 --set hstcp_gentle.rise=0 --set hstcp_gentle.fall=0 \
	--set hstcp_gentle.confirm=1 --set hstcp_gentle.share=0 --set hstcp_gentle.early_exit=0
$run --set n=2 --cc bbr,cubic,scalable

# Beside CUBIC, and without small switches
scripts/lab run lfn --engine uml --cc cubic,hstcp_gentle,highspeed --set reno_cc=cubic --set warmup=60s \
	--duration 60 --repeat 5
scripts/lab run lfn --engine uml --cc reno,hstcp_gentle,highspeed --set reno_queue=10000 --set warmup=60s \
	--duration 60 --repeat 5

# Longer runs
scripts/lab run lfn --engine uml --cc reno,hstcp_gentle --set warmup=180s --duration 300 --repeat 2 --timeout 1200

# Each rule disabled
scripts/lab run lfn --engine uml --cc hstcp_gentle --set trace=module --set warmup=80s --duration 100 --repeat \
	2 --set hstcp_gentle.fall=0

# Slow start
scripts/lab run lfn --engine uml --cc hstcp_gentle,highspeed,cubic,reno,bbr --set \
	hstcp_gentle.early_exit=0,1,2 --duration 8 --repeat 5

# Alone on a long path
scripts/lab run lfn --engine uml --cc hstcp_gentle,highspeed,cubic,scalable,bbr,star --set n=1 --set reno=0 \
	--set delay=90ms --set host_rate=1gbit,10gbit --set ber=0,1e-9 --set hstcp_gentle.early_exit=0,1,2 \
	--duration 60 --repeat 2
# at BER 1e-9 with --repeat 5

# Without fast senders, large switches (figures-gentle.md)
scripts/lab run lfn --engine uml --cc reno --set n=0 --set reno_queue=10000 --set warmup=80s --duration 100 --repeat 5
