// SPDX-License-Identifier: GPL-2.0
/*
 * Links of type shake in iproute2's ip(8): the words after "type shake", and what
 * "ip -d link show" and "ip -d -s link show" print.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../include/iproute2/link_words.h"
#include "../uapi.h"
#include "key_text.h"

#define ADDRESS 16		/* octets of an address of IPv6 */

/* What follows a word. */
enum kind {
	NUMBER,
	TIME,
	TIME_OR_0,
	RATE,			/* kbit/s */
	SWITCH,
	NAME,			/* one of some words */
	ANY_ADDRESS,
	DEVICE,
	PREFIX,
	KEY_FILE,
	PUBLIC_KEY,
	GROUP,			/* a number, then words of its own */
	OFF,			/* nothing */
};

/**
 * struct word - a word
 * @text: the word
 * @key: its name in JSON
 * @kind: what follows
 * @attr: its attribute
 * @min: smallest number allowed
 * @max: greatest number allowed
 * @size: octets of a number in the attribute
 * @names: words by number
 * @need: what the value must be, for messages
 */
struct word {
	const char *text;
	const char *key;
	enum kind kind;
	int attr;
	__u32 min;
	__u32 max;
	int size;
	const char *const *names;
	const char *need;
};

static const char *const roles[] = {"leader", "agent", NULL};
static const char *const schedulers[] = {"rr", "ratio", "rah", NULL};
static const char *const acks[] = {"pass", "drop", "tdar", "auto", NULL};
static const char *const datagrams[] = {"spread", "order", "pin", NULL};
static const char *const states[] = {"absent", "joining", "alive", "dead", "refused", "lossy",
				     NULL};

#define NEED_ADDRESS "any or an address of IPv4 or IPv6"
#define NEED_KEY "a file with a key in base64 or 64 hexadecimal digits"
#define NEED_PREFIX "an address of IPv4 or IPv6, or ADDRESS/LENGTH"

/* in the order of "ip -d link show" */
static const struct word words[] = {
	{"role", "role", NAME, IFLA_SHAKE_ROLE, 0, 1, 1, roles, "leader or agent"},
	{"id", "id", NUMBER, IFLA_SHAKE_ID, 0, MAX_U32, 4, NULL, "a number from 0 to 4294967295"},
	{"port", "port", NUMBER, IFLA_SHAKE_PORT, 1, 65535, 2, NULL, "a number from 1 to 65535"},
	{"local", "local", ANY_ADDRESS, IFLA_SHAKE_LOCAL, .need = NEED_ADDRESS},
	{"remote", "remote", ANY_ADDRESS, IFLA_SHAKE_REMOTE, .need = NEED_ADDRESS},
	{"scheduler", "scheduler", NAME, IFLA_SHAKE_SCHEDULER, 0, 2, 1, schedulers,
	 "rr, ratio or rah"},
	{"theta", "theta", NUMBER, IFLA_SHAKE_THETA, 0, 400, 4, NULL, "a number from 0 to 400"},
	{"ack", "ack", NAME, IFLA_SHAKE_ACK, 0, 3, 1, acks, "pass, drop, tdar or auto"},
	{"threshold", "threshold", NUMBER, IFLA_SHAKE_THRESHOLD, 1, 100, 4, NULL,
	 "a number from 1 to 100"},
	{"auth", "auth", SWITCH, IFLA_SHAKE_AUTH, 0, 1, 1, NULL, "on or off"},
	{"encrypt", "encrypt", SWITCH, IFLA_SHAKE_ENCRYPT, 0, 1, 1, NULL, "on or off"},
	{"interval", "interval_us", TIME, IFLA_SHAKE_INTERVAL, 10000, 100000000, 4, NULL,
	 "a time from 10ms to 100s, with us, ms or s"},
	{"rtt-window", "rtt_window_us", TIME, IFLA_SHAKE_RTT_WINDOW, 10000, 100000000, 4, NULL,
	 "a time from 10ms to 100s, with us, ms or s"},
	{"keepalive", "keepalive_us", TIME_OR_0, IFLA_SHAKE_KEEPALIVE, 100000, 3600000000U, 4,
	 NULL, "0 or a time from 100ms to 3600s, with us, ms or s"},
	{"queue", "queue_us", TIME_OR_0, IFLA_SHAKE_QUEUE, 10000, 100000000, 4, NULL,
	 "0 or a time from 10ms to 100s, with us, ms or s"},
	{"repair", "repair", SWITCH, IFLA_SHAKE_REPAIR, 0, 1, 1, NULL, "on or off"},
	{"datagrams", "datagrams", NAME, IFLA_SHAKE_DATAGRAMS, 0, 2, 1, datagrams,
	 "spread, order or pin"},
	{"duplicate", "duplicate", NUMBER, IFLA_SHAKE_DUPLICATE, 0, 65535, 4, NULL,
	 "a number from 0 to 65535"},
	{"duplicate-dscp", "duplicate_dscp", NUMBER, IFLA_SHAKE_DUPLICATE_DSCP, 0, 63, 1, NULL,
	 "a number from 0 to 63"},
	{"hold-acks", "hold_acks", SWITCH, IFLA_SHAKE_HOLD_ACKS, 0, 1, 1, NULL, "on or off"},
	{"private-key", NULL, KEY_FILE, IFLA_SHAKE_PRIVATE_KEY, .need = NEED_KEY},
	{"path", NULL, GROUP, IFLA_SHAKE_PATH, 1, 8, 1, NULL, "a number from 1 to 8"},
	{"peer", NULL, GROUP, IFLA_SHAKE_PEER, 0, MAX_U32, 4, NULL,
	 "a number from 0 to 4294967295"},
	{}
};

static const struct word path_words[] = {
	{"dev", "dev", DEVICE, IFLA_SHAKE_PATH_DEV, .need = "any or the name of a device"},
	{"local", "local", ANY_ADDRESS, IFLA_SHAKE_PATH_LOCAL, .need = NEED_ADDRESS},
	{"remote", "remote", ANY_ADDRESS, IFLA_SHAKE_PATH_REMOTE, .need = NEED_ADDRESS},
	{"weight", "weight", NUMBER, IFLA_SHAKE_PATH_WEIGHT, 1, 1000, 4, NULL,
	 "a number from 1 to 1000"},
	{"backup", "backup", SWITCH, IFLA_SHAKE_PATH_BACKUP, 0, 1, 1, NULL, "on or off"},
	{"metered", "metered", SWITCH, IFLA_SHAKE_PATH_METERED, 0, 1, 1, NULL, "on or off"},
	{"rate", "rate_kbit", RATE, IFLA_SHAKE_PATH_RATE, 0, MAX_U32, 4, NULL,
	 "0 or a rate from 1kbit to 4tbit, with kbit, mbit, gbit or tbit"},
	{"loss-limit", "loss_limit", NUMBER, IFLA_SHAKE_PATH_LOSS_LIMIT, 0, 100, 1, NULL,
	 "a number from 0 to 100"},
	{"off", NULL, OFF, .attr = IFLA_SHAKE_PATH_DELETE},
	{}
};

static const struct word peer_words[] = {
	{"key", NULL, KEY_FILE, IFLA_SHAKE_PEER_KEY, .need = NEED_KEY},
	{"public-key", "public_key", PUBLIC_KEY, IFLA_SHAKE_PEER_PUBLIC_KEY,
	 .need = "off or a key in base64"},
	{"allow", NULL, PREFIX, IFLA_SHAKE_PEER_ALLOW, .need = NEED_PREFIX},
	{"deny", NULL, PREFIX, IFLA_SHAKE_PEER_DENY, .need = NEED_PREFIX},
	{"off", NULL, OFF, .attr = IFLA_SHAKE_PEER_DELETE},
	{}
};

static void usage(FILE *out)
{
	fputs("Usage: ... shake role { leader | agent } [ id NUMBER ] [ port PORT ]\n"
	      "                 [ local ADDRESS ] [ remote ADDRESS ]\n"
	      "                 [ scheduler { rr | ratio | rah } ] [ theta PERCENT ]\n"
	      "                 [ ack { pass | drop | tdar | auto } ] [ threshold NUMBER ]\n"
	      "                 [ auth { on | off } ] [ encrypt { on | off } ]\n"
	      "                 [ interval TIME ] [ rtt-window TIME ] [ keepalive TIME ]\n"
	      "                 [ queue TIME ] [ repair { on | off } ]\n"
	      "                 [ datagrams { spread | order | pin } ]\n"
	      "                 [ duplicate OCTETS ] [ duplicate-dscp NUMBER ]\n"
	      "                 [ hold-acks { on | off } ] [ private-key FILE ]\n"
	      "                 [ path PATH ] [ peer PEER ]\n"
	      "       ip link set DEVICE type shake ...\n"
	      "\n"
	      "Where:  PATH := ID { [ dev NAME ] [ local ADDRESS ] [ remote ADDRESS ]\n"
	      "                     [ weight PERCENT ] [ backup { on | off } ]\n"
	      "                     [ metered { on | off } ] [ rate RATE ]\n"
	      "                     [ loss-limit PERCENT ] | off }\n"
	      "        PEER := ID { [ key FILE ] [ public-key { KEY | off } ]\n"
	      "                     [ allow PREFIX ] [ deny PREFIX ] | off }\n"
	      "        TIME := NUMBER{ us | ms | s }  RATE := NUMBER{ kbit | mbit | gbit | tbit }\n"
	      "        FILE: a file with a KEY, or with 64 hexadecimal digits\n"
	      "        KEY: 32 octets in base64, as wg genkey and wg pubkey write them\n"
	      "        Words after path or peer that a path or peer has are its own.\n"
	      "See shake(8).\n", out);
}

/* --- words to attributes -------------------------------------------------------------- */

static const struct word *find(const struct word *list, const char *text)
{
	for (; list->text; list++)
		if (!strcmp(text, list->text))
			return list;
	return NULL;
}

/* one line about a value that is refused */
static int refuse(const struct word *word, const char *value)
{
	fprintf(stderr, "shake: %s \"%s\": must be %s\n", word->text, value, word->need);
	return -1;
}

/* octets of the address, 0: none */
static int parse_address(const char *text, __u8 *address)
{
	if (inet_pton(AF_INET, text, address) == 1)
		return 4;
	return inet_pton(AF_INET6, text, address) == 1 ? 16 : 0;
}

static int add_address(const struct word *word, const char *value, struct nlmsghdr *request)
{
	__u8 address[ADDRESS];
	int length = 0;

	if (strcmp(value, "any")) {
		length = parse_address(value, address);
		if (!length)
			return refuse(word, value);
	}
	return addattr_l(request, REQUEST_ROOM, word->attr, address, length);
}

static int add_device(const struct word *word, const char *value, struct nlmsghdr *request)
{
	if (!*value || strlen(value) >= IFNAMSIZ || strchr(value, '/'))
		return refuse(word, value);
	if (!strcmp(value, "any"))
		value = "";
	return addattr_l(request, REQUEST_ROOM, word->attr, value, strlen(value) + 1);
}

static int add_prefix(const struct word *word, const char *value, struct nlmsghdr *request)
{
	size_t end = strcspn(value, "/");
	char text[INET6_ADDRSTRLEN] = "";
	__u8 octets[ADDRESS + 1];
	__u32 bits;
	int length;

	if (end >= sizeof(text))
		return refuse(word, value);
	memcpy(text, value, end);
	length = parse_address(text, octets);
	bits = 8 * length;
	if (!length || (value[end] && !parse_number(value + end + 1, &bits)) ||
	    bits > 8U * length)
		return refuse(word, value);
	octets[length] = bits;
	return addattr_l(request, REQUEST_ROOM, word->attr, octets, length + 1);
}

/* octets read of at most @room, or -1 */
static ssize_t read_file(const char *word, const char *name, char *text, size_t room)
{
	int file = open(name, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	struct stat info;
	ssize_t got = -1;

	if (file < 0)
		return -1;
	if (!fstat(file, &info) && S_ISREG(info.st_mode) && info.st_mode & 0044)
		fprintf(stderr, "shake: %s \"%s\": others may read it: chmod 600 it\n", word,
			name);
	do {
		got = read(file, text + length, room - length);
		length += got > 0 ? got : 0;
	} while (got > 0 && length < room);
	close(file);
	return got < 0 ? -1 : (ssize_t)length;
}

static int add_key(const struct word *word, const char *value, struct nlmsghdr *request)
{
	char text[2 * KEY + 16];
	ssize_t length = read_file(word->text, value, text, sizeof(text));
	__u8 key[KEY];
	int err;

	if (length < 0) {
		fprintf(stderr, "shake: %s \"%s\": %s\n", word->text, value, strerror(errno));
		return -1;
	}
	err = parse_key(text, length, key) ?
		addattr_l(request, REQUEST_ROOM, word->attr, key, KEY) : refuse(word, value);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(key, sizeof(key));
	return err;
}

static const char *const rate_units[] = {"kbit", "mbit", "gbit", "tbit", NULL};

/* a number with a unit, to kbit/s */
static bool parse_rate(const char *text, __u32 *kbit)
{
	size_t digits = strspn(text, "0123456789.");
	const char *const *unit = rate_units;
	double value;
	char *end;

	*kbit = 0;
	if (!strcmp(text, "0"))
		return true;
	value = strtod(text, &end);
	for (; *unit && strcmp(*unit, text + digits); unit++)
		value *= 1000;
	if (!digits || end != text + digits || !*unit || value > MAX_U32 || value < 1)
		return false;
	*kbit = value + .5;
	return true;
}

static int add_public_key(const struct word *word, const char *value, struct nlmsghdr *request)
{
	__u8 key[KEY] = { 0 };
	size_t length = strlen(value);

	if (strcmp(value, "off") && (length != KEY_BASE64 || !parse_key(value, length, key)))
		return refuse(word, value);
	return addattr_l(request, REQUEST_ROOM, word->attr, key, KEY);
}

/* the number that a value means */
static bool parse_value(const struct word *word, const char *value, __u32 *number)
{
	const char *const *name;

	switch (word->kind) {
	case SWITCH:
		*number = !strcmp(value, "on");
		return *number || !strcmp(value, "off");
	case NAME:
		for (name = word->names; *name && strcmp(*name, value); name++)
			;
		*number = name - word->names;
		return *name;
	case RATE:
		return parse_rate(value, number);
	case TIME:
		return parse_time(value, number);
	case TIME_OR_0:
		return parse_time(value, number);
	default:
		return parse_number(value, number);
	}
}

static int add_number(const struct word *word, int attr, const char *value,
		      struct nlmsghdr *request)
{
	__u32 number = 0;
	__u16 u16;
	__u8 u8;

	if (!parse_value(word, value, &number))
		return refuse(word, value);
	if (!(word->kind == TIME_OR_0 && !number) && (number < word->min || number > word->max))
		return refuse(word, value);
	u16 = number;
	u8 = number;
	if (word->size == 1)
		return addattr_l(request, REQUEST_ROOM, attr, &u8, sizeof(u8));
	if (word->size == 2)
		return addattr_l(request, REQUEST_ROOM, attr, &u16, sizeof(u16));
	return addattr_l(request, REQUEST_ROOM, attr, &number, sizeof(number));
}

static int add_value(const struct word *word, const char *value, struct nlmsghdr *request)
{
	switch (word->kind) {
	case ANY_ADDRESS:
		return add_address(word, value, request);
	case DEVICE:
		return add_device(word, value, request);
	case PREFIX:
		return add_prefix(word, value, request);
	case KEY_FILE:
		return add_key(word, value, request);
	case PUBLIC_KEY:
		return add_public_key(word, value, request);
	default:
		return add_number(word, word->attr, value, request);
	}
}

/**
 * struct args - the words that are left
 * @count: how many
 * @word: the next
 */
struct args {
	int count;
	char **word;
};

static const char *take(struct args *args)
{
	args->count--;
	return *args->word++;
}

/* Take a word of the list and what follows it. 0: there was none. -1: said what is wrong. */
static int take_word(const struct word *list, const struct word **found, unsigned int *seen,
		     struct args *args)
{
	const struct word *word = args->count ? find(list, *args->word) : NULL;
	unsigned int bit = word ? 1U << (word - list) : 0;

	*found = word;
	if (!word)
		return 0;
	take(args);
	if (word->kind != OFF && !args->count) {
		fprintf(stderr, "shake: %s needs a value\n", word->text);
		return -1;
	}
	if (*seen & bit) {
		fprintf(stderr, "shake: %s is given twice\n", word->text);
		return -1;
	}
	*seen |= bit;
	return 1;
}

/* a path or a peer: its number, then its own words, or "off" alone */
static int take_group(const struct word *group, struct args *args, struct nlmsghdr *request)
{
	bool path = group->attr == IFLA_SHAKE_PATH;
	struct rtattr *nest = addattr_nest(request, REQUEST_ROOM, group->attr | NLA_F_NESTED);
	const struct word *word;
	unsigned int seen = 0;
	int found;

	if (add_number(group, path ? IFLA_SHAKE_PATH_ID : IFLA_SHAKE_PEER_ID, take(args),
		       request))
		return -1;
	while ((found = take_word(path ? path_words : peer_words, &word, &seen, args)) > 0) {
		if (word->kind == OFF && (seen & (seen - 1))) {
			fprintf(stderr, "shake: %s off stands alone\n", group->text);
			return -1;
		}
		if (word->kind == OFF) {
			addattr_l(request, REQUEST_ROOM, word->attr, NULL, 0);
			break;
		}
		if (add_value(word, take(args), request))
			return -1;
	}
	addattr_nest_end(request, nest);
	return found < 0 ? -1 : 0;
}

static int parse_opt(struct link_util *util, int argc, char **argv, struct nlmsghdr *request)
{
	struct args args = {argc, argv};
	const struct word *word;
	unsigned int seen = 0;
	int err = 0;

	(void)util;
	while (args.count > 0 && !err) {
		if (!strcmp(*args.word, "help")) {
			usage(stderr);
			return -1;
		}
		if (take_word(words, &word, &seen, &args) < 0)
			return -1;
		if (!word) {
			fprintf(stderr, "shake: unknown word \"%s\", see: ip link help shake\n",
				*args.word);
			return -1;
		}
		err = word->kind == GROUP ? take_group(word, &args, request) :
					    add_value(word, take(&args), request);
	}
	return err;
}

static void print_help(struct link_util *util, int argc, char **argv, FILE *out)
{
	(void)util;
	(void)argc;
	(void)argv;
	usage(out);
}

/* --- attributes to text or JSON ------------------------------------------------------- */

/* the attributes of a list or an entry, by number; those that are not known are left out */
static void read_nest(struct rtattr **found, int max, struct rtattr *nest)
{
	int length = RTA_PAYLOAD(nest);
	struct rtattr *attr = RTA_DATA(nest);

	memset(found, 0, (max + 1) * sizeof(*found));
	for (; RTA_OK(attr, length); attr = RTA_NEXT(attr, length))
		if ((attr->rta_type & NLA_TYPE_MASK) <= max)
			found[attr->rta_type & NLA_TYPE_MASK] = attr;
}

/* prints each attribute of a list; how many there were */
static __u32 each(FILE *out, struct rtattr *list, void (*print)(FILE *out, struct rtattr *entry))
{
	int left = RTA_PAYLOAD(list);
	struct rtattr *entry;
	__u32 count = 0;

	for (entry = RTA_DATA(list); RTA_OK(entry, left); entry = RTA_NEXT(entry, left)) {
		print(out, entry);
		count++;
	}
	return count;
}

static bool address_text(const void *octets, int length, char *text)
{
	if (length != 4 && length != 16)
		return false;
	return inet_ntop(length == 4 ? AF_INET : AF_INET6, octets, text, INET6_ADDRSTRLEN);
}

static void print_addr(FILE *out, const struct word *word, const struct rtattr *attr)
{
	char text[INET6_ADDRSTRLEN];

	if (address_text(RTA_DATA(attr), RTA_PAYLOAD(attr), text))
		print_text(out, word->text, word->key, text);
}

/* in the largest unit that makes it a whole number; JSON: kbit/s */
static void print_rate(FILE *out, const struct word *word, __u32 kbit)
{
	const char *const *unit = rate_units;

	if (is_json_context() || !kbit) {
		print_number(out, word->text, word->key, kbit);
		return;
	}
	for (; kbit % 1000 == 0; unit++)
		kbit /= 1000;
	fprintf(out, "%s %u%s ", word->text, kbit, *unit);
}

static void print_key(FILE *out, const struct rtattr *attr)
{
	char text[KEY_BASE64 + 1];

	if (!attr || RTA_PAYLOAD(attr) != KEY)
		return;
	key_text(RTA_DATA(attr), text);
	print_text(out, "public-key", "public_key", text);
}

static size_t count_names(const char *const *names)
{
	size_t count = 0;

	while (names[count])
		count++;
	return count;
}

static void print_word(FILE *out, const struct word *word, const struct rtattr *attr)
{
	switch (word->kind) {
	case NUMBER:
		print_number(out, word->text, word->key, number_of(attr));
		break;
	case TIME:
	case TIME_OR_0:
		print_time(out, word->text, word->key, number_of(attr));
		break;
	case RATE:
		print_rate(out, word, number_of(attr));
		break;
	case SWITCH:
		print_switch(out, word->text, word->key, number_of(attr));
		break;
	case NAME:
		print_name(out, word->text, word->key, word->names, count_names(word->names),
			   number_of(attr));
		break;
	case ANY_ADDRESS:
		print_addr(out, word, attr);
		break;
	case DEVICE:
		if (!memchr(RTA_DATA(attr), 0, RTA_PAYLOAD(attr)))
			break;
		print_text(out, word->text, word->key, RTA_DATA(attr));
		break;
	default:
		break;
	}
}

static void print_words(FILE *out, const struct word *list, struct rtattr **attrs)
{
	for (; list->text; list++)
		if (attrs[list->attr])
			print_word(out, list, attrs[list->attr]);
}

static void begin_list(const char *name)
{
	if (!is_json_context())
		return;
	jsonw_name(get_json_writer(), name);
	jsonw_start_array(get_json_writer());
}

static void end_list(void)
{
	if (is_json_context())
		jsonw_end_array(get_json_writer());
}

/* a line of its own, or an object */
static void begin_entry(FILE *out)
{
	if (is_json_context())
		jsonw_start_object(get_json_writer());
	else
		fprintf(out, "%s      ", _SL_);
}

static void end_entry(void)
{
	if (is_json_context())
		jsonw_end_object(get_json_writer());
}

static void print_path_words(FILE *out, struct rtattr **attrs)
{
	print_words(out, path_words, attrs);
	if (attrs[IFLA_SHAKE_PATH_PORT])
		print_number(out, "port", "port", number_of(attrs[IFLA_SHAKE_PATH_PORT]));
	if (attrs[IFLA_SHAKE_PATH_STATE])
		print_name(out, "state", "state", states, count_names(states),
			   number_of(attrs[IFLA_SHAKE_PATH_STATE]));
}

static void print_path(FILE *out, struct rtattr *entry)
{
	struct rtattr *attrs[IFLA_SHAKE_PATH_MAX + 1];

	read_nest(attrs, IFLA_SHAKE_PATH_MAX, entry);
	if (!attrs[IFLA_SHAKE_PATH_ID])
		return;
	begin_entry(out);
	if (attrs[IFLA_SHAKE_PATH_PEER])
		print_number(out, "peer", "peer", number_of(attrs[IFLA_SHAKE_PATH_PEER]));
	print_number(out, "path", "id", number_of(attrs[IFLA_SHAKE_PATH_ID]));
	print_path_words(out, attrs);
	end_entry();
}

static void print_prefix(FILE *out, struct rtattr *entry)
{
	int length = RTA_PAYLOAD(entry) - 1;
	const __u8 *octets = RTA_DATA(entry);
	char text[INET6_ADDRSTRLEN + 4];

	if (length < 0 || !address_text(octets, length, text))
		return;
	snprintf(text + strlen(text), 5, "/%u", octets[length]);
	if (is_json_context())
		jsonw_string(get_json_writer(), text);
	else
		fprintf(out, "allow %s ", text);
}

static void print_peers_path(FILE *out, struct rtattr *entry);

static void print_peer(FILE *out, struct rtattr *entry)
{
	struct rtattr *attrs[IFLA_SHAKE_PEER_MAX + 1];

	read_nest(attrs, IFLA_SHAKE_PEER_MAX, entry);
	if (!attrs[IFLA_SHAKE_PEER_ID])
		return;
	begin_entry(out);
	print_number(out, "peer", "id", number_of(attrs[IFLA_SHAKE_PEER_ID]));
	if (attrs[IFLA_SHAKE_PEER_HAS_KEY])
		print_switch(out, "has-key", "has_key",
			     number_of(attrs[IFLA_SHAKE_PEER_HAS_KEY]));
	print_key(out, attrs[IFLA_SHAKE_PEER_PUBLIC_KEY]);
	begin_list("allow");
	if (attrs[IFLA_SHAKE_PEER_PREFIXES])
		each(out, attrs[IFLA_SHAKE_PEER_PREFIXES], print_prefix);
	end_list();
	if (attrs[IFLA_SHAKE_PEER_PATHS]) {
		begin_list("paths");
		each(out, attrs[IFLA_SHAKE_PEER_PATHS], print_peers_path);
		end_list();
	}
	end_entry();
}

/* a list of paths or peers, and how many are not in it for want of room */
static void print_list(FILE *out, const char *name, struct rtattr *list, struct rtattr *count,
		       void (*print)(FILE *out, struct rtattr *entry))
{
	__u32 shown, all;

	if (!list)
		return;
	begin_list(name);
	shown = each(out, list, print);
	end_list();
	all = count ? number_of(count) : shown;
	if (all > shown && !is_json_context())
		fprintf(out, "%s      and %u more %s ", _SL_, all - shown, name);
}

static void print_opt(struct link_util *util, FILE *out, struct rtattr **attrs)
{
	(void)util;
	if (!attrs)
		return;
	print_words(out, words, attrs);
	print_key(out, attrs[IFLA_SHAKE_PUBLIC_KEY]);
	if (is_json_context() && attrs[IFLA_SHAKE_PATH_COUNT])
		jsonw_u64_field(get_json_writer(), "path_count",
				number_of(attrs[IFLA_SHAKE_PATH_COUNT]));
	if (is_json_context() && attrs[IFLA_SHAKE_PEER_COUNT])
		jsonw_u64_field(get_json_writer(), "peer_count",
				number_of(attrs[IFLA_SHAKE_PEER_COUNT]));
	print_list(out, "paths", attrs[IFLA_SHAKE_PATHS], attrs[IFLA_SHAKE_PATH_COUNT],
		   print_path);
	print_list(out, "peers", attrs[IFLA_SHAKE_PEERS], attrs[IFLA_SHAKE_PEER_COUNT],
		   print_peer);
	if (!is_json_context())
		fprintf(out, "%s    ", _SL_);
}

/* --- statistics ----------------------------------------------------------------------- */

/* in the order of the table's columns */
static const struct column {
	const char *head;
	const char *key;
	int attr;
	int width;
	double unit;
	int digits;
} columns[] = {
	{"peer", "peer", IFLA_SHAKE_PATH_PEER, 6, 1, 0},
	{"path", "id", IFLA_SHAKE_PATH_ID, 4, 1, 0},
	{"srtt-ms", "srtt_us", IFLA_SHAKE_PATH_SRTT, 8, 1000, 1},
	{"least-ms", "min_rtt_us", IFLA_SHAKE_PATH_MIN_RTT, 8, 1000, 1},
	{"kbit/s", "throughput", IFLA_SHAKE_PATH_THROUGHPUT, 9, 125, 0},
	{"queue-B", "queue", IFLA_SHAKE_PATH_QUEUE, 8, 1, 0},
	{"sent", "sent", IFLA_SHAKE_PATH_SENT, 10, 1, 0},
	{NULL, "sent_bytes", IFLA_SHAKE_PATH_SENT_BYTES, 0, 1, 0},
	{"received", "received", IFLA_SHAKE_PATH_RECEIVED, 10, 1, 0},
	{NULL, "received_bytes", IFLA_SHAKE_PATH_RECEIVED_BYTES, 0, 1, 0},
	{"lost", "lost", IFLA_SHAKE_PATH_LOST, 7, 1, 0},
	{"late", "late", IFLA_SHAKE_PATH_LATE, 7, 1, 0},
	{"died", "died", IFLA_SHAKE_PATH_DIED, 5, 1, 0},
	{"loss-%", "loss_ppm", IFLA_SHAKE_PATH_LOSS, 6, 10000, 1},
	{"left", "left", IFLA_SHAKE_PATH_LEFT, 5, 1, 0},
	{"mtu", "mtu", IFLA_SHAKE_PATH_MTU, 5, 1, 0},
};

static void print_column(FILE *out, const struct column *column, __u64 number)
{
	if (is_json_context())
		jsonw_u64_field(get_json_writer(), column->key, number);
	else if (column->head)
		fprintf(out, " %*.*f", column->width, column->digits, number / column->unit);
}

static void print_stats(FILE *out, struct rtattr *entry)
{
	struct rtattr *attrs[IFLA_SHAKE_PATH_MAX + 1];
	size_t i;

	read_nest(attrs, IFLA_SHAKE_PATH_MAX, entry);
	begin_entry(out);
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (attrs[columns[i].attr])
			print_column(out, &columns[i], number_of(attrs[columns[i].attr]));
	end_entry();
}

/* the names of those columns that the first path has */
static void print_head(FILE *out, struct rtattr *entry)
{
	struct rtattr *attrs[IFLA_SHAKE_PATH_MAX + 1];
	size_t i;

	read_nest(attrs, IFLA_SHAKE_PATH_MAX, entry);
	begin_entry(out);
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (columns[i].head && attrs[columns[i].attr])
			fprintf(out, " %*s", columns[i].width, columns[i].head);
}

static void print_xstats(struct link_util *util, FILE *out, struct rtattr *list)
{
	struct rtattr *first = RTA_DATA(list);
	bool text = !is_json_context();

	(void)util;
	text = text && RTA_OK(first, (int)RTA_PAYLOAD(list));
	if (text)
		print_head(out, first);
	begin_list("paths");
	each(out, list, print_stats);
	end_list();
	if (text)
		fprintf(out, "%s    ", _SL_);
}

/* --- all peers ------------------------------------------------------------------------ */

/* a path of a peer: its address, its state and statistics */
static void print_peers_path(FILE *out, struct rtattr *entry)
{
	struct rtattr *attrs[IFLA_SHAKE_PATH_MAX + 1];
	size_t i;

	read_nest(attrs, IFLA_SHAKE_PATH_MAX, entry);
	if (!attrs[IFLA_SHAKE_PATH_ID])
		return;
	begin_entry(out);
	if (!is_json_context()) {
		fprintf(out, "  ");
		print_number(out, "path", "id", number_of(attrs[IFLA_SHAKE_PATH_ID]));
	}
	print_path_words(out, attrs);
	for (i = 1; i < ARRAY_SIZE(columns); i++) {
		if (!attrs[columns[i].attr])
			continue;
		if (is_json_context())
			print_column(out, &columns[i], number_of(attrs[columns[i].attr]));
		else if (columns[i].head && columns[i].attr != IFLA_SHAKE_PATH_ID)
			fprintf(out, "%s %.*f ", columns[i].head, columns[i].digits,
				number_of(attrs[columns[i].attr]) / columns[i].unit);
	}
	end_entry();
}

static unsigned int only_device;	/* that is asked for; 0: all */

/* "dev NAME" */
static int parse_ifla_xstats(struct link_util *util, int argc, char **argv)
{
	(void)util;
	if (!argc)
		return 0;
	if (argc != 2 || strcmp(argv[0], "dev")) {
		fprintf(stderr, "Usage: ip link xstats type shake [dev NAME]\n");
		return -1;
	}
	only_device = if_nametoindex(argv[1]);
	if (!only_device)
		fprintf(stderr, "Cannot find device \"%s\"\n", argv[1]);
	return only_device ? 0 : -1;
}

/* the attribute of a number among others, or NULL */
static struct rtattr *find_attr(struct rtattr *attr, int length, int number)
{
	for (; RTA_OK(attr, length); attr = RTA_NEXT(attr, length))
		if ((attr->rta_type & NLA_TYPE_MASK) == number)
			return attr;
	return NULL;
}

/* one message of a dump: a device, or a further part of its peers */
static int print_ifla_xstats(struct nlmsghdr *message, void *arg)
{
	struct if_stats_msg *device = NLMSG_DATA(message);
	static unsigned int before;	/* the device of the last message */
	struct rtattr *peers;
	char name[IF_NAMESIZE];
	FILE *out = arg;
	int length = message->nlmsg_len - NLMSG_LENGTH(sizeof(*device));

	if (length < 0 || (only_device && device->ifindex != only_device))
		return 0;
	peers = (struct rtattr *)((char *)device + NLMSG_ALIGN(sizeof(*device)));
	peers = find_attr(peers, length, IFLA_STATS_LINK_XSTATS);
	if (peers)
		peers = find_attr(RTA_DATA(peers), RTA_PAYLOAD(peers), LINK_XSTATS_TYPE_SHAKE);
	if (!peers)
		return 0;
	if (!if_indextoname(device->ifindex, name))
		snprintf(name, sizeof(name), "if%u", device->ifindex);
	if (is_json_context()) {
		jsonw_start_object(get_json_writer());
		jsonw_string_field(get_json_writer(), "ifname", name);
	} else if (device->ifindex != before) {
		fprintf(out, "%s%s", before ? "\n" : "", name);
	}
	before = device->ifindex;
	begin_list("peers");
	each(out, peers, print_peer);
	end_list();
	if (is_json_context())
		jsonw_end_object(get_json_writer());
	return 0;
}

struct link_util shake_link_util = {
	.id = "shake",
	.maxattr = IFLA_SHAKE_MAX,
	.parse_opt = parse_opt,
	.print_opt = print_opt,
	.print_xstats = print_xstats,
	.print_help = print_help,
	.parse_ifla_xstats = parse_ifla_xstats,
	.print_ifla_xstats = print_ifla_xstats,
};
