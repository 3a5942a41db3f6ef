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
+	u64 in; /* the number of the queue in which it waits */
+	u64 mask; /* of its affinity as recorded: the first word, */
+	s32 usable; /* and how many CPUs; negative: migration is disabled */
@TASK_VARS@};

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
@FRAME@};

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

/* The values of names in a set operator. */
struct fold {
	struct frame *f;
	u32 group; /* the group whose CPUs it runs over */
	u32 met;   /* how many of them were visited */
	s64 value;
	s32 cpu;
};

static bool runs_on(s32 cpu)
{
	return (u32)cpu < MAX_CPUS && *(volatile u32 *)&runs[at(cpu)];
}

static s64 weight_on(s32 cpu)
{
	if ((u32)cpu >= MAX_CPUS)
		return 0;
	return *(volatile u32 *)&runs[at(cpu)];
}
