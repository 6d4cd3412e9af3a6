/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parameters for BPF: the loader sets the variable, and keeps to the range.
 */
#ifndef _BPF_COMPAT_PARAM_RANGE_H
#define _BPF_COMPAT_PARAM_RANGE_H

#include <net/tcp.h>

#include "../../object.h"

/* The parameter @name, stored in the unsigned int @place, from @low to @high, both
 * included.
 */
#define APOGEE_PARAM(param, place, low, high, desc)			\
	const struct apogee_param place##_param SEC(APOGEE_PARAMS) = {	\
		.name = #param,						\
		.variable = #place,					\
		.text = desc,						\
		.lo = low,						\
		.hi = high,						\
	}

#endif /* _BPF_COMPAT_PARAM_RANGE_H */
