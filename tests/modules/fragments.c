// SPDX-License-Identifier: GPL-2.0
/*
 * Memory in pieces, for tests only: when a number is written to its parameter, half of what is free
 * stays free, but no block of 2^order pages. That much in one piece has then only who can take
 * pages that are no neighbours. What is freed later may make blocks again.
 */
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>

#define MOST 8

/* First pages of the halves of blocks that are taken, by the blocks' order. */
static struct list_head taken[MOST + 1];

/* Keep the first half of a block, and free the others. */
static void halve(struct page *page, unsigned int order)
{
	unsigned int i;

	split_page(page, order);
	for (i = 1 << (order - 1); i < 1 << order; i++)
		__free_page(page + i);
	list_add(&page->lru, &taken[order]);
}

/* All blocks first, those in reserve, too: halves of neighbours would make one again. */
static int take(const char *value, const struct kernel_param *unused)
{
	struct page *page, *next;
	LIST_HEAD(blocks);
	u8 order;

	if (kstrtou8(value, 0, &order) || !order || order > MOST)
		return -EINVAL;
	while ((page = alloc_pages(GFP_ATOMIC | __GFP_MEMALLOC | __GFP_NOWARN, order)))
		list_add(&page->lru, &blocks);
	list_for_each_entry_safe(page, next, &blocks, lru)
		halve(page, order);
	return 0;
}

static const struct kernel_param_ops order_ops = { .set = take };
module_param_cb(order, &order_ops, NULL, 0200);
MODULE_PARM_DESC(order, "take half of each block of 2^order pages: 1 to 8");

static int __init fragments_init(void)
{
	unsigned int order;

	for (order = 0; order <= MOST; order++)
		INIT_LIST_HEAD(&taken[order]);
	return 0;
}

static void __exit fragments_exit(void)
{
	struct page *page, *next;
	unsigned int order, i;

	for (order = 1; order <= MOST; order++)
		list_for_each_entry_safe(page, next, &taken[order], lru)
			for (i = 0; i < 1 << (order - 1); i++)
				__free_page(page + i);
}

module_init(fragments_init);
module_exit(fragments_exit);

MODULE_DESCRIPTION("Test only: memory in pieces");
MODULE_LICENSE("GPL");
