/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the fair class decides: the CPU that it selects for a task, and the result of each pass of
 * load balancing over a scheduling domain; and the domains of each CPU. No tracepoint tells, so
 * these programs are on functions (kernel/sched/fair.c, topology.c). Tracepoints tell what NUMA
 * balancing does, when a CPU is to reschedule, and when its deadline server starts. All are loaded
 * only if they are wanted, and where the kernel has the function or tracepoint;
 * docs/how-to/record.md lists them. */
#pragma once

struct root_domain;
struct mm_struct;
struct vm_area_struct;
struct sched_dl_entity;

struct sched_group {
	unsigned long cpumask[1];
} KERNEL;

struct sched_domain {
	struct sched_domain *parent; /* the next wider one */
	struct sched_group *groups;  /* the first one is that of the CPU itself */
	unsigned long span[1]; /* in 7.2 and 7.3 behind the structure, not in it */
} KERNEL;

struct rq___current {
	struct task_struct *curr;
} KERNEL;

struct rq___domains {
	struct sched_domain *sd; /* the narrowest one; none: balancing ignores the CPU */
} KERNEL;

struct lb_env {
	struct rq___current *src_rq;
	int dst_cpu;
} KERNEL;

/* Unchanged since 5.14: include/linux/sched/idle.h, kernel/sched/sched.h. */
enum { NEWLY_IDLE = 2, WF_EXEC = 0x02, WF_FORK = 0x04, WF_SYNC = 0x10 };

/* Whether `on_need` is attached. Set before loading. */
const volatile __u32 knows_stuck = 0;

/* What this CPU is deciding. A selection runs with interrupts off. Passes do not nest, but a
 * selection may interrupt one. */
struct search {
	__u32 selecting;
	__u32 balancing; /* a pass has looked for a busier group */
	__u32 pushing;	 /* it wants the running task of a busier CPU */
	__u32 unfit;	 /* which may not run here */
	__u32 stuck;	 /* a busier CPU was found, and nothing was moved */
	__u32 examined;	 /* tasks */
	__u32 pinned;	 /* those of them that may not run here */
	struct sched_group *found; /* by its last look for a busier group */
	__u64 looked_at[MAX_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct search);
} searches SEC(".maps");

static __always_inline struct search *this_search(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&searches, &zero);
}

/* Whether a task may run on a CPU. */
static __always_inline bool is_allowed(struct task_struct *task, __u32 cpu)
{
	const struct cpumask *mask = BPF_CORE_READ(task, cpus_ptr);
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), &mask->bits[cpu / 64]);
	return word >> cpu % 64 & 1;
}

static __always_inline const void *span_of(struct sched_domain *domain)
{
	if (bpf_core_field_exists(domain->span))
		return domain->span;
	return (void *)domain + bpf_core_type_size(struct sched_domain);
}

static const __u64 none[MAX_WORDS];

/* For `words`: see SEND. */
#define SEND_DECIDED(words)                                                                     \
	({                                                                                      \
		__u32 size = sizeof(struct decided) + (words) * sizeof(__u64);                  \
		struct decided *decided = reserve(ring_of(here), lane, event->time, size);      \
		if (decided) {                                                                  \
			decided->event = *event;                                                \
			bpf_probe_read_kernel(decided->sets, mask_words * 8, considered);       \
			if (local) {                                                            \
				bpf_probe_read_kernel(decided->sets + mask_words,               \
						      mask_words * 8, local);                   \
				bpf_probe_read_kernel(decided->sets + 2 * mask_words,           \
						      mask_words * 8, busiest);                 \
			}                                                                       \
			submit(lane, decided, size);                                            \
		}                                                                               \
	})

static __always_inline void decide(const struct event *event, const void *considered,
				   const void *local, const void *busiest)
{
	__u32 here = bpf_get_smp_processor_id();
	struct lane *lane = this_lane(here);

	if (mask_words <= 4 && local)
		SEND_DECIDED(12);
	else if (mask_words <= 4)
		SEND_DECIDED(4);
	else if (mask_words <= 16)
		SEND_DECIDED(48);
	else
		SEND_DECIDED(3 * MAX_WORDS);
}

SEC("fentry/select_task_rq_fair")
int BPF_PROG(on_select)
{
	struct search *search = this_search();
	__u32 word;

	if (!search)
		return 0;
	for (word = 0; word < MAX_WORDS && word < mask_words; word++)
		search->looked_at[word] = 0;
	search->selecting = 1;
	return 0;
}

/* Since 6.19 no function of its own: then recordings do not tell which CPUs were looked at. */
SEC("fentry/available_idle_cpu")
int BPF_PROG(on_look_at_cpu, int cpu)
{
	struct search *search = this_search();
	__u32 word = (__u32)cpu / 64;

	/* The verifier does not follow a bound to a copy: so the index itself has one. */
	asm volatile("" : "+r"(word));
	if (search && search->selecting)
		search->looked_at[word & (MAX_WORDS - 1)] |= 1ULL << (cpu & 63);
	return 0;
}

SEC("fexit/select_task_rq_fair")
int BPF_PROG(on_selected, struct task_struct *task, int prev, int flags, int selected)
{
	struct search *search = this_search();
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = DECIDED,
		.task = task->pid,
		.from = prev,
		.on = selected,
		.flags = flags & WF_SYNC ? SYNC : 0,
		.what = flags & WF_FORK ? FORKED : flags & WF_EXEC ? EXECUTED : WOKEN,
	};

	if (!search)
		return 0;
	search->selecting = 0;
	decide(&event, search->looked_at, NULL, NULL);
	return 0;
}

/* A pass by the CPU that its domain designates looks for a busier group; it may do so again. */
static __always_inline int on_group(struct sched_group *found)
{
	struct search *search = this_search();

	if (!search)
		return 0;
	if (!search->balancing) {
		search->examined = search->pinned = 0;
		search->pushing = search->unfit = search->stuck = 0;
	}
	search->balancing = 1;
	search->found = found;
	return 0;
}

SEC("fexit/sched_balance_find_src_group")
int BPF_PROG(on_src_group, struct lb_env *env, struct sched_group *group)
{
	return on_group(group);
}

SEC("fexit/find_busiest_group")
int BPF_PROG(on_busiest_group, struct lb_env *env, struct sched_group *group)
{
	return on_group(group);
}

/* Also called when a task is pushed, by a kernel thread: that is no pass. */
SEC("fexit/can_migrate_task")
int BPF_PROG(on_examined, struct task_struct *task, struct lb_env *env, int can)
{
	struct search *search = this_search();

	if (!search || !search->balancing)
		return 0;
	search->examined++;
	if (!can && !is_allowed(task, env->dst_cpu))
		search->pinned++;
	return 0;
}

SEC("fexit/need_active_balance")
int BPF_PROG(on_need, struct lb_env *env, int need)
{
	struct search *search = this_search();
	struct task_struct *running;

	if (!search || !search->balancing)
		return 0;
	search->stuck = 1;
	if (need) {
		running = BPF_CORE_READ(env, src_rq, curr);
		search->pushing = 1;
		search->unfit = !is_allowed(running, env->dst_cpu);
	}
	return 0;
}

/* The result of a pass that moved no task. `goes_on` is 0 if another CPU is designated to balance
 * the domain, or if this one got a task meanwhile. */
static __always_inline __u8 outcome(const struct search *search, int goes_on)
{
	if (!goes_on)
		return NOT_DESIGNATED;
	if (search->examined && search->pinned == search->examined)
		return PINNED;
	if (search->pushing)
		return search->unfit ? PINNED : ACTIVE;
	if (search->examined || search->stuck)
		return FAILED;
	/* Where it is not known whether a single CPU was found, the group counts. */
	return search->found && !knows_stuck ? FAILED : BALANCED;
}

static __always_inline int on_pass(__u32 cpu, struct sched_domain *domain, int idle, int *goes_on,
				   int moved)
{
	struct search *search = this_search();
	const void *busiest = none;
	int goes = 0;
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = DECIDED,
		.task = moved,
		.on = cpu,
		.what = idle == NEWLY_IDLE ? NEWIDLE : PERIODIC,
	};

	if (!search)
		return 0;
	bpf_probe_read_kernel(&goes, sizeof(goes), goes_on);
	event.flags = moved > 0 ? MOVED : outcome(search, goes);
	if (search->balancing && search->found)
		busiest = search->found->cpumask;
	search->balancing = 0;
	decide(&event, span_of(domain), domain->groups->cpumask, busiest);
	return 0;
}

SEC("fexit/sched_balance_rq")
int BPF_PROG(on_balanced, int cpu, struct rq *rq, struct sched_domain *domain, int idle,
	     int *goes_on, int moved)
{
	return on_pass(cpu, domain, idle, goes_on, moved);
}

SEC("fexit/load_balance")
int BPF_PROG(on_load_balanced, int cpu, struct rq *rq, struct sched_domain *domain, int idle,
	     int *goes_on, int moved)
{
	return on_pass(cpu, domain, idle, goes_on, moved);
}

/* More than any known machine has: SMT, clusters, caches, packages, and distances of nodes. */
enum { MAX_LEVELS = 16 };

/* How many domains there are from `domain` on; their sets are written. */
static __always_inline __u32 fill_domains(__u64 *sets, struct sched_domain *domain)
{
	struct sched_group *groups;
	__u32 level;

#pragma unroll
	for (level = 0; level < MAX_LEVELS; level++) {
		if (!domain)
			return level;
		groups = BPF_CORE_READ(domain, groups);
		bpf_probe_read_kernel(sets + 2 * level * mask_words, mask_words * 8,
				      span_of(domain));
		bpf_probe_read_kernel(sets + (2 * level + 1) * mask_words, mask_words * 8,
				      groups->cpumask);
		domain = BPF_CORE_READ(domain, parent);
	}
	return domain ? MAX_LEVELS + 1 : MAX_LEVELS;
}

/* For `words`: see SEND. All domains are in one record, so that none of them can be lost alone. */
#define SEND_DOMAINS(words)                                                                     \
	({                                                                                      \
		__u32 size = sizeof(struct decided) + 2 * MAX_LEVELS * (words) * sizeof(__u64); \
		struct decided *decided = reserve(ring_of(here), lane, event.time, size);       \
		if (decided) {                                                                  \
			event.task = fill_domains(decided->sets, domain);                       \
			decided->event = event;                                                 \
			submit(lane, decided, size);                                            \
		}                                                                               \
	})

static __always_inline int send_domains(__u32 cpu)
{
	__u32 here = bpf_get_smp_processor_id();
	struct rq___domains *queue = (void *)this_lane(cpu)->queue;
	struct lane *lane = this_lane(here);
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = DECIDED,
		.on = cpu,
		.what = DOMAINS,
	};
	struct sched_domain *domain;

	if (!queue)
		return 0;
	domain = BPF_CORE_READ(queue, sd);
	if (mask_words <= 4)
		SEND_DOMAINS(4);
	else if (mask_words <= 16)
		SEND_DOMAINS(16);
	else
		SEND_DOMAINS(MAX_WORDS);
	return 0;
}

/* Run on each CPU when the recording begins. */
SEC("raw_tp")
int tell_domains(void *ctx)
{
	return send_domains(bpf_get_smp_processor_id());
}

/* A CPU gets its domains, or loses them. Another CPU may run this. */
SEC("fexit/cpu_attach_domain")
int BPF_PROG(on_attach_domain, struct sched_domain *domain, struct root_domain *root, int cpu)
{
	return send_domains(cpu);
}

/* In newer kernels, on the CPU that asks; `task` runs on `cpu`, or is about to. */
SEC("tp_btf/sched_set_need_resched_tp")
int BPF_PROG(on_need_resched, struct task_struct *task, int cpu)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = DECIDED,
		.task = task->pid,
		.on = cpu,
		.what = RESCHED,
	};

	emit(&event);
	return 0;
}

static __always_inline int on_numa(struct task_struct *task, int from, int to, __u8 step)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = DECIDED,
		.task = task->pid,
		.from = from,
		.on = to,
		.flags = step,
		.what = NUMA,
	};

	emit(&event);
	return 0;
}

SEC("tp_btf/sched_move_numa")
int BPF_PROG(on_move_numa, struct task_struct *task, int from, int to)
{
	return on_numa(task, from, to, TASK_MOVED);
}

SEC("tp_btf/sched_stick_numa")
int BPF_PROG(on_stick_numa, struct task_struct *task, int from, struct task_struct *other, int to)
{
	return on_numa(task, from, to, TASK_STUCK);
}

SEC("tp_btf/sched_swap_numa")
int BPF_PROG(on_swap_numa, struct task_struct *task, int from, struct task_struct *other, int to)
{
	return on_numa(task, from, to, TASKS_SWAPPED);
}

static __always_inline int on_unscanned(__u32 task, __u8 why)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = DECIDED,
		.task = task,
		.flags = why,
		.what = UNSCANNED,
	};

	emit(&event);
	return 0;
}

/* Since 6.7: the current task does not scan a part of its memory. */
SEC("tp_btf/sched_skip_vma_numa")
int BPF_PROG(on_skip_vma, struct mm_struct *mm, struct vm_area_struct *area, unsigned int why)
{
	return on_unscanned(current_tid(), why);
}

/* Since 6.16: its cpuset has memory of one node only. */
SEC("tp_btf/sched_skip_cpuset_numa")
int BPF_PROG(on_skip_cpuset, struct task_struct *task)
{
	return on_unscanned(task->pid, NO_NODE);
}

static __always_inline int on_dl_server(__u32 cpu, bool starts)
{
	struct event event = {
		.time = bpf_ktime_get_ns(),
		.kind = DECIDED,
		.on = cpu,
		.flags = starts ? UP : 0,
		.what = DL_SERVER,
	};

	emit(&event);
	return 0;
}

/* Since 7.2: a server that gives fair tasks, or those of sched_ext, a part of the CPU beside
 * real-time ones. */
SEC("tp_btf/sched_dl_server_start_tp")
int BPF_PROG(on_dl_server_start, struct sched_dl_entity *server, int cpu)
{
	return on_dl_server(cpu, true);
}

SEC("tp_btf/sched_dl_server_stop_tp")
int BPF_PROG(on_dl_server_stop, struct sched_dl_entity *server, int cpu)
{
	return on_dl_server(cpu, false);
}
