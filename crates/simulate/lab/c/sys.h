// System calls and the little that a program without a C library needs of its machine.
#ifndef SYS_H
#define SYS_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

// Numbers and flags of the kernel's interface: include/uapi of Linux.
#if defined(__x86_64__)
enum {
	SYS_read = 0, SYS_write = 1, SYS_close = 3, SYS_mmap = 9, SYS_rt_sigaction = 13,
	SYS_pipe2 = 293, SYS_sched_yield = 24, SYS_getpid = 39, SYS_clone = 56, SYS_exit = 60,
	SYS_wait4 = 61, SYS_kill = 62, SYS_fcntl = 72, SYS_setsid = 112, SYS_getpriority = 140, SYS_setpriority = 141,
	SYS_prctl = 157, SYS_gettid = 186, SYS_futex = 202, SYS_sched_setaffinity = 203,
	SYS_clock_gettime = 228, SYS_clock_nanosleep = 230, SYS_openat = 257, SYS_ppoll = 271,
	SYS_eventfd2 = 290, SYS_prlimit64 = 302, SYS_sched_setattr = 314, SYS_execveat = 322,
	SYS_clone3 = 435, SYS_close_range = 436, SYS_chdir = 80, SYS_execve = 59, SYS_dup3 = 292,
};
static inline long sys(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;
	__asm__ volatile("syscall" : "=a"(result)
		: "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		: "rcx", "r11", "memory");
	return result;
}
// A thread begins with an empty stack and leaves its function never.
__asm__(".text\n.globl thread\nthread:\n"
	"mov %rcx, %r10\n"           // clone takes the fourth argument there
	"sub $16, %rsi\n"
	"mov %r8, 8(%rsi)\n"         // the argument
	"mov %r9, 0(%rsi)\n"         // the function
	"mov $56, %eax\nxor %r8d, %r8d\nsyscall\n"
	"test %rax, %rax\njz 1f\nret\n"
	"1: xor %ebp, %ebp\npop %rax\npop %rdi\ncall *%rax\nud2\n");
__asm__(".text\n.globl _start\n_start:\n"
	"xor %ebp, %ebp\nmov %rsp, %rdi\nand $-16, %rsp\ncall start\nud2\n");
static inline void relax(void) { __asm__ volatile("pause" ::: "memory"); }
#elif defined(__aarch64__)
enum {
	SYS_fcntl = 25, SYS_eventfd2 = 19, SYS_openat = 56, SYS_close = 57, SYS_pipe2 = 59,
	SYS_read = 63, SYS_write = 64, SYS_ppoll = 73, SYS_exit = 93, SYS_futex = 98,
	SYS_clock_gettime = 113, SYS_clock_nanosleep = 115, SYS_sched_setaffinity = 122,
	SYS_sched_yield = 124, SYS_kill = 129, SYS_rt_sigaction = 134, SYS_setpriority = 140,
	SYS_getpriority = 141, SYS_setsid = 157, SYS_prctl = 167, SYS_getpid = 172, SYS_gettid = 178, SYS_clone = 220,
	SYS_mmap = 222, SYS_wait4 = 260, SYS_prlimit64 = 261, SYS_sched_setattr = 274,
	SYS_execveat = 281, SYS_clone3 = 435, SYS_close_range = 436, SYS_chdir = 49, SYS_execve = 221,
	SYS_dup3 = 24,
};
static inline long sys(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
		: "memory");
	return x0;
}
// Here clone takes the new thread's pointer before the word that is cleared; both are in x3.
__asm__(".text\n.globl thread\nthread:\n"
	"stp x5, x4, [x1, #-16]!\nmov x4, x3\nmov x3, #0\nmov x8, #220\nsvc 0\n"
	"cbz x0, 1f\nret\n1: mov x29, #0\nldp x1, x0, [sp], #16\nblr x1\nbrk 1\n");
__asm__(".text\n.globl _start\n_start:\nmov x29, #0\nmov x0, sp\nbl start\nbrk 1\n");
static inline void relax(void) { __asm__ volatile("yield" ::: "memory"); }
#else
#error "the runner knows x86_64 and aarch64"
#endif

// clone(2) on a stack of its own: `function(argument)` there. Gives the thread, or -errno.
long thread(long flags, void *stack_end, u32 *tid, u32 *cleared, void *argument,
	void (*function)(void *));

#define sys0(n) sys(n, 0, 0, 0, 0, 0, 0)
#define sys1(n, a) sys(n, (long)(a), 0, 0, 0, 0, 0)
#define sys2(n, a, b) sys(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define sys3(n, a, b, c) sys(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys4(n, a, b, c, d) sys(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define sys5(n, a, b, c, d, e) sys(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define sys6(n, a, b, c, d, e, f) \
	sys(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

enum {
	AT_FDCWD = -100, AT_EMPTY_PATH = 0x1000, O_WRONLY = 1, O_RDWR = 2, O_NONBLOCK = 04000, O_CLOEXEC = 02000000,
	O_PATH = 010000000,
	EINTR = 4, EAGAIN = 11, SIGHUP = 1, SIGINT = 2, SIGQUIT = 3, SIGKILL = 9, SIGTERM = 15,
	SIGCHLD = 17, POLLIN = 1,
	CLOCK_MONOTONIC = 1, CLOCK_THREAD_CPUTIME_ID = 3, TIMER_ABSTIME = 1,
	CLONE_VM = 0x100, CLONE_FS = 0x200, CLONE_FILES = 0x400, CLONE_SIGHAND = 0x800,
	CLONE_THREAD = 0x10000, CLONE_SYSVSEM = 0x40000, CLONE_PARENT_SETTID = 0x100000,
	CLONE_CHILD_CLEARTID = 0x200000,
	FUTEX_WAIT_BITSET = 9, FUTEX_WAKE_BITSET = 10,
	PROT_READ = 1, PROT_WRITE = 2, MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_FIXED = 0x10,
	MAP_ANONYMOUS = 0x20, PR_SET_PDEATHSIG = 1, PR_SET_NAME = 15, PR_SET_TIMERSLACK = 29, PR_SET_CHILD_SUBREAPER = 36,
	F_SETFD = 2, F_SETFL = 4, FD_CLOEXEC = 1, F_SETPIPE_SZ = 1031, RLIMIT_NOFILE = 7,
	SCHED_OTHER = 0, SCHED_FIFO = 1, SCHED_RR = 2, SCHED_DEADLINE = 6, SCHED_FLAG_RESET_ON_FORK = 1,
};

// include/uapi/linux/sched/types.h, as of its first version.
struct sched_attr {
	u32 size, policy;
	u64 flags;
	s32 nice;
	u32 priority;
	u64 runtime, deadline, period;
};

// include/uapi/linux/sched.h, as of Linux 5.7.
struct clone_args {
	u64 flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
		set_tid_size, cgroup;
};
#define CLONE_INTO_CGROUP 0x200000000ULL

struct timespec { s64 tv_sec, tv_nsec; };
#define SECOND 1000000000ULL

static inline u64 now(int clock)
{
	struct timespec at;
	sys2(SYS_clock_gettime, clock, &at);
	return at.tv_sec * SECOND + at.tv_nsec;
}

static inline struct timespec timespec(u64 ns)
{
	struct timespec at = { ns / SECOND, ns % SECOND };
	return at;
}

static inline u32 number(const char *text)
{
	u32 number = 0;
	while (*text >= '0' && *text <= '9')
		number = number * 10 + (*text++ - '0');
	return number;
}

// Compilers call these for large copies.
void *memset(void *to, int byte, unsigned long count)
{
	u8 *at = to;
	while (count--)
		*at++ = byte;
	return to;
}
void *memcpy(void *to, const void *from, unsigned long count)
{
	u8 *at = to;
	const u8 *it = from;
	while (count--)
		*at++ = *it++;
	return to;
}
#endif
