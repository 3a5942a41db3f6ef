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
+	u64 begin = tick();
+
	if ((u32)cpu < MAX_CPUS)
		__sync_lock_test_and_set(&idle[at(cpu)], whether);
+	record(begin, ABOUT(cpu, whether ? S_IDLE : S_BUSY), 0, 0, 0);
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
-
-	return nearest(&s, near, by, within);
+	u64 begin = tick();
+	s32 cpu = nearest(&s, near, by, within);
+
+	record(begin, ABOUT(cpu, S_FIND), 0, within, f->p->pid);
+	return cpu;
}

/* home(t) */
static s32 home_of(struct task_struct *p, s32 prev)
{
	struct search s = { .p = p };
	s32 cpu = nearest(&s, prev, BY_ALL, MACHINE);

	return cpu < 0 ? prev : cpu;
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
+	record(0, ABOUT(cpu, S_KICK), 0, flags, 0);
}

/* Wakes one idle CPU that may run a waiting task and looks into its queue: the nearest to where
 * the task waits, within a group around its last CPU. */
static bool wake_for(struct task_struct *p, struct task *t, u32 within)
{
	struct search s = { .p = p, .claims = true, .kind = t->kind, .of = t->group };
+	u64 begin = tick();
	s32 cpu;

	if (within != MACHINE) {
		s.inside = true;
		s.per = within;
		s.in = group(within, t->prev);
	}
	cpu = nearest(&s, t->at, BY_ALL, MACHINE);
+	record(begin, ABOUT(cpu, S_CLAIM), t->in, within, p->pid);
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
-static void wake_owed(struct task_struct *p)
+static void wake_owed(struct task_struct *p, bool early)
{
	struct task *t = task_of(p);

	if (!t || !t->owed)
		return;
	t->owed = false;
	barrier();
+	record(0, ABOUT(t->at, early ? S_EARLY : S_IN), t->in, t->key, p->pid);
	wake_for(p, t, t->wake);
}
