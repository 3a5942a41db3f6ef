/* Of every task. */
struct task {
	s32 prev;  /* the CPU on which it ran last */
	u32 part;  /* its partition, and one: 0 for a task that no policy has seen */
	u64 since; /* when it began to run */
	u32 kind;  /* the queue in which it waits or waited last, */
	u32 group; /* of which group, */
	s64 key;   /* where in it, 0 in one that is first in first out, */
	u64 put;   /* since when, */
	s32 at;	   /* near which CPU, */
	u32 wake;  /* and within which level of that one a CPU is woken for it */
	s64 weighed; /* its weight, while its queue counts it */
	bool owed; /* a CPU has still to be woken for it */
	bool waits; /* it is in that queue */
	bool ran;  /* it was on a CPU a moment ago and still wants to run */
	bool gave; /* it gave way */
@TASK_VARS@};

TASK_STORAGE(tasks, struct task);

static struct task *task_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, 0, 0);
}

/* Of every CPU: the weight of the task that it runs, 0 if none. */
static u32 runs[MAX_CPUS];

/* Of every CPU: whether it found nothing to run and sleeps, or is about to. Whoever clears a flag
 * owes that CPU a kick. */
static u32 idle[MAX_CPUS];

/* How often each step of the protocol was taken, by each CPU: put = take + steal_ok + waiting. */
enum { PUT, RUN, TAKE, SELECT, STEAL_OK, STEAL_FAIL, KICK, CHAIN, STEPS };
u64 steps[MAX_CPUS][STEPS];

static void count(u32 step)
{
	u32 cpu = bpf_get_smp_processor_id();

	if (cpu < MAX_CPUS && step < STEPS)
		steps[cpu][step]++;
}

/* What names stand for while one event is handled. CPUs are held by number, groups by theirs. */
struct frame {
	struct task_struct *p;
	struct task *t;
	u32 part;
	s32 me;	   /* who dispatches or balances */
	s32 other; /* the candidate of a balance */
	s32 here;  /* where the event happens */
	s32 home;  /* where the task ran last, or the nearest to it where it may run */
	s32 on;	   /* where the task goes: what select_cpu answers */
	s64 ran;   /* for how long it did */
	s64 now;   /* when this began: one event sees one time */
@FRAME@};

/* Ends a bpf_loop. Opaque, or clang proves too much to the verifier. */
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

/* Whether a task has one CPU only. The mask of one that must not migrate now is not its own. */
static bool pinned(struct task_struct *p)
{
	return p->nr_cpus_allowed == 1 || p->cpus_ptr != &p->cpus_mask;
}

/* What names stand for in a set operator. */
struct fold {
	struct frame *f;
	u32 group; /* over whose CPUs it is */
	u32 met;   /* how many of them were asked */
	s64 value;
	s32 cpu;
};

static bool runs_on(s32 cpu)
{
	return (u32)cpu < MAX_CPUS && *(volatile u32 *)&runs[cpu];
}

static s64 weight_on(s32 cpu)
{
	if ((u32)cpu >= MAX_CPUS)
		return 0;
	return *(volatile u32 *)&runs[cpu];
}
