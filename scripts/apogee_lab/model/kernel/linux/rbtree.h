/* SPDX-License-Identifier: GPL-2.0 */
/* Trees that nobody balances, of which only the least node is taken. */
#ifndef _TEST_LINUX_RBTREE_H
#define _TEST_LINUX_RBTREE_H

#include <stdlib.h>

#include <linux/types.h>

struct rb_node {
	struct rb_node *parent;
	struct rb_node *right;
	struct rb_node *left;
};

struct rb_root_cached {
	struct rb_node *root;
	struct rb_node *first;
};

#define rb_first_cached(tree) ((tree)->first)

static inline void rb_add_cached(struct rb_node *node, struct rb_root_cached *tree,
				 bool (*less)(struct rb_node *a, const struct rb_node *b))
{
	struct rb_node **link = &tree->root;
	bool first = true;

	*node = (struct rb_node){ .parent = NULL };
	while (*link) {
		node->parent = *link;
		if (less(node, *link)) {
			link = &(*link)->left;
		} else {
			link = &(*link)->right;
			first = false;
		}
	}
	*link = node;
	if (first)
		tree->first = node;
}

static inline void rb_erase_cached(struct rb_node *node, struct rb_root_cached *tree)
{
	struct rb_node *next = node->right;

	if (node != tree->first || node->left)
		abort();
	*(node->parent ? &node->parent->left : &tree->root) = next;
	if (next)
		next->parent = node->parent;
	else
		next = node->parent;
	while (next && next->left)
		next = next->left;
	tree->first = next;
}

#endif /* _TEST_LINUX_RBTREE_H */
