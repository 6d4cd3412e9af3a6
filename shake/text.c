// SPDX-License-Identifier: GPL-2.0
/*
 * Text to paths, addresses and prefixes, and back.
 */
#include <linux/inet.h>
#include <linux/kstrtox.h>
#include <linux/string.h>

#include "settings.h"
#include "text.h"

/* by number, NULL at the end */
const char *const shake_role_names[] = { "leader", "agent", NULL };
const char *const shake_scheduler_names[] = { "rr", "ratio", "rah", NULL };
const char *const shake_ack_names[] = { "pass", "drop", "tdar", "auto", NULL };
const char *const shake_datagrams_names[] = { "spread", "order", "pin", NULL };
const char *const shake_state_names[] = { "absent", "joining", "alive", "dead", "refused", "lossy",
						NULL };

/* The path as it is, or as a new one begins. */
void shake_path_begin(struct shake_dev *d, u8 id, struct shake_path_settings *path)
{
	if (shake_path_lookup(d, id, path))
		return;
	memset(path, 0, sizeof(*path));
	path->id = id;
	path->weight = 100;
}

/* --- text to numbers ------------------------------------------------------------------------ */

/* "any", or an address of IPv4 or IPv6. */
int shake_read_address(const char *text, union shake_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	if (!strcmp(text, "any"))
		return 0;
	if (in4_pton(text, -1, (u8 *)&addr->v4.sin_addr, -1, NULL)) {
		addr->v4.sin_family = AF_INET;
		return 0;
	}
	if (!in6_pton(text, -1, (u8 *)&addr->v6.sin6_addr, -1, NULL))
		return -EINVAL;
	addr->v6.sin6_family = AF_INET6;
	return 0;
}

/* ADDRESS/LENGTH, or an ADDRESS alone. */
int shake_read_prefix(char *text, struct shake_prefix *prefix)
{
	char *address = strsep(&text, "/");
	union shake_addr addr;
	int err;

	err = shake_read_address(address, &addr);
	if (err || addr.any.sa_family == AF_UNSPEC)
		return -EINVAL;
	memset(prefix, 0, sizeof(*prefix));
	prefix->family = addr.any.sa_family;
	if (prefix->family == AF_INET) {
		prefix->address.s6_addr32[0] = addr.v4.sin_addr.s_addr;
		prefix->length = 32;
	} else {
		prefix->address = addr.v6.sin6_addr;
		prefix->length = 128;
	}
	return text ? kstrtou8(text, 10, &prefix->length) : 0;
}

static int read_policy_words(const char *key, const char *value, struct shake_policy *policy)
{
	if (!strcmp(key, "backup"))
		return kstrtobool(value, &policy->backup);
	if (!strcmp(key, "metered"))
		return kstrtobool(value, &policy->metered);
	if (!strcmp(key, "rate"))
		return kstrtou32(value, 10, &policy->rate);
	if (!strcmp(key, "loss-limit"))
		return kstrtou8(value, 10, &policy->loss_limit);
	return -EINVAL;
}

/* KEY=VALUE of a path. */
static int read_pair(char *pair, struct shake_path_settings *path)
{
	char *key = strsep(&pair, "=");

	if (!pair)
		return -EINVAL;
	if (!strcmp(key, "dev") && !strcmp(pair, "any"))
		pair = "";
	if (!strcmp(key, "dev"))
		return strscpy(path->dev, pair, sizeof(path->dev)) < 0 ? -EINVAL : 0;
	if (!strcmp(key, "local"))
		return shake_read_address(pair, &path->local);
	if (!strcmp(key, "remote"))
		return shake_read_address(pair, &path->remote);
	if (!strcmp(key, "weight"))
		return kstrtou32(pair, 10, &path->weight);
	return read_policy_words(key, pair, &path->policy);
}

/* Pairs with blanks between them. */
int shake_read_path(char *text, struct shake_path_settings *path)
{
	char *pair;
	int err;

	while ((pair = strsep(&text, " "))) {
		err = *pair ? read_pair(pair, path) : 0;
		if (err)
			return err;
	}
	return 0;
}

/* --- and back ------------------------------------------------------------------------------- */

int shake_write_address(char *text, size_t size, const union shake_addr *addr)
{
	if (addr->any.sa_family == AF_UNSPEC)
		return scnprintf(text, size, "any");
	return scnprintf(text, size, "%pISc", addr);
}

int shake_write_prefix(char *text, size_t size, const struct shake_prefix *prefix)
{
	if (prefix->family == AF_INET)
		return scnprintf(text, size, "%pI4/%u", &prefix->address, prefix->length);
	return scnprintf(text, size, "%pI6c/%u", &prefix->address, prefix->length);
}

static int write_pair(char *text, size_t size, const char *key, const union shake_addr *addr)
{
	int length;

	if (addr->any.sa_family == AF_UNSPEC)
		return 0;
	length = scnprintf(text, size, " %s=", key);
	return length + shake_write_address(text + length, size - length, addr);
}

static int write_policy(char *text, size_t size, const struct shake_policy *policy)
{
	int length = scnprintf(text, size, "%s%s", policy->backup ? " backup=on" : "",
			       policy->metered ? " metered=on" : "");

	if (policy->rate)
		length += scnprintf(text + length, size - length, " rate=%u", policy->rate);
	if (policy->loss_limit)
		length += scnprintf(text + length, size - length, " loss-limit=%u",
				    policy->loss_limit);
	return length;
}

static u16 text_port(const union shake_addr *addr)
{
	return ntohs(addr->any.sa_family == AF_INET6 ? addr->v6.sin6_port : addr->v4.sin_port);
}

/* One line; of an agent's path its peer's number in front. */
int shake_write_path(char *text, size_t size, const struct shake_path_stats *path, bool agent)
{
	const struct shake_path_settings *settings = &path->settings;
	int length = 0;

	if (agent)
		length = scnprintf(text, size, "peer=%u ", path->peer);
	length += scnprintf(text + length, size - length, "%u", path->id);
	if (settings->dev[0])
		length += scnprintf(text + length, size - length, " dev=%s", settings->dev);
	length += write_pair(text + length, size - length, "local", &settings->local);
	length += write_pair(text + length, size - length, "remote", &settings->remote);
	if (text_port(&settings->remote))
		length += scnprintf(text + length, size - length, " port=%u",
				    text_port(&settings->remote));
	length += scnprintf(text + length, size - length, " weight=%u", settings->weight);
	length += write_policy(text + length, size - length, &settings->policy);
	return length + scnprintf(text + length, size - length, " state=%s\n",
				  shake_state_names[path->state]);
}

int shake_write_peer(char *text, size_t size, const struct shake_peer_shown *peer)
{
	int length = scnprintf(text, size, "%u key=%s", peer->id, peer->has_key ? "yes" : "no");
	u32 i;

	for (i = 0; i < peer->prefix_count; i++) {
		length += scnprintf(text + length, size - length, " allow=");
		length += shake_write_prefix(text + length, size - length, &peer->prefixes[i]);
	}
	return length + scnprintf(text + length, size - length, "\n");
}
