// Runs a workload for real. A task is a thread of its parent's process, or a process where it is
// in another session or cgroup or executes programs; it follows the steps of its template.
//
//   task launch      creates the tasks when they are due, waits until the awaited ones have ended,
//                    and ends all
//   task task N      goes on with task N, which has executed this program anew
#include "draw.h"
#include "meet.h"
#include "plan.h"
#include "sys.h"

enum what {
	NOTHING, FORKING, EXECUTING, JOINING, RENICING, TASKS, PIPES, PLUGGING, CLASSING, FILLING,
	BECOMING, RAN,
};

// Stacks of threads are used again: the kernel clears the word when a thread has left its stack.
enum { STACK = 16384 };
struct stack {
	struct stack *next;
	u32 used, pad;
};
static struct stack *stacks;

static void *free_stack(u32 **used)
{
	for (struct stack *it = __atomic_load_n(&stacks, __ATOMIC_SEQ_CST); it; it = it->next) {
		u32 none = 0;
		if (!__atomic_compare_exchange_n(&it->used, &none, 1, 0, __ATOMIC_SEQ_CST,
				__ATOMIC_SEQ_CST))
			continue;
		*used = &it->used;
		return (u8 *)it + STACK;
	}
	long at = sys6(SYS_mmap, 0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -4096)
		return 0;
	struct stack *it = (struct stack *)at;
	it->used = 1;
	it->next = __atomic_load_n(&stacks, __ATOMIC_SEQ_CST);
	while (!__atomic_compare_exchange_n(&stacks, &it->next, it, 0, __ATOMIC_SEQ_CST,
			__ATOMIC_SEQ_CST))
		;
	*used = &it->used;
	return (u8 *)it + STACK;
}

static void write_file(const char *path, const char *text, u32 length, u32 what, u32 task)
{
	long fd = sys3(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
	long result = fd < 0 ? fd : sys3(SYS_write, fd, text, length);
	if (fd >= 0)
		sys1(SYS_close, fd);
	if (result < 0 && what != NOTHING)
		fail(what, result, task);
}

static void set_affinity(u32 affinity)
{
	// Refused if no CPU of it is online; then nothing changes.
	sys3(SYS_sched_setaffinity, 0, PLAN->mask_bytes, mask_at(affinity));
}

static void renice(u32 task, s32 nice)
{
	long result = sys3(SYS_setpriority, 0, 0, nice);
	if (result < 0)
		fail(RENICING, result, task);
}

// The class of a task's template; `tid` is 0 for the caller. A task of SCHED_DEADLINE may create
// others only if they begin as ordinary tasks.
static long set_class(u32 tid, const struct task *task)
{
	const struct template *it = template_at(task->template);
	struct sched_attr to = { sizeof to, it->policy,
		it->policy == SCHED_DEADLINE ? SCHED_FLAG_RESET_ON_FORK : 0, task->nice, it->priority,
		it->runtime_ns, it->deadline_ns, it->period_ns };
	return sys3(SYS_sched_setattr, tid, &to, 0);
}

static int is_real_time(u32 policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
}

// What is drawn is CPU time of this task; by how much the last time was exceeded is taken off.
static void compute(struct task *task, u64 span)
{
	// Between two looks at the clock. Longer, and the time is exceeded by more; shorter, and the
	// task would be in the kernel most of the time.
	enum { TURNS = 200 };
	if (span <= task->debt_ns) {
		task->debt_ns -= span;
		return;
	}
	u64 at = now(CLOCK_THREAD_CPUTIME_ID), until = at + span - task->debt_ns;
	if (until < at)
		until = ~0ULL;
	do {
		for (volatile u32 n = 0; n < TURNS; n++)
			;
		at = now(CLOCK_THREAD_CPUTIME_ID);
	} while (at < until);
	task->debt_ns = at - until;
}

static void sleep_until(u64 ns)
{
	struct timespec at = timespec(ns);
	while (sys4(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0) == -EINTR)
		;
}

static void leave(u32 me)
{
	struct task *task = task_at(me), *process = task_at(task->process);
	int awaited = template_at(task->template)->awaited;
	task->ended_ns = now(CLOCK_MONOTONIC);
	if (task->parent != NONE)
		advance(&task_at(task->parent)->children_ended);
	if (awaited && !__atomic_sub_fetch(&PLAN->awaited, 1, __ATOMIC_SEQ_CST)) {
		u64 one = 1;
		sys3(SYS_write, PLAN->done_fd, &one, sizeof one);
	}
	__atomic_sub_fetch(&process->live, 1, __ATOMIC_SEQ_CST);
	sys1(SYS_exit, 0);
}

static void follow(u32 me);

static void thread_begins(void *argument)
{
	u32 me = (u32)(u64)argument;
	struct task *task = task_at(me);
	struct template *template = template_at(task->template);
	task->tid = sys0(SYS_gettid);
	sys2(SYS_prctl, PR_SET_NAME, template->name);
	sys2(SYS_prctl, PR_SET_TIMERSLACK, 1);
	if (task->affinity != template->affinity)
		set_affinity(task->affinity = template->affinity);
	if (task->nice != template->nice)
		renice(me, task->nice = template->nice);
	if (task->policy != SCHED_OTHER || template->policy != SCHED_OTHER) {
		long result = set_class(0, task);
		if (result < 0)
			fail(CLASSING, result, me);
	}
	follow(me);
}

static void process_begins(u32 me, u32 parent_group)
{
	struct task *task = task_at(me);
	u32 to = template_at(task->template)->group;
	task->pid = sys0(SYS_getpid);
	if (to != parent_group) {
		struct group *group = group_at(to);
		if (group->session)
			sys0(SYS_setsid);
	}
	thread_begins((void *)(u64)me);
}

// The nice value with which the launcher was started.
static s32 launcher_nice;

// The group of a process that launches: none for the launcher, its own for a deputy.
static u32 own_group = NONE;

// A process, in the cgroup of its group from the beginning (Linux 5.7): to join one later waits for
// a grace period of RCU, long on a busy machine. `from` is the group of the caller.
static long fork_into(u32 to, u32 from, u32 *what)
{
	struct clone_args how = { .exit_signal = SIGCHLD };
	struct group *group = group_at(to);
	int moves = to != from && group->cgroup[0];
	*what = FORKING;
	if (moves) {
		*what = JOINING;
		long folder = sys3(SYS_openat, AT_FDCWD, group->cgroup, O_PATH | O_CLOEXEC);
		if (folder < 0)
			return folder;
		how.flags = CLONE_INTO_CGROUP;
		how.cgroup = folder;
	}
	long result = sys2(SYS_clone3, &how, sizeof how);
	if (moves)
		sys1(SYS_close, how.cgroup);
	return result;
}

// Creates a task. `parent` is NONE in the launcher and in deputies.
static void spawn(u32 parent, u32 template)
{
	struct template *it = template_at(template);
	u32 me = ticket(&PLAN->born);
	if (me >= PLAN->n_tasks) {
		__atomic_sub_fetch(&PLAN->born, 1, __ATOMIC_SEQ_CST);
		return fail(TASKS, -EAGAIN, parent);
	}
	struct task *task = task_at(me), *creator = parent == NONE ? 0 : task_at(parent);
	u32 group = creator ? template_at(creator->template)->group : 0;
	int process = !creator || it->process || it->group != group;
	task->template = template;
	task->parent = parent;
	task->random = stream(PLAN->seed, template, 1 + ticket(&it->born));
	task->affinity = creator ? creator->affinity : 0;
	task->nice = creator ? creator->nice : launcher_nice;
	task->policy = creator ? template_at(creator->template)->policy : SCHED_OTHER;
	if (task->policy == SCHED_DEADLINE) {
		task->policy = SCHED_OTHER;
		task->nice = 0;
	}
	task->process = process ? me : creator->process;
	if (it->awaited && creator)
		__atomic_add_fetch(&PLAN->awaited, 1, __ATOMIC_SEQ_CST);
	if (creator)
		creator->forked++;
	__atomic_add_fetch(&task_at(task->process)->live, 1, __ATOMIC_SEQ_CST);
	task->began_ns = now(CLOCK_MONOTONIC);
	long result;
	u32 what = FORKING;
	if (process) {
		u32 from = creator ? group : own_group;
		result = fork_into(it->group, from, &what);
		if (!result)
			process_begins(me, from);
	} else {
		u32 *used;
		u8 *end = free_stack(&used);
		result = !end ? -EAGAIN : thread(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND
			| CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID, end,
			&task->tid, used, (void *)(u64)me, thread_begins);
	}
	if (result < 0)
		fail(what, result, me);
	// It would begin as an ordinary task, behind all that it is to preempt. It sets its class, too,
	// and is heard if that is refused.
	else if (!creator && is_real_time(it->policy))
		set_class(result, task);
}

// The environment with which this program was started.
static char **environment;

static void dispose(u64 of, const u8 *signals, u32 count)
{
	struct { u64 handler, flags, restorer, mask; } how = { of, 0, 0, 0 };
	for (u32 n = 0; n < count; n++)
		sys4(SYS_rt_sigaction, signals[n], &how, 0, 8);
}

// Becomes a program of the user. Nothing of this one is seen there, except that what it writes to its
// standard error is kept.
static void become(const struct command *it, u32 me)
{
	static const u8 signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGCHLD };
	enum { SLACK = 50000 };  // that of processes which have not set one
	dispose(0, signals, sizeof signals);
	sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	sys2(SYS_prctl, PR_SET_TIMERSLACK, SLACK);
	long result = sys1(SYS_chdir, it->folder);
	if (result >= 0) {
		long null = sys3(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
		sys3(SYS_dup3, null, 0, 0);
		sys3(SYS_dup3, null, 1, 0);
		// If it cannot become the program it has to say so.
		sys3(SYS_fcntl, PLAN->done_fd, F_SETFD, FD_CLOEXEC);
		sys3(SYS_close_range, 3, PLAN->done_fd - 1, 0);
		sys3(SYS_close_range, PLAN->done_fd + 1, ~0U, 0);
		result = sys3(SYS_execve, it->file, it->words, environment);
	}
	fail(BECOMING, result, me);
	sys1(SYS_exit, 0);
}

// Runs a program of the user as a child and waits for it. It has to end well.
static void run_program(const struct command *it, u32 me)
{
	// What a process waits for must not end unseen, as its other children do.
	static const u8 signals[] = { SIGCHLD };
	dispose(0, signals, sizeof signals);
	struct clone_args how = { .exit_signal = SIGCHLD };
	long child = sys2(SYS_clone3, &how, sizeof how), result;
	if (!child)
		become(it, me);
	if (child < 0)
		return fail(FORKING, child, me);
	s32 status = 0;
	while ((result = sys4(SYS_wait4, child, &status, 0, 0)) == -EINTR)
		;
	if (result >= 0 && status)
		fail(RAN, -(s64)status, me);
}

static char *decimal(u32 number, char *end)
{
	*--end = 0;
	do
		*--end = '0' + number % 10;
	while (number /= 10);
	return end;
}

static void execute(u32 me)
{
	char number[12], *index = decimal(me, number + sizeof number);
	const char *words[] = { template_at(task_at(me)->template)->name, "task", index, 0 };
	long result = sys5(SYS_execveat, PLAN->program_fd, "", words, environment, AT_EMPTY_PATH);
	fail(EXECUTING, result, me);
}

static void mark(struct task *task, u32 me, u32 mark)
{
	u32 at = ticket(&PLAN->marked);
	if (at >= PLAN->n_marks)
		return;
	u64 ns = now(CLOCK_MONOTONIC), late = task->has_beat ? ns - task->beat_ns : 0;
	struct mark it = { ns, late, me, mark };
	AT(mark, marks)[at] = it;
}

// wait(2): a child that has ended, or none that is there.
static void wait_for_child(struct task *task)
{
	if (task->reaped == task->forked)
		return;
	wait_to_pass(&task->children_ended, task->reaped++, BLOCK, 0);
}

static void wait_for_children(struct task *task)
{
	if (task->reaped == task->forked)
		return;
	wait_to_pass(&task->children_ended, task->forked - 1, BLOCK, 0);
	task->reaped = task->forked;
}

static void follow(u32 me)
{
	struct task *task = task_at(me);
	struct template *template = template_at(task->template);
	while (task->step < template->steps) {
		const struct step *step = step_at(template->first_step + task->step++);
		struct meeting *meeting = step->op >= LOCK && step->op <= BROADCAST ? meeting_at(step->of) : 0;
		switch (step->op) {
		case COMPUTE:
			compute(task, draw(&task->random, step));
			break;
		case SLEEP: {
			u64 span = draw(&task->random, step);
			if (span)
				sleep_until(now(CLOCK_MONOTONIC) + span);
			break;
		}
		case BEAT: {
			u64 at = now(CLOCK_MONOTONIC);
			task->beat_ns = task->has_beat ? task->beat_ns + step->a : at;
			task->has_beat = 1;
			if (task->beat_ns > at)
				sleep_until(task->beat_ns);
			break;
		}
		case LOCK:
			wait_to_pass(&meeting->first, ticket(&meeting->first_tickets), meeting->waiting,
				meeting->spin_ns);
			break;
		case UNLOCK:
			advance(&meeting->first);
			break;
		case BARRIER:
			barrier(meeting);
			break;
		case PUT:
			// What is full would be full for ever if its getter waits for this task.
			if (put(meeting) == -EAGAIN)
				fail(FILLING, -EAGAIN, me);
			break;
		case GET:
			get(meeting);
			break;
		case AWAIT:
			wait_to_pass(&meeting->first, ticket(&meeting->first_tickets), BLOCK, 0);
			break;
		case SIGNAL:
		case BROADCAST:
			signal(meeting, step->op == BROADCAST);
			break;
		case FORK:
			spawn(me, step->of);
			break;
		case EXEC:
			execute(me);
			break;
		case RUN:
			run_program(command_at(step->of), me);
			break;
		case WAIT_ONE:
			wait_for_child(task);
			break;
		case WAIT_ALL:
			wait_for_children(task);
			break;
		case YIELD:
			sys0(SYS_sched_yield);
			break;
		case NICE:
			renice(me, task->nice = (s32)step->of);
			break;
		case AFFINITY:
			set_affinity(task->affinity = step->of);
			break;
		case MARK:
			mark(task, me, step->of);
			break;
		case LOOP:
			task->rounds[task->depth++] = step->of;
			break;
		case UNLESS_LATE:
			if (task->has_beat && now(CLOCK_MONOTONIC) - task->beat_ns > step->a
					&& now(CLOCK_MONOTONIC) > task->beat_ns)
				task->step = step->after;
			else
				task->rounds[task->depth++] = 1;
			break;
		case END: {
			u32 *rounds = &task->rounds[task->depth - 1];
			if (*rounds == NONE || --*rounds)
				task->step = step->of + 1;
			else
				task->depth--;
			break;
		}
		}
	}
	leave(me);
}

static void plug(u32 cpu, int up, u32 what)
{
	char path[64] = "/sys/devices/system/cpu/cpu", number[12];
	const char *rest = "/online", *digits = decimal(cpu, number + sizeof number);
	char *at = path + 27;
	while (*digits)
		*at++ = *digits++;
	while (*rest)
		*at++ = *rest++;
	write_file(path, up ? "1" : "0", 1, what, NONE);
}

// Pipes of the kernel, with their tokens, and room as tokens of another one.
static void open_pipes(void)
{
	u64 most[2] = { 0, 0 };
	sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, most);
	most[0] = most[1];
	sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, most, 0);
	for (u32 n = 0; n < PLAN->n_meetings; n++) {
		struct meeting *it = meeting_at(n);
		if (!it->is_pipe)
			continue;
		for (u32 pair = 0; pair < (it->parties == NONE ? 1 : 2); pair++) {
			long result = sys2(SYS_pipe2, it->fds + 2 * pair, 0);
			if (result < 0)
				return fail(PIPES, result, NONE);
			// As much as a user may have; where it is refused the usual 64 KiB have to do.
			sys3(SYS_fcntl, it->fds[2 * pair], F_SETPIPE_SZ, 1 << 20);
			sys3(SYS_fcntl, it->fds[2 * pair + 1], F_SETFL, O_WRONLY | O_NONBLOCK);
			u32 tokens = pair ? it->second.value : it->first.value;
			while (tokens--)
				if (move_byte(SYS_write, it->fds[2 * pair + 1]) < 0)
					return fail(FILLING, -EAGAIN, NONE);
		}
	}
}

// Creates a task from a CPU: it moves there, and gives the task an affinity that it may keep.
static void launch(const struct launch *it)
{
	struct mask from = { { 0 } };
	if (it->from < MASK_WORDS * 64) {
		from.words[it->from / 64] = 1ULL << (it->from % 64);
		sys3(SYS_sched_setaffinity, 0, PLAN->mask_bytes, &from);
	}
	set_affinity(0);
	spawn(NONE, it->template);
}

// Tasks above the fair class, or a policy that starves, must not keep it from creating tasks when they
// are due, and from ending all. Without root it stays in the fair class.
static void rise(void)
{
	struct sched_attr above = { sizeof above, SCHED_FIFO, SCHED_FLAG_RESET_ON_FORK, 0, 99, 0, 0, 0 };
	sys3(SYS_sched_setattr, 0, &above, 0);
}

// Launches what it is asked for, in a session of its own.
static void serve(u32 number)
{
	struct group *group = group_at(number);
	sys2(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	sys0(SYS_setsid);
	own_group = number;
	rise();
	for (u32 n = 0;; n++) {
		wait_to_pass(&group->asked, n, BLOCK, 0);
		launch(AT(launch, launches) + group->launch);
		advance(&group->served);
	}
}

// Launches by itself, or has the deputy of a session do it.
static void launch_in_group(u32 number)
{
	const struct launch *it = AT(launch, launches) + number;
	u32 of = template_at(it->template)->group;
	struct group *group = group_at(of);
	if (!group->session)
		return launch(it);
	if (!group->deputy) {
		u32 what;
		long result = fork_into(of, NONE, &what);
		if (!result)
			serve(of);
		if (result < 0)
			return fail(what, result, NONE);
		group->deputy = result;
	}
	u32 turn = group->served.value;
	group->launch = number;
	advance(&group->asked);
	wait_to_pass(&group->served, turn, BLOCK, 0);
}

// Ends all children, also those of what has ended: programs of users leave some behind. None of their
// numbers is that of a stranger while it is in the list.
static void end_children(void)
{
	char text[4096];
	long fd = sys3(SYS_openat, AT_FDCWD, "/proc/thread-self/children", O_CLOEXEC);
	long length = fd < 0 ? fd : sys3(SYS_read, fd, text, sizeof text - 1);
	if (fd >= 0)
		sys1(SYS_close, fd);
	text[length < 0 ? 0 : length] = 0;
	for (const char *at = text; *at;) {
		u32 pid = number(at);
		while (*at >= '0' && *at <= '9')
			at++;
		// A number that the text ends within is not whole.
		if (!*at)
			break;
		if (pid > 1)
			sys2(SYS_kill, pid, SIGKILL);
		at++;
	}
}

// Each process is killed once: its number may soon be that of a stranger.
static void end_all(void)
{
	u32 born = PLAN->born < PLAN->n_tasks ? PLAN->born : PLAN->n_tasks;
	for (u32 n = 0; n < born; n++) {
		struct task *task = task_at(n);
		u32 pid = task->process == n && task->live ? task->pid : 0;
		if (pid) {
			task->pid = 0;
			sys2(SYS_kill, pid, SIGKILL);
		}
	}
	for (u32 n = 0; n < PLAN->n_launches; n++) {
		struct group *group = group_at(template_at((AT(launch, launches) + n)->template)->group);
		if (group->deputy)
			sys2(SYS_kill, group->deputy, SIGKILL);
		group->deputy = 0;
	}
}

// How many of the changes of CPUs were made.
static u32 plugged;

// CPUs that a scenario took off come back, for the next run and for all other programs.
static void bring_back(void)
{
	for (u32 n = 0; n < plugged; n++) {
		const struct hotplug *it = AT(hotplug, hotplugs) + n;
		if (!it->up)
			plug(it->cpu, 1, NOTHING);
	}
}

static u32 launch_all(void)
{
	u64 start = PLAN->start_ns = now(CLOCK_MONOTONIC);
	u32 launched = 0;
	for (;;) {
		u64 due = PLAN->limit_ns, at = now(CLOCK_MONOTONIC) - start;
		if (PLAN->failed_errno)
			return FAILED;
		if (!__atomic_load_n(&PLAN->awaited, __ATOMIC_SEQ_CST))
			return DONE;
		if (at >= due)
			return LIMIT;
		struct launch *next = AT(launch, launches) + launched;
		struct hotplug *cpu = AT(hotplug, hotplugs) + plugged;
		if (launched < PLAN->n_launches && next->at_ns <= at) {
			launch_in_group(launched);
			launched++;
			continue;
		}
		if (plugged < PLAN->n_hotplugs && cpu->at_ns <= at) {
			plug(cpu->cpu, cpu->up, PLUGGING);
			plugged++;
			continue;
		}
		if (launched < PLAN->n_launches && next->at_ns < due)
			due = next->at_ns;
		if (plugged < PLAN->n_hotplugs && cpu->at_ns < due)
			due = cpu->at_ns;
		struct { s32 fd; u16 events, seen; } files[2] = {
			{ PLAN->done_fd, POLLIN, 0 }, { ALIVE_FD, POLLIN, 0 },
		};
		struct timespec left = timespec(due - at);
		sys5(SYS_ppoll, files, 2, &left, 0, 0);
		// The one who wants the result is gone: its end of the pipe is closed.
		if (files[1].seen)
			return ORPHANED;
	}
}

static void run(void)
{
	// Children leave without being waited for, and orphans come here. Signals of a terminal are
	// for the one who started this; it ends when that one does.
	static const u8 ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGCHLD };
	dispose(1, ignored, sizeof ignored);
	sys2(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
	sys2(SYS_prctl, PR_SET_TIMERSLACK, 1);
	// The kernel gives 20 less the value, so that it is no error.
	launcher_nice = 20 - sys2(SYS_getpriority, 0, 0);
	rise();
	PLAN->done_fd = sys2(SYS_eventfd2, 0, 0);
	PLAN->program_fd = sys3(SYS_openat, AT_FDCWD, "/proc/self/exe", 0);
	open_pipes();
	u32 end = launch_all();
	PLAN->end_ns = now(CLOCK_MONOTONIC);
	PLAN->end = end;
	// A process that is being created may be missed by one look.
	struct timespec pause = timespec(1000000);
	do {
		end_all();
		if (PLAN->n_commands)
			end_children();
		sys4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, 0);
	} while (sys4(SYS_wait4, -1, 0, 1, 0) >= 0);
	bring_back();
}

static int is_plan(void)
{
	const u32 sizes[] = { sizeof(struct step), sizeof(struct template), sizeof(struct launch),
		sizeof(struct group), sizeof(struct meeting), sizeof(struct task), sizeof(struct mark),
		sizeof(struct hotplug) };
	for (u32 n = 0; n < 8; n++)
		if (PLAN->sizes[n] != sizes[n])
			return 0;
	return PLAN->magic == MAGIC;
}

// Maps the plan at its place: its head first, which has its length.
static int map_plan(void)
{
	u64 bytes = 4096;
	for (int turn = 0; turn < 2; turn++) {
		long at = sys6(SYS_mmap, PLAN, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			PLAN_FD, 0);
		if (at != (long)PLAN || !is_plan())
			return 0;
		bytes = PLAN->bytes;
	}
	return 1;
}

__attribute__((used)) void start(u64 *stack)
{
	char **words = (char **)(stack + 1);
	environment = words + stack[0] + 1;
	if (stack[0] < 2 || !map_plan())
		sys1(SYS_exit, 2);
	if (words[1][0] == 't' && stack[0] > 2) {
		u32 me = number(words[2]);
		sys2(SYS_prctl, PR_SET_NAME, template_at(task_at(me)->template)->name);
		follow(me);
	}
	run();
	sys1(SYS_exit, 0);
}
