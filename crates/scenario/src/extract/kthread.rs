//! Kernel threads, by their names: traces do not tell who is one.

/// Threads that run nothing but the scheduler's own decisions: Linux's stoppers, which push running
/// tasks away.
const SCHEDULERS_OWN: &[&str] = &["migration"];

/// Names of the kernel's threads, up to a `/`, a `:` or a digit at the end.
const KERNELS: &[&str] = &[
    "cpuhp",
    "idle_inject",
    "irq",
    "jbd2",
    "kauditd",
    "kblockd",
    "kcompactd",
    "kdevtmpfs",
    "khugepaged",
    "khungtaskd",
    "khvcd",
    "ksmd",
    "ksoftirqd",
    "kswapd",
    "kthreadd",
    "ktimers",
    "kworker",
    "kworker_R",
    "migration",
    "napi",
    "oom_reaper",
    "pool_workqueue_release",
    "rcu_exp_gp_kthread_worker",
    "rcu_exp_par_gp_kthread_worker",
    "rcu_gp",
    "rcu_par_gp",
    "rcu_preempt",
    "rcu_sched",
    "rcu_tasks_kthread",
    "rcu_tasks_rude_kthread",
    "rcu_tasks_trace_kthread",
    "rcub",
    "rcuc",
    "rcuog",
    "rcuop",
    "rcuos",
    "scsi_eh",
    "watchdogd",
    "writeback",
];

/// Whether a task of this name is a thread that only the scheduler uses.
pub(super) fn is_schedulers_own(name: &str) -> bool {
    SCHEDULERS_OWN.contains(&stem(name))
}

/// Whether a task of this name is a kernel thread.
pub(super) fn is_kernels(name: &str) -> bool {
    // Some are cut at 15 characters.
    let stem = stem(name);
    let cut = |known: &&str| name.len() == 15 && known.starts_with(stem) && stem.len() > 8;
    KERNELS.contains(&stem) || KERNELS.iter().any(|known| cut(known))
}

fn stem(name: &str) -> &str {
    let end = name.find(['/', ':', '-']).unwrap_or(name.len());
    name[..end].trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_threads_are_known_by_their_names() {
        for name in [
            "kworker/0:1",
            "kworker/u8:2-events_unbound",
            "ksoftirqd/3",
            "migration/12",
            "rcu_sched",
            "rcu_preempt",
            "irq/24-nvme0q1",
            "kcompactd0",
            "jbd2/vda1-8",
            "scsi_eh_0",
            "rcuop/7",
            "kthreadd",
            "rcu_tasks_trace",
        ] {
            assert!(is_kernels(name), "{name}");
        }
        for name in ["make", "cc1plus", "irqbalance", "wl", "kwin", "sh", "t2", "", "rcu"] {
            assert!(!is_kernels(name), "{name}");
        }
        assert!(is_schedulers_own("migration/0") && !is_schedulers_own("ksoftirqd/0"));
    }
}
