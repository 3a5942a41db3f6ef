/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * ws: a scheduler for sched_ext, written by `wastenot rota emit`.
 *
 * Above each function of a policy, a comment shows its clause in the policy. In
 * these functions, `me` is the CPU or group that dispatches or balances, `v` is
 * the candidate from which it may take tasks, and `t` is the task. Compile this
 * file with `clang -g -O2 -target bpf -mcpu=v3 -c`. A loader fills in the
 * values marked RODATA.
 */
enum { MAX_CPUS = 1024, PARTS = 1, PART_ROWS = 1 };

#define NOBODY 0xffffu /* no partition */
#define ANY ~0u /* any queue */

/*
 * The kernel, as far as this file uses it. libbpf and the verifier match types and functions by
 * name against the running kernel, so that declaring the members in use is enough.
 */
#ifdef WASTENOT_NATIVE
#include "kernel.h" /* stand-ins with the same names: tests run the policy outside the kernel */
#else
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
typedef _Bool bool;
enum { false, true };

#define SEC(name) __attribute__((section(name), used))
#define KFUNC __attribute__((section(".ksyms")))
#define WEAK __attribute__((weak))
#define CORE __attribute__((preserve_access_index))
#define RODATA const volatile
/* BPF calls have at most five arguments: functions with more must be inlined. */
#define ALWAYS_INLINE inline __attribute__((always_inline))
/* A function that is not static is verified once, not again at each call. */
#define ONCE __attribute__((noinline))

/* Kfunc arguments are compared by kind: this must be a struct, not a forward declaration. */
struct cpumask {
	unsigned long bits[1];
} CORE;

struct sched_ext_entity {
	u32 flags;
	u32 weight;
	u64 slice;
} CORE;

struct kernfs_node {
	u64 id;
} CORE;

struct cgroup {
	struct kernfs_node *kn;
} CORE;

struct css_set {
	struct cgroup *dfl_cgrp;
} CORE;

struct task_struct {
	const struct cpumask *cpus_ptr;
	struct cpumask cpus_mask;
	int nr_cpus_allowed;
	unsigned int __state;
	int tgid;
	struct css_set *cgroups;
	struct sched_ext_entity scx;
} CORE;

/* Must be an enum, as in the kernel, or CO-RE does not find it. */
enum scx_exit_kind { SCX_EXIT_NONE };

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	const char *msg;
} CORE;

struct scx_init_task_args;
struct scx_exit_task_args;
struct scx_dump_ctx;

struct bpf_iter_scx_dsq {
	u64 opaque[6];
};

/* In every kernel with sched_ext since 6.13. */
extern s32 scx_bpf_create_dsq(u64 id, s32 node) KFUNC;
extern void scx_bpf_dsq_insert(struct task_struct *p, u64 id, u64 slice, u64 flags) KFUNC;
extern bool scx_bpf_dsq_move_to_local(u64 id) KFUNC;
extern s32 scx_bpf_dsq_nr_queued(u64 id) KFUNC;
extern void scx_bpf_kick_cpu(s32 cpu, u64 flags) KFUNC;
extern u32 scx_bpf_reenqueue_local(void) KFUNC;
extern s32 scx_bpf_task_cpu(const struct task_struct *p) KFUNC;
extern bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *mask) KFUNC;
extern int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 id, u64 flags) KFUNC;
/* In one place, and in the loop: where clang takes the first call out of the loop, 6.18 finds an
 * iterator that advances outside of any, and gives up ("no SCC in verification path"). */
extern struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) KFUNC
	__attribute__((noduplicate));
extern void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) KFUNC;
extern void bpf_rcu_read_lock(void) KFUNC;
extern void bpf_rcu_read_unlock(void) KFUNC;

/* Not in every kernel: the loader checks which of the two forms exists. */
struct scx_bpf_dsq_insert_vtime_args {
	u64 dsq_id;
	u64 slice;
	u64 vtime;
	u64 enq_flags;
} CORE;
extern bool __scx_bpf_dsq_insert_vtime(struct task_struct *p,
				       struct scx_bpf_dsq_insert_vtime_args *args) KFUNC WEAK;
extern void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 id, u64 slice, u64 vtime,
				     u64 flags) KFUNC WEAK;
extern void scx_bpf_dsq_move_set_vtime(struct bpf_iter_scx_dsq *it, u64 vtime) KFUNC WEAK;
extern bool scx_bpf_dsq_move_vtime(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 id,
				   u64 flags) KFUNC WEAK;
extern bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 id,
			     u64 flags) KFUNC WEAK;
extern void scx_bpf_dump_bstr(char *format, u64 *data, u32 size) KFUNC WEAK;

/* Helpers are called by number. */
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_smp_processor_id)(void) = (void *)8;
static long (*const bpf_probe_read_kernel_str)(void *to, u32 size, const void *from) = (void *)115;
static void *(*const bpf_task_storage_get)(void *map, struct task_struct *p, void *value,
				     u64 flags) = (void *)156;
static long (*const bpf_loop)(u32 count, void *step, void *state, u64 flags) = (void *)181;

/* Maps: libbpf reads their numbers from the types of arrays. */
#define TASK_STORAGE(name, held)                                                               \
	struct {                                                                               \
		int(*type)[29];                                                                \
		int(*map_flags)[1]; /* no preallocation */                                     \
		int *key;                                                                      \
		held *value;                                                                   \
	} name SEC(".maps")

/* Without this clang describes the mask as a forward declaration. */
static u32 keep_types(void)
{
	return __builtin_preserve_type_info(*(struct cpumask *)0, 0);
}

struct scx_cpu_release_args;

struct sched_ext_ops {
	u64 flags; /* these two first: the loader writes them */
	u64 hotplug_seq;
	s32 (*select_cpu)(struct task_struct *p, s32 prev, u64 flags);
	void (*enqueue)(struct task_struct *p, u64 flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	void (*quiescent)(struct task_struct *p, u64 flags);
	void (*tick)(struct task_struct *p);
	bool (*yield)(struct task_struct *from, struct task_struct *to);
	void (*update_idle)(s32 cpu, bool idle);
	void (*cpu_release)(s32 cpu, struct scx_cpu_release_args *args);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*exit_task)(struct task_struct *p, struct scx_exit_task_args *args);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	void (*dump)(struct scx_dump_ctx *context);
	u32 timeout_ms;
	char name[128];
};
#endif

/*
 * Constants of the running kernel. The loader looks up each one by name in the kernel's BTF; the
 * values here are those of the kernels at the time of writing.
 */
RODATA u64 SCX_DSQ_LOCAL = 0x8000000000000002ULL;
RODATA u64 SCX_DSQ_LOCAL_ON = 0xc000000000000000ULL;
RODATA u64 SCX_SLICE_INF = ~0ULL;
RODATA u64 SCX_KICK_IDLE = 1;
RODATA u64 SCX_KICK_PREEMPT = 2;
RODATA u64 SCX_ENQ_WAKEUP = 1;
RODATA u64 SCX_DEQ_SLEEP = 1;
RODATA u32 SCX_TASK_QUEUED = 1;
RODATA u32 TASK_DEAD = 0x80;

/*
 * The machine, filled by the loader. Groups of a level are numbered over all partitions: those of
 * the first partition first, in each partition in the order of their lowest CPU. CPUs are groups
 * of level CPU. `members` is where `member` holds the CPUs of a group, ascending; `groups` is which
 * groups a partition has. A partition always has a CPU. A CPU without a partition has `part_of`
 * NOBODY.
 */
enum { CPU, SMT, LLC, NODE, MACHINE, LEVELS, LEVEL_ROWS = 8 };

struct span {
	u16 first;
	u16 count;
};

RODATA u16 part_of[MAX_CPUS];
RODATA u16 group_of[LEVEL_ROWS][MAX_CPUS];
RODATA u16 member[LEVEL_ROWS][MAX_CPUS];
RODATA struct span members[LEVEL_ROWS][MAX_CPUS];
RODATA struct span groups[PART_ROWS][LEVEL_ROWS];

/* An index of a table of CPUs or groups. Clang may compare one register and index with a copy of
 * it, of which the verifier knows nothing: so the index itself is bounded, where clang does not see
 * that it is bounded already. */
static ALWAYS_INLINE u32 at(u32 n)
{
	asm volatile("" : "+r"(n));
	return n & (MAX_CPUS - 1);
}

/* The same for a table of levels. */
static ALWAYS_INLINE u32 row(u32 level)
{
	asm volatile("" : "+r"(level));
	return level & (LEVEL_ROWS - 1);
}

static u32 part(s32 cpu)
{
	if ((u32)cpu >= MAX_CPUS)
		return NOBODY;
	return part_of[at(cpu)];
}

/* The group of a level that contains a CPU. */
static u32 group(u32 level, s32 cpu)
{
	if (level >= LEVELS || (u32)cpu >= MAX_CPUS)
		return 0;
	return group_of[row(level)][at(cpu)];
}

/* How many CPUs a group has. */
static u32 cpus(u32 level, u32 group)
{
	if (level >= LEVELS || group >= MAX_CPUS)
		return 0;
	return members[row(level)][at(group)].count;
}

/* The nth CPU of a group. */
static s32 nth(u32 level, u32 group, u32 n)
{
	if (level >= LEVELS || group >= MAX_CPUS)
		return 0;
	n += members[row(level)][at(group)].first;
	if (n >= MAX_CPUS)
		return 0;
	return member[row(level)][at(n)];
}

/* How many groups of a level a partition has, and the number of the first. */
static struct span groups_in(u32 part, u32 level)
{
	struct span none = {};

	if (part >= PARTS || level >= LEVELS)
		return none;
	asm volatile("" : "+r"(part));
	part &= PART_ROWS - 1;
	none.first = groups[part][row(level)].first;
	none.count = groups[part][row(level)].count;
	return none;
}

/* The narrowest level that two CPUs share. */
static u32 distance(s32 a, s32 b)
{
	return a == b				? CPU
	       : group(SMT, a) == group(SMT, b) ? SMT
	       : group(LLC, a) == group(LLC, b) ? LLC
	       : group(NODE, a) == group(NODE, b) ? NODE
						  : MACHINE;
}

/* The queues of the text. */
enum {
	WS_READY, /* queue ready : fifo per cpu */
	KINDS,
	KIND_ROWS = 1
};

/* The state of a task. */
struct task {
	s32 prev;  /* the CPU on which it ran last */
	u32 part;  /* its partition plus one; 0 for a task that no policy has seen */
	u64 since; /* when it began to run */
	u32 kind;  /* the queue in which it waits or waited last, */
	u32 group; /* its group, */
	s64 key;   /* the key, 0 in a first-in-first-out queue, */
	u64 put;   /* since when, */
	s32 at;	   /* the CPU near which it waits, */
	u32 wake;  /* and the level around that CPU within which a CPU is woken */
	s64 weighed; /* its weight, while its queue counts it */
	bool owed; /* a CPU must still be woken for it */
	bool waits; /* it is in that queue */
	bool ran;  /* it was on a CPU a moment ago and still wants to run */
	bool gave; /* it yielded */
};

TASK_STORAGE(tasks, struct task);

static struct task *task_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, 0, 0);
}

/* By CPU: the weight of the task that it runs, 0 if none. */
static u32 runs[MAX_CPUS];

/* By CPU: whether it found nothing to run and sleeps, or is about to. The code that clears a flag
 * must kick that CPU. */
static u32 idle[MAX_CPUS];

/* How often each CPU took each step of the protocol: put = take + steal_ok + again + waiting, where
 * `again` are waiting tasks that the kernel took out to change a property, and put again. */
enum { PUT, RUN, TAKE, SELECT, STEAL_OK, STEAL_FAIL, KICK, CHAIN, AGAIN, STEPS, STEP_ROWS = 16 };
u64 steps[MAX_CPUS][STEP_ROWS];

/* A zero of which the verifier does not know that it is one. A count in a loop that begins with it
 * is not followed as 0, 1, 2, ... */
volatile u64 zero;

static ALWAYS_INLINE void count(u32 step)
{
	u32 cpu = bpf_get_smp_processor_id();

	if (cpu < MAX_CPUS)
		steps[at(cpu)][step & (STEP_ROWS - 1)]++;
}

/* The values of names while one event is handled. CPUs and groups are held by number. */
struct frame {
	struct task_struct *p;
	struct task *t;
	u32 part;
	s32 me;	   /* the CPU that dispatches or balances */
	s32 other; /* the candidate of a balance */
	s32 here;  /* the CPU where the event happens */
	s32 home;  /* the task's last CPU, or the nearest to it where it may run */
	s32 on;	   /* the CPU to which the task goes: the result of select_cpu */
	s64 ran;   /* for how long it ran */
	s64 now;   /* the start of the event: one event sees one time */
	s32 cpu0; /* let, -1 if none was found */
};

/* Ends a bpf_loop. Opaque, so that clang does not optimize away what the verifier needs. */
static long stop(void)
{
	long one = 1;

	asm volatile("" : "+r"(one));
	return one;
}

static bool allowed(struct task_struct *p, s32 cpu)
{
	return (u32)cpu < MAX_CPUS && bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

/* Whether a task has one CPU only. While migration is disabled, cpus_ptr is not its own mask. */
static bool pinned(struct task_struct *p)
{
	return p->nr_cpus_allowed == 1 || p->cpus_ptr != &p->cpus_mask;
}

/* Whether a CPU that dispatches searches a queue of a group. */
static bool looks(u32 kind, u32 of, s32 cpu)
{
	switch (kind) {
	case WS_READY:
		return true;
	}
	return true;
}


/* A slice is never 0: the kernel would keep the previous slice. */
static u64 slice_of(s64 ns)
{
	return ns < 1 ? 1 : ns;
}

/*
 * Idle flags: a claim is one atomic exchange, so that only one of two claimers gets a CPU.
 */
static bool claim(s32 cpu)
{
	if ((u32)cpu >= MAX_CPUS || !*(volatile u32 *)&idle[at(cpu)])
		return false;
	return __sync_lock_test_and_set(&idle[at(cpu)], 0);
}

static void set_idle(s32 cpu, u32 whether)
{
	if ((u32)cpu < MAX_CPUS)
		__sync_lock_test_and_set(&idle[at(cpu)], whether);
}

/* A search for the nearest CPU that a task may use. */
struct search {
	struct task_struct *p;
	u32 level; /* the level to search */
	u32 group;
	bool inside; /* only CPUs in this group: */
	u32 per;
	u32 in;
	bool claims; /* only CPUs whose idle flag is set; the flag is claimed, */
	u32 kind;    /* and that look into this queue, or ANY, */
	u32 of;	     /* of this group */
	s32 found;
};

static long search_step(u32 n, struct search *s)
{
	s32 cpu = nth(s->level, s->group, n);

	if (!allowed(s->p, cpu) || (s->inside && group(s->per, cpu) != s->in))
		return 0;
	if (s->claims && (!looks(s->kind, s->of, cpu) || !claim(cpu)))
		return 0;
	s->found = cpu;
	return stop();
}

static bool search_in(struct search *s, u32 level, s32 near)
{
	u32 n;

	s->level = level;
	s->group = group(level, near);
	n = cpus(level, s->group);
	if (n)
		bpf_loop(n, search_step, s, 0);
	return s->found >= 0;
}

#define BY(level) (1u << (level))
#define BY_ALL (~0u)

/* The CPU nearest to `near`, by some levels, among those within one level; -1 if none. */
static s32 nearest(struct search *s, s32 near, u32 by, u32 within)
{
	by |= BY(within);
	s->found = -1;
	if (search_in(s, CPU, near))
		return s->found;
	if (within >= SMT && (by & BY(SMT)) && search_in(s, SMT, near))
		return s->found;
	if (within >= LLC && (by & BY(LLC)) && search_in(s, LLC, near))
		return s->found;
	if (within >= NODE && (by & BY(NODE)) && search_in(s, NODE, near))
		return s->found;
	if (within >= MACHINE)
		search_in(s, MACHINE, near);
	return s->found;
}

/* let CPU = idle cpu in allowed(t) within LEVEL near PLACE by [LEVEL, ...] */
static s32 idle_cpu(struct frame *f, s32 near, u32 by, u32 within)
{
	struct search s = { .p = f->p, .claims = true, .kind = ANY };

	return nearest(&s, near, by, within);
}

/* The home CPU of a task in a partition; -1 if it may use none of the partition's CPUs. */
static s32 home_in(struct task_struct *p, struct task *t, u32 in)
{
	struct search s = { .p = p, .found = -1 };

	if (part(t->prev) == in)
		return nearest(&s, t->prev, BY_ALL, MACHINE);
	/* It was in another partition: it begins on the lowest of its CPUs here. */
	search_in(&s, MACHINE, nth(MACHINE, in, 0));
	return s.found;
}

static void kick(s32 cpu, u64 flags)
{
	scx_bpf_kick_cpu(cpu, flags);
	count(KICK);
}

/* Wakes one idle CPU that may run a waiting task and looks into its queue: the nearest to where
 * the task waits, within a group around its last CPU. */
static bool wake_for(struct task_struct *p, struct task *t, u32 within)
{
	struct search s = { .p = p, .claims = true, .kind = t->kind, .of = t->group };
	s32 cpu;

	if (within != MACHINE) {
		s.inside = true;
		s.per = within;
		s.in = group(within, t->prev);
	}
	cpu = nearest(&s, t->at, BY_ALL, MACHINE);
	if (cpu < 0)
		return false;
	kick(cpu, SCX_KICK_IDLE);
	return true;
}

/* By CPU: exchanged for the sake of the barrier only. */
static u32 fenced[MAX_CPUS];

/* A task that was inserted before is seen by each CPU that sets its flag after the search has
 * looked at it. The search reads flags before it exchanges them, and without this a CPU could do
 * so before the others see the insertion: then the CPU that sleeps and the search miss each other.
 * An exchange in BPF is a full barrier. */
static void barrier(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	if (cpu < MAX_CPUS)
		__sync_lock_test_and_set(&fenced[at(cpu)], 0);
}

/* The second half of a put: the task is now in the queue. */
static void wake_owed(struct task_struct *p)
{
	struct task *t = task_of(p);

	if (!t || !t->owed)
		return;
	t->owed = false;
	barrier();
	wake_for(p, t, t->wake);
}

/*
 * Queues. The number of a queue encodes its partition, its name in the text and its group. A task
 * with one CPU waits in a queue of that CPU, which no filter sees, since no other CPU could take
 * it. Its CPU takes from both queues in the order that one queue of the text would have.
 */
static u64 queue(u32 part, u32 kind, u32 group)
{
	return (u64)part << 32 | (u64)kind << 24 | group;
}

static u64 queue_pinned(u32 part, u32 kind, s32 cpu)
{
	return queue(part, kind, cpu) | 1 << 23;
}

static s64 queued(u32 part, u32 kind, u32 group)
{
	s32 n = scx_bpf_dsq_nr_queued(queue(part, kind, group));

	return n < 0 ? 0 : n;
}

#define ANYWHERE (-1)

/* The first task of a queue that may run on a CPU, or on any CPU. */
static struct task *first_for(u64 id, s32 cpu)
{
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;
	struct task *t = 0;

	if (!bpf_iter_scx_dsq_new(&it, id, 0)) {
		while (!t && (p = bpf_iter_scx_dsq_next(&it))) {
			if (cpu == ANYWHERE || allowed(p, cpu))
				t = task_of(p);
		}
	}
	bpf_iter_scx_dsq_destroy(&it);
	return t;
}

/* Whether one task would be before another in one queue. */
static bool is_before(struct task *a, struct task *b)
{
	if (!a || !b)
		return a;
	return a->key < b->key || (a->key == b->key && a->put <= b->put);
}

/* The CPU near which a task waits in the queue of a group: the nearest to its last CPU in that
 * group, or anywhere. */
static s32 waits_at(struct frame *f, u32 level, u32 of)
{
	struct search s = { .p = f->p, .inside = true, .per = level, .in = of };
	s32 cpu;

	if (group(level, f->home) == of)
		return f->home;
	cpu = nearest(&s, f->t->prev, BY_ALL, MACHINE);
	return cpu < 0 ? f->home : cpu;
}

/* Records where a task is about to wait, and that a CPU must be woken for it. Returns the queue's
 * number. The kernel inserts the task after the current operation has returned: rota_wakeup(). */
static ALWAYS_INLINE u64 waits(struct frame *f, u32 kind, u32 level, u32 group, s64 key, u32 wake)
{
	struct task *t = f->t;

	t->kind = kind;
	t->group = group;
	t->key = key;
	t->put = f->now;
	t->at = f->on = waits_at(f, level, group);
	t->wake = wake;
	t->owed = t->waits = true;
	count(PUT);
	return pinned(f->p) ? queue_pinned(f->part, kind, f->home) : queue(f->part, kind, group);
}

/* put t in QUEUE slice SLICE, for a first-in-first-out queue with the number waits(). */
static void put(struct frame *f, u64 queue, u64 slice)
{
	scx_bpf_dsq_insert(f->p, queue, slice, 0);
}

/* run t on CPU slice SLICE */
static void run_on(struct frame *f, s32 cpu, u64 slice)
{
	f->on = cpu;
	if ((u32)cpu < MAX_CPUS)
		runs[at(cpu)] = f->p->scx.weight;
	scx_bpf_dsq_insert(f->p, SCX_DSQ_LOCAL_ON | cpu, slice, 0);
	kick(cpu, SCX_KICK_IDLE);
	count(RUN);
}

/* take QUEUE */
ONCE int take_from(u32 part, u32 kind, u32 group, s32 cpu)
{
	u64 shared = queue(part, kind, group), own = queue_pinned(part, kind, cpu);
	bool took;

	if (scx_bpf_dsq_nr_queued(own) <= 0)
		took = scx_bpf_dsq_move_to_local(shared);
	else if (is_before(first_for(own, cpu), first_for(shared, cpu)))
		took = scx_bpf_dsq_move_to_local(own) || scx_bpf_dsq_move_to_local(shared);
	else
		took = scx_bpf_dsq_move_to_local(shared) || scx_bpf_dsq_move_to_local(own);
	if (took)
		count(TAKE);
	return took;
}

static bool take(struct frame *f, u32 kind, u32 group)
{
	return take_from(f->part, kind, group, f->me);
}

/*
 * Balancing: a scan reads the queues of other CPUs without locks and keeps the best candidate that
 * passes the filter; a steal then moves one task, under the lock of its queue, or fails.
 */
struct scan {
	u32 part;
	s32 me;	     /* who balances: the CPU or its group */
	s32 here;
	s64 now;
	s32 cpu;     /* the CPU that balances */
	u32 from;    /* the level of the victims' queues */
	u32 mine;    /* the CPU's own group of that level */
	u32 level;   /* candidates share a group of this level with the CPU, */
	u32 nearer;  /* but not of this one, whose candidates were tried already */
	s64 key;     /* key of the best candidate so far, */
	s32 best;    /* which is this group, */
	u32 away;    /* at this distance */
	u32 retries; /* how many more may be tried */
	s64 moved;   /* how many tasks were moved, */
	s64 most;    /* and the maximum */
	bool near;   /* whether ties go to the nearest */
	bool took;
	u32 row;     /* of `attempted` */
};

/* A look at one candidate after the other. */
struct look {
	struct frame f;
	struct scan *s;
};

static ALWAYS_INLINE struct frame frame_of(struct scan *s)
{
	struct frame f = { .part = s->part, .me = s->me, .here = s->here, .now = s->now };

	return f;
}

/* Groups that were tried, one bit each: in the idle balance of each CPU, then in its regular
 * balances, which may run at the same time. Too large for the stack. */
static u64 attempted[2 * MAX_CPUS][MAX_CPUS / 64];

static ALWAYS_INLINE u64 *word_of(u32 row, u32 word)
{
	asm volatile("" : "+r"(row), "+r"(word));
	return &attempted[row & (2 * MAX_CPUS - 1)][word & (MAX_CPUS / 64 - 1)];
}

static bool tried(struct scan *s, u32 group)
{
	u32 word = group / 64;

	if (s->row >= 2 * MAX_CPUS || word >= MAX_CPUS / 64)
		return true;
	return *word_of(s->row, word) >> (group % 64) & 1;
}

static void try(struct scan *s, u32 group)
{
	u32 word = group / 64;

	if (s->row < 2 * MAX_CPUS && word < MAX_CPUS / 64)
		*word_of(s->row, word) |= 1ULL << (group % 64);
	count(SELECT);
}

/* Begins a balance of a CPU. */
static void begin_scan(struct scan *s, bool regular)
{
	s->mine = group(s->from, s->cpu);
	s->row = s->cpu + (regular ? MAX_CPUS : 0);
	if (s->row < 2 * MAX_CPUS)
		__builtin_memset(word_of(s->row, 0), 0, sizeof(attempted[0]));
}

/* The nth group after the own group, if it is an untried candidate on this level, else -1. The last
 * n gives the own group: a CPU takes no task from there. */
static s32 candidate(struct look *l, u32 n)
{
	struct scan *s = l->s;
	struct span all = groups_in(s->part, s->from);
	u32 at = s->mine + 1 + n;
	s32 cpu;

	if (at >= (u32)all.first + all.count)
		at -= all.count;
	cpu = nth(s->from, at, 0);
	if (at == s->mine || tried(s, at) ||
	    group(s->level, cpu) != group(s->level, s->cpu) ||
	    group(s->nearer, cpu) == group(s->nearer, s->cpu))
		return -1;
	l->f.other = s->from == CPU ? cpu : (s32)at;
	return at;
}

/* Keeps a candidate that passed the filter, if it is better than the best so far. */
static void consider(struct scan *s, u32 group, s64 key)
{
	u32 away = s->near ? distance(s->cpu, nth(s->from, group, 0)) : 0;

	if (s->best >= 0 && (key < s->key || (key == s->key && away >= s->away)))
		return;
	s->best = group;
	s->key = key;
	s->away = away;
}

/* steal 1: the first task that may run here, onto this CPU. */
static bool steal(struct scan *s, u32 kind)
{
	bool took = scx_bpf_dsq_move_to_local(queue(s->part, kind, s->best));

	count(took ? STEAL_OK : STEAL_FAIL);
	return took;
}


/*
 * Policy ws.
 */
RODATA s64 ws_slice = 20000000; /* slice: time, in ns */

/* on new(t), on wake(t) */
static ALWAYS_INLINE void ws_on_new_wake(struct frame *f)
{
	f->cpu0 = idle_cpu(f, f->t->prev, BY(SMT) | BY(LLC) | BY(NODE) | BY(MACHINE), MACHINE);
	if (f->cpu0 >= 0) {
		run_on(f, f->cpu0, slice_of(ws_slice));
	} else {
		put(f, waits(f, WS_READY, CPU, group(CPU, f->home), 0, MACHINE), slice_of(ws_slice));
	}
}

/* on preempt(t), on yield(t) */
static ALWAYS_INLINE void ws_on_preempt_yield(struct frame *f)
{
	put(f, waits(f, WS_READY, CPU, group(CPU, f->home), 0, MACHINE), slice_of(ws_slice));
}

/* filter(me, v) = queued(v.ready) >= 1 */
static bool ws_filter_idle(struct frame *f)
{
	return queued(f->part, WS_READY, group(CPU, f->other)) >= 1;
}

/* choose argmax queued(v.ready) tie near(me) */
static s64 ws_choose_idle(struct frame *f)
{
	return queued(f->part, WS_READY, group(CPU, f->other));
}

/* one candidate */
static long ws_scan_idle_step(u32 n, struct look *l)
{
	s32 group = candidate(l, n);

	if (group >= 0 && ws_filter_idle(&l->f))
		consider(l->s, group, ws_choose_idle(&l->f));
	return 0;
}

/* finds the best candidate; not static, so the verifier checks it only once */
int ws_scan_idle(struct scan *s)
{
	struct look l = {};
	u32 n;

	if (!s)
		return 0;
	l.s = s;
	l.f = frame_of(s);
	s->best = -1;
	s->near = true;
	n = groups_in(s->part, s->from).count;
	if (n)
		bpf_loop(n, ws_scan_idle_step, &l, 0);
	if (s->best < 0)
		return 0;
	try(s, s->best);
	return 1;
}

/* steal 1 retry untried */
static long ws_balance_idle_step(u32 n, struct scan *s)
{
	if (!ws_scan_idle(s))
		return stop();
	s->took = steal(s, WS_READY);
	if (s->took)
		return stop();
	return 0;
}

/* one level: the CPU tries candidates until it has a task or no candidate is left */
static bool ws_balance_idle_level(struct scan *s, u32 level)
{
	u32 n = groups_in(s->part, s->from).count;

	s->nearer = s->level;
	s->level = level;
	if (n)
		bpf_loop(n, ws_balance_idle_step, s, 0);
	return s->took;
}

/* balance idle { level machine } */
static bool ws_balance_idle(struct frame *f, s32 cpu)
{
	struct scan s = {
		.part = f->part, .me = f->me, .here = f->here, .now = f->now,
		.cpu = cpu, .from = CPU
	};

	begin_scan(&s, false);
	return ws_balance_idle_level(&s, MACHINE);
}

/* on dispatch(c) { take c.ready else balance idle } */
static bool ws_dispatch(struct frame *f, bool stays)
{
	if (take(f, WS_READY, group(CPU, f->me)))
		return true;
	if (!stays && ws_balance_idle(f, f->me))
		return true;
	return false;
}


/*
 * Which policy it is.
 */
enum { NEW, WAKE, PREEMPT, YIELD };

static u32 part_of_task(struct task_struct *p)
{
	return 0;
}

/* Variables begin with the values in the policy. */
static void first_seen(struct frame *f)
{
}

static void placed(struct frame *f, u32 event)
{
	switch (event) {
	case NEW:
		ws_on_new_wake(f);
		break;
	case WAKE:
		ws_on_new_wake(f);
		break;
	case PREEMPT:
		ws_on_preempt_yield(f);
		break;
	case YIELD:
		ws_on_preempt_yield(f);
		break;
	}
}

static bool dispatched(struct frame *f, bool stays)
{
	return ws_dispatch(f, stays);
}

/*
 * A CPU that was woken may take another task than the one that it was woken for. So a CPU that
 * took a task looks for tasks that still wait, and wakes a sleeping CPU for each task that such
 * a CPU would take. Waking one CPU for one task is too few: it may owe two wakeups
 * (docs/explain/proofs.md).
 */
struct chain {
	u32 part;
	u32 kind;
	u32 first; /* number of the first group with such a queue */
	bool found;
};

/* Whether any CPU of the partition sleeps: usually none does, and the search ends here. */
static long sleeper_step(u32 n, struct chain *c)
{
	s32 cpu = nth(MACHINE, c->first, n);

	if ((u32)cpu >= MAX_CPUS || !*(volatile u32 *)&idle[at(cpu)])
		return 0;
	c->found = true;
	return stop();
}

/* Wakes a CPU for each task of one queue, as long as there is a CPU for it. */
static long waiting_step(u32 n, struct chain *c)
{
	u64 id = queue(c->part, c->kind, c->first + n);
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;
	struct task *t;

	if (scx_bpf_dsq_nr_queued(id) <= 0)
		return 0;
	if (!bpf_iter_scx_dsq_new(&it, id, 0)) {
		while ((p = bpf_iter_scx_dsq_next(&it))) {
			t = task_of(p);
			if (t && wake_for(p, t, MACHINE))
				c->found = true;
		}
	}
	bpf_iter_scx_dsq_destroy(&it);
	return 0;
}

/* The same for each group of one queue of the text. */
ONCE int chain_through(u32 part, u32 kind, u32 level)
{
	struct span all = groups_in(part, level);
	struct chain c = { .part = part, .kind = kind, .first = all.first };
	u32 n = all.count;

	if (n)
		bpf_loop(n, waiting_step, &c, 0);
	return c.found;
}

/* The same for all queues of a partition's policy. */
static void chain_queues(struct chain *c)
{
	if (chain_through(c->part, WS_READY, CPU))
		c->found = true;
}

static void chain(u32 part)
{
	struct chain c = { .part = part, .first = groups_in(part, MACHINE).first };
	u32 n = cpus(MACHINE, c.first);

	if (n)
		bpf_loop(n, sleeper_step, &c, 0);
	if (!c.found)
		return;
	c.found = false;
	chain_queues(&c);
	if (c.found)
		count(CHAIN);
}

/*
 * The operations of sched_ext.
 */
/* A task that is about to be placed. False if no partition has a CPU for it. */
static bool open(struct frame *f, struct task_struct *p, s32 here)
{
	struct task *t = task_of(p);

	if (!t)
		return false;
	f->p = p;
	f->t = t;
	f->now = bpf_ktime_get_ns();
	f->part = part_of_task(p);
	f->home = home_in(p, t, f->part);
	if (f->home < 0)
		return false;
	if (part(t->prev) != f->part)
		t->prev = f->home;
	f->here = part(here) == f->part ? here : t->prev;
	f->on = f->home;
	return true;
}

/* A task is new to each policy once. Inlined like the handlers: the verifier refuses a function
 * that leaves a pointer to its stack in r0, and in one that returns nothing clang may. */
static ALWAYS_INLINE void place(struct frame *f, u32 event)
{
	struct task *t = f->t;

	if (t->part != f->part + 1) {
		t->part = f->part + 1;
		event = NEW;
		first_seen(f);
	}
	if (t->waits)
		count(AGAIN);
	t->gave = t->waits = t->owed = false;
	placed(f, event);
}

/* A task that a policy already handles, on a CPU. */
static bool view(struct frame *f, struct task_struct *p, s32 here)
{
	struct task *t = task_of(p);

	if (!t || !t->part)
		return false;
	f->p = p;
	f->t = t;
	f->part = t->part - 1;
	f->here = here;
	f->now = bpf_ktime_get_ns();
	return true;
}

SEC("struct_ops/select_cpu")
s32 rota_select_cpu(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct frame f = {};

	if (!open(&f, p, bpf_get_smp_processor_id()))
		return (s32)ctx[1];
	place(&f, WAKE);
	return f.on;
}

SEC("struct_ops/enqueue")
int rota_enqueue(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	bool wakes = ctx[1] & SCX_ENQ_WAKEUP, ran;
	struct frame f = {};

	if (!open(&f, p, wakes ? (s32)bpf_get_smp_processor_id() : scx_bpf_task_cpu(p))) {
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, 0, 0);
		return 0;
	}
	ran = f.t->ran;
	f.t->ran = false;
	place(&f, wakes ? WAKE : f.t->gave ? YIELD : PREEMPT);
	/* It is queued again because a property of it changed: no tracepoint follows. */
	if (!wakes && !ran)
		wake_owed(p);
	return 0;
}

/* The kernel inserts a task after select_cpu or enqueue has returned. These tracepoints are the
 * first ones after that: a CPU is woken here, so that insertion comes before the claim. */
SEC("tp_btf/sched_wakeup")
int rota_wakeup(u64 *ctx)
{
	wake_owed((void *)ctx[0]);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int rota_wakeup_new(u64 *ctx)
{
	wake_owed((void *)ctx[0]);
	return 0;
}

SEC("tp_btf/sched_switch")
int rota_switch(u64 *ctx)
{
	wake_owed((void *)ctx[1]);
	return 0;
}

SEC("struct_ops/dispatch")
int rota_dispatch(u64 *ctx)
{
	s32 cpu = (s32)ctx[0];
	struct task_struct *prev = (void *)ctx[1];
	struct frame f = {
		.me = cpu, .here = cpu, .part = part(cpu), .now = bpf_ktime_get_ns()
	};
	/* The kernel puts the task that ran back in a queue only after this, and only if another
	 * task was found: as if it were the last task that this CPU may take. It is not idle. */
	bool stays = prev && (prev->scx.flags & SCX_TASK_QUEUED);

	if (!stays) {
		set_idle(cpu, 1);
		if ((u32)cpu < MAX_CPUS)
			runs[at(cpu)] = 0;
	}
	if (dispatched(&f, stays)) {
		set_idle(cpu, 0);
		chain(f.part);
	}
	return 0;
}

/* A hint: a CPU that runs a task of another scheduling class does not sleep. Its wakeup is passed
 * on to another CPU. */
SEC("struct_ops/update_idle")
int rota_update_idle(u64 *ctx)
{
	s32 cpu = (s32)ctx[0];

	if (!ctx[1]) {
		set_idle(cpu, 0);
		chain(part(cpu));
	}
	return 0;
}

/* A task of another scheduling class takes the CPU. What waits in its local queue, the task that ran
 * here too, is put again: another CPU may run it. */
SEC("struct_ops/cpu_release")
int rota_cpu_release(u64 *ctx)
{
	scx_bpf_reenqueue_local();
	return 0;
}

SEC("struct_ops/running")
int rota_running(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	s32 cpu = scx_bpf_task_cpu(p);
	struct frame f = {};

	if (!view(&f, p, cpu))
		return 0;
	f.t->since = f.now;
	f.t->prev = cpu;
	if ((u32)cpu < MAX_CPUS)
		runs[at(cpu)] = p->scx.weight;
	if (f.t->waits) {
		f.t->waits = f.t->owed = false;
	}
	return 0;
}

SEC("struct_ops/stopping")
int rota_stopping(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	s32 cpu = scx_bpf_task_cpu(p);
	struct frame f = {};

	if (!view(&f, p, cpu))
		return 0;
	f.ran = f.now - f.t->since;
	f.t->ran = ctx[1];
	if ((u32)cpu < MAX_CPUS)
		runs[at(cpu)] = 0;
	return 0;
}

SEC("struct_ops/init_task")
s32 rota_init_task(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	struct task *t = bpf_task_storage_get(&tasks, p, 0, 1);

	if (!t)
		return -12; /* no memory */
	t->prev = scx_bpf_task_cpu(p);
	return 0;
}

/* Creates the queues of a kind: one for each group, and one for the pinned tasks of each CPU. */
struct make {
	u32 part;
	u32 kind;
	u32 first;
	s32 error;
};

static long make_step(u32 n, struct make *m)
{
	m->error = scx_bpf_create_dsq(queue(m->part, m->kind, m->first + n), -1);
	return m->error ? stop() : 0;
}

static long make_pinned_step(u32 n, struct make *m)
{
	s32 cpu = nth(MACHINE, m->first, n);

	m->error = scx_bpf_create_dsq(queue_pinned(m->part, m->kind, cpu), -1);
	return m->error ? stop() : 0;
}

static s32 make(u32 part, u32 kind, u32 level)
{
	struct span all = groups_in(part, level);
	struct make m = { .part = part, .kind = kind, .first = all.first };
	u32 n = all.count;

	if (n)
		bpf_loop(n, make_step, &m, 0);
	m.first = groups_in(part, MACHINE).first;
	n = cpus(MACHINE, m.first);
	if (n && !m.error)
		bpf_loop(n, make_pinned_step, &m, 0);
	return m.error;
}

u32 types;

SEC("struct_ops.s/init")
s32 rota_init(u64 *ctx)
{
	s32 error = 0;

	types = keep_types();
	error = error ?: make(0, WS_READY, CPU);
	return error;
}

/* Lets each idle CPU look again. The kernel drops the kicks of a CPU that it still bypasses, and
 * while it loads a scheduler it bypasses some CPUs longer than others: one of those may have claimed
 * a CPU that sleeps on, and that no search finds from then on. */
static long look_step(u32 cpu, void *unused)
{
	if (cpu < MAX_CPUS && part_of[at(cpu)] != NOBODY)
		scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
	return 0;
}

/* The loader calls this once the scheduler is attached. */
SEC("syscall")
int rota_look(void *unused)
{
	bpf_loop(MAX_CPUS, look_step, 0, 0);
	return 0;
}

/* Why the kernel unloaded the scheduler, for the loader to report. */
u32 exit_kind;
s64 exit_code;
char exit_reason[128];
char exit_message[1024];

SEC("struct_ops.s/exit")
int rota_exit(u64 *ctx)
{
	struct scx_exit_info *info = (void *)ctx[0];

	bpf_probe_read_kernel_str(exit_reason, sizeof(exit_reason), info->reason);
	bpf_probe_read_kernel_str(exit_message, sizeof(exit_message), info->msg);
	exit_code = info->exit_code;
	exit_kind = info->kind;
	return 0;
}

/* One line for each CPU with a noteworthy state, in the kernel's dump after an error. */
static long dump_step(u32 cpu, void *unused)
{
	static char format[] = "cpu %llu: idle flag %llu, weight running %llu\n";
	u64 data[3] = { cpu };

	if (cpu >= MAX_CPUS || part_of[at(cpu)] == NOBODY)
		return 0;
	data[1] = idle[at(cpu)];
	data[2] = runs[at(cpu)];
	if (scx_bpf_dump_bstr)
		scx_bpf_dump_bstr(format, data, sizeof(data));
	return 0;
}

SEC("struct_ops/dump")
int rota_dump(u64 *ctx)
{
	bpf_loop(MAX_CPUS, dump_step, 0, 0);
	return 0;
}

SEC(".struct_ops.link")
struct sched_ext_ops rota_ops = {
	.select_cpu = (void *)rota_select_cpu,
	.enqueue = (void *)rota_enqueue,
	.dispatch = (void *)rota_dispatch,
	.update_idle = (void *)rota_update_idle,
	.cpu_release = (void *)rota_cpu_release,
	.running = (void *)rota_running,
	.stopping = (void *)rota_stopping,
	.init_task = (void *)rota_init_task,
	.init = (void *)rota_init,
	.exit = (void *)rota_exit,
	.dump = (void *)rota_dump,
	/* SCX_OPS_KEEP_BUILTIN_IDLE; ENQ_EXITING and ENQ_MIGRATION_DISABLED: the policy also queues
	 * tasks that exit, and those that must stay where they are. Otherwise they go past its queues,
	 * and wait on their CPUs while others are idle. */
	.flags = 1 | 4 | 16,
	.timeout_ms = 10000,
	.name = "ws",
};

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Of the text before this line: a loader knows by it whether an object is of its policy. */
RODATA u64 text_digest = 0xd11981762b03aea0ULL;
