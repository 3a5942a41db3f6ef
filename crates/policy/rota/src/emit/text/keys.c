/*
 * The least key of each ordered queue, by kind and group.
 */
static s64 key_least[KIND_ROWS][MAX_CPUS];

/* min_vt(QUEUE): the least key of the tasks that ran or were still waiting then. It never falls. */
static s64 min_key(u32 kind, u32 group)
{
	if (kind >= KINDS || group >= MAX_CPUS)
		return 0;
	return *(volatile s64 *)&key_least[kind & (KIND_ROWS - 1)][at(group)];
}

/* A task begins to run and counts in the order of a queue. */
static void key_begins(struct frame *f, u32 kind, u32 group, s64 key)
{
	struct task *head = first_for(queue(f->part, kind, group), ANYWHERE);
	s64 least = head ? lesser(key, head->key) : key, old = min_key(kind, group);

	/* Of two concurrent updates the first one wins; the next update makes up for the other. */
	if (least > old && kind < KINDS && group < MAX_CPUS)
		__sync_val_compare_and_swap(&key_least[kind & (KIND_ROWS - 1)][at(group)], old, least);
}

/* A task of an ordered queue begins to run. */
static void key_taken(struct frame *f)
{
	key_begins(f, f->t->kind, f->t->group, f->t->key);
}

/* t.VAR, carried over to another queue: its distance from the least key stays the same. */
static s64 rebased(s64 key, u32 kind, u32 from, u32 to, u32 into)
{
	return plus(key, minus(min_key(to, into), min_key(kind, from)));
}
