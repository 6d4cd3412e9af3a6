# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/shake/cost.md.

# Instructions per packet
scripts/lab device-cost shake-noauth shake shake-encrypt shake-noauth-2 shake-2 shake-encrypt-2

# At 1 Gbit/s of virtual time
scripts/lab run multipath --engine uml --cc cubic --set rate=500mbit --set member_rate=1gbit \
  --set delay1=1ms --set delay2=1ms,10ms --set queue=2000 --set window=3000 --duration 5
