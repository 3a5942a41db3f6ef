//! The content of a dump as a Report.

use wastenot_model::{CpuSet, Report, Table, Unit};

use super::{Cpu, Dump, Task};

impl Dump {
    /// The answer.
    pub fn report(&self) -> Report {
        let mut report = Report::new("stall/1", "Dump of sched_ext");
        report.verdict = self.verdict();
        let stalled = self.stalled.as_ref();
        report.measure("reason", "Reason", self.reason.as_str(), Unit::None);
        report.measure("exit_kind", "", self.kind, Unit::None);
        let task = stalled.map(|(task, _)| task.name.clone());
        report.measure("stalled.task", "Task", task, Unit::None);
        report.measure("stalled.tid", "", stalled.map(|(task, _)| task.tid), Unit::None);
        report.measure("stalled.waited_ns", "Did not run for", stalled.map(|it| it.1), Unit::Ns);
        let may_use = self.found().and_then(|(_, task)| task.cpus.as_ref());
        report.measure("stalled.cpus", "Allowed CPUs", may_use.map(CpuSet::to_string), Unit::None);
        report.tables = vec![self.cpu_table(), self.task_table()];
        if self.further > 0 {
            let dumps = if self.further == 1 { "dump" } else { "dumps" };
            report.assumptions.push(format!(
                "This report covers only the first dump. The text contains {} more {dumps}; each \
                 follows a line with \"triggered exit kind\".",
                self.further
            ));
        }
        if self.truncated {
            report.assumptions.push(
                "The dump is truncated, so the state of CPUs that it does not list is unknown. \
                 For longer dumps, use the option --dump-len of the loader."
                    .to_owned(),
            );
        }
        report
    }

    /// The task that stalled, and the CPU where the dump has it.
    fn found(&self) -> Option<(&Cpu, &Task)> {
        let (stalled, _) = self.stalled.as_ref()?;
        let tasks = self.cpus.iter().flat_map(|cpu| cpu.tasks.iter().map(move |task| (cpu, task)));
        tasks.into_iter().find(|(_, task)| task.task.tid == stalled.tid)
    }

    pub(crate) fn verdict(&self) -> String {
        let Some((stalled, waited)) = &self.stalled else {
            return match self.reason.is_empty() {
                true => "The dump names no stalled task.".to_owned(),
                false => format!("No task stalled. The kernel gives this reason: {}.", self.reason),
            };
        };
        let mut text =
            format!("{}:{} was runnable and did not run for {waited}.", stalled.name, stalled.tid);
        let Some((cpu, task)) = self.found() else {
            text += match self.cpus.is_empty() {
                true => {
                    " The text does not contain the states of the CPUs, so it is unknown which \
                     CPUs could have run the task. The loader prints the whole dump, and the \
                     tracepoint sched_ext_dump records it."
                }
                false => " The dump does not list the task.",
            };
            return text;
        };
        text += &format!(" The task waited on CPU {}", cpu.cpu);
        if let Some(place) = task.place {
            text += &format!(", {}", place.words());
        }
        text += &format!(". {}.", Dump::current(cpu));
        text += &self.others(task);
        text
    }

    /// What a CPU ran.
    fn current(cpu: &Cpu) -> String {
        match cpu.class.strip_suffix("_sched_class") {
            Some("idle") => format!("CPU {} was idle", cpu.cpu),
            Some(class) => format!(
                "CPU {} ran {}:{} of class {class}",
                cpu.cpu, cpu.current.name, cpu.current.tid
            ),
            None => format!("CPU {} ran {}:{}", cpu.cpu, cpu.current.name, cpu.current.tid),
        }
    }

    /// Which CPUs could have run `task`.
    fn others(&self, task: &Task) -> String {
        let Some(allowed) = &task.cpus else {
            return " The dump does not contain the affinity of the task.".to_owned();
        };
        let is_idle = |cpu: &&Cpu| cpu.class == "idle_sched_class";
        let listed: CpuSet = self.cpus.iter().map(|cpu| cpu.cpu).collect();
        let mut idle: CpuSet = self.cpus.iter().filter(is_idle).map(|cpu| cpu.cpu).collect();
        if !self.truncated {
            // CPUs without tasks that are idle are left out.
            allowed.iter().filter(|cpu| !listed.contains(*cpu)).for_each(|cpu| idle.insert(cpu));
        }
        let idle = idle.and(allowed);
        if !idle.is_empty() {
            let (noun, verb) = if idle.len() == 1 { ("CPU", "was") } else { ("CPUs", "were") };
            return format!(
                " The task may use CPUs {allowed}, and {noun} {idle} {verb} idle. So the scheduler \
                 did not dispatch the task to an idle CPU, or did not kick that CPU."
            );
        }
        let unlisted: CpuSet = allowed.iter().filter(|cpu| !listed.contains(*cpu)).collect();
        if !unlisted.is_empty() {
            return format!(
                " The task may use CPUs {allowed}. None of these CPUs in the dump was idle; the \
                 state of CPUs {unlisted} is unknown."
            );
        }
        const HIGHER: [&str; 3] = ["rt_sched_class", "dl_sched_class", "stop_sched_class"];
        let mut usable = self.cpus.iter().filter(|cpu| allowed.contains(cpu.cpu)).peekable();
        if usable.peek().is_some() && usable.all(|cpu| HIGHER.contains(&&*cpu.class)) {
            return format!(
                " All CPUs that the task may use ({allowed}) ran tasks of higher classes. A BPF \
                 scheduler cannot preempt these tasks, so examine these tasks, not the scheduler."
            );
        }
        format!(
            " No CPU that the task may use ({allowed}) was idle: the scheduler ran other tasks \
             first."
        )
    }

    fn cpu_table(&self) -> Table {
        Table::of("cpus", "CPUs", &self.cpus, |row, cpu| {
            row.cell("cpu", "CPU", cpu.cpu)
                .cell("current", "ran", format!("{}:{}", cpu.current.name, cpu.current.tid))
                .cell("class", "class", cpu.class.as_str())
                .cell("runnable", "runnable tasks", cpu.tasks.len())
        })
    }

    fn task_table(&self) -> Table {
        let tasks = self.cpus.iter().flat_map(|cpu| cpu.tasks.iter().map(move |task| (cpu, task)));
        let mut tasks: Vec<_> = tasks.collect();
        tasks.sort_by_key(|(_, task)| std::cmp::Reverse(task.runnable));
        Table::of("tasks", "Runnable tasks, longest first", tasks, |row, (cpu, task)| {
            let place = task.place.filter(|_| !task.runs);
            row.cell("task", "task", task.task.name.as_str())
                .cell("tid", "tid", task.task.tid)
                .cell("cpu", "CPU", cpu.cpu)
                .cell("runs", "runs", task.runs)
                .ns("runnable_ns", "runnable for", task.runnable)
                .cell("place", "place", place.map(|it| it.words()))
                .cell("cpus", "allowed CPUs", task.cpus.as_ref().map(CpuSet::to_string))
        })
    }
}
