/*
 * Regular balances: one timer for each CPU that balances.
 */
struct period {
	struct bpf_timer timer;
};

MAP(periods, ARRAY, BALANCES * MAX_CPUS, u32, struct period);

static int period_due(void *map, u32 *key, struct period *period)
{
	u32 balance = *key / MAX_CPUS;
	s32 cpu = *key % MAX_CPUS;

	balance_now(balance, cpu);
	bpf_timer_start(&period->timer, period_of(balance, cpu), 0);
	return 0;
}

struct begin {
	u32 balance;
	u32 level;
	u32 first;
};

/* The leader of a group is its lowest CPU. */
static long begin_step(u32 n, struct begin *b)
{
	s32 cpu = nth(b->level, b->first + n, 0);
	u32 key = b->balance * MAX_CPUS + cpu;
	struct period *period = bpf_map_lookup_elem(&periods, &key);

	if (!period)
		return stop();
	bpf_timer_init(&period->timer, &periods, 1); /* CLOCK_MONOTONIC */
	bpf_timer_set_callback(&period->timer, period_due);
	bpf_timer_start(&period->timer, period_of(b->balance, cpu), 0);
	return 0;
}

static void begin(u32 part, u32 balance, u32 level)
{
	struct span all = groups_in(part, level);
	struct begin b = { .balance = balance, .level = level, .first = all.first };
	u32 n = all.count;

	if (n)
		bpf_loop(n, begin_step, &b, 0);
}
