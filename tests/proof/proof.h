/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the proofs share. A function prove_*() is a claim about all values of its
 * arguments: assume() narrows them to the documented ranges, and what is written
 * behind //@ assert is proven, besides the absence of overflows.
 */
#ifndef _PROOF_PROOF_H
#define _PROOF_PROOF_H

/* gcc's, which the provers don't know */
static int proof_clzll(unsigned long long x)
{
	int zeros = 0, bits;

	for (bits = 32; bits; bits >>= 1) {
		if (!(x >> (64 - bits))) {
			zeros += bits;
			x <<= bits;
		}
	}
	return zeros;
}

#define __builtin_clzll proof_clzll

#define assume(what) do { if (!(what)) return; } while (0)

#endif /* _PROOF_PROOF_H */
