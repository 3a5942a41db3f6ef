/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finds the run queues of CPUs. Symbols of variables may be hidden, but up to 7.1 every task
 * group lists the queues of all CPUs. Since then it has them in per-CPU memory, whose place is
 * hidden, too; but every task has a pointer to the queue that it is on. */
#pragma once

/* Whether task groups list the queues of all CPUs: set before loading. */
const volatile __u32 queues_listed = 1;

/* The queue of a CPU, from the list; 0: none. */
static __always_inline __u64 listed_queue(__u32 cpu)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct cfs_rq **queues = BPF_CORE_READ(current, sched_task_group, cfs_rq);
	struct cfs_rq *queue = NULL;

	bpf_probe_read_kernel(&queue, sizeof(queue), &queues[cpu]);
	return queue ? (__u64)BPF_CORE_READ(queue, rq) : 0;
}

/* The queue of the CPU that a task is on, and that CPU; 0: none. Every CPU that was ever online
 * has kernel threads of its own. */
static __always_inline __u64 queue_of(struct task_struct *task, __u32 *cpu)
{
	struct rq *rq = task ? BPF_CORE_READ(task, se.cfs_rq, rq) : NULL;

	if (rq)
		*cpu = BPF_CORE_READ(rq, cpu);
	return (__u64)rq;
}
