// The plan: what is to be done, what tasks share, and what was done, in one file that the program
// and all its tasks map. `src/plan.rs` writes it and reads it afterwards.
#ifndef PLAN_H
#define PLAN_H
#include "sys.h"

// Everything is at a fixed address, so that also what was executed anew finds it.
#define PLAN ((struct plan *)0x100000000000ULL)
enum { DEPTH = 8, MASK_WORDS = 16 };
#define NONE (~0U)
// The end of a pipe whose other end the one has who wants the result; and the plan's file.
enum { ALIVE_FD = 0, PLAN_FD = 1 };

enum op {
	COMPUTE, SLEEP, BEAT, LOCK, UNLOCK, BARRIER, PUT, GET, AWAIT, SIGNAL, BROADCAST, FORK, EXEC,
	WAIT_ONE, WAIT_ALL, YIELD, NICE, AFFINITY, MARK, LOOP, UNLESS_LATE, END, RUN,
};
enum variate { FIXED, UNIFORM, EXPONENTIAL, LOG_NORMAL };
enum waiting { BLOCK, SPIN, SPIN_THEN_BLOCK };
enum end { RUNNING, DONE, LIMIT, ORPHANED, FAILED };

// An operation; `of` is what it is applied to, `a` and `b` its times (b of LOG_NORMAL: a double).
struct step {
	u32 op, of, variate, after;
	u64 a, b;
};

struct template {
	char name[16];
	u32 first_step, steps, affinity, group;
	s32 nice;
	// Whether its tasks are processes, whichever task creates them: they execute, or their parent does.
	u32 process, awaited, born;
	// Scheduling class, as sched_setattr takes it.
	u32 policy, priority;
	u64 runtime_ns, deadline_ns, period_ns;
};

struct launch {
	u64 at_ns;
	u32 template, from;
};

struct hotplug {
	u64 at_ns;
	u32 cpu, up;
};


struct mask { u64 words[MASK_WORDS]; };

// A number that only grows. Ticket `t` may pass when it is more than `t`.
struct counter { u32 value, sleepers; };

// The folder of a group's cgroup; empty for none. A session also has a deputy,
// once it is needed: a process that launches its tasks, so that they are in one session.
struct group {
	char cgroup[248];
	u32 session, deputy;
	struct counter asked, served;
	// What the deputy is asked for: a place in the launches.
	u32 launch, pad;
};

// What tasks share. Who comes takes a ticket of a counter and waits until it may pass:
//
//             first                          second
//   lock      who may enter, from 1 on
//   barrier   rounds that are over
//   pipe      tokens that were put           room that there was
//   condition signals
struct meeting {
	struct counter first, second;
	u32 first_tickets, second_tickets;
	u32 waiting, parties;
	u64 spin_ns;
	// A pipe of the kernel in their place (read, write; of room: read, write), if `is_pipe`.
	u32 is_pipe, fds[4], pad;
};

// A task, with its place in its program, so that it can execute the program anew and go on.
struct task {
	u32 tid, template, parent, process;
	u32 step, depth, rounds[DEPTH];
	u32 affinity;
	s32 nice;
	u64 random, beat_ns, debt_ns, began_ns, ended_ns;
	u32 has_beat, forked, reaped, pid;
	struct counter children_ended;
	// Of a process: how many of its tasks have not ended. A process is known by its first task.
	u32 live;
	// The scheduling class in which it was created: that of its creator.
	u32 policy;
};

// A program of the user: its file, the folder in which it runs, and its words.
struct command {
	const char *file, *folder, *const *words;
};

struct mark {
	u64 at_ns, late_ns;
	u32 task, mark;
};

struct plan {
	u64 magic, bytes, seed, limit_ns;
	u64 steps, templates, launches, hotplugs, groups, masks, meetings, commands, tasks, marks;  // offsets
	u32 n_launches, n_hotplugs, n_meetings, n_tasks, n_marks, mask_bytes;
	u32 sizes[8];      // of step, template, launch, group, meeting, task, mark, hotplug
	u32 awaited, done_fd, program_fd, n_commands;
	// What happened.
	u64 start_ns, end_ns;
	// Of a program of the user: its status, in the place of an error.
	u32 end, born, marked, failed_errno, failed_what, failed_task;
};
#define MAGIC 0x316e6c702d747377ULL

#define AT(type, offset) ((struct type *)((u8 *)PLAN + PLAN->offset))
static inline struct step *step_at(u32 n) { return AT(step, steps) + n; }
static inline struct template *template_at(u32 n) { return AT(template, templates) + n; }
static inline struct group *group_at(u32 n) { return AT(group, groups) + n; }
static inline struct meeting *meeting_at(u32 n) { return AT(meeting, meetings) + n; }
static inline struct task *task_at(u32 n) { return AT(task, tasks) + n; }
static inline struct command *command_at(u32 n) { return AT(command, commands) + n; }
static inline struct mask *mask_at(u32 n) { return AT(mask, masks) + n; }

static inline void fail(u32 what, s64 result, u32 task)
{
	u32 none = 0;
	if (__atomic_compare_exchange_n(&PLAN->failed_errno, &none, (u32)-result, 0,
			__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		PLAN->failed_what = what;
		PLAN->failed_task = task;
	}
	u64 one = 1;
	sys3(SYS_write, PLAN->done_fd, &one, sizeof one);
}
#endif
