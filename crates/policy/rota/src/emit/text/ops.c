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
@ELSEWHERE@	if (f->home < 0)
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
+	record_mask(f->p, t);
+	record(0, ABOUT(f->here, S_PLACE), event, t->waits, f->p->pid);
	t->gave = t->waits = t->owed = false;
@UNWEIGH@	placed(f, event);
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
-		wake_owed(p);
+		wake_owed(p, true);
	return 0;
}

/* The kernel inserts a task after select_cpu or enqueue has returned. These tracepoints are the
 * first ones after that: a CPU is woken here, so that insertion comes before the claim. */
SEC("tp_btf/sched_wakeup")
int rota_wakeup(u64 *ctx)
{
-	wake_owed((void *)ctx[0]);
+	wake_owed((void *)ctx[0], false);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int rota_wakeup_new(u64 *ctx)
{
-	wake_owed((void *)ctx[0]);
+	wake_owed((void *)ctx[0], false);
	return 0;
}

SEC("tp_btf/sched_switch")
int rota_switch(u64 *ctx)
{
-	wake_owed((void *)ctx[1]);
+	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
+	bool before = prev->prio < 100, after = next->prio < 100;
+
+	if (before != after)
+		record(0, ABOUT(bpf_get_smp_processor_id(), S_ABOVE), 0, after, next->pid);
+	wake_owed(prev, false);
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
+	u64 begin = tick();
+	bool took;

	if (!stays) {
		set_idle(cpu, 1);
		if ((u32)cpu < MAX_CPUS)
			runs[at(cpu)] = 0;
	}
-	if (dispatched(&f, stays)) {
+	took = dispatched(&f, stays);
+	record(begin, ABOUT(cpu, S_ATTEMPT), stays, took, 0);
+	if (took) {
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
+	record(0, ABOUT(cpu, S_START), 0, p->scx.slice, p->pid);
	f.t->since = f.now;
	f.t->prev = cpu;
	if ((u32)cpu < MAX_CPUS)
		runs[at(cpu)] = p->scx.weight;
	if (f.t->waits) {
		f.t->waits = f.t->owed = false;
@LEFT@	}
@BEGINS@@RUNNING@	return 0;
}

SEC("struct_ops/stopping")
int rota_stopping(u64 *ctx)
{
	struct task_struct *p = (void *)ctx[0];
	s32 cpu = scx_bpf_task_cpu(p);
	struct frame f = {};

	if (!view(&f, p, cpu))
		return 0;
+	record(0, ABOUT(cpu, S_STOP), 0, ctx[1], p->pid);
	f.ran = f.now - f.t->since;
	f.t->ran = ctx[1];
@STOPPING@	if ((u32)cpu < MAX_CPUS)
		runs[at(cpu)] = 0;
	return 0;
}

+/* Its affinity changed. */
+SEC("struct_ops/set_cpumask")
+int rota_set_cpumask(u64 *ctx)
+{
+	struct task_struct *p = (void *)ctx[0];
+	struct task *t = task_of(p);
+
+	if (t)
+		record_mask(p, t);
+	return 0;
+}
+
+/* It goes to another scheduling class. */
+SEC("struct_ops/disable")
+int rota_disable(u64 *ctx)
+{
+	struct task_struct *p = (void *)ctx[0];
+
+	record(0, ABOUT(-1, S_LEFT), 0, 0, p->pid);
+	return 0;
+}
+
@OPTIONAL@SEC("struct_ops/init_task")
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
+	bpf_loop(MAX_CPUS, mask_words_step, 0, 0);
@INIT@	return error;
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
+	.set_cpumask = (void *)rota_set_cpumask,
+	.disable = (void *)rota_disable,
@OPS@	.init_task = (void *)rota_init_task,
	.init = (void *)rota_init,
	.exit = (void *)rota_exit,
	.dump = (void *)rota_dump,
	/* SCX_OPS_KEEP_BUILTIN_IDLE; ENQ_EXITING and ENQ_MIGRATION_DISABLED: the policy also queues
	 * tasks that exit, and those that must stay where they are. Otherwise they go past its queues,
	 * and wait on their CPUs while others are idle. */
	.flags = 1 | 4 | 16,
	.timeout_ms = 10000,
	.name = "@NAME@",
};

char LICENSE[] SEC("license") = "Dual MIT/GPL";
