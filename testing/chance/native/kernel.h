/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Stand-ins for the kernel functions that an emitted scheduler uses, under the same names: queues
 * with tasks, a clock, idle CPUs. Written from the kernel's documented behaviour, not its code.
 *
 * As in the kernel, a task that select_cpu or enqueue inserts is in its queue only when that
 * operation has returned.
 */
#ifndef WASTENOT_NATIVE_KERNEL_H
#define WASTENOT_NATIVE_KERNEL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

#define bpf_rcu_read_lock()
#define bpf_rcu_read_unlock()
#define SEC(name)
#define RODATA static
#define ALWAYS_INLINE inline
#define ONCE
enum { ALL_CPUS = 1024, HASH = 1, ARRAY = 2 };
/* Where CPUs that run at the same time may take turns (together.c). */
#ifndef MEET
#define MEET()
#define WAIT()
#define KICKED(cpu)
#define EARLY false /* whether a CPU may be woken before its task is in the queue */
#endif

struct cpumask {
	u64 bits[ALL_CPUS / 64];
};

struct sched_ext_entity {
	u32 flags;
	u32 weight;
	u64 slice;
};

struct kernfs_node {
	u64 id;
};
struct cgroup {
	struct kernfs_node *kn;
};
struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	const struct cpumask *cpus_ptr;
	struct cpumask cpus_mask;
	int nr_cpus_allowed;
	unsigned int __state;
	int tgid;
	int pid;
	int prio;
	struct css_set *cgroups;
	struct sched_ext_entity scx;
	/* Used by these stand-ins only. */
	int number;
	s32 cpu;
	void *storage;
	u64 key;
	struct dsq *dsq;
	struct task_struct *next;
	u64 arrived; /* its number among all insertions */
	bool locked; /* the lock of its run queue is held: nobody takes it */
};

enum scx_exit_kind { SCX_EXIT_NONE };
struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	const char *msg;
};
struct scx_init_task_args;
struct scx_exit_task_args;
struct scx_dump_ctx;
struct scx_bpf_dsq_insert_vtime_args {
	u64 dsq_id, slice, vtime, enq_flags;
};

struct sched_ext_ops {
	void *select_cpu, *enqueue, *dispatch, *running, *stopping, *quiescent, *tick, *yield;
	void *update_idle, *cpu_release, *set_cpumask, *disable, *init_task, *exit_task, *init, *exit;
	void *dump;
	u64 flags, hotplug_seq;
	u32 timeout_ms;
	char name[128];
};

/* An action that every kernel would refuse ends the test. */
static void wrong(const char *what)
{
	printf("wrong: %s\n", what);
	fflush(stdout);
	exit(1);
}

/* Queues. */
struct dsq {
	u64 id;
	struct task_struct *first;
	int count;
	struct dsq *next;
};

enum { BUCKETS = 4096 };
static struct dsq *buckets[BUCKETS];
static struct dsq local[ALL_CPUS];

static struct dsq *dsq_of(u64 id)
{
	struct dsq *dsq;

	for (dsq = buckets[(id ^ id >> 24 ^ id >> 32) % BUCKETS]; dsq; dsq = dsq->next)
		if (dsq->id == id)
			return dsq;
	return NULL;
}

static s32 scx_bpf_create_dsq(u64 id, s32 node)
{
	u32 bucket = (id ^ id >> 24 ^ id >> 32) % BUCKETS;
	struct dsq *dsq = calloc(1, sizeof(*dsq));

	(void)node;
	if (dsq_of(id))
		wrong("a queue is made twice");
	dsq->id = id;
	dsq->next = buckets[bucket];
	buckets[bucket] = dsq;
	return 0;
}

static u64 arrivals;

/* By key, ties in the order of arrival. */
static void dsq_add(struct dsq *dsq, struct task_struct *p, u64 key)
{
	struct task_struct **at = &dsq->first;

	if (p->dsq)
		wrong("a task is in two queues");
	while (*at && (s64)((*at)->key - key) <= 0)
		at = &(*at)->next;
	p->arrived = ++arrivals;
	p->key = key;
	p->next = *at;
	p->dsq = dsq;
	*at = p;
	dsq->count++;
}

static void dsq_remove(struct task_struct *p)
{
	struct task_struct **at = &p->dsq->first;

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	p->dsq->count--;
	p->dsq = NULL;
	p->next = NULL;
}

static s32 scx_bpf_dsq_nr_queued(u64 id)
{
	struct dsq *dsq = dsq_of(id);

	MEET();
	if (!dsq)
		wrong("nobody made the queue that is asked about");
	return dsq->count;
}

/* Iterators see the tasks that were in a queue when they began and still are. */
enum { SEEN = 512 };
struct bpf_iter_scx_dsq {
	struct dsq *dsq;
	struct task_struct *all[SEEN];
	int count, next;
	u64 key, began; /* at this insertion */
};
static int iterating;

/* Whether a task is still there; if it left and came back, it is not. */
static bool is_still_in(struct bpf_iter_scx_dsq *it, struct task_struct *p)
{
	return p->dsq == it->dsq && p->arrived <= it->began;
}

static int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 id, u64 flags)
{
	struct task_struct *p;

	(void)flags;
	iterating++;
	it->dsq = dsq_of(id);
	it->count = it->next = 0;
	it->began = arrivals;
	for (p = it->dsq ? it->dsq->first : NULL; p && it->count < SEEN; p = p->next)
		it->all[it->count++] = p;
	return it->dsq ? 0 : -2;
}

static struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it)
{
	MEET();
	while (it->next < it->count)
		if (is_still_in(it, it->all[it->next++]))
			return it->all[it->next - 1];
	return NULL;
}

static void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it)
{
	(void)it;
	iterating--;
}

static void scx_bpf_dsq_move_set_vtime(struct bpf_iter_scx_dsq *it, u64 key)
{
	it->key = key;
}

static bool move_by(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 id, u64 key)
{
	struct dsq *dsq = dsq_of(id);

	MEET();
	if (!dsq)
		wrong("a task is moved to nowhere");
	while (p->locked)
		WAIT();
	if (!is_still_in(it, p))
		return false; /* it was taken meanwhile */
	dsq_remove(p);
	dsq_add(dsq, p, key);
	printf(" move %d", p->number);
	return true;
}

static bool scx_bpf_dsq_move_vtime(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 id,
				   u64 flags)
{
	(void)flags;
	return move_by(it, p, id, it->key);
}

static bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 id, u64 flags)
{
	(void)flags;
	return move_by(it, p, id, 0);
}

/* The CPU that runs the program, and the clock. */
static u32 this_cpu;
static u64 now;

static u32 bpf_get_smp_processor_id(void)
{
	return this_cpu;
}

static u64 bpf_ktime_get_ns(void)
{
	return now;
}

static bool has(const struct cpumask *mask, u32 cpu)
{
	return cpu < ALL_CPUS && (mask->bits[cpu / 64] >> (cpu % 64) & 1);
}

static bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *mask)
{
	MEET();
	return has(mask, cpu);
}

static s32 scx_bpf_task_cpu(const struct task_struct *p)
{
	return p->cpu;
}

/* The decision for the task that is being placed; commit() carries it out. */
static struct {
	struct task_struct *placing;
	u64 id;
	u64 key;
	bool any;
} decided;

static void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 id, u64 slice, u64 key, u64 flags)
{
	(void)flags;
	if (p != decided.placing || decided.any)
		wrong("a task is inserted that is not being placed, or twice");
	decided.id = id;
	decided.key = key;
	decided.any = true;
	p->scx.slice = slice;
}

static void scx_bpf_dsq_insert(struct task_struct *p, u64 id, u64 slice, u64 flags)
{
	scx_bpf_dsq_insert_vtime(p, id, slice, 0, flags);
}

static bool __scx_bpf_dsq_insert_vtime(struct task_struct *p,
				       struct scx_bpf_dsq_insert_vtime_args *args)
{
	scx_bpf_dsq_insert_vtime(p, args->dsq_id, args->slice, args->vtime, args->enq_flags);
	return true;
}

/* Moves the first task of a queue that may run here to the local queue. */
static s32 dispatching = -1;

static bool scx_bpf_dsq_move_to_local(u64 id)
{
	struct dsq *dsq = dsq_of(id);
	struct task_struct *p;

	MEET();
	if (!dsq || dispatching < 0)
		wrong("a task is moved from nowhere, or outside of dispatch");
again:
	for (p = dsq->first; p; p = p->next) {
		if (!has(p->cpus_ptr, dispatching))
			continue;
		if (p->locked) {
			WAIT();
			goto again;
		}
		dsq_remove(p);
		dsq_add(&local[dispatching], p, 0);
		p->cpu = dispatching;
		return true;
	}
	return false;
}

/* No task of another class takes a CPU here. */
static u32 scx_bpf_reenqueue_local(void)
{
	return 0;
}

static void scx_bpf_kick_cpu(s32 cpu, u64 flags)
{
	/* The task of this wakeup must be in its queue, or in the CPU's local queue on return. */
	if (!EARLY && decided.placing && flags == 1 && !(decided.any && decided.id >> 62 == 3))
		wrong("a CPU is woken for a task that is in no queue yet");
	printf(" kick %d %llu", cpu, flags);
	KICKED(cpu);
}

static void scx_bpf_dump_bstr(char *format, u64 *data, u32 size)
{
	(void)format;
	(void)data;
	(void)size;
}

static long bpf_probe_read_kernel_str(void *to, u32 size, const void *from)
{
	return snprintf(to, size, "%s", (const char *)from);
}

/* A kernel refuses a program that loops zero times (4.2 of the design: guard every count). */
static long bpf_loop(u32 count, void *step, void *state, u64 flags)
{
	long (*call)(u32, void *) = step;
	u32 n;

	(void)flags;
	if (!count)
		wrong("bpf_loop of zero");
	for (n = 0; n < count; n++)
		if (call(n, state))
			return n + 1;
	return n;
}

/* Maps and timers. */
#define TASK_STORAGE(name, held) static struct { u32 size; } name = { sizeof(held) }
#define MAP(name, kind, count, from, held)                                                         \
	static struct {                                                                            \
		u32 entries, size;                                                                 \
		held values[count];                                                                \
	} name = { .entries = count, .size = sizeof(held) }

/* The ring of a log: each record is printed where nobody reads decisions. */
#define RING(name, size) static char name
static u64 reserved[16];

static void *bpf_ringbuf_reserve(void *ring, u64 size, u64 flags)
{
	(void)ring;
	(void)flags;
	MEET();
	if (size > sizeof(reserved))
		wrong("a record is too large");
	return reserved;
}

static void bpf_ringbuf_submit(void *held, u64 flags)
{
	u32 n;

	(void)held;
	(void)flags;
	for (n = 0; n < 7; n++)
		fprintf(stderr, "%llu ", reserved[n]);
	fprintf(stderr, "\n");
}

static void *bpf_task_storage_get(void *map, struct task_struct *p, void *value, u64 flags)
{
	(void)value;
	if (!p->storage && (flags & 1))
		p->storage = calloc(1, *(u32 *)map);
	return p->storage;
}

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	struct {
		u32 entries, size;
	} *head = map;
	u32 at = *(const u32 *)key;

	return at < head->entries ? (char *)(head + 1) + (size_t)at * head->size : NULL;
}

struct bpf_timer {
	u64 opaque[2];
};
static long bpf_timer_init(struct bpf_timer *timer, void *map, u64 flags)
{
	(void)map;
	(void)flags;
	timer->opaque[0] = 1;
	return 0;
}
static long bpf_timer_set_callback(struct bpf_timer *timer, void *call)
{
	timer->opaque[1] = (u64)call;
	return 0;
}
static long bpf_timer_start(struct bpf_timer *timer, u64 after, u64 flags)
{
	(void)after;
	(void)flags;
	if (!timer->opaque[0] || !timer->opaque[1])
		wrong("a timer is started that is not ready");
	return 0;
}

static u32 keep_types(void)
{
	return 0;
}

#endif
