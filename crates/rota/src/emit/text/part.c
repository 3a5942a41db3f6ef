/* The partition of a cgroup, by its number: the loader matches the names. */
MAP(part_of_cgroup, HASH, 4096, u64, u32);

static u32 part_of_task(struct task_struct *p)
{
	u64 cgroup = p->cgroups->dfl_cgrp->kn->id;
	u32 *part = bpf_map_lookup_elem(&part_of_cgroup, &cgroup);

	return part && *part < PARTS ? *part : @REST@;
}

/* Its partition has none of its CPUs: the first partition that has one of them serves it. */
static long elsewhere_step(u32 n, struct frame *f)
{
	f->part = n;
	f->home = home_in(f->p, f->t, n);
	return f->home < 0 ? 0 : stop();
}

