/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The data that the programs send to user space. `src/wire.rs` reads it; both sides are of one
 * build. */
#pragma once

enum kind {
	SWITCH,	 /* task prev, other next, on prev_state, flags */
	WAKING,	 /* task, other current, on its last CPU, flags */
	WAKEUP,	 /* task, other current, on */
	NEW,	 /* as WAKEUP */
	MIGRATE, /* task, other current, from, on destination */
	FORK,	 /* task child, other parent */
	EXEC,	 /* task, other its tid before */
	EXIT,	 /* task */
	CPU,	 /* on, flags UP */
	FREQ,	 /* on, other kHz */
	LOST,	 /* task how many, after time */
	FACTS,	 /* a struct facts */
	DECIDED, /* a struct decided */
	SERVED,	 /* task ns since it began, other those that were its own, on number, flags which:
		    a hardirq, a softirq, or an idle state */
	DUMP,	 /* a struct dump */
};

enum {
	PREEMPTED = 1, /* switch: prev was preempted */
	QUEUED = 2,    /* waking: the task was still queued; facts: it is */
	UP = 4,
	RUNNING = 8, /* facts: it runs */
	SOFTIRQ = 16,
	HARDIRQ = 32,
	CONTEXT_KNOWN = 64,
	IDLE_STATE = 128,
};

/* The recording CPU is that of the ring. */
struct event {
	__u64 time; /* CLOCK_MONOTONIC, ns */
	__u32 task;
	__u32 other;
	__u16 on;
	__u16 from;
	__u8 kind;
	__u8 flags;
	__u8 prio; /* kernel priority + 1 of task */
	union {
		__u8 other_prio;
		__u8 what; /* decided: a decision */
	};
};

/* The facts about a task that change seldom; sent when one of them has changed. */
struct facts {
	struct event event; /* on: its CPU */
	__u64 start_time;   /* distinguishes two tasks of one tid */
	__u64 cgroup;	    /* id of the node in cgroupfs */
	char comm[16];
	__u32 tgid;
	__u8 policy;
	__s8 nice;
	__u8 throttled;
	__u8 migration_disabled;
	__u64 mask[]; /* mask_words of them */
};

/* What was decided, and sets of CPUs of mask_words words each. */
enum decision {
	WOKEN,	  /* task, from its last CPU, on the selected one, flags SYNC; 1: looked at */
	FORKED,	  /* the same for a new task */
	EXECUTED, /* the same for a task that executes a program */
	NEWIDLE,  /* task how many were moved, on the CPU, flags an outcome; 3: span, local group,
		     busiest group */
	PERIODIC, /* the same */
	DOMAINS,  /* no decision: on the CPU, task how many domains it has from now on; 2 of each,
		     narrowest first: span, local group */
	RESCHED,  /* task, which runs on the CPU */
	NUMA,	  /* task, from its CPU, on the other one, or -1; flags a step */
	UNSCANNED, /* task, whose memory: flags why */
	DL_SERVER, /* on the CPU, flags UP if it starts */
};

enum { SYNC = 1 };

/* Of NUMA balancing. */
enum step {
	TASK_MOVED,
	TASK_STUCK,
	TASKS_SWAPPED,
};

/* Beside the reasons of the kernel (enum numa_vmaskip_reason). */
enum { NO_NODE = 255 };

/* Of a pass of load balancing. */
enum outcome {
	MOVED,
	NOT_DESIGNATED,
	BALANCED,
	PINNED,
	FAILED,
	ACTIVE,
};

struct decided {
	struct event event;
	__u64 sets[];
};

/* A line of a dump of sched_ext. */
struct dump {
	struct event event;
	char line[1024]; /* as long as the kernel's own buffer, with a 0 at the end */
};
