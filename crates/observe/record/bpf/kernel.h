/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The parts of the kernel's types that our programs need. Only names matter: offsets are taken
 * from the running kernel when a program is loaded (CO-RE). `___x` is another version of a type. */
#pragma once

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
/* bpf_helper_defs.h refers to these. */
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

/* include/uapi/linux/bpf.h */
enum {
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
	BPF_F_NO_PREALLOC = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	CLOCK_MONOTONIC = 1,
};

struct bpf_timer {
	__u64 opaque[2];
} __attribute__((aligned(8)));

#define KERNEL __attribute__((preserve_access_index))

struct kernfs_node {
	__u64 id;
} KERNEL;

struct cgroup {
	struct kernfs_node *kn;
} KERNEL;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
} KERNEL;

struct css_set {
	struct cgroup *dfl_cgrp;
} KERNEL;

struct rq;

/* kernel/sched/sched.h */
struct cfs_rq {
	struct rq *rq;
	unsigned int h_nr_queued;   /* since 6.13 */
	unsigned int h_nr_runnable; /* since 6.13: without those whose dequeue is delayed */
	int throttle_count;
} KERNEL;

struct cfs_rq___delayed { /* 6.12 */
	unsigned int h_nr_delayed;
} KERNEL;

struct rq {
	unsigned int nr_running;
	struct cfs_rq cfs;
	int cpu;
	int online;
} KERNEL;

struct task_group {
	struct cgroup_subsys_state css;
	struct cfs_rq **cfs_rq; /* since 7.2 in memory of each CPU: `queues.h` */
} KERNEL;

struct sched_entity {
	unsigned char sched_delayed; /* since 6.12 */
	struct cfs_rq *cfs_rq;
} KERNEL;

struct cpumask {
	unsigned long bits[128];
} KERNEL;

struct refcount_struct { /* a structure that begins with a number */
	struct {
		int counter;
	} refs;
} KERNEL;

struct thread_info {
	__u32 cpu;	   /* since 5.16 on x86 */
	int preempt_count; /* not on x86 */
} KERNEL;

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state; /* since 5.14 */
	unsigned int on_cpu; /* signed up to 7.1, then bytes: only what has no sign is fitted */
	unsigned int on_rq;
	int prio;
	int static_prio;
	struct sched_entity se;
	struct task_group *sched_task_group;
	bool throttled; /* since 6.18 */
	unsigned int policy;
	int nr_cpus_allowed;
	const struct cpumask *cpus_ptr;
	unsigned short migration_disabled;
	int pid;
	int tgid;
	__u64 start_time;
	char comm[16];
	struct css_set *cgroups;
} KERNEL;

struct task_struct___cpu { /* before 5.16 */
	unsigned int cpu;
} KERNEL;

struct task_struct___state { /* before 5.14 */
	volatile long state;
} KERNEL;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNEL;
