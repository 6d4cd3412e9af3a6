// SPDX-License-Identifier: GPL-2.0
/* Opportunities to send at given times, as a BPF program for tc that gives each frame the time of
 * its departure; the fq below sends it then.
 *
 * An opportunity carries 1500 octets of IP, as Mahimahi's. Frames share one, and a frame that needs
 * more than what is left of one leaves with the next; what is left when no frame waits is lost. The
 * times are known, so a frame's departure is known when it arrives. The queue is the frames whose
 * departure is to come: one that finds LIMIT of them is dropped and takes no opportunity.
 *
 * Time zero is the first frame that is not a multicast. Programs that share a zero have the same.
 * The program is to be a filter of a qdisc, so that one frame after the other passes it.
 */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "flow.h"

#define OCTETS		1500		/* of IP that an opportunity carries */
#define ETHERNET	14
#define MS		1e6		/* in ns */
#define MOST_TIMES	16777216
#define MOST_LIMIT	16777216
#define MOST_CODE	4096
#define MOST_STEPS	64		/* of the limit */
#define ACT_NEXT	-1		/* TC_ACT_UNSPEC: the qdisc's own choice of a band */
#define ACT_DROP	2		/* TC_ACT_SHOT */

/* What the program knows from frame to frame: the first field is where this turn of the times
 * begins (ns), then the opportunity in use, what is left of it, and how many frames were taken. The
 * last one is of a search: here the kernel's verifier does not know its value, while on the stack
 * it would follow each way that a search may take.
 */
struct state {
	uint64_t base, at, left, taken, found;
};

/* The limit of the queue (packets) from a time on (ns). */
struct step {
	uint64_t from;
	int limit;
};

/* The program's maps and settings, times in ns. */
struct table {
	int zero, state, times, departures;
	uint64_t *time, period, offset;
	uint64_t n, room;
	struct step steps[MOST_STEPS];
	int changes;
};

/* --- instructions --- */

static struct bpf_insn code[MOST_CODE];
static int length, outs[MOST_CODE], out;

static int emit(int op, int dst, int src, int off, int imm)
{
	if (length == MOST_CODE)
		die("program too long");
	code[length] = (struct bpf_insn){
		.code = (uint8_t)op, .dst_reg = dst & 15, .src_reg = src & 15,
		.off = (int16_t)off, .imm = imm,
	};
	return length++;
}

/* An instruction on a constant and on a register; a jump is landed later. */
static int with(int op, int dst, int imm)
{
	return emit(op | BPF_K, dst, 0, 0, imm);
}

static int and(int op, int dst, int src)
{
	return emit(op | BPF_X, dst, src, 0, 0);
}

static void land(int jump)
{
	code[jump].off = (int16_t)(length - jump - 1);
}

#define SET	(BPF_ALU64 | BPF_MOV)
#define ADD	(BPF_ALU64 | BPF_ADD)
#define SUB	(BPF_ALU64 | BPF_SUB)
#define MUL	(BPF_ALU64 | BPF_MUL)
#define DIV	(BPF_ALU64 | BPF_DIV)
#define MOD	(BPF_ALU64 | BPF_MOD)
#define IF(c)	(BPF_JMP | BPF_J##c)

static void load(int dst, int src, int off)
{
	emit(BPF_LDX | BPF_DW | BPF_MEM, dst, src, off, 0);
}

static void store(int dst, int off, int src)
{
	emit(BPF_STX | BPF_DW | BPF_MEM, dst, src, off, 0);
}

static void constant(int dst, int kind, uint64_t value)
{
	emit(BPF_LD | BPF_DW | BPF_IMM, dst, kind, 0, (int)(uint32_t)value);
	emit(0, 0, 0, 0, (int)(uint32_t)(value >> 32));
}

static void call(int helper)
{
	emit(BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

/* Leave the program for its end if the jump is taken. */
static void leave(int jump)
{
	outs[out++] = jump;
}

/* r0 = the address of a map's value; the key is in r1. */
static void look_up(int map)
{
	emit(BPF_STX | BPF_W | BPF_MEM, BPF_REG_10, BPF_REG_1, -4, 0);
	constant(BPF_REG_1, BPF_PSEUDO_MAP_FD, (uint64_t)map);
	and(SET, BPF_REG_2, BPF_REG_10);
	with(ADD, BPF_REG_2, -4);
	call(BPF_FUNC_map_lookup_elem);
	leave(with(IF(EQ), BPF_REG_0, 0));
}

/* --- the program; r6: frame, r7: now, r8: state, r9: a time --- */

enum { LIMIT = -16, ZERO = -24 }; /* on the stack */
enum {
	BASE = offsetof(struct state, base), AT = offsetof(struct state, at),
	LEFT = offsetof(struct state, left), TAKEN = offsetof(struct state, taken),
	FOUND = offsetof(struct state, found),
};

/* r7 = now, r1 = zero; the first frame sets it. */
static void emit_zero(const struct table *t)
{
	int known;

	and(SET, BPF_REG_6, BPF_REG_1);
	emit(BPF_LD | BPF_ABS | BPF_B, 0, 0, 0, 0);
	with(BPF_ALU64 | BPF_AND, BPF_REG_0, 1);
	leave(with(IF(NE), BPF_REG_0, 0));
	call(BPF_FUNC_ktime_get_ns);
	and(SET, BPF_REG_7, BPF_REG_0);
	with(SET, BPF_REG_1, 0);
	look_up(t->zero);
	load(BPF_REG_1, BPF_REG_0, 0);
	known = with(IF(NE), BPF_REG_1, 0);
	store(BPF_REG_0, 0, BPF_REG_7);
	and(SET, BPF_REG_1, BPF_REG_7);
	land(known);
}

/* r2 = the limit at r9, the time since zero. */
static void emit_limit(const struct table *t)
{
	int ends[MOST_STEPS], i;

	with(SET, BPF_REG_2, t->steps[0].limit);
	for (i = 1; i < t->changes; i++) {
		constant(BPF_REG_1, 0, t->steps[i].from);
		ends[i] = and(IF(LT), BPF_REG_9, BPF_REG_1);
		with(SET, BPF_REG_2, t->steps[i].limit);
	}
	for (i = 1; i < t->changes; i++)
		land(ends[i]);
}

/* Returns the jump that is taken if the queue is full. */
static int emit_full(const struct table *t)
{
	int room, full;

	load(BPF_REG_1, BPF_REG_8, TAKEN);
	load(BPF_REG_2, BPF_REG_10, LIMIT);
	room = and(IF(LT), BPF_REG_1, BPF_REG_2);
	and(SUB, BPF_REG_1, BPF_REG_2);
	with(MOD, BPF_REG_1, (int)t->room);
	look_up(t->departures);
	load(BPF_REG_1, BPF_REG_0, 0);
	full = and(IF(GT), BPF_REG_1, BPF_REG_7);
	land(room);
	return full;
}

/* r1 = the time of the opportunity in use. */
static void emit_time(const struct table *t)
{
	load(BPF_REG_1, BPF_REG_8, AT);
	look_up(t->times);
	load(BPF_REG_1, BPF_REG_0, 0);
	load(BPF_REG_2, BPF_REG_8, BASE);
	and(ADD, BPF_REG_1, BPF_REG_2);
}

/* If the opportunity in use has passed, use the first one that is not before r9. */
static void emit_search(const struct table *t)
{
	uint64_t bit = 1;
	int ready, beyond, later, found;

	emit_time(t);
	ready = and(IF(GE), BPF_REG_1, BPF_REG_9);
	constant(BPF_REG_2, 0, t->period);
	and(SET, BPF_REG_3, BPF_REG_9);
	with(SUB, BPF_REG_3, 1);
	and(DIV, BPF_REG_3, BPF_REG_2);
	and(MUL, BPF_REG_3, BPF_REG_2);
	store(BPF_REG_8, BASE, BPF_REG_3);
	and(SUB, BPF_REG_9, BPF_REG_3);
	with(SET, BPF_REG_1, 0);
	store(BPF_REG_8, FOUND, BPF_REG_1);
	while (bit * 2 <= t->n)
		bit *= 2;
	for (; bit; bit /= 2) {
		load(BPF_REG_1, BPF_REG_8, FOUND);
		with(ADD, BPF_REG_1, (int)bit - 1);
		beyond = with(IF(GE), BPF_REG_1, (int)t->n);
		look_up(t->times);
		load(BPF_REG_2, BPF_REG_0, 0);
		later = and(IF(GE), BPF_REG_2, BPF_REG_9);
		load(BPF_REG_1, BPF_REG_8, FOUND);
		with(ADD, BPF_REG_1, (int)bit);
		store(BPF_REG_8, FOUND, BPF_REG_1);
		land(beyond);
		land(later);
	}
	load(BPF_REG_1, BPF_REG_8, FOUND);
	found = with(IF(LT), BPF_REG_1, (int)t->n);
	with(SET, BPF_REG_1, 0);
	load(BPF_REG_2, BPF_REG_8, BASE);
	constant(BPF_REG_3, 0, t->period);
	and(ADD, BPF_REG_2, BPF_REG_3);
	store(BPF_REG_8, BASE, BPF_REG_2);
	land(found);
	store(BPF_REG_8, AT, BPF_REG_1);
	with(SET, BPF_REG_1, OCTETS);
	store(BPF_REG_8, LEFT, BPF_REG_1);
	land(ready);
}

/* Take the frame's octets from this opportunity and those that follow. */
static void emit_take(const struct table *t)
{
	int fits;

	emit(BPF_LDX | BPF_W | BPF_MEM, BPF_REG_3, BPF_REG_6, offsetof(struct __sk_buff, len), 0);
	with(SUB, BPF_REG_3, ETHERNET);
	load(BPF_REG_4, BPF_REG_8, LEFT);
	fits = and(IF(GE), BPF_REG_4, BPF_REG_3);
	and(SET, BPF_REG_5, BPF_REG_3);
	and(SUB, BPF_REG_5, BPF_REG_4);
	with(ADD, BPF_REG_5, OCTETS - 1);
	with(DIV, BPF_REG_5, OCTETS);
	load(BPF_REG_1, BPF_REG_8, AT);
	and(ADD, BPF_REG_1, BPF_REG_5);
	with(MUL, BPF_REG_5, OCTETS);
	and(ADD, BPF_REG_4, BPF_REG_5);
	and(SET, BPF_REG_2, BPF_REG_1);
	with(MOD, BPF_REG_1, (int)t->n);
	store(BPF_REG_8, AT, BPF_REG_1);
	with(DIV, BPF_REG_2, (int)t->n);
	constant(BPF_REG_5, 0, t->period);
	and(MUL, BPF_REG_2, BPF_REG_5);
	load(BPF_REG_1, BPF_REG_8, BASE);
	and(ADD, BPF_REG_1, BPF_REG_2);
	store(BPF_REG_8, BASE, BPF_REG_1);
	land(fits);
	and(SUB, BPF_REG_4, BPF_REG_3);
	store(BPF_REG_8, LEFT, BPF_REG_4);
}

/* The departure is noted in the frame and in the list by which a full queue is known. */
static void emit_departure(const struct table *t)
{
	emit_time(t);
	and(SET, BPF_REG_9, BPF_REG_1);
	constant(BPF_REG_1, 0, t->offset);
	and(SUB, BPF_REG_9, BPF_REG_1);
	load(BPF_REG_1, BPF_REG_10, ZERO);
	and(ADD, BPF_REG_9, BPF_REG_1);
	load(BPF_REG_1, BPF_REG_8, TAKEN);
	and(SET, BPF_REG_2, BPF_REG_1);
	with(ADD, BPF_REG_2, 1);
	store(BPF_REG_8, TAKEN, BPF_REG_2);
	with(MOD, BPF_REG_1, (int)t->room);
	look_up(t->departures);
	store(BPF_REG_0, 0, BPF_REG_9);
	and(SET, BPF_REG_1, BPF_REG_6);
	and(SET, BPF_REG_2, BPF_REG_9);
	with(SET, BPF_REG_3, BPF_SKB_TSTAMP_DELIVERY_MONO);
	call(BPF_FUNC_skb_set_tstamp);
}

/* The whole program; without times it only sets zero. */
static void emit_program(const struct table *t)
{
	int full = -1;

	emit_zero(t);
	if (t->n) {
		store(BPF_REG_10, ZERO, BPF_REG_1);
		and(SET, BPF_REG_9, BPF_REG_7);
		and(SUB, BPF_REG_9, BPF_REG_1);
		emit_limit(t);
		store(BPF_REG_10, LIMIT, BPF_REG_2);
		with(SET, BPF_REG_1, 0);
		look_up(t->state);
		and(SET, BPF_REG_8, BPF_REG_0);
		full = emit_full(t);
		constant(BPF_REG_1, 0, t->offset);
		and(ADD, BPF_REG_9, BPF_REG_1);
		emit_search(t);
		emit_take(t);
		emit_departure(t);
	}
	while (out)
		land(outs[--out]);
	with(SET, BPF_REG_0, ACT_NEXT);
	emit(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	if (full >= 0) {
		land(full);
		with(SET, BPF_REG_0, ACT_DROP);
		emit(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	}
}

/* --- maps --- */

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(__NR_bpf, command, attr, sizeof(*attr));
}

static int map_of(uint32_t size, uint64_t entries, uint32_t flags)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = size,
		.max_entries = (uint32_t)entries, .map_flags = flags,
	};
	int fd = bpf(BPF_MAP_CREATE, &attr);

	if (fd < 0)
		die("BPF map");
	return fd;
}

static void pin(int fd, const char *path)
{
	union bpf_attr attr = { .pathname = (uintptr_t)path, .bpf_fd = (uint32_t)fd };

	if (bpf(BPF_OBJ_PIN, &attr))
		die(path);
}

/* The zero of that name, made if there is none. */
static int zero_of(const char *path)
{
	union bpf_attr attr = { .pathname = (uintptr_t)path };
	int fd = bpf(BPF_OBJ_GET, &attr);

	if (fd < 0) {
		fd = map_of(sizeof(uint64_t), 1, 0);
		pin(fd, path);
	}
	return fd;
}

static void make_maps(struct table *t)
{
	struct state first = { .left = OCTETS };
	uint32_t key = 0;
	union bpf_attr attr = { .key = (uintptr_t)&key, .value = (uintptr_t)&first };
	size_t size = t->n * sizeof(uint64_t);
	void *times;

	t->times = map_of(sizeof(uint64_t), t->n, BPF_F_MMAPABLE);
	times = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, t->times, 0);
	if (times == MAP_FAILED)
		die("BPF map's memory");
	memcpy(times, t->time, size);
	munmap(times, size);
	t->departures = map_of(sizeof(uint64_t), t->room, 0);
	t->state = map_of(sizeof(struct state), 1, 0);
	attr.map_fd = (uint32_t)t->state;
	if (bpf(BPF_MAP_UPDATE_ELEM, &attr))
		die("BPF map's value");
}

static void load_program(const char *path)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SCHED_CLS, .insns = (uintptr_t)code,
		.insn_cnt = (uint32_t)length, .license = (uintptr_t)"GPL",
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		die("BPF program");
	pin(fd, path);
}

/* --- input --- */

/* Lines MS [COUNT [STEP_MS]] of standard input: COUNT (1) opportunities from a time on, STEP apart
 * (0). They are in order.
 */
static int read_times(struct table *t)
{
	double at, step;
	char line[256];
	int count, i;

	t->time = malloc(MOST_TIMES * sizeof(*t->time));
	if (!t->time)
		die("memory");
	while (fgets(line, sizeof(line), stdin)) {
		count = 1;
		step = 0;
		if (sscanf(line, "%lf %d %lf", &at, &count, &step) < 1 || at < 0 || count < 1 ||
		    step < 0 || (uint64_t)count > MOST_TIMES - t->n)
			return -1;
		for (i = 0; i < count; i++)
			t->time[t->n++] = (uint64_t)((at + i * step) * MS + .5);
	}
	return t->n ? 0 : -1;
}

/* LIMIT[+SECONDS:LIMIT]...: packets that the queue holds, from these times on */
static int read_limits(struct table *t, const char *text)
{
	char *end;
	long limit;

	for (; t->changes < MOST_STEPS; text = end + 1) {
		struct step *step = &t->steps[t->changes++];

		step->from = 0;
		if (t->changes > 1) {
			step->from = (uint64_t)(strtod(text, &end) * 1e9 + .5);
			if (*end != ':')
				return -1;
			text = end + 1;
		}
		limit = strtol(text, &end, 10);
		if (end == text || limit < 1 || limit > MOST_LIMIT)
			return -1;
		step->limit = (int)limit;
		if ((uint64_t)limit > t->room)
			t->room = (uint64_t)limit;
		if (*end != '+')
			return *end ? -1 : 0;
	}
	return -1;
}

/* flow opportunities PROGRAM ZERO [LIMITS PERIOD_MS OFFSET_MS] */
int flow_opportunities(int argc, char **argv)
{
	struct table t = { .n = 0 };

	t.zero = zero_of(argv[3]);
	if (argc == 7) {
		t.period = (uint64_t)(atof(argv[5]) * MS + .5);
		t.offset = (uint64_t)(atof(argv[6]) * MS + .5);
		if (read_limits(&t, argv[4]) || read_times(&t) || !t.period ||
		    t.time[t.n - 1] > t.period)
			return 2;
		make_maps(&t);
	}
	emit_program(&t);
	load_program(argv[2]);
	return 0;
}
