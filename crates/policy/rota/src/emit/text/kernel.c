/*
 * The kernel, as far as this file uses it. libbpf and the verifier match types and functions by
 * name against the running kernel, so that declaring the members in use is enough.
 */
#ifdef WASTENOT_NATIVE
#include "kernel.h" /* stand-ins with the same names: tests run the policy outside the kernel */
#else
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
typedef _Bool bool;
enum { false, true };

#define SEC(name) __attribute__((section(name), used))
#define KFUNC __attribute__((section(".ksyms")))
#define WEAK __attribute__((weak))
#define CORE __attribute__((preserve_access_index))
#define RODATA const volatile
/* BPF calls have at most five arguments: functions with more must be inlined. */
#define ALWAYS_INLINE inline __attribute__((always_inline))
/* A function that is not static is verified once, not again at each call. */
#define ONCE __attribute__((noinline))

/* Kfunc arguments are compared by kind: this must be a struct, not a forward declaration. */
struct cpumask {
	unsigned long bits[1];
} CORE;

struct sched_ext_entity {
	u32 flags;
	u32 weight;
	u64 slice;
} CORE;

struct kernfs_node {
	u64 id;
} CORE;

struct cgroup {
	struct kernfs_node *kn;
} CORE;

struct css_set {
	struct cgroup *dfl_cgrp;
} CORE;

struct task_struct {
	const struct cpumask *cpus_ptr;
	struct cpumask cpus_mask;
	int nr_cpus_allowed;
	unsigned int __state;
	int tgid;
+	int pid;
+	int prio;
	struct css_set *cgroups;
	struct sched_ext_entity scx;
} CORE;

/* Must be an enum, as in the kernel, or CO-RE does not find it. */
enum scx_exit_kind { SCX_EXIT_NONE };

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	const char *msg;
} CORE;

struct scx_init_task_args;
struct scx_exit_task_args;
struct scx_dump_ctx;

struct bpf_iter_scx_dsq {
	u64 opaque[6];
};

/* In every kernel with sched_ext since 6.13. */
extern s32 scx_bpf_create_dsq(u64 id, s32 node) KFUNC;
extern void scx_bpf_dsq_insert(struct task_struct *p, u64 id, u64 slice, u64 flags) KFUNC;
extern bool scx_bpf_dsq_move_to_local(u64 id) KFUNC;
extern s32 scx_bpf_dsq_nr_queued(u64 id) KFUNC;
extern void scx_bpf_kick_cpu(s32 cpu, u64 flags) KFUNC;
extern u32 scx_bpf_reenqueue_local(void) KFUNC;
extern s32 scx_bpf_task_cpu(const struct task_struct *p) KFUNC;
extern bool bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *mask) KFUNC;
extern int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *it, u64 id, u64 flags) KFUNC;
/* In one place, and in the loop: where clang takes the first call out of the loop, 6.18 finds an
 * iterator that advances outside of any, and gives up ("no SCC in verification path"). */
extern struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *it) KFUNC
	__attribute__((noduplicate));
extern void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *it) KFUNC;
extern void bpf_rcu_read_lock(void) KFUNC;
extern void bpf_rcu_read_unlock(void) KFUNC;

/* Not in every kernel: the loader checks which of the two forms exists. */
struct scx_bpf_dsq_insert_vtime_args {
	u64 dsq_id;
	u64 slice;
	u64 vtime;
	u64 enq_flags;
} CORE;
extern bool __scx_bpf_dsq_insert_vtime(struct task_struct *p,
				       struct scx_bpf_dsq_insert_vtime_args *args) KFUNC WEAK;
extern void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 id, u64 slice, u64 vtime,
				     u64 flags) KFUNC WEAK;
extern void scx_bpf_dsq_move_set_vtime(struct bpf_iter_scx_dsq *it, u64 vtime) KFUNC WEAK;
extern bool scx_bpf_dsq_move_vtime(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 id,
				   u64 flags) KFUNC WEAK;
extern bool scx_bpf_dsq_move(struct bpf_iter_scx_dsq *it, struct task_struct *p, u64 id,
			     u64 flags) KFUNC WEAK;
extern void scx_bpf_dump_bstr(char *format, u64 *data, u32 size) KFUNC WEAK;

/* Helpers are called by number. */
static u64 (*const bpf_ktime_get_ns)(void) = (void *)5;
static u32 (*const bpf_get_smp_processor_id)(void) = (void *)8;
static long (*const bpf_probe_read_kernel_str)(void *to, u32 size, const void *from) = (void *)115;
static void *(*const bpf_task_storage_get)(void *map, struct task_struct *p, void *value,
				     u64 flags) = (void *)156;
+static void *(*const bpf_ringbuf_reserve)(void *map, u64 size, u64 flags) = (void *)131;
+static void (*const bpf_ringbuf_submit)(void *held, u64 flags) = (void *)132;
static long (*const bpf_loop)(u32 count, void *step, void *state, u64 flags) = (void *)181;

/* Maps: libbpf reads their numbers from the types of arrays. */
#define TASK_STORAGE(name, held)                                                               \
	struct {                                                                               \
		int(*type)[29];                                                                \
		int(*map_flags)[1]; /* no preallocation */                                     \
		int *key;                                                                      \
		held *value;                                                                   \
	} name SEC(".maps")
+#define RING(name, size)                                                                       \
+	struct {                                                                               \
+		int(*type)[27];                                                                \
+		int(*max_entries)[size];                                                       \
+	} name SEC(".maps")
@MAPS@
/* Without this clang describes the mask as a forward declaration. */
static u32 keep_types(void)
{
	return __builtin_preserve_type_info(*(struct cpumask *)0, 0);
}

struct scx_cpu_release_args;

struct sched_ext_ops {
	u64 flags; /* these two first: the loader writes them */
	u64 hotplug_seq;
	s32 (*select_cpu)(struct task_struct *p, s32 prev, u64 flags);
	void (*enqueue)(struct task_struct *p, u64 flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	void (*quiescent)(struct task_struct *p, u64 flags);
	void (*tick)(struct task_struct *p);
	bool (*yield)(struct task_struct *from, struct task_struct *to);
	void (*update_idle)(s32 cpu, bool idle);
	void (*cpu_release)(s32 cpu, struct scx_cpu_release_args *args);
+	void (*set_cpumask)(struct task_struct *p, const struct cpumask *mask);
+	void (*disable)(struct task_struct *p);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*exit_task)(struct task_struct *p, struct scx_exit_task_args *args);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *info);
	void (*dump)(struct scx_dump_ctx *context);
	u32 timeout_ms;
	char name[128];
};
#endif
