/* The partition of a cgroup and of a process, by their numbers: the loader matches the names. */
MAP(part_of_cgroup, HASH, 4096, u64, u32);
MAP(part_of_process, HASH, 16384, u32, u32);

/* The first partition in the text that names it, or the one with all other tasks. */
static u32 part_of_task(struct task_struct *p)
{
	u64 cgroup = p->cgroups->dfl_cgrp->kn->id;
	u32 process = p->tgid;
	u32 *by_cgroup = bpf_map_lookup_elem(&part_of_cgroup, &cgroup);
	u32 *by_process = bpf_map_lookup_elem(&part_of_process, &process);
	u32 part = by_cgroup ? *by_cgroup : PARTS;

	if (by_process && *by_process < part)
		part = *by_process;
	return part < PARTS ? part : @REST@;
}

/* Its partition has none of its CPUs: the first partition that has one of them serves it. */
static long elsewhere_step(u32 n, struct frame *f)
{
	f->part = n;
	f->home = home_in(f->p, f->t, n);
	return f->home < 0 ? 0 : stop();
}

