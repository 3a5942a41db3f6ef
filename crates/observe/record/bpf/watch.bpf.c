/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The watch: a timer looks at every CPU's run queue. No scheduler event is hooked. */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "load.h"
#include "queues.h"
#include "sight.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum { MAX_CPUS = 8192 };

/* Set before loading. `idle_looks`, `wait_looks` and `tell_looks` are consecutive. */
const volatile __u32 cpus = 1;
const volatile __u64 look_ns = 10000000;      /* the interval between two looks */
const volatile __u64 period_ns = 1000000000; /* the interval between two reports */
const volatile __u32 idle_looks = 2;	      /* a CPU counts that was idle at so many looks */
const volatile __u32 wait_looks = 1;	      /* it counts while tasks waited at so many looks */
const volatile __u32 tell_looks = 3;	      /* a report needs findings at so many looks */
const volatile __u32 blind = 0;		      /* for measuring: look at no CPU */

/* This many looks that find nothing end a run: one may coincide with a short run of a kernel
 * thread. */
enum { MISSES = 2 };

struct ticker {
	struct bpf_timer timer;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ticker);
} tickers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct figures);
} seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16); /* whole pages, whatever their size */
} tellings SEC(".maps");

/* Per CPU. */
static struct seat {
	__u64 rq;
	__u32 idle; /* at this many consecutive looks */
	__u32 padding;
} seats[MAX_CPUS];

/* The result of one look. */
struct sight {
	__u32 idle;
	__u32 waiting;
};

/* Tasks whose dequeue is delayed (6.12): they are counted but do not want to run. */
static __always_inline __u32 delayed(__u64 rq)
{
	struct cfs_rq___delayed *old;

	if (bpf_core_field_exists(struct cfs_rq, h_nr_runnable))
		return LOAD(rq, rq, cfs.h_nr_queued) - LOAD(rq, rq, cfs.h_nr_runnable);
	if (bpf_core_field_exists(old->h_nr_delayed)) {
		old = (void *)(rq + bpf_core_field_offset(struct rq, cfs));
		return BPF_CORE_READ(old, h_nr_delayed);
	}
	return 0;
}

/* `nr_running` counts the tasks of all classes, without throttled ones (those are dequeued, one
 * by one or with their group) and without servers of the deadline class (`dl_nr_running` counts
 * those). Minus the delayed tasks, it is the number of tasks that want to run. 0 means that the
 * idle task runs and no task waits. Read without the lock: a look may miss a change in progress. */
static long look_at(__u32 cpu, struct sight *sight)
{
	struct seat *seat = &seats[cpu & (MAX_CPUS - 1)];
	__u32 running = LOAD(rq, seat->rq, nr_running);
	__u32 late;

	if (!running) {
		seat->idle++;
		if (seat->idle >= idle_looks)
			sight->idle++;
		return 0;
	}
	seat->idle = 0;
	if (running == 1)
		return 0;
	late = delayed(seat->rq);
	/* One of these runs, or is about to. */
	if (late < running - 1)
		sight->waiting += running - 1 - late;
	return 0;
}

/* The queue of an offline CPU is empty, too. Checking each CPU at each look would take another
 * cache line per CPU. */
static long count_idle(__u32 cpu, struct sight *sight)
{
	struct seat *seat = &seats[cpu & (MAX_CPUS - 1)];

	if (seat->idle >= idle_looks && LOAD(rq, seat->rq, online))
		sight->idle++;
	return 0;
}

/* Wakes user space: this run goes on. */
static __always_inline void tell(struct figures *figures)
{
	struct run *told = bpf_ringbuf_reserve(&tellings, sizeof(*told), 0);

	if (!told)
		return; /* the last report is not read yet, so user space is awake */
	*told = figures->run;
	bpf_ringbuf_submit(told, 0);
	figures->told = figures->now;
}

static __always_inline void judge(struct figures *figures, struct sight *sight, __u64 passed)
{
	__u32 wasted = sight->idle < sight->waiting ? sight->idle : sight->waiting;
	struct run *run = &figures->run;

	figures->waits = sight->waiting ? figures->waits + 1 : 0;
	if (wasted && figures->waits >= wait_looks) {
		figures->suspect_looks++;
		figures->suspect_cpu_ns += wasted * passed;
		if (!run->since)
			run->since = figures->now;
		run->until = figures->now;
		run->looks++;
		run->misses = 0;
		run->cpu_ns += wasted * passed;
		if (run->looks >= tell_looks && figures->now >= figures->told + period_ns)
			tell(figures);
	} else if (run->since && ++run->misses >= MISSES) {
		figures->last = *run;
		__builtin_memset(run, 0, sizeof(*run));
	}
}

static int look(void *map, __u32 *key, struct ticker *ticker)
{
	__u64 now = bpf_ktime_get_ns();
	struct sight sight = {};
	struct figures *figures;
	__u32 zero = 0;
	__u64 passed;

	figures = bpf_map_lookup_elem(&seen, &zero);
	if (!figures)
		return 0;
	if (!blind)
		bpf_loop(cpus, look_at, &sight, 0);
	if (sight.idle && sight.waiting) {
		sight.idle = 0;
		bpf_loop(cpus, count_idle, &sight, 0);
	}
	passed = figures->now ? now - figures->now : 0;
	figures->now = now;
	figures->looks++;
	figures->idle = sight.idle;
	figures->waiting = sight.waiting;
	judge(figures, &sight, passed);
	figures->looking_ns += bpf_ktime_get_ns() - now;
	bpf_timer_start(&ticker->timer, look_ns, 0);
	return 0;
}

/* Before `begin`, if no list has the run queues. A CPU that comes online for the first time
 * later is not looked at there: it has no queue, so nothing runs on it and it counts as offline. */
SEC("iter/task")
int find(struct bpf_iter__task *ctx)
{
	__u32 cpu = 0;
	__u64 rq = queue_of(ctx->task, &cpu);

	if (rq)
		seats[cpu & (MAX_CPUS - 1)].rq = rq;
	return 0;
}

/* Finds the run queues and starts the timer. It ends with the last descriptor of its map. */
SEC("syscall")
int begin(void *ctx)
{
	struct ticker *ticker;
	__u32 cpu, zero = 0;
	__u64 found = 0;

	for (cpu = 0; cpu < MAX_CPUS && cpu < cpus; cpu++) {
		if (queues_listed)
			seats[cpu].rq = listed_queue(cpu);
		found |= seats[cpu].rq;
	}
	if (!found)
		return -1;
	ticker = bpf_map_lookup_elem(&tickers, &zero);
	if (!ticker || bpf_timer_init(&ticker->timer, &tickers, CLOCK_MONOTONIC) ||
	    bpf_timer_set_callback(&ticker->timer, look))
		return -2;
	return bpf_timer_start(&ticker->timer, look_ns, 0);
}
