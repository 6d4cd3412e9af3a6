/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_CRYPTO_ALGAPI_H
#define _TEST_CRYPTO_ALGAPI_H

#include <sodium.h>

#define crypto_memneq(a, b, size) (sodium_memcmp(a, b, size) != 0)

#endif /* _TEST_CRYPTO_ALGAPI_H */
