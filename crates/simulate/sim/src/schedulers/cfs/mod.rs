//! The fair schedulers of Linux: one policy of queue x balancer x wake rule, with a preset for each
//! kernel and a tunable for each fault.
//!
//! The source is kernel/sched/{core,fair,pelt,topology}.c of Linux 4.1, 5.10, 6.1, 6.12; the code
//! that decides where a task runs follows them step by step, in integers as they do. Left out:
//! capacities that other classes take, energy-aware and asymmetric placement, NUMA balancing, core
//! scheduling, `LAST_BUDDY`; of 6.12 the class of groups whose SMT siblings are busy, and that a
//! new weight moves the deadline and lag of a queued task. The price of balancing, which the kernel
//! measures, is assumed to be [`View::scan`] for each CPU of a domain.
//!
//! [`View::scan`]: wastenot_model::policy::View::scan
//!
//! Cost: a wakeup looks at one cache (a word of bits for 64 CPUs), queues grow as the logarithm of
//! their length, and balancing a domain looks at each of its CPUs.

mod balance;
mod delay;
mod eevdf;
mod entity;
mod fair;
mod hotplug;
mod list;
mod load;
mod mask;
mod pelt;
mod placement;
mod presets;
mod quota;
mod rules;
mod sibling;
mod topology;
mod wake;
mod weight;

#[cfg(test)]
mod tests;

pub(super) use presets::{CFS_4_1, CFS_5_10, CFS_6_1, EEVDF_6_12};

use wastenot_model::dsq::Ordered;
use wastenot_model::policy::{Context, Family, Happening, Tick, Why};
use wastenot_model::{CpuId, Policy, Span, TaskId, nice};

use entity::{END, Entity, Queue, Rq, Task, TaskGroup};
use fair::Arrival;
use mask::Words;
use pelt::Average;
use quota::Pool;
use rules::Rules;
use topology::Topology;

/// CPU time of the thread that moves a running task away: waking, two locks, a move. An assumption;
/// it is of the order of what `perf sched` shows of `migration/N`.
const STOPPER_WORK: Span = Span::us(5);

/// The policy.
#[derive(Debug)]
pub(super) struct Cfs {
    rules: Rules,
    /// Number of CPUs.
    width: u32,
    /// The entity of the first task.
    base: u32,
    now: u64,
    jiffies: u64,
    /// By group of the workload: the group into whose queues its tasks go.
    folded: Vec<u32>,
    groups: Vec<TaskGroup>,
    pools: Vec<Option<Pool>>,
    /// Whether any group has a quota.
    quotas: bool,
    entities: Vec<Entity>,
    queues: Vec<Queue>,
    /// The runnable entities of each queue that are not running, by virtual runtime.
    order: Ordered<i64>,
    tasks: Vec<Task>,
    rqs: Vec<Rq>,
    topology: Topology,
    /// Online CPUs with nothing to run.
    idle: Words,
    online: Words,
    /// The CPUs that one balancing considers.
    considered: Words,
    /// Whether some CPU recently had more than one task (`rd->overload`).
    overload: bool,
    nohz: balance::Nohz,
    /// By the number of a cache: whether it may have an idle core.
    idle_cores: Vec<bool>,
    stoppers: u32,
}

fn cpu_id(cpu: u32) -> CpuId {
    CpuId(cpu as u16)
}

impl Cfs {
    fn new(rules: Rules) -> Cfs {
        Cfs {
            rules,
            width: 0,
            base: 0,
            now: 0,
            jiffies: 0,
            folded: Vec::new(),
            groups: Vec::new(),
            pools: Vec::new(),
            quotas: false,
            entities: Vec::new(),
            queues: Vec::new(),
            order: Ordered::default(),
            tasks: Vec::new(),
            rqs: Vec::new(),
            topology: Topology::default(),
            idle: Words::default(),
            online: Words::default(),
            considered: Words::default(),
            overload: false,
            nohz: balance::Nohz::default(),
            idle_cores: Vec::new(),
            stoppers: 0,
        }
    }

    #[inline]
    fn at(&mut self, cx: &Context) {
        if self.now != cx.now.0 {
            self.now = cx.now.0;
            self.jiffies = self.now / self.rules.jiffy();
        }
    }
    #[inline]
    fn entity_of(&self, task: TaskId) -> u32 {
        self.base + task.ordinal() as u32
    }
    #[inline]
    fn task_of(&self, entity: u32) -> TaskId {
        TaskId::nth((entity - self.base) as usize)
    }
    /// The entity of the group that `entity` is in, unless that is the root.
    #[inline]
    fn parent(&self, entity: u32) -> Option<u32> {
        let queue = self.entities[entity as usize].queue;
        (queue >= self.width).then_some(queue)
    }
    #[inline]
    fn cpu_of(&self, entity: u32) -> u32 {
        self.queues[self.entities[entity as usize].queue as usize].cpu
    }
    /// Whether `cpu` has nothing to run (`idle_cpu`).
    #[inline]
    fn is_idle(&self, cpu: u32) -> bool {
        mask::contains(&self.idle, cpu as usize)
    }
    fn own(&self, task: TaskId) -> bool {
        task.index().is_some_and(|index| index < self.stoppers as usize)
    }

    /// `cpu` has `more` more tasks to run.
    fn add_running(&mut self, cpu: u32, more: i32) {
        let rq = &mut self.rqs[cpu as usize];
        rq.nr = rq.nr.saturating_add_signed(more);
        self.overload |= more > 0 && rq.nr >= 2;
        self.note_idle(cpu);
    }
    fn note_idle(&mut self, cpu: u32) {
        let rq = &self.rqs[cpu as usize];
        let idle = rq.online && rq.nr == 0 && !rq.stopping;
        mask::set(&mut self.idle, cpu as usize, idle);
    }

    /// Makes room for a task that is not known yet.
    fn welcome(&mut self, cx: &Context, task: TaskId) {
        let index = task.ordinal();
        while self.tasks.len() <= index {
            let fresh = Task {
                group: 0,
                flips: 0,
                flips_at: 0,
                last_wakee: None,
                recent: 0,
                before: END,
                after: END,
            };
            self.tasks.push(fresh);
            self.entities.push(Entity { weight: nice::NICE_0, ..Entity::default() });
        }
        let view = cx.task(task);
        let entity = self.entity_of(task);
        let weight = nice::weight(view.nice);
        self.tasks[index].group = self.folded.get(view.group.index()).copied().unwrap_or(0);
        let place = &mut self.entities[entity as usize];
        place.weight = weight;
        place.avg = Average::full(self.now, weight);
        place.queue = self.tasks[index].group * self.width + u32::from(view.cpu.0);
        place.vruntime = self.queues[place.queue as usize].min_vruntime;
    }

    /// Builds groups, their entities and queues. Without autogroup, sessions are folded into the
    /// groups that hold them.
    fn build_groups(&mut self, cx: &Context) {
        let root = TaskGroup { shares: nice::NICE_0, ..TaskGroup::default() };
        self.groups = vec![root];
        self.pools = vec![None];
        self.folded = vec![0];
        for group in cx.groups.iter().skip(1) {
            let within = group.parent.and_then(|parent| self.folded.get(parent.index()));
            let parent = within.copied().unwrap_or(0);
            if group.session && (!self.rules.autogroup || parent != 0) {
                self.folded.push(parent);
                continue;
            }
            self.folded.push(self.groups.len() as u32);
            self.groups.push(TaskGroup {
                shares: u64::from(group.shares).max(weight::MIN_SHARES),
                parent,
                depth: self.groups[parent as usize].depth + 1,
                load: 0,
            });
            self.pools.push(group.quota.map(Pool::new));
        }
        self.quotas = self.pools.iter().any(Option::is_some);
        for group in 0..self.groups.len() as u32 {
            for cpu in 0..self.width {
                let of = &self.groups[group as usize];
                self.queues.push(Queue { cpu, group, ..Queue::default() });
                self.entities.push(Entity {
                    weight: of.shares,
                    queue: of.parent * self.width + cpu,
                    attached: true,
                    ..Entity::default()
                });
            }
        }
        self.base = self.entities.len() as u32;
        self.order = Ordered::new(self.queues.len());
    }
}

impl Policy for Cfs {
    fn name(&self) -> String {
        self.rules.name.into()
    }
    fn family(&self) -> Family {
        Family::Fair
    }

    fn init(&mut self, cx: &mut Context) {
        self.at(cx);
        self.width = cx.cpus.len() as u32;
        self.build_groups(cx);
        self.online = mask::of(&cx.online, cx.cpus.len());
        self.idle = self.online.clone();
        self.considered = mask::none(cx.cpus.len());
        for cpu in 0..self.width {
            let online = mask::contains(&self.online, cpu as usize);
            let mut rq = Rq::new(online, cx.machine.cpus[cpu as usize].capacity);
            rq.next_balance = 1;
            self.rqs.push(rq);
        }
        self.rebuild_domains(cx, true);
        cx.set_tick(Tick::hz(self.rules.hz));
        for cpu in 0..self.width {
            let thread = cx.thread(format!("migration/{cpu}"), cpu_id(cpu), STOPPER_WORK);
            self.rqs[cpu as usize].stopper = Some(thread);
        }
        self.stoppers = self.width;
        self.init_quota(cx);
    }

    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, why: Why) -> CpuId {
        self.at(cx);
        if self.own(task) {
            return prev;
        }
        let prev = u32::from(prev.0);
        let cpu = match why {
            Why::Wakeup { sync } => self.select_for_wakeup(cx, task, prev, sync),
            Why::New => self.select_by_load(cx, task, u32::from(cx.cpu.0), prev),
            Why::Exec => self.select_by_load(cx, task, prev, prev),
            Why::Displaced | Why::Preempted | Why::Yield | Why::Requeued => prev,
        };
        self.note_selected(cx, task, (prev, cpu), why);
        match cx.online.contains(cpu_id(cpu)) && cx.allowed(task, cpu_id(cpu)) {
            true => cpu_id(cpu),
            false => self.fallback(cx, task, prev),
        }
    }

    fn still_queued(&self, cx: &Context, task: TaskId) -> bool {
        let cpu = cx.task(task).cpu;
        !self.own(task) && self.is_delayed(task) && cx.online.contains(cpu) && cx.allowed(task, cpu)
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        self.at(cx);
        let at = u32::from(cpu.0);
        if self.own(task) {
            self.rqs[at as usize].stopper_queued = true;
            if cx.current(cpu) != Some(task) {
                cx.preempt(cpu);
            }
            return;
        }
        let entity = self.entity_of(task);
        match why {
            Why::Preempted | Why::Yield => {
                self.rqs[at as usize].leaving = None;
                self.put_prev(task);
                if why == Why::Yield {
                    self.yield_task(task);
                }
            }
            Why::Requeued => {
                self.requeue(self.entities[entity as usize].queue, entity);
                self.arrived(cx, at, task);
            }
            Why::New | Why::Wakeup { .. } | Why::Exec | Why::Displaced => {
                self.take_away(self.cpu_of(entity));
                self.leave_late(task);
                let group = self.tasks[task.ordinal()].group;
                self.settle_on(entity, group, at);
                let arrival = match why {
                    Why::New => Arrival::New,
                    Why::Wakeup { .. } => Arrival::Woken,
                    _ => Arrival::Moved,
                };
                if arrival == Arrival::Woken {
                    self.end_idle(at);
                }
                self.enqueue_task(task, arrival);
                self.arrived(cx, at, task);
            }
        }
        self.flush_quota(cx);
    }

    fn dequeue(&mut self, cx: &mut Context, task: TaskId, _: CpuId) {
        self.at(cx);
        if !self.own(task) {
            self.dequeue_task(task, false);
        }
    }

    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        self.at(cx);
        let at = u32::from(cpu.0);
        self.take_away(at);
        self.flush_quota(cx);
        if self.rqs[at as usize].stopper_queued {
            self.rqs[at as usize].stopper_queued = false;
            return self.rqs[at as usize].stopper;
        }
        let mut picked = self.pick_task(at);
        if picked.is_none() {
            self.newly_idle(cx, at);
            picked = self.pick_task(at);
        }
        self.flush_quota(cx);
        picked
    }

    fn running(&mut self, _: &mut Context, _: CpuId, _: TaskId) {}

    fn stopping(&mut self, cx: &mut Context, cpu: CpuId, task: TaskId, runnable: bool) {
        self.at(cx);
        if self.own(task) {
            self.rqs[cpu.index()].stopping = runnable;
            self.note_idle(u32::from(cpu.0));
            return;
        }
        if runnable {
            self.rqs[cpu.index()].leaving = Some(task);
        } else {
            self.dequeue_task(task, true);
            self.put_prev(task);
        }
    }

    fn tick(&mut self, cx: &mut Context, cpu: CpuId) {
        self.at(cx);
        let at = u32::from(cpu.0);
        if self.tick_task(at) {
            cx.preempt(cpu);
        }
        if self.rules.era == rules::Era::V4 {
            self.update_history(at);
        }
        self.balance_on_tick(cx, at);
        self.flush_quota(cx);
    }

    fn update_idle(&mut self, cx: &mut Context, cpu: CpuId, idle: bool) {
        self.at(cx);
        if idle {
            let rq = &mut self.rqs[cpu.index()];
            rq.idle_since = self.now;
            let cache = &self.topology.llc[cpu.index()];
            let whole = cache.core.iter().zip(&self.idle).all(|(core, idle)| core & !idle == 0);
            self.idle_cores[cache.id as usize] |= whole;
        }
    }

    fn on(&mut self, cx: &mut Context, happening: Happening) {
        self.at(cx);
        match happening {
            Happening::Fork { parent, child } => {
                self.welcome(cx, child);
                self.inherit(parent, child);
            }
            Happening::Exit(task) => self.forget(task),
            Happening::Nice { task, .. } => {
                let entity = self.entity_of(task);
                self.reweight(entity, nice::weight(cx.task(task).nice));
            }
            Happening::Affinity(task) => {
                let cpu = cpu_id(self.cpu_of(self.entity_of(task)));
                if !cx.allowed(task, cpu) {
                    self.leave_late(task);
                }
            }
            Happening::Ran(thread) => self.push_running(cx, thread),
            Happening::Timer(timer) => self.refill(cx, timer),
            Happening::Cpu { cpu, up } => self.hotplug(cx, u32::from(cpu.0), up),
        }
        self.flush_quota(cx);
    }
}

impl Cfs {
    /// A child begins with the virtual runtime of its parent (`task_fork_fair`).
    fn inherit(&mut self, parent: Option<TaskId>, child: TaskId) {
        let Some(parent) = parent.filter(|&parent| !self.own(parent)) else { return };
        let parent = self.entity_of(parent);
        let queue = self.entities[parent as usize].queue;
        self.update_current(queue);
        let (child, parent) = (self.entity_of(child) as usize, parent as usize);
        if self.entities[child].queue == queue {
            self.entities[child].vruntime = self.entities[parent].vruntime;
        }
    }

    /// A task has ended; its load is removed.
    fn forget(&mut self, task: TaskId) {
        if self.own(task) {
            return;
        }
        self.leave_late(task);
        let entity = self.entity_of(task);
        let queue = self.entities[entity as usize].queue;
        if self.entities[entity as usize].attached {
            self.detach(queue, entity);
        }
    }

    /// A task has become runnable on the queue of `cpu`.
    fn arrived(&mut self, cx: &mut Context, cpu: u32, task: TaskId) {
        match self.is_held(self.entity_of(task)) {
            true => cx.throttled(task, true),
            false => self.check_preempt(cx, cpu, task),
        }
    }

    /// The task that ran on `cpu` and was not enqueued there again moves to another CPU.
    fn take_away(&mut self, cpu: u32) {
        if let Some(task) = self.rqs[cpu as usize].leaving.take() {
            self.dequeue_task(task, false);
            self.put_prev(task);
        }
    }
}
