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
@WEIGH@	count(PUT);
-	return pinned(f->p) ? queue_pinned(f->part, kind, f->home) : queue(f->part, kind, group);
+	t->in = pinned(f->p) ? queue_pinned(f->part, kind, f->home) : queue(f->part, kind, group);
+	record(0, ABOUT(f->home, S_PUT), t->in, key, f->p->pid);
+	return t->in;
}

/* put t in QUEUE slice SLICE, for a first-in-first-out queue with the number waits(). */
static void put(struct frame *f, u64 queue, u64 slice)
{
	scx_bpf_dsq_insert(f->p, queue, slice, 0);
}

/* The same, for an ordered queue. */
static void put_by(struct frame *f, u64 queue, s64 key, u64 slice)
{
	/* The kernels without this function do not know the type of its arguments either. */
	if (__scx_bpf_dsq_insert_vtime) {
		struct scx_bpf_dsq_insert_vtime_args args = { queue, slice, key, 0 };

		__scx_bpf_dsq_insert_vtime(f->p, &args);
	} else
		scx_bpf_dsq_insert_vtime(f->p, queue, slice, key, 0);
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
+	record(0, ABOUT(cpu, S_RUN), 0, 0, f->p->pid);
}

+/* Whether there is a task in a queue. */
+static bool holds(u64 id)
+{
+	u64 begin = tick();
+	bool any = scx_bpf_dsq_nr_queued(id) > 0;
+
+	record(begin, ABOUT(-1, S_TAKE), id, any ? 2 : 0, 0);
+	return any;
+}
+
+/* The first task of a queue that may run here, onto this CPU. */
+static bool move_from(u64 id, u32 step)
+{
+	u64 begin = tick();
+	bool took = scx_bpf_dsq_move_to_local(id);
+
+	record(begin, ABOUT(-1, step), id, took, 0);
+	return took;
+}
+
/* take QUEUE */
ONCE int take_from(u32 part, u32 kind, u32 group, s32 cpu)
{
	u64 shared = queue(part, kind, group), own = queue_pinned(part, kind, cpu);
	bool took;

-	if (scx_bpf_dsq_nr_queued(own) <= 0)
-		took = scx_bpf_dsq_move_to_local(shared);
-	else if (is_before(first_for(own, cpu), first_for(shared, cpu)))
-		took = scx_bpf_dsq_move_to_local(own) || scx_bpf_dsq_move_to_local(shared);
-	else
-		took = scx_bpf_dsq_move_to_local(shared) || scx_bpf_dsq_move_to_local(own);
+	if (!holds(own))
+		took = move_from(shared, S_TAKE);
+	else if (is_before(first_for(own, cpu), first_for(shared, cpu)))
+		took = move_from(own, S_TAKE) || move_from(shared, S_TAKE);
+	else
+		took = move_from(shared, S_TAKE) || move_from(own, S_TAKE);
	if (took)
		count(TAKE);
	return took;
}

static bool take(struct frame *f, u32 kind, u32 group)
{
	return take_from(f->part, kind, group, f->me);
}
