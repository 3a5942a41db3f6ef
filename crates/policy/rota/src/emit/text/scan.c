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
+	record(0, ABOUT(s->cpu, S_SELECT), group, s->key, 0);
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

/* The chosen candidate, as `v`. */
static s32 the_best(struct scan *s)
{
	return s->from == CPU ? nth(CPU, s->best, 0) : s->best;
}

/* The lowest CPU of a group that a task may use, or -1. */
static s32 lowest_allowed(struct task_struct *p, u32 level, u32 of)
{
	struct search s = { .p = p, .found = -1 };

	search_in(&s, level, nth(level, of, 0));
	return s.found;
}

/* From now on the task waits in another queue. */
static void moved(struct task *t, u32 kind, u32 group, s64 key, s32 cpu)
{
@MOVED@	t->kind = kind;
	t->group = group;
	t->key = key;
	t->at = cpu;
	t->put = bpf_ktime_get_ns();
@CAME@}

/* steal 1: the first task that may run here, onto this CPU. */
static bool steal(struct scan *s, u32 kind)
{
-	bool took = scx_bpf_dsq_move_to_local(queue(s->part, kind, s->best));
+	bool took = move_from(queue(s->part, kind, s->best), S_STEAL);

	count(took ? STEAL_OK : STEAL_FAIL);
	return took;
}
