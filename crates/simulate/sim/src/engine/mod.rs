//! The engine: takes the next event, lets the mechanism decide, and lets programs continue.

pub(crate) mod calendar;
mod effects;
mod ending;
mod hotplug;
pub(crate) mod kernel;
pub(crate) mod life;
pub(crate) mod outcome;
mod path;
mod population;
mod program;
mod progress;
mod speed;
mod stuck;
mod sync;

pub use kernel::{Kernel, Leaves};

use wastenot_model::machine::Costs;
use wastenot_model::policy::{Happening, Place, Why};
use wastenot_model::workload::Synchrony;
use wastenot_model::{
    Builder, Context, CpuId, CpuMode, History, Machine, Start, TaskId, Time, Window, Workload,
};

use self::calendar::Due;
use self::kernel::wake_of;
use self::life::Doing;
use self::outcome::{End, Mark, Outcome};
use self::population::view_all;
use self::program::Flow;
use self::sync::Shared;
use crate::mechanism::{Mechanism, Trigger};
use crate::{Options, head};

/// Steps of programs that may be done at one instant before the run counts as a livelock; the
/// number of tasks is added.
const STEPS_AT_ONCE: u64 = 1 << 20;
const STEPS_OF_TASK: u64 = 64;
/// Acts of CPUs that are allowed at one instant for each of these steps: one step causes few acts,
/// unless the policy is in a cycle.
const ACTS_OF_STEP: u64 = 8;

/// A simulation that is running.
#[derive(Debug)]
pub(crate) struct Engine<'w, M> {
    pub(crate) kernel: Kernel,
    mechanism: M,
    workload: &'w Workload,
    seed: u64,
    limit: Time,
    /// By template: how many tasks of it were created.
    born: Vec<u32>,
    /// Whether the run ends once all awaited tasks have ended.
    waits: bool,
    /// Tasks that have to end.
    awaited: usize,
    /// Tasks that make progress by time alone, without another task.
    active: usize,
    next_launch: usize,
    next_hotplug: usize,
    /// Steps of programs that were done at the current instant.
    steps_at_once: u64,
    /// Acts of CPUs at the current instant.
    acts_at_once: u64,
    marks: Vec<Mark>,
    /// When wakers of a task began, or stopped, to be about to sleep.
    synchrony: Vec<Synchrony>,
}

impl<'w, M: Mechanism> Engine<'w, M> {
    pub(crate) fn new(
        machine: &Machine,
        costs: Costs,
        workload: &'w Workload,
        mechanism: M,
        options: &Options,
    ) -> Engine<'w, M> {
        let mut view = view_all(machine, &costs, workload);
        view.seed = options.seed;
        let sink = Builder::new(head::of(machine, &mechanism.name(), mechanism.family(), options));
        let shared = Shared::of(workload);
        let mut kernel = Kernel::new(machine, costs, shared, view, sink, options.notes);
        let mut mechanism = mechanism;
        mechanism.init(&mut kernel);
        kernel.carry_out_init();
        let sleeping = (0..kernel.lives.len()).map(TaskId::nth);
        let sleeping = sleeping.map(|task| (task, Some(kernel.cx.task(task).cpu))).collect();
        let mode = |cpu: &wastenot_model::Cpu| match cpu.online {
            true => CpuMode::Idle,
            false => CpuMode::Offline,
        };
        let cpus = machine.cpus.iter().map(mode).collect();
        kernel.sink.head().start = Some(Start { cpus, sleeping, ..Start::default() });
        Engine {
            kernel,
            mechanism,
            workload,
            seed: options.seed,
            limit: options.limit.min(Time(calendar::LAST.0 - 1)),
            born: vec![0; workload.templates.len()],
            // A template that is only forked counts too: some task will fork it.
            waits: workload.templates.iter().any(|template| template.awaited),
            awaited: 0,
            active: 0,
            next_launch: 0,
            next_hotplug: 0,
            steps_at_once: 0,
            acts_at_once: 0,
            marks: Vec::new(),
            synchrony: Vec::new(),
        }
    }

    /// Runs to the end.
    pub(crate) fn run(mut self) -> (History, Outcome) {
        if let Some(launch) = self.workload.launches.first() {
            self.kernel.calendar.set(Due::Launch, launch.at);
        }
        if let Some(hotplug) = self.workload.hotplug.first() {
            self.kernel.calendar.set(Due::Hotplug, hotplug.at);
        }
        if let Some(tick) = self.kernel.tick
            && tick.idle
        {
            let cpus = self.kernel.cx.machine.len();
            for cpu in self.kernel.cx.online.clone().iter() {
                self.kernel.calendar.set(Due::Tick(cpu), tick.after(Time(0), cpu, cpus));
            }
        }
        let end = self.until_the_end();
        self.finish(end)
    }

    fn until_the_end(&mut self) -> End {
        loop {
            while let Some(cpu) = self.kernel.soon.pop_front() {
                self.attend(cpu);
                if let Some(end) = self.kernel.end.take() {
                    return end;
                }
            }
            if self.is_over() {
                return match self.awaited {
                    0 => End::Done,
                    _ => End::Deadlock(self.waiting()),
                };
            }
            let Some((time, due)) = self.kernel.calendar.pop() else {
                return self.standstill();
            };
            if time > self.limit {
                self.kernel.cx.view_mut().now = self.limit;
                return End::Limit;
            }
            if time > self.kernel.now() {
                self.goes_to(time);
            }
            self.happen(due);
        }
    }

    /// Whether no task is left to wait for, or none that makes progress by time.
    #[inline]
    fn is_over(&self) -> bool {
        let all_here = self.next_launch == self.workload.launches.len();
        let all_here = all_here && self.kernel.leaving == 0;
        all_here && (self.active == 0 || self.waits && self.awaited == 0)
    }

    #[inline]
    fn goes_to(&mut self, time: Time) {
        self.kernel.cx.view_mut().now = time;
        (self.steps_at_once, self.acts_at_once) = (0, 0);
    }

    /// Handles an event that is due.
    #[inline]
    fn happen(&mut self, due: Due) {
        match due {
            Due::Segment(cpu) => {
                self.segment_over(cpu);
                self.kernel.soon.push_back(cpu);
            }
            Due::Alarm(task) => {
                let cpu = self.online_or_first(self.kernel.cx.task(task).cpu);
                let life = self.kernel.life(task);
                if life.doing == Doing::Sleep {
                    life.doing = Doing::Steps;
                    self.kernel.react(cpu, wake_of(task, Context::Hardirq));
                }
            }
            Due::Kick(cpu) => {
                self.kernel.run(cpu).need_resched = true;
                self.kernel.soon.push_back(cpu);
            }
            Due::Tick(cpu) => {
                if let Some(tick) = self.kernel.tick {
                    let at = self.kernel.now() + tick.period;
                    self.kernel.calendar.set(Due::Tick(cpu), at);
                    self.kernel.react(cpu, Trigger::Tick);
                }
            }
            Due::Timer(timer) => {
                let cpu = self.online_or_first(self.kernel.timers[timer.0 as usize]);
                self.kernel.react(cpu, Trigger::Happening(Happening::Timer(timer)));
            }
            Due::Path(cpu) => self.kernel.soon.push_back(cpu),
            Due::Mail(cpu) => self.kernel.deliver(cpu),
            Due::Launch => self.launch(),
            Due::Hotplug => self.plug(),
        }
    }

    /// `cpu` does all that it has to do at this instant.
    fn attend(&mut self, cpu: CpuId) {
        while self.kernel.end.is_none() {
            self.count_act();
            self.kernel.cx.view_mut().cpu = cpu;
            if self.kernel.run(cpu).path.is_some() {
                if !self.path_goes_on(cpu) {
                    return;
                }
                continue;
            }
            let run = self.kernel.run(cpu);
            if let Some(trigger) = run.pending.pop_front() {
                if !self.path(cpu, trigger) {
                    return;
                }
                continue;
            }
            if run.need_resched || run.leaves.is_some() {
                if !self.path(cpu, Trigger::Schedule) {
                    return;
                }
                continue;
            }
            if run.goes_off && self.kernel.cx.current(cpu).is_none() {
                return self.gone(cpu);
            }
            let Some(task) = self.kernel.cx.current(cpu) else { return };
            match self.proceed(cpu, task) {
                Flow::Runs => return,
                Flow::Leave(how) => self.kernel.run(cpu).leaves = Some(how),
                Flow::Next => {}
            }
            self.steps_at_once += 1;
            if self.steps_at_once > STEPS_AT_ONCE {
                self.check_proceeds(task);
            }
        }
    }

    /// Steps are done for ever while time stands still.
    #[cold]
    fn check_proceeds(&mut self, task: TaskId) {
        let tasks = self.kernel.lives.len() as u64;
        if self.steps_at_once > STEPS_AT_ONCE + STEPS_OF_TASK * tasks {
            self.kernel.end.get_or_insert(End::Livelock { task });
        }
    }

    /// Counts an act of a CPU at this instant.
    #[inline]
    fn count_act(&mut self) {
        self.acts_at_once += 1;
        if self.acts_at_once > ACTS_OF_STEP * STEPS_AT_ONCE {
            self.check_decides();
        }
    }

    /// Decisions are taken for ever while time stands still.
    #[cold]
    fn check_decides(&mut self) {
        let (tasks, cpus) = (self.kernel.lives.len() as u64, self.kernel.cpus.len() as u64);
        let steps = STEPS_AT_ONCE + (STEPS_OF_TASK + cpus) * tasks;
        if self.acts_at_once > ACTS_OF_STEP * steps {
            self.kernel.fault(
                "the scheduler makes decision after decision while no time passes".to_owned(),
            );
        }
    }

    /// Performs the next launch. One at a time: a task is placed before the next one is launched.
    fn launch(&mut self) {
        let launch = self.workload.launches[self.next_launch];
        self.next_launch += 1;
        if let Some(next) = self.workload.launches.get(self.next_launch) {
            let at = next.at.max(self.kernel.now());
            self.kernel.calendar.set(Due::Launch, at);
        }
        let from = self.online_or_first(launch.from);
        self.kernel.cx.view_mut().cpu = from;
        let task = self.birth(launch.template, from, None);
        self.kernel.tell_nature(task);
        let trigger = Trigger::Wake { task, why: Why::New, by: Context::Task };
        self.kernel.react(from, trigger);
    }

    /// `cpu` if it is online, else the first CPU that is.
    fn online_or_first(&self, cpu: CpuId) -> CpuId {
        let cx = &self.kernel.cx;
        let online = cx.online.contains(cpu).then_some(cpu);
        online.or_else(|| cx.online.iter().next()).unwrap_or(cpu)
    }

    fn finish(mut self, end: End) -> (History, Outcome) {
        self.mechanism.ended(&self.kernel);
        let time = self.kernel.now();
        let ended = self.kernel.lives.iter().map(|life| life.ended).collect();
        let rows = self.kernel.sink.rows();
        let stuck = if end == End::Limit { self.stuck() } else { Vec::new() };
        self.tell_annexes();
        self.kernel.sink.head().window = Window { from: Time(0), to: time };
        let history = self.kernel.sink.finish();
        (history, Outcome { end, time, stuck, marks: self.marks, ended, rows })
    }

    /// Whether a task that is about to leave its CPU was woken before it did: then it stays.
    fn wakes_in_time(&mut self, trigger: Trigger) -> bool {
        let Trigger::Wake { task, .. } = trigger else { return false };
        let view = self.kernel.cx.task(task);
        if view.place != Place::Running {
            return false;
        }
        let cpu = view.cpu;
        // Otherwise its CPU is already switching to the next task.
        let stays = self.kernel.run(cpu).leaves.take().is_some();
        if stays {
            self.kernel.soon.push_back(cpu);
        }
        stays
    }
}
