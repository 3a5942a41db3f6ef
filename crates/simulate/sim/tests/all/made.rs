//! Workloads that tests make, and runs of which nothing is wrong.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{
    AffinityId, Hotplug, LockId, PipeId, Program, Random, Step, Template, TemplateId, Variate,
    Waiting,
};
use wastenot_model::{CpuId, History, Machine, Policy, Span, Time, Workload};
use wastenot_sim::{Options, Outcome, checkers, scheduler, simulate};

pub(crate) const END: Step = Step::End { of: 0 };

pub(crate) fn compute(span: Span) -> Step {
    Step::Compute(Variate::Fixed(span))
}

pub(crate) fn sleep(span: Span) -> Step {
    Step::Sleep(Variate::Fixed(span))
}

/// It computes for this long on average.
pub(crate) fn about(us: u64) -> Step {
    Step::Compute(Variate::Exponential { mean: Span::us(us) })
}

pub(crate) fn template(name: &str, steps: &[Step]) -> Template {
    Template::new(name, Program::new(steps.to_vec()).expect("a program"))
}

/// Launches so many tasks of a template from CPU 0.
pub(crate) fn launch(load: &mut Workload, count: u32, template: Template) {
    let template = load.template(template);
    (0..count).for_each(|_| load.launch(template, CpuId(0)));
}

pub(crate) fn plug(at: Time, cpu: CpuId, up: bool) -> Hotplug {
    Hotplug { at, cpu, up }
}

pub(crate) fn policy(name: &str) -> Box<dyn Policy> {
    scheduler(name, &[]).expect("a scheduler")
}

/// A run in which nothing happens that may not.
#[track_caller]
pub(crate) fn run(
    machine: &Machine,
    costs: &Costs,
    name: &str,
    load: &Workload,
) -> (History, Outcome) {
    let ran = simulate(machine, costs, load, policy(name), &Options::default());
    assert_eq!(checkers::wrong(&ran.0), Vec::<String>::new(), "{name}");
    ran
}

/// What the tasks of a random workload share.
pub(crate) struct Shared {
    lock: LockId,
    spin: LockId,
    pipe: PipeId,
}

impl Shared {
    pub(crate) fn of(load: &mut Workload) -> Shared {
        Shared {
            lock: load.lock("lock", Waiting::Block),
            spin: load.lock("spin", Waiting::SpinThenBlock(Span::us(200))),
            pipe: load.pipe("pipe", Some(3), Waiting::Block),
        }
    }

    /// So many times task `n` computes, puts or gets a token, and does three other things. It ends
    /// only with the others: pipes need as many putters as takers.
    pub(crate) fn task(
        &self,
        random: &mut Random,
        (n, times): (u64, u32),
        masks: &[AffinityId],
        child: TemplateId,
    ) -> Template {
        let other = [
            vec![Step::Lock(self.lock), about(300), Step::Unlock(self.lock)],
            vec![Step::Lock(self.spin), about(100), Step::Unlock(self.spin)],
            vec![Step::Sleep(Variate::Exponential { mean: Span::ms(2) })],
            vec![sleep(Span::ms(1))],
            vec![Step::Yield],
            vec![Step::Affinity(masks[random.below(masks.len() as u64) as usize])],
            vec![Step::Fork(child), Step::WaitAll],
            vec![Step::Nice(random.below(20) as i8), Step::Exec],
        ];
        let token = if n.is_multiple_of(2) { Step::Put(self.pipe) } else { Step::Get(self.pipe) };
        let mut steps = vec![Step::Loop(Some(times)), about(1500), token];
        for _ in 0..3 {
            steps.extend(&other[random.below(other.len() as u64) as usize]);
        }
        steps.push(END);
        Template { awaited: false, ..template(&format!("t{n}"), &steps) }
    }
}

/// With it a random workload ends.
pub(crate) fn last() -> Template {
    template("last", &[Step::Loop(Some(60)), about(1000), sleep(Span::ms(1)), END])
}
