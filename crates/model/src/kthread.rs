//! Recognises kernel threads by their names: traces do not mark them.

/// Names of the kernel's threads. Each may be followed by a number, of a CPU, a node or a device,
/// or by a `/` and anything.
const KNOWN: &[&str] = &[
    "backlog_napi",
    "blkcg_punt_bio",
    "cpuhp",
    "cryptomgr_probe",
    "cryptomgr_test",
    "devfreq_wq",
    "ecryptfs-kthread",
    "edac-poller",
    "ext4-rsv-conversion",
    "idle_inject",
    "inet_frag_wq",
    "irq",
    "irq_work",
    "jbd2",
    "kauditd",
    "kblockd",
    "kcompactd",
    "kdamond.",
    "kdevtmpfs",
    "khugepaged",
    "khungtaskd",
    "khvcd",
    "kintegrityd",
    "kprobe-optimizer",
    "kpsmoused",
    "ksgxd",
    "ksmd",
    "ksoftirqd",
    "kstrp",
    "kswapd",
    "kthreadd",
    "kthrotld",
    "ktimers",
    "kvm-nx-lpage-recovery",
    "kvm-pit",
    "kworker",
    "migration",
    "mm_percpu_wq",
    "napi",
    "oom_reaper",
    "pool_workqueue_release",
    "posixcputmr",
    "psimon",
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
    "rpciod",
    "scsi_eh_",
    "scsi_tmf_",
    "slub_flushwq",
    "stopper",
    "swapper",
    "watchdog",
    "watchdogd",
    "writeback",
    "xfsaild",
    "xprtiod",
    "zswap-shrink",
];
/// The kernel cuts names here (`TASK_COMM_LEN` less the zero at the end).
const COMM_BYTES: usize = 15;
/// A shorter truncated name could belong to any task.
const TELLING_BYTES: usize = 9;

/// Whether a task of this name is a kernel thread. A program with such a name counts as one.
pub fn is_kernel_thread(name: &str) -> bool {
    let stem = name.split('/').next().unwrap_or_default();
    let cut = |known: &&str| {
        name.len() == COMM_BYTES && stem.len() >= TELLING_BYTES && known.starts_with(stem)
    };
    let numbered = |known: &&str| {
        stem.strip_prefix(known).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    KNOWN.iter().any(|known| numbered(known) || cut(known))
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
            "rcu_exp_par_gp_",
            "kdamond.0",
            "cryptomgr_test",
            "psimon",
            "kvm-nx-lpage-re",
            "ext4-rsv-conver",
            "xfsaild/dm-0",
        ] {
            assert!(is_kernel_thread(name), "{name}");
        }
        let others =
            ["make", "cc1plus", "irqbalance", "wl", "kwin", "sh", "t2", "", "rcu", "kswapd-top"];
        for name in others {
            assert!(!is_kernel_thread(name), "{name}");
        }
    }
}
