/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The data that the watch sends to user space. `src/watch/looks.rs` reads it; both are of one
 * build. */
#pragma once

/* Consecutive looks that found an idle CPU beside waiting tasks. */
struct run {
	__u64 since; /* the first of them; 0: none */
	__u64 until; /* the last of them so far */
	__u64 looks;
	__u64 cpu_ns; /* the smaller of idle CPUs and waiting tasks, integrated */
	__u64 misses; /* looks since the last of them that found nothing */
};

/* The figures so far. Only the timer writes them. */
struct figures {
	__u64 now; /* of the last look, CLOCK_MONOTONIC; 0: none yet */
	__u64 looks;
	__u64 looking_ns; /* spent in looks */
	__u64 suspect_looks;
	__u64 suspect_cpu_ns;
	__u64 idle; /* CPUs at the last look; where nothing waits, offline ones too */
	__u64 waiting;
	__u64 told; /* the last report to user space */
	__u64 waits; /* looks in a row that found waiting tasks */
	struct run run;
	struct run last; /* the one before */
};
