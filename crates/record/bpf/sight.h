/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the watch hands to user space. `src/watch/looks.rs` reads it; both are of one build. */
#pragma once

/* Looks in a row that found an idle CPU beside waiting tasks. */
struct run {
	__u64 since; /* the first of them; 0: none */
	__u64 until; /* the last of them so far */
	__u64 looks;
	__u64 cpu_ns; /* the smaller of idle CPUs and waiting tasks, integrated */
	__u64 misses; /* looks since the last of them that found nothing */
};

/* What was seen so far. Written by the timer alone. */
struct figures {
	__u64 now; /* of the last look, CLOCK_MONOTONIC; 0: none yet */
	__u64 looks;
	__u64 looking_ns; /* spent in looks */
	__u64 suspect_looks;
	__u64 suspect_cpu_ns;
	__u64 idle; /* CPUs at the last look */
	__u64 waiting;
	__u64 told; /* when user space was told last */
	struct run run;
};

/* What user space wants. */
struct orders {
	__u64 quiet_until; /* tell of nothing that is news before */
	__u64 follow;	   /* tell when the run that began then ends */
};

/* Wakes user space. */
struct telling {
	__u64 now;
	__u64 ended; /* the run that is followed, otherwise it goes on */
	struct run run;
};
