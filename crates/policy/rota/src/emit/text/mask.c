/* The affinity of a task, word by word. */
struct mask {
	struct task_struct *p;
	u32 word;
	u64 bits;
};

/* How many words have CPUs of a partition. */
static u32 mask_words;

static long mask_words_step(u32 cpu, void *unused)
{
	if (part_of[at(cpu)] != NOBODY)
		mask_words = cpu / 64 + 1;
	return 0;
}

static long mask_bit_step(u32 n, struct mask *m)
{
	if (allowed(m->p, m->word * 64 + n))
		m->bits |= 1ULL << n;
	return 0;
}

static long mask_word_step(u32 word, struct mask *m)
{
	m->word = word;
	m->bits = 0;
	bpf_loop(64, mask_bit_step, m, 0);
	record(0, ABOUT(-1, S_MASK), word, m->bits, m->p->pid);
	return 0;
}

/* Recorded when it changed: then its first word, or its number of CPUs, has another value. */
static void record_mask(struct task_struct *p, struct task *t)
{
	s32 usable = p->cpus_ptr == &p->cpus_mask ? p->nr_cpus_allowed : -1;
	u64 first = p->cpus_ptr->bits[0];
	struct mask m = { .p = p };

	if (t->usable == usable && t->mask == first)
		return;
	t->usable = usable;
	t->mask = first;
	if (mask_words)
		bpf_loop(mask_words, mask_word_step, &m, 0);
}
