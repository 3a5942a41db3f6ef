//! Why the kernel ended a scheduler.

use std::fmt;

use wastenot_model::Help;

/// Why the kernel ended a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// `enum scx_exit_kind`: from 64 on it was not the loader that ended it.
    pub kind: u32,
    /// `enum scx_exit_code`: what a loader is asked to do.
    pub code: u64,
    /// The kernel's words.
    pub reason: String,
    /// More of them.
    pub message: String,
}

/// SCX_ECODE_ACT_RESTART of `enum scx_exit_code` (kernel/sched/ext.c).
const RESTART: u64 = 1 << 48;
/// SCX_EXIT_SYSRQ, SCX_EXIT_ERROR, SCX_EXIT_ERROR_BPF and SCX_EXIT_ERROR_STALL of `enum
/// scx_exit_kind`.
const SYSRQ: u32 = 67;
const ERROR: u32 = 1024;
const ERROR_BPF: u32 = 1025;
const ERROR_STALL: u32 = 1026;

impl Exit {
    /// Whether the scheduler may be loaded again, with new tables: a CPU came or went.
    pub fn restarts(&self) -> bool {
        self.code & RESTART != 0
    }
}

impl Help for Exit {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self.kind {
            _ if self.restarts() => {
                "deploy the policy again, because the CPUs of the machine changed"
            }
            SYSRQ => {
                "deploy the policy again; SysRq-S ended this scheduler, as it ends every sched_ext \
                 scheduler"
            }
            ERROR_STALL => {
                "check the policy with `wastenot prove`, and read the dump in the kernel log. For \
                 ten seconds, a runnable task did not run. Either no CPU took the task from its \
                 queue, or the policy starves the task"
            }
            ERROR | ERROR_BPF => {
                "report this bug, with the policy and the kernel version: the scheduler did \
                 something that sched_ext forbids"
            }
            _ => "find the program that unloaded the scheduler, then deploy the policy again",
        }
        .into()
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.as_str() {
            "" => f.write_str(&self.reason),
            message => write!(f, "{}: {message}", self.reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hotplug_asks_for_a_restart_and_a_stall_does_not() {
        let exit = |kind, code| Exit {
            kind,
            code,
            reason: "unregistered from the main kernel".into(),
            message: "cpu 7 going offline, exiting scheduler".into(),
        };
        // SCX_EXIT_UNREG_KERN with SCX_ECODE_ACT_RESTART | SCX_ECODE_RSN_HOTPLUG.
        let hotplug = exit(66, 1 << 48 | 1 << 32);
        assert!(hotplug.restarts() && !exit(ERROR_STALL, 0).restarts());
        assert!(hotplug.to_string().ends_with("kernel: cpu 7 going offline, exiting scheduler"));
        assert_ne!(hotplug.help(), exit(ERROR_STALL, 0).help());
    }
}
