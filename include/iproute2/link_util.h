/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What iproute2's ip(8) and a plug-in for a type of link know of each other.
 *
 * For a type that it does not know ip loads link_TYPE.so from its folder (IP_LIB_DIR, or
 * on Debian /usr/lib/TRIPLET/ip) and looks up TYPE_link_util. It exports its own functions
 * to the plug-in. There is no public header: these are the declarations of
 * ip/ip_common.h, include/libnetlink.h, include/json_print.h and include/json_writer.h.
 * They are the same in iproute2 6.1, 6.15 and 7.1.
 */
#ifndef _LINK_UTIL_H
#define _LINK_UTIL_H

#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdio.h>

/**
 * struct link_util - a type of link
 * @next: ip's own
 * @id: name of the type
 * @maxattr: highest attribute in IFLA_INFO_DATA
 * @parse_opt: appends attributes for the words after the type to the request, in which
 *	IFLA_INFO_DATA is open; not 0: the request is not sent
 * @print_opt: shows attributes, by number; no array: the kernel sent none
 * @print_xstats: shows IFLA_INFO_XSTATS
 * @print_help: for "ip link help TYPE"
 * @parse_ifla_xstats: for "ip link xstats"
 * @print_ifla_xstats: for "ip link xstats"
 */
struct link_util {
	struct link_util *next;
	const char *id;
	int maxattr;
	int (*parse_opt)(struct link_util *util, int argc, char **argv,
			 struct nlmsghdr *request);
	void (*print_opt)(struct link_util *util, FILE *out, struct rtattr **attrs);
	void (*print_xstats)(struct link_util *util, FILE *out, struct rtattr *stats);
	void (*print_help)(struct link_util *util, int argc, char **argv, FILE *out);
	int (*parse_ifla_xstats)(struct link_util *util, int argc, char **argv);
	int (*print_ifla_xstats)(struct nlmsghdr *message, void *out);
};

struct json_writer;

extern const char *_SL_;	/* end of a line, "\\" with ip -oneline */

int addattr_l(struct nlmsghdr *request, int room, int type, const void *data, int length);
struct rtattr *addattr_nest(struct nlmsghdr *request, int room, int type);
int addattr_nest_end(struct nlmsghdr *request, struct rtattr *nest);
bool is_json_context(void);
struct json_writer *get_json_writer(void);
void jsonw_name(struct json_writer *json, const char *name);
void jsonw_start_array(struct json_writer *json);
void jsonw_end_array(struct json_writer *json);
void jsonw_start_object(struct json_writer *json);
void jsonw_end_object(struct json_writer *json);
void jsonw_string(struct json_writer *json, const char *value);
void jsonw_u64_field(struct json_writer *json, const char *key, __u64 value);
void jsonw_uint_field(struct json_writer *json, const char *key, unsigned int value);
void jsonw_bool_field(struct json_writer *json, const char *key, bool value);
void jsonw_string_field(struct json_writer *json, const char *key, const char *value);

#endif /* _LINK_UTIL_H */
