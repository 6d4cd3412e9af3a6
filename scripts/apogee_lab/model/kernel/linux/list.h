/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TEST_LINUX_LIST_H
#define _TEST_LINUX_LIST_H

#include <linux/kernel.h>

struct list_head {
	struct list_head *next;
	struct list_head *prev;
};

struct hlist_node {
	struct hlist_node *next;
	struct hlist_node **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#define INIT_HLIST_HEAD(head) ((head)->first = NULL)

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	head->next = head;
	head->prev = head;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *head)
{
	list_add(entry, head->prev);
}

static inline void list_del_init(struct list_head *entry)
{
	list_del(entry);
	INIT_LIST_HEAD(entry);
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline bool list_is_first(const struct list_head *entry, const struct list_head *head)
{
	return entry->prev == head;
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add(entry, head);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

static inline void hlist_add_head(struct hlist_node *entry, struct hlist_head *head)
{
	entry->next = head->first;
	if (head->first)
		head->first->pprev = &entry->next;
	head->first = entry;
	entry->pprev = &head->first;
}

static inline void hlist_del(struct hlist_node *entry)
{
	*entry->pprev = entry->next;
	if (entry->next)
		entry->next->pprev = entry->pprev;
}

#define list_entry container_of
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
	((head)->next == (head) ? NULL : list_entry((head)->next, type, member))

#define list_for_each_entry(at, head, member)					\
	for (at = list_entry((head)->next, typeof(*at), member);		\
	     &at->member != (head);						\
	     at = list_entry(at->member.next, typeof(*at), member))

#define list_for_each_entry_safe(at, other, head, member)			\
	for (at = list_entry((head)->next, typeof(*at), member),		\
	     other = list_entry(at->member.next, typeof(*at), member);		\
	     &at->member != (head);						\
	     at = other, other = list_entry(other->member.next, typeof(*at), member))

#define list_for_each_entry_safe_reverse(at, other, head, member)		\
	for (at = list_entry((head)->prev, typeof(*at), member),		\
	     other = list_entry(at->member.prev, typeof(*at), member);		\
	     &at->member != (head);						\
	     at = other, other = list_entry(other->member.prev, typeof(*at), member))

#define hlist_entry_or_null(node, type, member) \
	((node) ? container_of(node, type, member) : NULL)

#define hlist_for_each_entry(at, head, member)					\
	for (at = hlist_entry_or_null((head)->first, typeof(*at), member); at;	\
	     at = hlist_entry_or_null(at->member.next, typeof(*at), member))

#endif /* _TEST_LINUX_LIST_H */
