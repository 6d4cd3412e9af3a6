# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/compound.md.

# Compound TCP+: measurements
scripts/lab run wlan --engine uml --cc compound_plus --set compound_plus.rule=3 --set warmup=40s --duration 60 \
	--repeat 5 --set n=2,6,10,14,20
scripts/lab run wlan --engine uml --cc compound_plus --set compound_plus.rule=3 --set warmup=40s --duration 60 \
	--repeat 5 --set n=10,20 --set start=2s,30s

# Rule (3) with an early end of slow start, and gamma=42
scripts/lab run wlan --engine uml --cc compound_plus --set warmup=40s --duration 60 --repeat 8 --set n=20 \
	--set compound_plus.rule=3 --set compound_plus.relearn=0 --set compound_plus.excess=0 \
	--set compound_plus.fit=1 --set compound_plus.letter=1
scripts/lab run wlan --engine uml --cc compound_plus --set compound_plus.gamma=42 --set warmup=40s --duration 60 \
	--repeat 5 --set n=2,6,10,14,20

# Diff and the full queue
scripts/lab run wlan --engine uml --cc compound_plus --set trace=module --set warmup=40s --duration 60 --repeat 5 \
	--set n=14 --set compound_plus.rule=3,4 --set compound_plus.relearn=0 \
	--set compound_plus.excess=0 --set compound_plus.fit=0 --set compound_plus.letter=1
grep -h 'act=[34]$' build/runs/KEY/trace.txt | awk '{match($0, / diff=[0-9]+/); n++
	below += substr($0, RSTART + 6, RLENGTH - 6) + 0 < 30 * 256} END {print below + 0, n}'

# Late starts
scripts/lab run wlan --engine uml --cc compound_plus --set warmup=40s --duration 60 --set n=20 --set start=2s \
	--repeat 30
scripts/lab run wlan --engine uml --cc compound_plus --set warmup=40s --duration 60 --set n=20 --set start=30s \
	--repeat 40
scripts/lab run wlan --engine uml --cc compound_plus --set warmup=40s --duration 60 --set n=20 --set start=2s,30s \
	--set phase=random --repeat 10
git apply docs/results/compound/clocks.patch     # git apply -R afterwards
run="scripts/lab run wlan --engine uml --cc compound_plus --set warmup=40s --duration 60 --repeat 5 \
	--set start=2s,30s --set n=10,20"
$run; $run --set compound_plus.relearn=0; $run --set compound_plus.excess=0; $run --set compound_plus.fit=0
$run --set compound_plus.whole=1; $run --set compound_plus.skew=100,1000,20000

# Beside other algorithms
scripts/lab run wlan --engine uml --cc \
	'3*compound_plus+3*cubic,3*compound+3*cubic,3*compound_plus+3*bbr,3*compound+3*bbr' --set n=6 --set \
	phase=fixed,random --set warmup=40s --duration 60 --repeat 5 # and likewise with 7* and n=14

# Beside downloads
scripts/lab run wlan --engine uml --cc compound_plus,compound,cubic,reno,bbr --set n=6 --set down=1,4 --set \
	warmup=40s --duration 60 --repeat 5
scripts/lab run wlan --engine uml --cc compound_plus --set n=6 --set down=1 --set phase=random --set \
	warmup=40s --duration 60 --repeat 5
scripts/lab run wlan --engine uml --cc compound_plus --set compound_plus.gamma=10 --set n=6 --set down=0,1,4 \
	--set warmup=40s --duration 60 --repeat 5

# Alone
scripts/lab run satellite --engine uml --cc compound,compound_plus,cubic,reno --set window=16MB --set \
	ber=0,1e-7,1e-6 --repeat 3
scripts/lab run lfn --engine uml --cc compound,compound_plus,cubic,reno --set n=1 --set reno=0 --set \
	delay=25ms,90ms --set host_rate=1gbit,10gbit --duration 60
