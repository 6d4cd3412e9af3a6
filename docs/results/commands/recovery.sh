# SPDX-License-Identifier: GPL-2.0
# The command of docs/history/star.md, a path that becomes longer than the retransmission timeout.

scripts/lab run satellite --engine uml --cc star --seed 6,7,8,9,10,11,12,13,14,15 --duration 45 --set rate=20mbit \
    --set delay=40ms --set queue=200kB --set window=100MB --set ber=2e-6,5e-6 \
    --set event=delay:600ms@20s,delay:900ms@20s --json docs/results/star/recovery.jsonl
