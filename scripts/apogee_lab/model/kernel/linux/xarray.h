/* SPDX-License-Identifier: GPL-2.0 */
/* A short list, and memory that can be refused. */
#ifndef _TEST_LINUX_XARRAY_H
#define _TEST_LINUX_XARRAY_H

#include <errno.h>
#include <string.h>

#include <linux/slab.h>

#include <apogee/int.h>

#define FUZZ_XA_MOST 1024

/* @count: of the slots in use, whose entry may be NULL */
struct xarray {
	u32 count;
	struct {
		unsigned long index;
		void *entry;
	} slots[FUZZ_XA_MOST];
};

#define XA_FUZZ_NO_MEMORY ((void *)-1L)
#define XA_LIMIT(least, most) (most)

static inline u32 fuzz_xa_find(const struct xarray *xa, unsigned long index)
{
	u32 i = 0;

	while (i < xa->count && xa->slots[i].index != index)
		i++;
	return i;
}

static inline void *xa_load(const struct xarray *xa, unsigned long index)
{
	u32 i = fuzz_xa_find(xa, index);

	return i < xa->count ? xa->slots[i].entry : NULL;
}

static inline int xa_err(const void *entry)
{
	return entry == XA_FUZZ_NO_MEMORY ? -ENOMEM : 0;
}

/* What is there is replaced without memory. */
static inline void *xa_store_bh(struct xarray *xa, unsigned long index, void *entry, int flags)
{
	u32 i = fuzz_xa_find(xa, index) + (u32)flags;

	if (i == xa->count && slab_refuses)
		return XA_FUZZ_NO_MEMORY;
	if (i == FUZZ_XA_MOST)
		abort();
	if (i == xa->count)
		xa->count++;
	xa->slots[i].index = index;
	xa->slots[i].entry = entry;
	return NULL;
}

static inline int xa_alloc_cyclic_bh(struct xarray *xa, u32 *index, void *entry, u32 most,
				     u32 *next, int flags)
{
	u32 at = *next;

	do
		at = at && at <= most ? at : 1;
	while (fuzz_xa_find(xa, at) < xa->count && at++);
	if (xa_store_bh(xa, at, entry, flags))
		return -ENOMEM;
	*index = at;
	*next = at + 1;
	return 0;
}

static inline void xa_erase_bh(struct xarray *xa, unsigned long index)
{
	u32 i = fuzz_xa_find(xa, index);

	if (i < xa->count)
		xa->slots[i] = xa->slots[--xa->count];
}

static inline void xa_destroy(struct xarray *xa)
{
	memset(xa, 0, sizeof(*xa));
}

/* The entry with the least index from @from on, or NULL. */
static inline void *fuzz_xa_next(const struct xarray *xa, unsigned long *index,
				 unsigned long from)
{
	void *found = NULL;

	for (u32 i = 0; i < xa->count; i++)
		if (xa->slots[i].entry && xa->slots[i].index >= from &&
		    (!found || xa->slots[i].index < *index)) {
			found = xa->slots[i].entry;
			*index = xa->slots[i].index;
		}
	return found;
}

#define xa_for_each(xa, index, at)					\
	for (index = 0, at = fuzz_xa_next(xa, &index, 0); at;		\
	     at = fuzz_xa_next(xa, &index, index + 1))

#endif /* _TEST_LINUX_XARRAY_H */
