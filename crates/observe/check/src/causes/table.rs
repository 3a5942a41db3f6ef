//! The table of causes: a row for each, with everything that is fixed about it.

use super::{Ahead, Balancing, Cause, LostTime, Onset, Rules};

/// All causes, in the order in which their evidence is tested.
pub static TREE: &[&Cause] = &[
    &Cause {
        path: "configuration/affinity",
        about: "affinities excluded the waiting tasks from the idle CPUs",
        evidence: "If tasks had no affinities, more waiting tasks could run on idle CPUs.",
        refuted_by: "The task may use an idle CPU. Threads that serve one CPU or one interrupt \
            never have this cause.",
        advice: "Widen the CPU mask: use taskset(1), the cgroup's cpuset.cpus, or isolcpus=.",
        source: "sched_setaffinity(2); kernel: Documentation/admin-guide/cgroup-v2.rst, \
            cpuset.cpus",
        missing: "The trace does not show who set the mask: the task itself, its cpuset, or \
            isolated CPUs.",
        named: true,
        holds: |it| it.loss == LostTime::Affinity,
    },
    &Cause {
        path: "configuration/quota",
        about: "quotas held tasks back",
        evidence: "The kernel marked the task's run queue as throttled while the task was \
            runnable. Waste has this cause under one condition: on every idle CPU that the waiting \
            task may use, the quota held back other tasks of its cgroup. On these CPUs, the quota \
            would hold back the waiting task, too.",
        refuted_by: "The run queue of the waiting task is not throttled. In addition, the task may \
            use an idle CPU where the quota holds back no task of its cgroup.",
        advice: "Raise cpu.max of the cgroup or of a cgroup above it, allow bursts \
            (cpu.max.burst), or use fewer threads.",
        source: "kernel: Documentation/scheduler/sched-bwc.rst",
        missing: "The trace does not contain the time when the quota was refilled. A recorder \
            notices the refill only when the task runs, so the lost time includes the wait between \
            these two events.",
        named: true,
        holds: |it| it.loss == LostTime::Quota || it.held,
    },
    &Cause {
        path: "host/interrupts",
        about: "the idle CPU was handling interrupts or softirqs",
        evidence: "The trace contains interrupts (record --interrupts). The CPU was about to start \
            a task, or was the only idle CPU that a waiting task may use. At that time, the CPU \
            handled interrupts or softirqs.",
        refuted_by: "The CPU handled no interrupt and no softirq, or the task may use another CPU \
            that was idle.",
        advice: "Distribute the interrupts: /proc/irq/N/smp_affinity, irqbalance, receive packet \
            steering (rps_cpus), fewer queues. Or keep these tasks off the CPU.",
        source: "kernel: kernel/softirq.c; Documentation/core-api/irq/irq-affinity.rst, \
            Documentation/networking/scaling.rst",
        missing: "The trace does not show what the handlers do. Profile the CPU: perf record -C \
            CPU.",
        named: true,
        holds: |it| it.interrupted,
    },
    &Cause {
        path: "host/steal",
        about: "the hypervisor ran something else instead of the virtual CPU",
        evidence: "The CPU was about to start a task, and in the same second the hypervisor took \
            time from this CPU (steal in /proc/stat). Of the time lost in that second, at most the \
            steal time has this cause.",
        refuted_by: "The CPU has no steal time in this second.",
        advice: "Give the guest dedicated CPUs, or fewer virtual CPUs.",
        source: "proc(5): steal; kernel: arch/x86/kernel/kvm.c, paravirt steal clock",
        missing: "The trace does not show when the virtual CPU ran. A trace of the host contains \
            these times.",
        named: false,
        holds: |it| it.loss == LostTime::WakeDelay && it.stolen,
    },
    &Cause {
        path: "design/reserved",
        about: "the scheduler reserves CPUs by design",
        evidence: "The scheduler divides CPUs or time among tasks: gang scheduling, partitions, \
            fixed CPUs.",
        refuted_by: "The scheduler may run the task on any CPU.",
        advice: "Simulate the traced tasks under a scheduler that does not reserve CPUs: wastenot \
            what-if.",
        source: "Ousterhout, Scheduling Techniques for Concurrent Systems, ICDCS 1982",
        missing: "The trace does not show how much the tasks benefit from the reserved time.",
        named: true,
        holds: |it| {
            it.rules == Rules::Reserving && matches!(it.loss, LostTime::Waste | LostTime::WakeDelay)
        },
    },
    &Cause {
        path: "scheduler/policy/not-started",
        about: "the policy queued a task on an idle CPU and did not start the task",
        evidence: "The scheduling policy is not a policy of the kernel itself. A CPU ran its idle \
            task for longer than --wake-grace although a task was queued on this CPU.",
        refuted_by: "The CPU starts the task within --wake-grace.",
        advice: "Kick the CPU after adding a task to its queue (scx_bpf_kick_cpu with \
            SCX_KICK_IDLE).",
        source: "kernel: Documentation/scheduler/sched-ext.rst",
        missing: "The trace does not contain the kicks that the policy sent.",
        named: false,
        holds: |it| it.loss == LostTime::WakeDelay && it.over_grace && it.rules == Rules::Policy,
    },
    &Cause {
        path: "host/late-start/idle-state",
        about: "an idle CPU with a queued task took long to leave its idle state",
        evidence: "The conditions of host/late-start hold, and the trace contains idle states \
            (record --interrupts). During the delay, the CPU did not leave its idle state. The \
            part of the delay that interrupts or the hypervisor took does not have this cause.",
        refuted_by: "The CPU had already left its idle state and ran kernel code.",
        advice: "Avoid deep idle states: hold /dev/cpu_dma_latency open, or use cpupower idle-set. \
            In a guest, the host has to wake the virtual CPU. To avoid this, let the guest poll \
            before it halts (cpuidle_haltpoll, kvm.halt_poll_ns).",
        source: "kernel: drivers/cpuidle/cpuidle.c, kernel/sched/idle.c; \
            Documentation/admin-guide/pm/cpuidle.rst, Documentation/virt/guest-halt-polling.rst",
        missing: "The trace does not show what the hardware or the hypervisor did. See the exit \
            latencies in /sys/devices/system/cpu/cpu0/cpuidle, or a trace of the host.",
        named: false,
        holds: |it| {
            it.loss == LostTime::WakeDelay
                && it.in_idle_state
                && it.over_grace
                && !it.possibly_throttled
                && it.rules != Rules::Several
        },
    },
    &Cause {
        path: "host/late-start",
        about: "an idle CPU started a queued task late",
        evidence: "The CPU ran its idle task for longer than --wake-grace although a task was \
            queued on this CPU, and no quota can explain the delay. Either a sched_ext scheduler \
            was active for all tasks all the time, or none was ever active. A scheduler that was \
            active for some tasks or at some times may have left the CPU idle.",
        refuted_by: "The CPU starts the task within --wake-grace, or a quota may have throttled \
            the task.",
        advice: "Look for deep idle states (cpuidle, /dev/cpu_dma_latency), disabled interrupts, a \
            virtual CPU that did not run, and core scheduling.",
        source: "kernel: kernel/sched/idle.c; Documentation/admin-guide/pm/cpuidle.rst",
        missing: "Idle states and interrupts (record --interrupts) or steal time would show the \
            reason.",
        named: true,
        holds: |it| {
            it.loss == LostTime::WakeDelay
                && it.over_grace
                && !it.possibly_throttled
                && it.rules != Rules::Several
        },
    },
    &Cause {
        path: "host/wakeup",
        about: "starting a task on an idle CPU takes time",
        evidence: "The CPU ran its idle task for at most --wake-grace although a task was queued \
            on this CPU.",
        refuted_by: "The CPU needs longer than --wake-grace.",
        advice: "Act only if wakeups are very frequent: let the tasks poll instead of sleeping, or \
            use shallower idle states.",
        source: "kernel: kernel/sched/idle.c",
        missing: "Idle states and interrupts would show the reason: record --interrupts.",
        named: true,
        holds: |it| it.loss == LostTime::WakeDelay && !it.over_grace,
    },
    &Cause {
        path: "host/higher-class",
        about: "tasks waited behind a task of a higher scheduling class",
        evidence: "The CPU where the task waited ran a task with a priority below 100 (stop, \
            deadline or real-time class). The waiting task has no such priority, and another CPU \
            was idle.",
        refuted_by: "The CPU runs a task of the same class as the waiting task.",
        advice: "Give the real-time task its own CPU, or limit its CPU time (sched_rt_runtime_us, \
            SCHED_DEADLINE).",
        source: "sched(7); kernel: kernel/sched/rt.c",
        missing: "The balancing passes would show why the balancer left the task on that CPU.",
        named: true,
        holds: |it| {
            it.loss == LostTime::Waste && it.ahead == Ahead::HigherClass && !it.balancing.failed()
        },
    },
    &Cause {
        path: "host/pinned-thread",
        about: "tasks waited behind a thread that is pinned to that CPU",
        evidence: "The CPU where the task waited ran a per-CPU kernel thread or a task that is \
            pinned to this CPU. Another CPU was idle.",
        refuted_by: "The running task may use other CPUs.",
        advice: "If this happens often, find the code that queues the work \
            (workqueue:workqueue_execute_start), or the setting that pins the task.",
        source: "kernel: Documentation/core-api/workqueue.rst",
        missing: "The trace does not show the work that the kernel thread executes.",
        named: false,
        holds: |it| {
            it.loss == LostTime::Waste && it.ahead == Ahead::Pinned && !it.balancing.failed()
        },
    },
    &Cause {
        path: "scheduler/policy/not-taken",
        about: "an idle CPU did not take a task that the policy left waiting",
        evidence: "The scheduling policy is not a policy of the kernel itself. A CPU stayed idle \
            for longer than four balancing intervals while a task that may use this CPU waited.",
        refuted_by: "The CPU soon takes a task.",
        advice: "Prove that the policy is work-conserving: wastenot prove.",
        source: "Lozi et al., EuroSys 2016; docs/explain/proofs.md",
        missing: "The trace does not show the queues that the CPU searched.",
        named: false,
        holds: |it| it.is_waste_under(Rules::Policy) && it.balancing.failed(),
    },
    &Cause {
        path: "scheduler/policy",
        about: "the policy left a CPU idle while tasks waited elsewhere",
        evidence: "The scheduler is not the kernel's fair class: the trace comes from a simulation \
            of another scheduler, or it has the note sched_ext.",
        refuted_by: "The scheduler is the kernel's fair class.",
        advice: "Prove that the policy is work-conserving: wastenot prove.",
        source: "kernel: Documentation/scheduler/sched-ext.rst",
        missing: "The decisions of the policy.",
        named: true,
        holds: |it| it.is_waste_under(Rules::Policy),
    },
    &Cause {
        path: "scheduler/balancing/after-hotplug",
        about: "load balancing has moved no task between nodes since a CPU came back online",
        evidence: "The conditions of scheduler/balancing/persistent hold. Two more conditions \
            hold: the idle CPU is on another node than the waiting task, and no task has moved \
            between nodes since a CPU came online. If the trace contains decisions (record \
            --decisions), a condition on domains replaces the conditions of \
            scheduler/balancing/persistent: no scheduling domain of the idle CPU contains the CPU \
            of the waiting task. In this case, the waste after the first tick has this cause. \
            Later waste between the same two nodes has this cause from its first moment. This ends \
            when a task moves from the node of the waiting task to the node of the idle CPU.",
        refuted_by: "A task moved between nodes after the CPU came online.",
        advice: "Compare the domains before and after the hotplug \
            (/sys/kernel/debug/sched/domains). Update the kernel, or boot with all CPUs online.",
        source: "Lozi et al., EuroSys 2016, section 3.4 (missing scheduling domains); kernel \
            commit 8f37961cf223",
        missing: "A trace with decisions (record --decisions) would show the scheduling domains \
            before and after the hotplug.",
        named: true,
        holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedAfterHotplug,
    },
    &Cause {
        path: "scheduler/balancing/missing-domains",
        about: "the scheduling domains of the idle CPUs did not contain the CPUs where tasks \
            waited",
        evidence: "The trace contains the scheduling domains of the idle CPU, and none of these \
            domains contains the CPU where the task waited. The waste after the first tick has \
            this cause.",
        refuted_by: "A domain of the idle CPU contains the CPU where the task waited.",
        advice: "Look at the domains (/sys/kernel/debug/sched/domains). isolcpus and cpuset \
            partitions divide domains, and kernels before 4.4 lose domain levels when a CPU goes \
            offline.",
        source: "Lozi et al., EuroSys 2016, section 3.4 (missing scheduling domains); \
            kernel/sched/topology.c: build_sched_domains",
        missing: "The trace does not show the setting or event that divided the domains. With \
            record --decisions, it shows the domains.",
        named: false,
        holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedOutOfSight,
    },
    &Cause {
        path: "scheduler/balancing/beyond-one-hop",
        about: "load balancing did not move tasks between nodes that are two hops apart",
        evidence: "The conditions of scheduler/balancing/persistent hold. Two more conditions \
            hold: the task waited on a node at least two hops away from the idle CPU, and no task \
            waited within one hop of that CPU. If the trace contains decisions (record \
            --decisions), a condition on groups applies instead. In the smallest domain of the \
            idle CPU that contains both CPUs, the CPU of the task is in the local group, or in a \
            group that also contains the idle CPU. In this case, the waste after the first tick \
            has this cause. Later waste between the same two nodes has this cause from its first \
            moment. This ends when a task moves from the node of the waiting task to the node of \
            the idle CPU.",
        refuted_by: "Tasks waited within one hop of the idle CPU, or the number of hops is \
            unknown.",
        advice: "Look at the groups of the top-level domain (/sys/kernel/debug/sched/domains). The \
            fault exists if each group contains both nodes: of the idle CPU and of the waiting \
            task. Pin such programs to adjacent nodes.",
        source: "Lozi et al., EuroSys 2016, section 3.2 (scheduling group construction)",
        missing: "A trace with decisions (record --decisions) would show the groups of the domains.",
        named: true,
        holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedBeyondOneHop,
    },
    &Cause {
        path: "scheduler/balancing/beside-group",
        about: "a task of another cgroup or session made the idle CPU's node seem busy",
        evidence: "The conditions of scheduler/balancing/persistent hold. In addition, a task of \
            another cgroup or session ran on the node of the idle CPU. This cgroup or session \
            divides its load among fewer tasks. Each of its tasks therefore adds more to the \
            average load of the node. If the trace contains decisions (record --decisions), two \
            conditions on groups of CPUs apply instead. First, a balancing pass found no busiest \
            group, or its busiest group did not contain the CPU of the waiting task. Second, a \
            task of another cgroup or session ran in the local group or in the busiest group of \
            this pass. Later waste between the same two nodes, or between the same two last-level \
            caches of a node, has this cause from its first moment. This ends when a task moves \
            from the side of the waiting task to the side of the idle CPU.",
        refuted_by: "All tasks that ran on that node belong to one cgroup or session.",
        advice: "Try noautogroup or equal cpu.weight. Or try Linux 5.5 or later: its balancer also \
            compares the numbers of idle CPUs of the groups.",
        source: "Lozi et al., EuroSys 2016, section 3.1 (group imbalance)",
        missing: "The trace does not show the loads of the groups that the pass compared. With \
            record --decisions, it shows the groups.",
        named: true,
        holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::FailedBesideGroup,
    },
    &Cause {
        path: "scheduler/balancing/no-pass",
        about: "no idle CPU ran a balancing pass that could have moved the task",
        evidence: "The trace contains the scheduling domains and the balancing passes. A domain of \
            the idle CPU contains the CPU where the task waited. For longer than the maximum \
            interval between passes, no pass compared the two CPUs.",
        refuted_by: "A pass compared the two CPUs.",
        advice: "Compare with a run under nohz=off. By default, ticks of busy CPUs start the \
            balancing passes of idle CPUs. Compare the balancing intervals \
            (/sys/kernel/debug/sched/domains).",
        source: "kernel/sched/fair.c: nohz_balancer_kick, sched_balance_domains, \
            sched_balance_newidle",
        missing: "The state of nohz_balancer_kick and max_newidle_lb_cost would show why no pass \
            ran.",
        named: false,
        holds: |it| it.is_waste_under(Rules::Fair) && it.balancing == Balancing::NoPass,
    },
    &Cause {
        path: "scheduler/balancing/persistent",
        about: "several passes of load balancing did not move the waiting tasks",
        evidence: "The rule examines the CPU that had been idle longest. While this CPU stayed \
            idle, there was waste for more than half of the time, and for longer than four \
            balancing intervals. For a level of N CPUs, a balancing interval is N x 2 ms plus \
            one tick. The level is the lowest that contains the idle CPU and the CPU of the \
            waiting task. The waste after the first interval has this cause. If the trace contains \
            decisions (record --decisions), this condition applies instead: four passes that ticks \
            started compared the CPU of the waiting task with an idle CPU, and took no task. In \
            this case, the waste after the first of these passes has this cause.",
        refuted_by: "During the idle time of each CPU, waste lasted for less than four balancing \
            intervals or for less than half of this time.",
        advice: "Record the passes and domains (record --decisions).",
        source: "kernel/sched/fair.c: sched_balance_domains, get_sd_balance_interval; Lozi et al., \
            EuroSys 2016, section 3",
        missing: "The balancing passes (record --decisions) would show whether a pass ran and left \
            the task.",
        named: false,
        holds: |it| {
            it.is_waste_under(Rules::Fair)
                && it.balancing == Balancing::Failed
                && it.onset != Onset::AllBusy
        },
    },
    &Cause {
        path: "scheduler/balancing/newly-idle",
        about: "CPUs that became idle did not take the waiting tasks",
        evidence: "No CPU was idle when the wait began. Later, a CPU became idle and did not take \
            the task.",
        refuted_by: "A CPU that the task may use was idle when the wait began.",
        advice: "Try another kernel (what-if).",
        source: "kernel/sched/fair.c: sched_balance_newidle; kernel commits 155213a2aed4, \
            d206fbad9328, 33cf66d88306",
        missing: "A trace with decisions (record --decisions) would show why the CPU took no task.",
        named: false,
        holds: |it| {
            it.is_waste_under(Rules::Fair) && !it.balancing.failed() && it.onset == Onset::AllBusy
        },
    },
    &Cause {
        path: "scheduler/balancing",
        about: "load balancing did not move the waiting tasks to the idle CPUs",
        evidence: "No CPU was idle when the wait began. A CPU that became idle later did not take \
            the task. Since then, there was waste for longer than four balancing intervals.",
        refuted_by: "A CPU that the task may use was idle when the wait began, and no CPU stayed \
            idle for four balancing intervals while there was waste.",
        advice: "See the causes below this one: check --cause scheduler/balancing.",
        source: "kernel/sched/fair.c: sched_balance_rq; Lozi et al., EuroSys 2016, section 3",
        missing: "The balancing passes (record --decisions) would show whether a pass ran and left \
            the task.",
        named: true,
        holds: |it| {
            it.is_waste_under(Rules::Fair) && (it.balancing.failed() || it.onset == Onset::AllBusy)
        },
    },
    &Cause {
        path: "scheduler/placement/no-selection",
        about: "tasks were woken while they were still queued, so the kernel selected no CPU",
        evidence: "The task was still on the run queue when it was woken (delayed dequeue, Linux \
            6.12 and later), and another CPU was idle.",
        refuted_by: "The kernel selected a CPU for the task.",
        advice: "Try the scheduler feature NO_DELAY_DEQUEUE.",
        source: "kernel commit 152e11f6df29 (sched/fair: Implement delayed dequeue)",
        missing: "The trace does not show why the task was still queued: it was about to sleep, or \
            its dequeue was delayed.",
        named: false,
        holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::NoSelection,
    },
    &Cause {
        path: "scheduler/placement/previous-idle/recent-load",
        about: "tasks were woken on a busy CPU while their previous CPU was idle and another task \
            had just run there",
        evidence: "The conditions of scheduler/placement/previous-idle hold. In addition, another \
            task had run last on the previous CPU, and it had stopped less than 32 ms before the \
            wakeup. 32 ms after a task has stopped, the CPU still has half of its load.",
        refuted_by: "The woken task itself was the last task on the previous CPU, or that CPU had \
            been idle for longer.",
        advice: "Update the kernel: since 5.11, the kernel takes an idle previous CPU before it \
            compares loads.",
        source: "kernel commits d8fcb81f1acf, 11f10e5420f6; kernel/sched/fair.c: \
            wake_affine_weight; kernel/sched/pelt.c",
        missing: "The loads that the kernel compared: wake_affine_weight.",
        named: false,
        holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::RecentLoad,
    },
    &Cause {
        path: "scheduler/placement/previous-idle",
        about: "tasks were woken on a busy CPU while their previous CPU was idle",
        evidence: "At the wakeup, the CPU where the task last ran was idle and allowed. The kernel \
            put the task on a busy CPU.",
        refuted_by: "The previous CPU was busy or not allowed.",
        advice: "Check the kernel version (wake_affine, fixed in 5.11). With cgroups, turn \
            autogroup off.",
        source: "kernel commit d8fcb81f1acf (sched/fair: Check for idle core in wake_affine)",
        missing: "The loads that the kernel compared: wake_affine_weight.",
        named: true,
        holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::PreviousIdle,
    },
    &Cause {
        path: "scheduler/placement/behind-waker",
        about: "tasks were put on the CPU of a waker that kept running",
        evidence: "The kernel put the task on the CPU of the task that woke it. The waker \
            continued to run, and another CPU was idle.",
        refuted_by: "The kernel selected another CPU, or an interrupt woke the task.",
        advice: "Check whether the waker sleeps immediately after the wakeup. The kernel expects \
            this.",
        source: "kernel/sched/fair.c: wake_affine_weight, WF_SYNC",
        missing: "The trace does not show whether the wakeup was synchronous.",
        named: false,
        holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::BehindWaker,
    },
    &Cause {
        path: "scheduler/placement/search-limited",
        about: "tasks were woken on a busy CPU while only CPUs with another last-level cache were \
            idle",
        evidence: "At the wakeup, an allowed CPU was idle. But all allowed CPUs that share a \
            last-level cache with the selected CPU were busy.",
        refuted_by: "An allowed CPU with that cache was idle.",
        advice: "Spread the threads over CPUs with different last-level caches, or try another \
            scheduler (what-if).",
        source: "kernel/sched/fair.c: select_idle_sibling; Lozi et al., EuroSys 2016, section 3.3",
        missing: "A trace with decisions (record --decisions) would show which CPUs were searched.",
        named: false,
        holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::OtherCache,
    },
    &Cause {
        path: "scheduler/placement/fork-crowd",
        about: "new tasks were put on busy CPUs while other CPUs were idle",
        evidence: "The kernel put a new task on a busy CPU while an allowed CPU was idle.",
        refuted_by: "No allowed CPU was idle.",
        advice: "Create threads before the load starts, or set their affinity.",
        source: "kernel/sched/fair.c: sched_balance_find_dst_cpu",
        missing: "The groups that the kernel compared: sched_balance_find_dst_group.",
        named: false,
        holds: |it| it.is_waste_under(Rules::Fair) && it.onset == Onset::Fork,
    },
    &Cause {
        path: "scheduler/placement",
        about: "a busy CPU was selected for tasks while another CPU was idle",
        evidence: "At the wakeup, the kernel selected a busy CPU while an allowed CPU was idle.",
        refuted_by: "No allowed CPU was idle.",
        advice: "Try another scheduler: wastenot what-if.",
        source: "kernel/sched/fair.c: select_task_rq_fair",
        missing: "The topology may be missing, and the CPUs that the kernel searched (record \
            --decisions).",
        named: true,
        holds: |it| it.is_waste_under(Rules::Fair) && it.onset.is_placement(),
    },
    &Cause {
        path: "scheduler",
        about: "the scheduler left CPUs idle while tasks waited",
        evidence: "The kernel put the task on an idle CPU. This CPU ran another task first, \
            although another CPU was idle. Or a sched_ext scheduler was active for only some of \
            the tasks or some of the time.",
        refuted_by: "The trace has evidence for a cause below this one.",
        advice: "Record with the start state and all scheduling events: wastenot record.",
        source: "Lozi et al., EuroSys 2016",
        missing: "The trace does not show which tasks were already queued.",
        named: true,
        holds: |it| {
            it.loss == LostTime::Waste && (it.onset == Onset::OnIdle || it.rules == Rules::Several)
        },
    },
    &Cause {
        path: "unknown",
        about: "the trace does not show what caused the wait",
        evidence: "The trace has no evidence for any other cause.",
        refuted_by: "The trace has evidence for another cause.",
        advice: "Record with wastenot record: its traces contain the start state, affinities, \
            priorities and throttling.",
        source: "docs/reference/formats.md",
        missing: "If the wait began before the trace or during a loss of events, its start is \
            missing. Throttling may also be missing.",
        named: true,
        holds: |_| true,
    },
];

/// Classes of causes of waste: the word in the names of measures, and the node in the tree.
pub const CLASSES: [(&str, &str); 8] = [
    ("placement", "scheduler/placement"),
    ("balancing", "scheduler/balancing"),
    ("policy", "scheduler/policy"),
    ("scheduler", "scheduler"),
    ("configuration", "configuration"),
    ("host", "host"),
    ("design", "design"),
    ("unknown", "unknown"),
];
