/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Runs an emitted scheduler outside the kernel. The input is a schedule, one event per line; for
 * each event, one line of output contains the decision.
 */
#include <sys/wait.h>
#include <unistd.h>

#define WASTENOT_NATIVE
#include POLICY

enum { TASKS = 4096 };
static struct task_struct all[TASKS];
static struct task_struct *runs_now[ALL_CPUS];

#define OP(name, ...)                                                                              \
	((long (*)(u64 *))rota_ops.name)((u64[]){ __VA_ARGS__ })

static long number(void)
{
	long value;

	if (scanf("%ld", &value) != 1)
		wrong("a number is missing");
	return value;
}

static struct task_struct *task(void)
{
	long n = number();

	if (n < 0 || n >= TASKS)
		wrong("no such task");
	return &all[n];
}

/* Puts a task where the operation that has just returned placed it. */
static void commit(struct task_struct *p)
{
	if (!decided.any)
		wrong("a task was placed nowhere");
	if (decided.id >> 62 == 3) {
		p->cpu = decided.id & 0xffff;
		dsq_add(&local[p->cpu], p, 0);
		printf(" run on %d", p->cpu);
	} else {
		struct dsq *dsq = dsq_of(decided.id);
		struct task *t = p->storage;

		if (!dsq)
			wrong("a task is put in a queue that nobody made");
		dsq_add(dsq, p, decided.key);
		printf(" put %llu %u %u %lld", decided.id >> 23 & 1, t->kind, t->group, t->key);
	}
	decided.placing = NULL;
	decided.any = false;
}

static void about_to_place(struct task_struct *p)
{
	decided.placing = p;
	decided.any = false;
}

static void wakes(bool is_new)
{
	struct task_struct *p;

	this_cpu = number();
	p = task();
	about_to_place(p);
	if (p->nr_cpus_allowed > 1) {
		p->cpu = OP(select_cpu, (u64)p, p->cpu, SCX_ENQ_WAKEUP);
		printf(" at %d", p->cpu);
	} else {
		for (p->cpu = 0; !bpf_cpumask_test_cpu(p->cpu, p->cpus_ptr);)
			p->cpu++;
	}
	if (!decided.any)
		OP(enqueue, (u64)p, SCX_ENQ_WAKEUP);
	commit(p);
	if (is_new)
		rota_wakeup_new((u64[]){ (u64)p });
	else
		rota_wakeup((u64[]){ (u64)p });
}

/* A CPU looks for its next task, which runs at once. */
static void looks_for_next(void)
{
	s32 cpu = this_cpu = number();
	struct task_struct *p;

	if (!local[cpu].first) {
		dispatching = cpu;
		OP(dispatch, cpu, 0);
		dispatching = -1;
	}
	p = local[cpu].first;
	if (!p) {
		printf(" idle");
		return;
	}
	if (local[cpu].count > 1)
		wrong("a task waits in a local queue");
	dsq_remove(p);
	p->cpu = cpu;
	runs_now[cpu] = p;
	OP(running, (u64)p);
	/* In a simulation, no task is interrupted before 10 us. */
	printf(" runs %d %llu", p->number, p->scx.slice < 10000 ? 10000 : p->scx.slice);
}

/* The kernel dispatches while the running task could continue. */
static void slice_ends(void)
{
	s32 cpu = this_cpu = number();

	if (!runs_now[cpu])
		wrong("nobody could go on");
	runs_now[cpu]->scx.flags = SCX_TASK_QUEUED;
	dispatching = cpu;
	OP(dispatch, cpu, (u64)runs_now[cpu]);
	dispatching = -1;
	if (local[cpu].first) {
		printf(" local %d", local[cpu].first->number);
		dsq_remove(local[cpu].first);
	} else {
		printf(" stays");
	}
}

/* The task on a CPU stops: p, y, b, x for preempted, yields, blocks, exits. */
static void stops(void)
{
	s32 cpu = this_cpu = number();
	struct task_struct *p = runs_now[cpu];
	char how;

	if (scanf(" %c", &how) != 1 || !p)
		wrong("nobody stops");
	if (how == 'y' && rota_ops.yield)
		OP(yield, (u64)p, 0);
	OP(stopping, (u64)p, how == 'p' || how == 'y');
	runs_now[cpu] = NULL;
	if (how == 'p' || how == 'y') {
		about_to_place(p);
		OP(enqueue, (u64)p, 0);
		commit(p);
		rota_switch((u64[]){ 0, (u64)p, (u64)p });
		return;
	}
	p->__state = how == 'x' ? TASK_DEAD : 1;
	if (rota_ops.quiescent)
		OP(quiescent, (u64)p, SCX_DEQ_SLEEP);
}

/* Fills the map of cgroups and partitions, as the loader does; unused without partitions. */
static struct css_set *cgroup_of(u32 part)
{
	static struct kernfs_node nodes[PARTS];
	static struct cgroup cgroups[PARTS];
	static struct css_set sets[PARTS];

	if (part >= PARTS)
		wrong("no such partition");
	sets[part].dfl_cgrp = &cgroups[part];
	cgroups[part].kn = &nodes[part];
	nodes[part].id = part;
#ifdef PARTED
	part_of_cgroup.values[part] = part;
	/* No rule names a process. */
	for (u32 n = 0; n < part_of_process.entries; n++)
		part_of_process.values[n] = PARTS;
#endif
	return &sets[part];
}

static void begins(void)
{
	struct task_struct *p = task();
	u32 word;

	p->number = p - all;
	p->pid = 100 + p->number;
	p->prio = 120;
	p->cpu = number();
	p->scx.weight = number();
	p->tgid = number();
	p->cgroups = cgroup_of(number());
	p->nr_cpus_allowed = 0;
	for (word = 0; word < 4; word++) {
		u32 bits = number();

		p->cpus_mask.bits[word / 2] |= (u64)bits << (word % 2 * 32);
		p->nr_cpus_allowed += __builtin_popcount(bits);
	}
	p->cpus_ptr = &p->cpus_mask;
	OP(init_task, (u64)p, 0);
}

static void fill(u16 *table, u32 size)
{
	u32 n;

	for (n = 0; n < size; n++)
		table[n] = number();
}

/* The tables of the machine, in the order of the file, for so many CPUs and partitions. */
static void machine(void)
{
	u32 cpus = number(), level, n;

	for (n = 0; n < MAX_CPUS; n++)
		part_of[n] = NOBODY;
	fill(part_of, cpus);
	for (level = 0; level < LEVELS; level++)
		fill(group_of[level], cpus);
	for (level = 0; level < LEVELS; level++)
		fill(member[level], cpus);
	for (level = 0; level < LEVELS; level++)
		fill((u16 *)members[level], 2 * cpus);
	for (n = 0; n < PARTS; n++)
		fill((u16 *)groups[n], 2 * LEVELS);
	if (OP(init, 0))
		wrong("init fails");
}

/* One schedule, from a machine on which no task ran yet. */
static void play(void)
{
	char event;

	while (scanf(" %c", &event) == 1) {
		switch (event) {
		case 'm':
			machine();
			break;
		case 'a':
			now = number();
			continue;
		case 'c':
			begins();
			break;
		case 'n':
		case 'w':
			wakes(event == 'n');
			break;
		case 'd':
			looks_for_next();
			break;
		case 'k':
			slice_ends();
			break;
		case 's':
			stops();
			break;
		case 't':
			this_cpu = number();
			if (rota_ops.tick)
				OP(tick, (u64)runs_now[this_cpu]);
			break;
#ifdef REGULAR
		case 'b': {
			u32 balance = number();

			this_cpu = number();
			balance_now(balance, this_cpu);
			break;
		}
#endif
		default:
			wrong("an unknown event");
		}
		if (iterating)
			wrong("an iterator is left open");
		printf("\n");
	}
}

/* Reads the whole input. */
static char *read_all(size_t *length)
{
	size_t room = 1 << 20, n;
	char *text = malloc(room);

	for (*length = 0; (n = fread(text + *length, 1, room - *length, stdin)); *length += n)
		if (*length + n == room)
			text = realloc(text, room *= 2);
	return text;
}

/* Each schedule begins with its machine and runs in a child process, since state is global. */
int main(void)
{
	size_t length, from, to;
	char *text = read_all(&length);
	int status;

	for (from = 0; from < length; from = to) {
		for (to = from + 1; to < length && !(text[to] == 'm' && text[to - 1] == '\n');)
			to++;
		if (!fork()) {
			stdin = fmemopen(text + from, to - from, "r");
			play();
			return 0;
		}
		if (wait(&status) < 0 || status)
			return 1;
	}
	return 0;
}
