/*
 * The log of steps: each record has the numbers of the moments before and after its step, in one
 * order over all CPUs. A step takes effect between the two.
 */
struct record {
	u64 begin;
	u64 end;
	u64 time;
	u64 queue;
	s64 value;
	s32 pid;
	s32 to; /* the CPU that it is about, -1 if none */
	u32 step;
	s32 cpu; /* the CPU that took the step */
};

enum {
	S_MASK, S_PLACE, S_PUT, S_IN, S_EARLY, S_FIND, S_CLAIM, S_KICK, S_RUN, S_IDLE, S_BUSY,
	S_TAKE, S_SELECT, S_STEAL, S_MOVE, S_ATTEMPT, S_CHAIN, S_START, S_STOP, S_LEAVE, S_LEFT,
	S_ABOVE, S_REGULAR
};

RING(step_log, 1 << 24);

/* How many records found no room. */
u64 steps_lost;
u64 ticks;

static u64 tick(void)
{
	return __sync_fetch_and_add(&ticks, 1) + 1;
}

#define ABOUT(cpu, step) ((u64)(u32)(cpu) << 32 | (step))

/* Not static: verified once, not at each call. Nobody is woken for it: it is read regularly. */
ONCE int record(u64 begin, u64 about, u64 queue, s64 value, s32 pid)
{
	struct record *r = bpf_ringbuf_reserve(&step_log, sizeof(*r), 0);
	u64 end = tick();

	if (!r) {
		__sync_fetch_and_add(&steps_lost, 1);
		return 0;
	}
	r->begin = begin ? begin : end;
	r->end = end;
	r->time = bpf_ktime_get_ns();
	r->queue = queue;
	r->value = value;
	r->pid = pid;
	r->to = about >> 32;
	r->step = about;
	r->cpu = bpf_get_smp_processor_id();
	bpf_ringbuf_submit(r, 1 /* BPF_RB_NO_WAKEUP */);
	return 0;
}
