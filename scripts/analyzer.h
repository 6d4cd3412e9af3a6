/* SPDX-License-Identifier: GPL-2.0 */
/* As the modules define it: this header comes first. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/slab.h>

/* For gcc -fanalyzer: kfree() frees what the functions behind kmalloc(), an inline one, give. */
void *__kmalloc(size_t size, gfp_t flags) __attribute__((malloc(kfree, 1)));
void *kmalloc_trace(struct kmem_cache *cache, gfp_t flags, size_t size)
	__attribute__((malloc(kfree, 1)));
