/* SPDX-License-Identifier: GPL-2.0 */
/* Memory is refused while slab_refuses is set. */
#ifndef _TEST_LINUX_SLAB_H
#define _TEST_LINUX_SLAB_H

#include <errno.h>
#include <stdlib.h>

#include <linux/kernel.h>

#define GFP_KERNEL 0
#define GFP_KERNEL_ACCOUNT GFP_KERNEL
#define GFP_ATOMIC 0
#define __GFP_NOWARN 0
#define gfpflags_allow_blocking(flags) (!(flags))

__attribute__((weak)) bool slab_refuses;

static inline void slab_refuse(bool refuses)
{
	slab_refuses = refuses;
}

static inline void *kcalloc(size_t count, size_t size, int flags)
{
	return slab_refuses ? NULL : calloc(count, size + (size_t)flags);
}

static inline void *kmalloc_array(size_t count, size_t size, int flags)
{
	return slab_refuses ? NULL : malloc(count * size + (size_t)flags);
}

#define kzalloc(size, flags) kcalloc(1, size, flags)
#define kmalloc(size, flags) kmalloc_array(1, size, flags)
#define kfree(memory) free(memory)
#define kvzalloc(size, flags) kzalloc(size, flags)
#define kvfree(memory) kfree(memory)
#define kfree_sensitive(memory) kfree(memory)

#endif /* _TEST_LINUX_SLAB_H */
