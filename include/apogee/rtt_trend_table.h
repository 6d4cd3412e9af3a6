/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Squares of the critical values of Student's t distribution, in 1/65536.
 * Written by scripts/student_table.py; don't edit.
 */
#ifndef _APOGEE_RTT_TREND_TABLE_H
#define _APOGEE_RTT_TREND_TABLE_H

#include "int.h"

/* Degrees of freedom of the first column and of the last but one; the last
 * column is the limit, the normal distribution.
 */
#define RTT_TREND_DF_FIRST	6U
#define RTT_TREND_DF_LAST	30U

/* By level of significance on one side, as in enum rtt_trend_level. */
static const u32 rtt_trend_t2[4][26] = {
	{	/* 10 % */
		135849, 131204, 127867, 125355, 123397, 121828, 120542, 119470,
		118562, 117783, 117108, 116516, 115995, 115531, 115116, 114742,
		114404, 114097, 113816, 113558, 113322, 113103, 112901, 112713,
		112538, 107635,
	},
	{	/* 5 % */
		247461, 235237, 226618, 220221, 215287, 211367, 208178, 205534,
		203307, 201404, 199761, 198327, 197065, 195946, 194947, 194049,
		193238, 192503, 191832, 191217, 190653, 190132, 189651, 189205,
		188789, 177310,
	},
	{	/* 1 % */
		647257, 589019, 549813, 521700, 500592, 484177, 471056, 460334,
		451410, 443869, 437414, 431827, 426944, 422640, 418819, 415403,
		412332, 409556, 407035, 404734, 402627, 400690, 398903, 397250,
		395715, 354674,
	},
	{	/* 0.1 % */
		1777295, 1500709, 1327571, 1209961, 1125270, 1061566, 1012008, 972408,
		940070, 913182, 890486, 871080, 854301, 839654, 826759, 815321,
		805108, 795933, 787647, 780128, 773273, 766999, 761235, 755922,
		751008, 625838,
	},
};

#endif /* _APOGEE_RTT_TREND_TABLE_H */
