/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The recorder: one tracepoint, one event in the ring of its CPU. */
#include "kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "load.h"
#include "queues.h"
#include "wire.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

enum { MAX_CPUS = 8192, MAX_WORDS = MAX_CPUS / 64 };

/* Set before loading. */
const volatile __u32 mask_words = 1;	     /* 64-bit words of a CPU mask that can be set */
const volatile __u32 wake_bytes = 64 << 10; /* wake user space after this many bytes */
const volatile __u32 cgroup_v1 = 0;	     /* the cpu controller has a hierarchy of its own */
/* Arguments of sched_switch: 1 (preempt, prev, next, state), 2 (preempt, state, prev, next)
 * in 5.18 alone, 0 (preempt, prev, next) before that. */
const volatile __u32 switch_arguments = 1;
/* The bits of a preempt count in an interrupt or NMI. Since 7.3 they are higher. */
const volatile __u32 hardirq_mask = 0x00ff0000;
/* The offset of a CPU's preempt count from its run queue, on x86; 0: not known. */
const volatile __s64 preempt_count_offset = 0;

/* Set by user space: what is found there is no preempt count. */
__u32 misplaced;

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16); /* replaced before loading */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* one per CPU: set before loading */
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* What was last sent of a task. */
struct told {
	__u64 digest;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct told);
} tasks SEC(".maps");

/* Per CPU, written only by that CPU. */
struct lane {
	__u64 lost;	  /* events since the last one that found room */
	__u64 lost_since; /* when the first of them happened */
	__u64 lost_total;
	__u64 unseen; /* bytes since user space was woken */
	__u64 queue;	 /* the address of its run queue; 0: not known */
	__u64 offline; /* it went offline since the last look */
	__u64 untold;  /* tasks for which there was no storage */
	__u64 padding;
} __attribute__((aligned(64)));

struct lane lanes[MAX_CPUS];

static __always_inline struct lane *this_lane(__u32 cpu)
{
	return &lanes[cpu & (MAX_CPUS - 1)];
}

static __always_inline void *ring_of(__u32 cpu)
{
	return bpf_map_lookup_elem(&rings, &cpu);
}

static __always_inline void submit(struct lane *lane, void *record, __u32 size)
{
	__u64 flags = BPF_RB_NO_WAKEUP;

	/* Adaptive wakeups cost a microsecond each, and would be in the recording. */
	lane->unseen += size;
	if (lane->unseen >= wake_bytes) {
		lane->unseen = 0;
		flags = BPF_RB_FORCE_WAKEUP;
	}
	bpf_ringbuf_submit(record, flags);
}

/* Reserves room for a record; reports dropped events first. */
static __always_inline void *reserve(void *ring, struct lane *lane, __u64 now, __u32 size)
{
	void *record;

	if (!ring)
		return NULL;
	if (lane->lost) {
		struct event *lost = bpf_ringbuf_reserve(ring, sizeof(*lost), 0);

		if (!lost)
			goto full;
		*lost = (struct event){
			.time = lane->lost_since,
			.kind = LOST,
			.task = lane->lost,
		};
		lane->lost = 0;
		submit(lane, lost, sizeof(*lost));
	}
	record = bpf_ringbuf_reserve(ring, size, 0);
	if (record)
		return record;
full:
	if (!lane->lost)
		lane->lost_since = now;
	lane->lost++;
	lane->lost_total++;
	return NULL;
}

static __always_inline void emit(const struct event *event)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct lane *lane = this_lane(cpu);
	struct event *record = reserve(ring_of(cpu), lane, event->time, sizeof(*record));

	if (!record)
		return;
	*record = *event;
	submit(lane, record, sizeof(*record));
}

static __always_inline __u32 cpu_of(struct task_struct *task)
{
	struct task_struct___cpu *old = (void *)task;

	if (bpf_core_field_exists(task->thread_info.cpu))
		return task->thread_info.cpu;
	return BPF_CORE_READ(old, cpu);
}

static __always_inline __u32 state_of(struct task_struct *task)
{
	struct task_struct___state *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return BPF_CORE_READ(old, state);
}

static __always_inline bool is_throttled(struct task_struct *task)
{
	/* Since 6.18 tasks are throttled one by one, before that the queue with all tasks on it. */
	if (bpf_core_field_exists(task->throttled))
		return task->throttled;
	if (bpf_core_field_exists(struct cfs_rq, throttle_count))
		return BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0;
	return false;
}

static __always_inline bool is_delayed(struct task_struct *task)
{
	return bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;
}

static __always_inline __u64 cgroup_of(struct task_struct *task)
{
	if (cgroup_v1)
		return task->sched_task_group->css.cgroup->kn->id;
	return task->cgroups->dfl_cgrp->kn->id;
}

static __always_inline __u8 prio_byte(int prio)
{
	return prio + 1;
}

/* The context in which this runs (include/linux/preempt.h); 0 if that is not known. */
static __always_inline __u8 context(struct lane *lane)
{
	__u32 count = 0;

	if (bpf_core_field_exists(struct thread_info, preempt_count)) {
		struct task_struct *current = bpf_get_current_task_btf();

		count = current->thread_info.preempt_count;
	} else if (preempt_count_offset && !misplaced && lane->queue) {
		count = LOAD(refcount_struct, lane->queue + preempt_count_offset, refs.counter);
	} else {
		return 0;
	}
	if (count & hardirq_mask)
		return CONTEXT_KNOWN | HARDIRQ;
	if (count & 0x00000100)
		return CONTEXT_KNOWN | SOFTIRQ;
	return CONTEXT_KNOWN;
}

/* How often the kernel disables migration of the current task to run one of our programs on a
 * tracepoint: not at all up to 6.18, seen once on 7.3. The idle task never does, so its count is
 * ours. */
__u32 own_pins;

/* How often migration of a task is disabled, except by our programs. */
static __always_inline __u32 pins_of(struct task_struct *task)
{
	__u32 pins = task->migration_disabled;

	if (!pins || task != bpf_get_current_task_btf())
		return pins;
	return pins > own_pins ? pins - own_pins : 0;
}

/* The same where a system call runs the program: the calling task itself disables no migration. */
static __always_inline __u32 pins_in_call(struct task_struct *task)
{
	return task == bpf_get_current_task_btf() ? 0 : task->migration_disabled;
}

/* Each word is multiplied by a different odd factor: if one word alone changes, so does the sum,
 * and no word depends on another. */
static __always_inline __u64 weigh(__u64 word, __u32 place)
{
	return word * ((place + 1) * 0x9e3779b97f4a7c16ULL + 1);
}

static __always_inline __u64 digest_of_mask(const struct cpumask *mask)
{
	__u64 digest = 0, far;
	__u32 word;

#pragma unroll
	for (word = 0; word < 8; word++)
		if (word < mask_words)
			digest += weigh(mask->bits[word], word);
	for (word = 8; word < MAX_WORDS && word < mask_words; word++) {
		bpf_probe_read_kernel(&far, sizeof(far), &mask->bits[word]);
		digest += weigh(far, word);
	}
	return digest;
}

/* Changes when something changes that `struct facts` holds. Never 0. */
static __always_inline __u64 digest_of(struct task_struct *task, __u32 pins)
{
	enum { FIRST = MAX_WORDS };
	__u64 digest = digest_of_mask(task->cpus_ptr);

	digest += weigh(task->start_time, FIRST);
	digest += weigh((__u64)task->policy << 32 | (__u32)task->static_prio, FIRST + 1);
	digest += weigh((__u64)pins << 32 | is_throttled(task), FIRST + 2);
	digest += weigh(cgroup_of(task), FIRST + 3);
	digest += weigh(*(__u64 *)&task->comm[0], FIRST + 4);
	digest += weigh(*(__u64 *)&task->comm[8], FIRST + 5);
	return digest ? digest : 1;
}

static __always_inline void fill_facts(struct facts *facts, struct task_struct *task, __u64 now,
				       __u32 pins)
{
	facts->event = (struct event){
		.time = now,
		.kind = FACTS,
		.task = task->pid,
		.on = cpu_of(task),
		.flags = (task->on_cpu ? RUNNING : 0) |
			 (task->on_rq && !is_delayed(task) ? QUEUED : 0),
		.prio = prio_byte(task->prio),
	};
	facts->start_time = task->start_time;
	facts->cgroup = cgroup_of(task);
	__builtin_memcpy(facts->comm, task->comm, sizeof(facts->comm));
	facts->tgid = task->tgid;
	facts->policy = task->policy;
	facts->nice = task->static_prio - 120;
	facts->throttled = is_throttled(task);
	facts->migration_disabled = pins != 0;
	bpf_probe_read_kernel(facts->mask, mask_words * 8, task->cpus_ptr);
}

/* A ring needs sizes that are known beforehand: up to 256, 1024 and 8192 CPUs. */
#define SEND(words)                                                                    \
	({                                                                             \
		__u32 size = sizeof(struct facts) + (words) * sizeof(__u64);           \
		struct facts *facts = reserve(ring_of(cpu), lane, now, size);          \
		if (facts) {                                                           \
			fill_facts(facts, task, now, pins);                            \
			submit(lane, facts, size);                                     \
		}                                                                      \
		facts != NULL;                                                         \
	})

/* Sends what has changed about a task since the last look at it. What was sent of a task is
 * stored only where memory may be allocated: at its fork and in the walk, never under a run
 * queue's lock. */
static __always_inline void look_with(struct task_struct *task, __u64 now, __u64 flags, __u32 pins)
{
	struct told *told;
	struct lane *lane;
	__u64 digest;
	__u32 cpu;
	bool sent;

	if (!task->pid)
		return;
	told = bpf_task_storage_get(&tasks, task, NULL, flags);
	if (!told) {
		if (flags)
			this_lane(bpf_get_smp_processor_id())->untold++;
		return;
	}
	digest = digest_of(task, pins);
	if (told->digest == digest)
		return;
	cpu = bpf_get_smp_processor_id();
	lane = this_lane(cpu);
	if (mask_words <= 4)
		sent = SEND(4);
	else if (mask_words <= 16)
		sent = SEND(16);
	else
		sent = SEND(MAX_WORDS);
	/* Running again ends a throttle, and there is no look then: so send the facts at the
	 * next look, too. */
	if (sent)
		told->digest = is_throttled(task) ? 0 : digest;
}

static __always_inline void look(struct task_struct *task, __u64 now, __u64 flags)
{
	look_with(task, now, flags, pins_of(task));
}

static __always_inline __u32 current_tid(void)
{
	return bpf_get_current_task_btf()->pid;
}

static __always_inline int on_switch(bool preempt, struct task_struct *prev,
				     struct task_struct *next, __u32 state)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = SWITCH,
		.task = prev->pid,
		.other = next->pid,
		.on = state,
		.flags = preempt ? PREEMPTED : 0,
		.prio = prio_byte(prev->prio),
		.other_prio = prio_byte(next->prio),
	};

	emit(&event);
	if (!prev->pid && prev->migration_disabled != own_pins)
		own_pins = prev->migration_disabled;
	if (!state || preempt)
		look(prev, event.time, 0);
	return 0;
}

SEC("tp_btf/sched_switch")
int on_sched_switch(__u64 *ctx)
{
	if (switch_arguments == 1)
		return on_switch(ctx[0], (void *)ctx[1], (void *)ctx[2], ctx[3]);
	if (switch_arguments == 2)
		return on_switch(ctx[0], (void *)ctx[2], (void *)ctx[3], ctx[1]);
	return on_switch(ctx[0], (void *)ctx[1], (void *)ctx[2],
			 state_of((void *)ctx[1]));
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *task)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = WAKING,
		.task = task->pid,
		.other = current_tid(),
		.on = cpu_of(task),
		.flags = context(this_lane(bpf_get_smp_processor_id())) |
			 (task->on_rq ? QUEUED : 0),
		.prio = prio_byte(task->prio),
	};

	emit(&event);
	return 0;
}

static __always_inline int on_wakeup(struct task_struct *task, __u8 kind)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = kind,
		.task = task->pid,
		.other = current_tid(),
		.on = cpu_of(task),
		.flags = context(this_lane(bpf_get_smp_processor_id())),
		.prio = prio_byte(task->prio),
	};

	look(task, event.time, 0);
	emit(&event);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_sched_wakeup, struct task_struct *task)
{
	return on_wakeup(task, WAKEUP);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_sched_wakeup_new, struct task_struct *task)
{
	return on_wakeup(task, NEW);
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_sched_migrate_task, struct task_struct *task, int to)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = MIGRATE,
		.task = task->pid,
		.other = current_tid(),
		.from = cpu_of(task),
		.on = to,
		.flags = context(this_lane(bpf_get_smp_processor_id())),
		.prio = prio_byte(task->prio),
	};

	look(task, event.time, 0);
	emit(&event);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = FORK,
		.task = child->pid,
		.other = parent->pid,
	};

	look(child, event.time, BPF_LOCAL_STORAGE_GET_F_CREATE);
	emit(&event);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_sched_process_exec, struct task_struct *task, int old_pid)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = EXEC,
		.task = task->pid,
		.other = old_pid,
	};

	emit(&event);
	look(task, event.time, 0);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_sched_process_exit, struct task_struct *task)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = EXIT,
		.task = task->pid,
	};

	/* A short task may have taken its name without having been looked at since. */
	look(task, event.time, 0);
	emit(&event);
	return 0;
}

/* Finds the run queue of this CPU. */
static __always_inline void locate_queue(void)
{
	__u32 cpu = 0;
	__u64 queue = queue_of(bpf_get_current_task_btf(), &cpu);

	if (queue && cpu == bpf_get_smp_processor_id())
		this_lane(cpu)->queue = queue;
}

/* Run on each CPU that is online when the programs are loaded. Returns whether the preempt count
 * that is found there can be that of this very moment, in a system call. */
SEC("raw_tp")
int locate(void *ctx)
{
	locate_queue();
	return context(this_lane(bpf_get_smp_processor_id())) == CONTEXT_KNOWN;
}

/* No tracepoint reports affinities: without this program a change is seen only at the next look
 * at the task. Some kernels allow nothing better. */
SEC("fexit/set_cpus_allowed_common")
int BPF_PROG(on_affinity, struct task_struct *task)
{
	look_with(task, bpf_ktime_get_ns(), 0, pins_in_call(task));
	return 0;
}

/* In include/linux/cpuhotplug.h, the steps that a CPU takes itself are numbered above the step
 * that starts or kills it. So an upward step by the CPU itself means that it is online, a
 * downward step by another CPU means that it is dying or dead. */
SEC("tp_btf/cpuhp_enter")
int BPF_PROG(on_cpuhp_enter, unsigned int cpu, int target, int step)
{
	bool own = cpu == bpf_get_smp_processor_id();
	bool up = own && target > step;
	bool down = !own && target < step;
	struct lane *lane = this_lane(cpu);
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = CPU,
		.on = cpu,
		.flags = up ? UP : 0,
	};

	if (!up && !down || lane->offline == down)
		return 0;
	lane->offline = down;
	if (up)
		locate_queue(); /* it may be up for the first time */
	emit(&event);
	return 0;
}

SEC("tp_btf/cpu_frequency")
int BPF_PROG(on_cpu_frequency, unsigned int khz, unsigned int cpu)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = FREQ,
		.on = cpu,
		.other = khz,
	};

	emit(&event);
	return 0;
}

/* The longest possible facts, for the walk. */
static struct {
	struct facts facts;
	__u64 mask[MAX_WORDS];
} walked;

/* Every task as it is now. Events in the meantime are in the rings, and override this. Facts
 * sent in an earlier recording do not count as known in this one. */
SEC("iter/task")
int walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct told *told;

	if (!task || !task->pid)
		return 0;
	told = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (told)
		told->digest = 0;
	else
		this_lane(bpf_get_smp_processor_id())->untold++;
	fill_facts(&walked.facts, task, bpf_ktime_get_ns(), pins_in_call(task));
	bpf_seq_write(ctx->meta->seq, &walked, sizeof(walked.facts) + mask_words * 8);
	return 0;
}

#include "decisions.h"
#include "evidence.h"
