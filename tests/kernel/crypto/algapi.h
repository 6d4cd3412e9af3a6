/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_CRYPTO_ALGAPI_H
#define _TEST_CRYPTO_ALGAPI_H

#include <stddef.h>

#include <sodium.h>

static inline int crypto_memneq(const void *a, const void *b, size_t size)
{
	return sodium_memcmp(a, b, size) != 0;
}

#endif /* _TEST_CRYPTO_ALGAPI_H */
