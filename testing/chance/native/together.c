/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Runs an emitted scheduler on several CPUs at the same time: each is a thread of execution of its
 * own, and they take turns, in a random order, wherever the scheduler calls the kernel. The input
 * is the machine and its tasks, as for driver.c; the arguments are a seed and a number of events.
 * The steps that the scheduler logs are on standard error. The exit status is 3 if in the end a CPU
 * sleeps without its idle flag: no search finds it.
 *
 * As in the kernel, ticks, timers and wakeups come to a CPU between the operations of its
 * scheduler; the insertion of a task comes after the operation that decided on it, and no CPU takes
 * it before the tracepoint that follows, since the lock of its run queue is held; an affinity
 * changes while its task is in no queue; when a scheduler is loaded CPU after CPU is handed to it,
 * and kicks by those that are not yet are lost.
 */
#include <ucontext.h>

static void meet(void);
static void pass(void);
static void kicked(int cpu);
static void kick_from_here(int cpu);
#define MEET() meet()
#define WAIT() pass()
#define KICKED(cpu) kick_from_here(cpu)
#define EARLY true /* when an affinity changes */
#define main driver
#include "driver.c"
#undef main

enum { MOST = 64, STACK = 1 << 18 };

/* A CPU, and what belongs to it while another one has its turn. */
static struct cpu {
	ucontext_t context;
	bool sleeps, kicked, was_idle;
	bool bypassed; /* the scheduler is being loaded */
	s32 dispatching;
	struct {
		struct task_struct *placing;
		u64 id, key;
		bool any;
	} decided;
} cpus_of[MOST];
static ucontext_t all_cpus;
static int cpu_count, task_count, events;
static int frozen; /* so long the clock stands at 0: a policy may not depend on what time it is */
static bool alone = true;
static u64 drawn = 1;

static u64 draw(u64 below)
{
	drawn ^= drawn << 13;
	drawn ^= drawn >> 7;
	drawn ^= drawn << 17;
	return (drawn >> 11) % below;
}

static void kicked(int cpu)
{
	if (cpu >= 0 && cpu < MOST)
		cpus_of[cpu].kicked = true;
}

/* By the scheduler. */
static void kick_from_here(int cpu)
{
	if (!cpus_of[this_cpu].bypassed)
		kicked(cpu);
}

/* Another CPU may have its turn. */
static void pass(void)
{
	struct cpu *me = &cpus_of[this_cpu];

	me->dispatching = dispatching;
	memcpy(&me->decided, &decided, sizeof(decided));
	swapcontext(&me->context, &all_cpus);
	dispatching = me->dispatching;
	memcpy(&decided, &me->decided, sizeof(decided));
}

static void meet(void)
{
	if (!alone && !draw(3))
		pass();
}

/* The task is in its queue now; a CPU that is given a task looks at its local queue. */
static void inserted(struct task_struct *p)
{
	bool runs = decided.id >> 62 == 3;

	commit(p);
	if (runs)
		kicked(p->cpu);
}

static void wake(struct task_struct *p)
{
	p->locked = true;
	about_to_place(p);
	p->__state = 0;
	if (p->nr_cpus_allowed > 1) {
		p->cpu = OP(select_cpu, (u64)p, p->cpu, SCX_ENQ_WAKEUP);
	} else {
		for (p->cpu = 0; !(p->cpus_ptr->bits[0] >> p->cpu & 1);)
			p->cpu++;
	}
	if (!decided.any)
		OP(enqueue, (u64)p, SCX_ENQ_WAKEUP);
	inserted(p);
	rota_wakeup((u64[]){ (u64)p });
	p->locked = false;
}

static void other_affinity(struct task_struct *p)
{
	u64 bits = draw((1ULL << cpu_count) - 1) + 1;

	p->cpus_mask.bits[0] = bits;
	p->nr_cpus_allowed = __builtin_popcountll(bits);
	OP(set_cpumask, (u64)p, (u64)p->cpus_ptr);
}

/* A waiting task gets another affinity: it is in no queue meanwhile. */
static void change(struct task_struct *p)
{
	alone = true;
	OP(quiescent, (u64)p, 0);
	dsq_remove(p);
	other_affinity(p);
	alone = false;
	about_to_place(p);
	OP(enqueue, (u64)p, 0);
	inserted(p);
}

/* A regular balance is due: of a CPU that began its timer, and that does not balance now. */
static void balances(void)
{
#ifdef REGULAR
	static bool at_work[BALANCES * MAX_CPUS];
	u32 n = draw(BALANCES) * MAX_CPUS + draw(cpu_count);

	if (!periods.values[n].timer.opaque[1] || at_work[n])
		return;
	at_work[n] = true;
	balance_now(n / MAX_CPUS, n % MAX_CPUS);
	at_work[n] = false;
#endif
}

/* What comes between the operations: tasks wake, balances are due, affinities change. */
static void interrupt(void)
{
	struct task_struct *p = &all[draw(task_count)];

	if (frozen > 0)
		frozen--;
	else
		now += 1 + draw(100000);
	if (p->__state == 1) {
		events--;
		p->__state = 2; /* no other CPU wakes it */
		if (CHANGES && !draw(8))
			other_affinity(p);
		wake(p);
	} else if (!draw(4)) {
		balances();
	} else if (CHANGES && p->dsq && !p->locked && p->dsq->id >> 63 == 0 && p->dsq != &local[p->cpu] && !draw(4)) {
		change(p);
	}
}

/* The task of a CPU runs until it blocks or another one takes its place. */
static void runs_for_a_time(struct task_struct *p)
{
	u32 cpu = this_cpu;

	dsq_remove(p);
	p->cpu = cpu;
	OP(running, (u64)p);
	for (;;) {
		pass();
		while (events > 0 && !draw(3))
			interrupt();
		if (!draw(8)) {
			OP(stopping, (u64)p, 0);
			p->__state = 4;
			OP(quiescent, (u64)p, SCX_DEQ_SLEEP);
			p->__state = 1; /* from now on it can be woken */
			return;
		}
		if (rota_ops.tick && !draw(4))
			OP(tick, (u64)p);
		if (rota_ops.yield && !draw(4))
			OP(yield, (u64)p, 0);
		p->scx.flags = SCX_TASK_QUEUED;
		if (!local[cpu].first) {
			dispatching = cpu;
			OP(dispatch, cpu, (u64)p);
			dispatching = -1;
		}
		p->scx.flags = 0;
		if (!local[cpu].first)
			continue;
		OP(stopping, (u64)p, 1);
		p->locked = true;
		about_to_place(p);
		OP(enqueue, (u64)p, 0);
		inserted(p);
		rota_switch((u64[]){ 0, (u64)p, (u64)p });
		p->locked = false;
		return;
	}
}

static void cpu_main(int cpu)
{
	struct cpu *me = &cpus_of[cpu];

	while (me->bypassed) {
		if (events > 0 && !draw(16))
			interrupt();
		pass();
	}
	for (;;) {
		me->kicked = false;
		if (!local[cpu].first) {
			dispatching = cpu;
			OP(dispatch, cpu, 0);
			dispatching = -1;
		}
		if (local[cpu].first) {
			if (me->was_idle)
				OP(update_idle, cpu, 0);
			me->was_idle = false;
			runs_for_a_time(local[cpu].first);
			continue;
		}
		if (!me->was_idle)
			OP(update_idle, cpu, 1);
		me->was_idle = true;
		while (!me->kicked && !local[cpu].first) {
			me->sleeps = true;
			pass();
			me->sleeps = false;
			if (events > 0 && !draw(16))
				interrupt();
		}
	}
}

/* Some CPU has its turn. */
static void turn(void)
{
	this_cpu = draw(cpu_count);
	swapcontext(&all_cpus, &cpus_of[this_cpu].context);
}

/* The scheduler is loaded, and its loader lets idle CPUs look. */
static void load(void)
{
	int n;

	for (n = 0; n < cpu_count; n++) {
		do
			turn();
		while (draw(4 * cpu_count));
		cpus_of[n].bypassed = false;
		kicked(n);
	}
	alone = true;
	rota_look(NULL);
	alone = false;
}

static bool all_sleep(void)
{
	int n;

	for (n = 0; n < cpu_count; n++)
		if (!cpus_of[n].sleeps || cpus_of[n].kicked || local[n].first)
			return false;
	return true;
}

/* Whether no search finds some CPU. */
static bool is_one_forgotten(void)
{
	int n;

	for (n = 0; n < cpu_count; n++)
		if (cpus_of[n].sleeps && !idle[n])
			return true;
	return false;
}

int main(int count, char **words)
{
	char event;
	int n, turns;

	setvbuf(stderr, NULL, _IOFBF, 1 << 16); /* the log: a write for each number would take long */
	while (scanf(" %c", &event) == 1) {
		if (event == 'm') {
			machine();
		} else {
			begins();
			task_count++;
		}
	}
	drawn = count > 1 ? strtoull(words[1], NULL, 10) * 2 + 1 : 1;
	events = count > 2 ? atoi(words[2]) : 1000;
	for (n = 0; n < ALL_CPUS && part_of[n] != NOBODY; n++)
		cpu_count++;
	frozen = drawn % 8 == 1 ? events : 0;
	for (n = 0; n < task_count; n++)
		all[n].__state = 1;
	for (n = 0; n < 20; n++)
		draw(2);
	for (n = 0; n < cpu_count; n++) {
		struct cpu *cpu = &cpus_of[n];

		cpu->dispatching = -1;
		cpu->bypassed = true;
		getcontext(&cpu->context);
		cpu->context.uc_stack.ss_sp = malloc(STACK);
		cpu->context.uc_stack.ss_size = STACK;
		makecontext(&cpu->context, (void (*)(void))cpu_main, 1, n);
	}
	alone = false;
	load();
	/* Where all wakeups are lost nothing happens any more. */
	for (turns = 400 * events; events > 0 && turns > 0; turns--)
		turn();
	events = 0;
	for (turns = 400000; !all_sleep() && turns > 0; turns--)
		turn();
	return all_sleep() && is_one_forgotten() ? 3 : 0;
}
