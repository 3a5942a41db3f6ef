/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Evidence beside the events of the scheduler, recorded where it is asked for. Part of
 * record.bpf.c. */
#pragma once

/* What a CPU serves now, and the idle state that it is in. */
struct serving {
	__u64 hardirq; /* since when */
	__u64 softirq; /* since when */
	__u64 nested;  /* ns of hardirqs since then */
	__u64 idle;    /* since when */
	__u64 served;  /* ns of interrupts and softirqs since then */
	__u32 state;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct serving);
} serving SEC(".maps");

static __always_inline struct serving *this_serving(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&serving, &first);
}

static __always_inline __u32 below_u32(__u64 ns)
{
	return ns > 0xffffffff ? 0xffffffff : ns;
}

/* Sends that `number` was served from `since` until now, except for `nested` ns. */
static __always_inline __u64 served(__u64 since, __u64 nested, __u32 number, __u8 flags)
{
	__u64 now = bpf_ktime_get_ns(), span = now - since;
	__u32 told = below_u32(span);
	struct event event = {
		.time = now,
		.kind = SERVED,
		.task = told,
		.other = told > nested ? told - nested : 0,
		.on = number,
		.flags = flags,
	};

	emit(&event);
	return span;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq_entry)
{
	struct serving *serving = this_serving();

	if (serving)
		serving->hardirq = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_exit, int irq)
{
	struct serving *serving = this_serving();

	if (serving && serving->hardirq) {
		__u64 span = served(serving->hardirq, 0, irq, HARDIRQ);

		serving->nested += span;
		serving->served += span;
		serving->hardirq = 0;
	}
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry)
{
	struct serving *serving = this_serving();

	if (serving) {
		serving->softirq = bpf_ktime_get_ns();
		serving->nested = 0;
	}
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vector)
{
	struct serving *serving = this_serving();

	if (serving && serving->softirq) {
		__u64 span = served(serving->softirq, serving->nested, vector, SOFTIRQ);

		serving->served += span > serving->nested ? span - serving->nested : 0;
		serving->softirq = 0;
	}
	return 0;
}

/* The idle task enters an idle state, or has left it. */
SEC("tp_btf/cpu_idle")
int BPF_PROG(on_cpu_idle, unsigned int state)
{
	enum { LEFT = -1 };
	struct serving *serving = this_serving();

	if (!serving)
		return 0;
	if (state != LEFT) {
		serving->idle = bpf_ktime_get_ns();
		serving->state = state;
		serving->served = 0;
	} else if (serving->idle) {
		served(serving->idle, serving->served, serving->state, IDLE_STATE);
		serving->idle = 0;
	}
	return 0;
}

/* The kernel dumps the state of a BPF scheduler line by line when it ejects it. */
SEC("tp_btf/sched_ext_dump")
int BPF_PROG(on_sched_ext_dump, const char *line)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct lane *lane = this_lane(cpu);
	__u64 now = bpf_ktime_get_ns();
	struct dump *dump = reserve(ring_of(cpu), lane, now, sizeof(*dump));

	if (!dump)
		return 0;
	dump->event = (struct event){ .time = now, .kind = DUMP };
	if (bpf_probe_read_kernel_str(dump->line, sizeof(dump->line), line) < 0)
		dump->line[0] = 0;
	submit(lane, dump, sizeof(*dump));
	return 0;
}
