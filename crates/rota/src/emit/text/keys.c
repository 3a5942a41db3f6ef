/*
 * The least key of each ordered queue, by kind and group.
 */
static s64 key_least[KINDS][MAX_CPUS];

/* min_vt(QUEUE): the least key that was taken or left behind by whoever was. It never falls. */
static s64 min_key(u32 kind, u32 group)
{
	if (kind >= KINDS || group >= MAX_CPUS)
		return 0;
	return *(volatile s64 *)&key_least[kind][group];
}

/* A task of an ordered queue begins to run. */
static void key_taken(struct frame *f)
{
	struct task *t = f->t, *head = first_for(queue(f->part, t->kind, t->group), ANYWHERE);
	s64 key = head ? lesser(t->key, head->key) : t->key, old = min_key(t->kind, t->group);

	/* Of two at once the first has its way; what the other had to say the next one will. */
	if (key > old && t->kind < KINDS && t->group < MAX_CPUS)
		__sync_val_compare_and_swap(&key_least[t->kind][t->group], old, key);
}

/* t.VAR, carried over from one queue to another: as far ahead of the least there as here. */
static s64 rebased(s64 key, u32 kind, u32 from, u32 to, u32 into)
{
	return plus(key, minus(min_key(to, into), min_key(kind, from)));
}
