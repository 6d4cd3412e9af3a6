# SPDX-License-Identifier: GPL-2.0
# The commands of docs/results/cost.md.

# Instructions per ACK
scripts/lab cost star j compound compound_plus hstcp_gentle cubic bbr highspeed --json docs/results/cost.jsonl
scripts/lab cost --whole star j compound compound_plus hstcp_gentle cubic bbr highspeed reno --json \
	docs/results/cost-whole.jsonl
