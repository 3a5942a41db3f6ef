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
@CHAIN@}

static void chain(u32 part)
{
	struct chain c = { .part = part, .first = groups_in(part, MACHINE).first };
	u32 n = cpus(MACHINE, c.first);
+	u64 begin = tick();

	if (n)
		bpf_loop(n, sleeper_step, &c, 0);
-	if (!c.found)
+	if (!c.found) {
+		record(begin, ABOUT(-1, S_CHAIN), part, 0, 0);
		return;
+	}
	c.found = false;
	chain_queues(&c);
	if (c.found)
		count(CHAIN);
+	record(begin, ABOUT(-1, S_CHAIN), part, 1, 0);
}
