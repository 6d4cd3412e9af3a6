# SPDX-License-Identifier: GPL-2.0
# The commands of the pages in docs/results/atlas.

# star.md
scripts/lab atlas single --engine uml --cc star --beside bbr,cubic \
	--paths 300 --seed 99304 --json docs/results/atlas/single-star.jsonl
scripts/lab atlas requests --engine uml --cc star --beside bbr,cubic \
	--paths 100 --seed 99302 --json docs/results/atlas/requests-star.jsonl
scripts/lab atlas shared --engine uml --cc star --beside bbr,cubic \
	--paths 100 --seed 99301 --json docs/results/atlas/shared-star.jsonl
scripts/lab atlas mixed --engine uml --cc star --beside bbr,cubic \
	--paths 100 --seed 99303 --json docs/results/atlas/mixed-star.jsonl
scripts/lab atlas single --engine uml --cc j --beside cubic,reno \
	--paths 30 --seed 1001 --json docs/results/atlas/single-j.jsonl

# history/star.md, What the constants trade
PYTHONPATH=scripts python3 scripts/star_front.py docs/results/star/front

# gentle.md
scripts/lab atlas fat --model --cc hstcp_gentle --beside cubic,reno \
	--paths 200 --seed 1001 --json docs/results/atlas/fat-hstcp_gentle.jsonl
scripts/lab atlas single --model --cc hstcp_gentle --beside cubic,reno \
	--paths 200 --seed 1001 --json docs/results/atlas/single-hstcp_gentle.jsonl

# compound_plus.md
scripts/lab atlas crowded --engine uml --cc compound_plus --beside cubic,bbr \
	--paths 16 --seed 1001 --json docs/results/atlas/crowded-compound_plus.jsonl
scripts/lab atlas single --model --cc compound_plus --beside cubic,reno \
	--paths 200 --seed 1001 --json docs/results/atlas/single-compound_plus.jsonl

# links.md
W=mptcp,first,second,third,fourth
scripts/lab atlas links --engine uml --cc shake --beside $W --paths 20 --seed 113045 \
  --set direction=up --json docs/results/atlas/links.jsonl
scripts/lab atlas links --engine uml --cc shake --beside $W --paths 20 --seed 113045 \
  --set direction=down --json docs/results/atlas/links-down.jsonl
scripts/lab atlas links --engine uml --cc shake --beside first,second,third,fourth --paths 10 --seed 113045 \
  --set direction=up --set flows=10 --json docs/results/atlas/links-ten.jsonl
sed 's/"cubic"/"star"/' scripts/apogee_lab/atlas/spaces/links.toml > links-star.toml
scripts/lab atlas links-star.toml --engine uml --cc shake --beside first,second,third,fourth --paths 10 --seed 113045 \
  --set direction=up --json docs/results/atlas/links-star.jsonl
# and again with --beside first --set hold_acks=1, whose results are those of hold-acks

# BBR: 16 paths of each of two seeds, without and with hold_acks=1, whose results are those of hold-acks
sed 's/"cubic"/"bbr"/' scripts/apogee_lab/atlas/spaces/links.toml > links-bbr.toml
for way in up down; do for seed in 57002 57003; do
scripts/lab atlas links-bbr.toml --engine uml --cc shake --beside first,second,third,fourth --paths 16 \
	--seed $seed --set direction=$way
scripts/lab atlas links-bbr.toml --engine uml --cc shake --beside first --paths 16 --seed $seed \
	--set direction=$way --set hold_acks=1
done; done     # together docs/results/atlas/links-bbr.jsonl, links-bbr-down.jsonl

# radios.md
scripts/lab atlas radios --engine uml --cc sscop --beside alone,fifo --paths 200 --seed 99601 --jobs 1 \
  --timeout 900 --json docs/results/atlas/radios.jsonl
scripts/lab atlas modems --engine uml --cc sscop --beside alone --paths 26 --seed 2911 --json \
  docs/results/atlas/modems.jsonl
