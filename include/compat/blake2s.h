/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BLAKE2s' state is struct blake2s_state up to Linux 6.18 and struct blake2s_ctx since; stable
 * kernels may get either. What the header's own blake2s_final() takes tells. The order of the
 * arguments of blake2s() has changed, too, so that nobody calls it.
 */
#ifndef APOGEE_COMPAT_BLAKE2S_H
#define APOGEE_COMPAT_BLAKE2S_H

#include <crypto/blake2s.h>

struct blake2s_ctx;
struct blake2s_state;

#define APOGEE_BLAKE2S_HAS_CTX								\
	__builtin_types_compatible_p(__typeof__(blake2s_final),				\
				     void (struct blake2s_ctx *, u8 *))

/* the type of the state */
#define apogee_blake2s									\
	__typeof__(*__builtin_choose_expr(APOGEE_BLAKE2S_HAS_CTX, (struct blake2s_ctx *)0,	\
					  (struct blake2s_state *)0))

#endif /* APOGEE_COMPAT_BLAKE2S_H */
