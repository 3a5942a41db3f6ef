/*
 * Constants of the running kernel. The loader looks up each one by name in the kernel's BTF; the
 * values here are those of the kernels at the time of writing.
 */
RODATA u64 SCX_DSQ_LOCAL = 0x8000000000000002ULL;
RODATA u64 SCX_DSQ_LOCAL_ON = 0xc000000000000000ULL;
RODATA u64 SCX_SLICE_INF = ~0ULL;
RODATA u64 SCX_KICK_IDLE = 1;
RODATA u64 SCX_KICK_PREEMPT = 2;
RODATA u64 SCX_ENQ_WAKEUP = 1;
RODATA u64 SCX_DEQ_SLEEP = 1;
RODATA u32 SCX_TASK_QUEUED = 1;
RODATA u32 TASK_DEAD = 0x80;

/*
 * The machine, filled by the loader. Groups of a level are numbered over all partitions: those of
 * the first partition first, in each partition in the order of their lowest CPU. CPUs are groups
 * of level CPU. `members` is where `member` holds the CPUs of a group, ascending; `groups` is which
 * groups a partition has. A partition always has a CPU. A CPU without a partition has `part_of`
 * NOBODY.
 */
enum { CPU, SMT, LLC, NODE, MACHINE, LEVELS, LEVEL_ROWS = 8 };

struct span {
	u16 first;
	u16 count;
};

RODATA u16 part_of[MAX_CPUS];
RODATA u16 group_of[LEVEL_ROWS][MAX_CPUS];
RODATA u16 member[LEVEL_ROWS][MAX_CPUS];
RODATA struct span members[LEVEL_ROWS][MAX_CPUS];
RODATA struct span groups[PART_ROWS][LEVEL_ROWS];

/* An index of a table of CPUs or groups. Clang may compare one register and index with a copy of
 * it, of which the verifier knows nothing: so the index itself is bounded, where clang does not see
 * that it is bounded already. */
static ALWAYS_INLINE u32 at(u32 n)
{
	asm volatile("" : "+r"(n));
	return n & (MAX_CPUS - 1);
}

/* The same for a table of levels. */
static ALWAYS_INLINE u32 row(u32 level)
{
	asm volatile("" : "+r"(level));
	return level & (LEVEL_ROWS - 1);
}

static u32 part(s32 cpu)
{
	if ((u32)cpu >= MAX_CPUS)
		return NOBODY;
	return part_of[at(cpu)];
}

/* The group of a level that contains a CPU. */
static u32 group(u32 level, s32 cpu)
{
	if (level >= LEVELS || (u32)cpu >= MAX_CPUS)
		return 0;
	return group_of[row(level)][at(cpu)];
}

/* How many CPUs a group has. */
static u32 cpus(u32 level, u32 group)
{
	if (level >= LEVELS || group >= MAX_CPUS)
		return 0;
	return members[row(level)][at(group)].count;
}

/* The nth CPU of a group. */
static s32 nth(u32 level, u32 group, u32 n)
{
	if (level >= LEVELS || group >= MAX_CPUS)
		return 0;
	n += members[row(level)][at(group)].first;
	if (n >= MAX_CPUS)
		return 0;
	return member[row(level)][at(n)];
}

/* How many groups of a level a partition has, and the number of the first. */
static struct span groups_in(u32 part, u32 level)
{
	struct span none = {};

	if (part >= PARTS || level >= LEVELS)
		return none;
	asm volatile("" : "+r"(part));
	part &= PART_ROWS - 1;
	none.first = groups[part][row(level)].first;
	none.count = groups[part][row(level)].count;
	return none;
}

/* The narrowest level that two CPUs share. */
static u32 distance(s32 a, s32 b)
{
	return a == b				? CPU
	       : group(SMT, a) == group(SMT, b) ? SMT
	       : group(LLC, a) == group(LLC, b) ? LLC
	       : group(NODE, a) == group(NODE, b) ? NODE
						  : MACHINE;
}
