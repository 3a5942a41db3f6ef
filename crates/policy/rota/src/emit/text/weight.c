/*
 * The sum of the weights of waiting tasks, by kind and group.
 */
static s64 weights[KIND_ROWS][MAX_CPUS];

/* weight(QUEUE): the sum of the weights of waiting tasks, as they were when they arrived. */
static s64 queued_weight(u32 kind, u32 group)
{
	if (kind >= KINDS || group >= MAX_CPUS)
		return 0;
	return *(volatile s64 *)&weights[kind & (KIND_ROWS - 1)][at(group)];
}

/* Sets the weight of a task that enters its queue, or 0 for one that leaves it. */
static void weigh(struct task *t, s64 weight)
{
	if (t->kind < KINDS && t->group < MAX_CPUS)
		__sync_fetch_and_add(&weights[t->kind & (KIND_ROWS - 1)][at(t->group)], weight - t->weighed);
	t->weighed = weight;
}
