//! Numbers of the fields that are read or written, by message.

/// `Trace`: a file is one.
pub(crate) mod trace {
    pub(crate) const PACKET: u32 = 1;
}

/// `TracePacket`. Only the first flag of a sequence is used: its state begins here.
pub(crate) mod packet {
    pub(crate) const FTRACE_EVENTS: u32 = 1;
    pub(crate) const PROCESS_TREE: u32 = 2;
    pub(crate) const CLOCK_SNAPSHOT: u32 = 6;
    pub(crate) const TIMESTAMP: u32 = 8;
    pub(crate) const PROCESS_STATS: u32 = 9;
    pub(crate) const SEQUENCE_ID: u32 = 10;
    pub(crate) const SEQUENCE_FLAGS: u32 = 13;
    pub(crate) const TRACK_EVENT: u32 = 11;
    pub(crate) const TRACE_CONFIG: u32 = 33;
    pub(crate) const TRACE_STATS: u32 = 35;
    pub(crate) const SYNCHRONIZATION_MARKER: u32 = 36;
    pub(crate) const PREVIOUS_PACKET_DROPPED: u32 = 42;
    pub(crate) const SYSTEM_INFO: u32 = 45;
    pub(crate) const COMPRESSED_PACKETS: u32 = 50;
    pub(crate) const TIMESTAMP_CLOCK_ID: u32 = 58;
    pub(crate) const TRACK_DESCRIPTOR: u32 = 60;
    pub(crate) const CPU_INFO: u32 = 67;
    pub(crate) const SERVICE_EVENT: u32 = 69;
    pub(crate) const FIRST_PACKET_ON_SEQUENCE: u32 = 87;
    pub(crate) const TRACE_UUID: u32 = 89;
    pub(crate) const ZSTD_COMPRESSED_PACKETS: u32 = 133;
}

/// `FtraceEventBundle`.
pub(crate) mod bundle {
    pub(crate) const CPU: u32 = 1;
    pub(crate) const EVENT: u32 = 2;
    pub(crate) const LOST_EVENTS: u32 = 3;
    pub(crate) const COMPACT_SCHED: u32 = 4;
    pub(crate) const FTRACE_CLOCK: u32 = 5;
    pub(crate) const FTRACE_TIMESTAMP: u32 = 6;
    pub(crate) const BOOT_TIMESTAMP: u32 = 7;
    pub(crate) const ERROR: u32 = 8;
    pub(crate) const PREVIOUS_BUNDLE_END: u32 = 10;
}

/// `FtraceEventBundle.CompactSched`: arrays with one entry per switch or waking.
pub(crate) mod compact {
    pub(crate) const SWITCH_TIMESTAMP: u32 = 1;
    pub(crate) const SWITCH_PREV_STATE: u32 = 2;
    pub(crate) const SWITCH_NEXT_PID: u32 = 3;
    pub(crate) const SWITCH_NEXT_PRIO: u32 = 4;
    pub(crate) const INTERN_TABLE: u32 = 5;
    pub(crate) const SWITCH_NEXT_COMM: u32 = 6;
    pub(crate) const WAKING_TIMESTAMP: u32 = 7;
    pub(crate) const WAKING_PID: u32 = 8;
    pub(crate) const WAKING_TARGET_CPU: u32 = 9;
    pub(crate) const WAKING_PRIO: u32 = 10;
    pub(crate) const WAKING_COMM: u32 = 11;
    pub(crate) const WAKING_FLAGS: u32 = 12;
}

/// `FtraceEvent`: the fields of every event, and the message of each kind.
pub(crate) mod event {
    pub(crate) const TIMESTAMP: u32 = 1;
    pub(crate) const PID: u32 = 2;
    pub(crate) const SCHED_SWITCH: u32 = 4;
    pub(crate) const COMMON_FLAGS: u32 = 5;
    pub(crate) const CPU_FREQUENCY: u32 = 11;
    pub(crate) const SCHED_WAKEUP: u32 = 17;
    pub(crate) const SCHED_CPU_HOTPLUG: u32 = 19;
    pub(crate) const SCHED_WAKING: u32 = 20;
    pub(crate) const SCHED_WAKEUP_NEW: u32 = 114;
    pub(crate) const TASK_RENAME: u32 = 236;
    pub(crate) const SCHED_PROCESS_EXEC: u32 = 237;
    pub(crate) const SCHED_PROCESS_EXIT: u32 = 238;
    pub(crate) const SCHED_PROCESS_FORK: u32 = 239;
    pub(crate) const CPUHP_MULTI_ENTER: u32 = 344;
    pub(crate) const CPUHP_ENTER: u32 = 345;
    pub(crate) const SCHED_MIGRATE_TASK: u32 = 491;
}

/// `SchedSwitchFtraceEvent`.
pub(crate) mod switch {
    pub(crate) const PREV_COMM: u32 = 1;
    pub(crate) const PREV_PID: u32 = 2;
    pub(crate) const PREV_PRIO: u32 = 3;
    pub(crate) const PREV_STATE: u32 = 4;
    pub(crate) const NEXT_COMM: u32 = 5;
    pub(crate) const NEXT_PID: u32 = 6;
    pub(crate) const NEXT_PRIO: u32 = 7;
}

/// `SchedWakingFtraceEvent`, `SchedWakeupFtraceEvent`, `SchedWakeupNewFtraceEvent`.
pub(crate) mod wake {
    pub(crate) const COMM: u32 = 1;
    pub(crate) const PID: u32 = 2;
    pub(crate) const PRIO: u32 = 3;
    pub(crate) const SUCCESS: u32 = 4;
    pub(crate) const TARGET_CPU: u32 = 5;
}

/// `SchedMigrateTaskFtraceEvent`.
pub(crate) mod migrate {
    pub(crate) const COMM: u32 = 1;
    pub(crate) const PID: u32 = 2;
    pub(crate) const ORIG_CPU: u32 = 4;
    pub(crate) const DEST_CPU: u32 = 5;
}

/// `SchedProcessForkFtraceEvent`.
pub(crate) mod fork {
    pub(crate) const PARENT_COMM: u32 = 1;
    pub(crate) const PARENT_PID: u32 = 2;
    pub(crate) const CHILD_COMM: u32 = 3;
    pub(crate) const CHILD_PID: u32 = 4;
}

/// `SchedProcessExecFtraceEvent`, `SchedProcessExitFtraceEvent`.
pub(crate) mod life {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const PID: u32 = 2;
    pub(crate) const TGID: u32 = 3;
}

/// `TaskRenameFtraceEvent`.
pub(crate) mod rename {
    pub(crate) const PID: u32 = 1;
    pub(crate) const OLD: u32 = 2;
    pub(crate) const NEW: u32 = 3;
}

/// `CpuFrequencyFtraceEvent`.
pub(crate) mod frequency {
    pub(crate) const KHZ: u32 = 1;
    pub(crate) const CPU: u32 = 2;
}

/// `SchedCpuHotplugFtraceEvent`.
pub(crate) mod hotplug {
    pub(crate) const CPU: u32 = 1;
    pub(crate) const ERROR: u32 = 2;
    pub(crate) const UP: u32 = 3;
}

/// `CpuhpEnterFtraceEvent`, `CpuhpMultiEnterFtraceEvent`.
pub(crate) mod cpuhp {
    pub(crate) const CPU: u32 = 1;
    pub(crate) const STEP: u32 = 3;
    pub(crate) const TARGET: u32 = 4;
}

/// `ProcessTree`, with `Process` and `Thread`.
pub(crate) mod tree {
    pub(crate) const PROCESSES: u32 = 1;
    pub(crate) const THREADS: u32 = 2;
    pub(crate) const PROCESS_PID: u32 = 1;
    pub(crate) const PROCESS_CMDLINE: u32 = 3;
    pub(crate) const PROCESS_CMDLINE_IS_COMM: u32 = 9;
    pub(crate) const THREAD_TID: u32 = 1;
    pub(crate) const THREAD_NAME: u32 = 2;
    pub(crate) const THREAD_TGID: u32 = 3;
}

/// `ProcessStats.Process` with its threads.
pub(crate) mod stats {
    pub(crate) const PROCESSES: u32 = 1;
    pub(crate) const PID: u32 = 1;
    pub(crate) const THREADS: u32 = 11;
    pub(crate) const TID: u32 = 1;
}

/// `ClockSnapshot` and its `Clock`.
pub(crate) mod clocks {
    pub(crate) const CLOCKS: u32 = 1;
    pub(crate) const PRIMARY: u32 = 2;
    pub(crate) const ID: u32 = 1;
    pub(crate) const TIMESTAMP: u32 = 2;
    pub(crate) const MONOTONIC: u64 = 3;
    pub(crate) const MONOTONIC_RAW: u64 = 5;
    pub(crate) const BOOTTIME: u64 = 6;
}

/// `TracingServiceEvent`: what happened at the stamp of its packet.
pub(crate) mod service {
    pub(crate) const ALL_DATA_SOURCES_FLUSHED: u32 = 3;
}

/// `SystemInfo` with its `Utsname`.
pub(crate) mod system {
    pub(crate) const UTSNAME: u32 = 1;
    pub(crate) const SERVICE_VERSION: u32 = 4;
    pub(crate) const CPUS: u32 = 8;
    pub(crate) const SYSNAME: u32 = 1;
    pub(crate) const VERSION: u32 = 2;
    pub(crate) const RELEASE: u32 = 3;
    pub(crate) const MACHINE: u32 = 4;
}

/// `CpuInfo` and its `Cpu`.
pub(crate) mod cpus {
    pub(crate) const CPUS: u32 = 1;
    pub(crate) const PROCESSOR: u32 = 1;
    pub(crate) const CAPACITY: u32 = 3;
}

/// `TrackDescriptor` with its `CounterDescriptor`.
pub(crate) mod track {
    pub(crate) const UUID: u32 = 1;
    pub(crate) const NAME: u32 = 2;
    pub(crate) const PARENT: u32 = 5;
    pub(crate) const COUNTER: u32 = 8;
    pub(crate) const CHILD_ORDERING: u32 = 11;
    pub(crate) const RANK: u32 = 12;
    pub(crate) const DESCRIPTION: u32 = 14;
    /// Children are ordered by their rank.
    pub(crate) const EXPLICIT: u64 = 3;
    pub(crate) const UNIT_NAME: u32 = 6;
    pub(crate) const Y_AXIS_SHARE_KEY: u32 = 7;
}

/// `TrackEvent`.
pub(crate) mod track_event {
    pub(crate) const TYPE: u32 = 9;
    pub(crate) const TRACK: u32 = 11;
    pub(crate) const VALUE: u32 = 30;
    pub(crate) const COUNTER: u64 = 4;
}
