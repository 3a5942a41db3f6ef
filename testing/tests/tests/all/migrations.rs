//! Whether migrations helped, compared with a slow judge that looks back over the whole History.

use std::collections::BTreeMap;

use wastenot_check::migrations::{Counts, Effect, Reason};
use wastenot_check::{Options, Scope, check};
use wastenot_model::{
    CpuId, CpuMode, CpuState, Distance, Entry, Event, History, Observer, Phase, State, TaskId,
    TaskState, Time, replay,
};
use wastenot_needs::effort;
use wastenot_read::read;
use wastenot_tests::random::{Plan, shrink};

use crate::traces::traces;
use crate::waste::{question, told};

/// A change, by the number of the event that made it; 0 is the start.
type At<T> = (usize, Time, T);

/// All that happened: of each task what it did, of each CPU what it ran and how many waited there.
#[derive(Default)]
struct Log {
    number: usize,
    tasks: BTreeMap<TaskId, Vec<At<TaskState>>>,
    cpus: BTreeMap<CpuId, Vec<At<(CpuMode, u32)>>>,
    /// Where new tasks were created, before the event of that number.
    forks: BTreeMap<TaskId, Vec<(usize, CpuId)>>,
}

impl Observer for Log {
    fn begun(&mut self, _: &State) {
        self.number = 1;
    }
    fn task(&mut self, state: &State, task: TaskId, _: &TaskState, now: &TaskState) {
        self.tasks.entry(task).or_default().push((self.number, state.now(), *now));
    }
    fn cpu(&mut self, state: &State, cpu: CpuId, _: &CpuState, now: &CpuState) {
        let now = (self.number, state.now(), (now.mode, now.waiting));
        self.cpus.entry(cpu).or_default().push(now);
    }
    fn event(&mut self, _: &State, entry: &Entry) {
        self.number += 1;
        if let Event::Fork { child, .. } = entry.event {
            self.forks.entry(child).or_default().push((self.number, entry.cpu));
        }
    }
}

impl Log {
    /// The last change up to event `number`.
    fn upto<T: Copy>(changes: Option<&Vec<At<T>>>, number: usize) -> Option<T> {
        changes.into_iter().flatten().rfind(|change| change.0 <= number).map(|change| change.2)
    }

    /// The effect of the move of `task` from `left`, which its change number `at` shows.
    fn judge(
        &self,
        history: &History,
        options: &Options,
        task: TaskId,
        left: CpuId,
        at: usize,
    ) -> Effect {
        let changes = &self.tasks[&task];
        let (begin, _, now) = changes[at];
        let end = options.counted(history).to;
        let other = self.cpus.get(&left);
        let (mode, waiting) = Log::upto(other, begin).unwrap_or((CpuMode::Unknown, 0));
        let mask = now.mask.and_then(|mask| history.mask(mask));
        if mode == CpuMode::Offline || mask.is_some_and(|mask| !mask.contains(left)) {
            return Effect::Forced;
        }
        if options.shared_queue || now.phase != Phase::Waiting {
            return Effect::Undecided;
        }
        let lower = |busy: TaskId| {
            let class =
                |policy: Option<u8>| [1, 2, 2, 1, 1, 0, 3, 1][usize::from(policy.unwrap_or(0))];
            let policy = Log::upto(self.tasks.get(&busy), begin).and_then(|it| it.policy);
            class(policy) < class(now.policy)
        };
        match mode {
            CpuMode::Idle if waiting == 0 => return Effect::NotHelped,
            CpuMode::Busy(busy) if busy != task && !lower(busy) => {}
            _ => return Effect::Undecided,
        }
        // Until the task does something else than wait there.
        let rest = &changes[at + 1..];
        let after = rest.iter().find(|it| it.2.phase != Phase::Waiting || it.2.cpu != now.cpu);
        let until = after.map_or(usize::MAX, |it| it.0);
        let changed =
            other.into_iter().flatten().find(|it| it.0 > begin && it.0 < until && it.2.0 != mode);
        match (changed, after) {
            (Some((_, time, (CpuMode::Idle, 0))), _) if *time < end => Effect::NotHelped,
            (Some(_), _) => Effect::Undecided,
            (None, Some((_, time, then))) if *time < end => {
                let ran = then.phase == Phase::Running && then.cpu == now.cpu;
                if ran { Effect::Helped } else { Effect::Undecided }
            }
            _ => Effect::Undecided,
        }
    }

    /// All moves that count.
    fn counts(&self, history: &History, options: &Options) -> BTreeMap<(Reason, Distance), Counts> {
        let scope = Scope::new(history, options);
        let mut all = BTreeMap::<_, Counts>::new();
        for (&task, changes) in &self.tasks {
            let past = history.past().iter().find(|past| past.task == task);
            let mut last = None;
            let mut before: Option<TaskState> = None;
            let mut forks = self.forks.get(&task).into_iter().flatten().peekable();
            let mut remembered = past.is_none();
            for (at, &(number, time, now)) in changes.iter().enumerate() {
                if number > 0 && !std::mem::replace(&mut remembered, true) {
                    last = past.and_then(|past| past.last);
                }
                while let Some(&(_, cpu)) = forks.next_if(|fork| fork.0 <= number) {
                    last = Some(cpu);
                }
                let here = |it: &TaskState| matches!(it.phase, Phase::Running | Phase::Waiting);
                let was = before.replace(now);
                let stays = was.is_some_and(|was| here(&was) && was.cpu == now.cpu);
                let (true, Some(cpu)) = (here(&now) && !stays, now.cpu) else { continue };
                let Some(left) = last.replace(cpu).filter(|left| *left != cpu && number > 0) else {
                    continue;
                };
                let counted = scope.has_cpu(cpu) || scope.has_cpu(left);
                if !counted || !scope.has_task(task) || !scope.window.holds(time) {
                    continue;
                }
                let reason = match was.map(|was| (was.phase, was.cpu)) {
                    Some((Phase::New, _)) => Reason::Fork,
                    Some((Phase::Waiting, Some(_))) => Reason::Balance,
                    _ => Reason::Wakeup,
                };
                let distance = history.head.machine.distance(left, cpu);
                let counts = all.entry((reason, distance)).or_default();
                counts.moves += 1;
                if reason != Reason::Fork {
                    let effect = self.judge(history, options, task, left, at);
                    counts.effects[effect as usize] += 1;
                }
            }
        }
        all
    }
}

/// Whether check and judge agree; how many migrations had which effect.
fn agree(history: &History, options: &Options) -> Result<[u64; 4], String> {
    let mut log = Log::default();
    replay(history, options.silent, &mut log);
    let (found, known) = (check(history, options).migrations, log.counts(history, options));
    if found.by_reason != known {
        return Err(format!("found {:?}\nknown {known:?}", found.by_reason));
    }
    let of_all = Effect::ALL.map(|effect| found.with_effect(effect));
    assert_eq!(of_all.iter().sum::<u64>(), found.total(), "each has one effect");
    Ok(of_all)
}

fn asked(seed: u64, history: &History) -> Options {
    let asked = question(seed, history);
    Options {
        silent: asked.silent,
        window: asked.window,
        cpus: asked.cpus,
        tasks: asked.tasks.map(|tasks| tasks.into_iter().collect()),
        shared_queue: asked.shared_queue,
        ..Options::default()
    }
}

#[test]
fn of_random_histories_each_migration_has_the_effect_that_a_slow_judge_finds() {
    let mut all = [0; 4];
    for seed in 0..effort(600).min(6_000) {
        let plan = Plan { steps: 150, ..Plan::small(seed) };
        let fails = |history: &History| agree(history, &asked(seed, history)).is_err();
        let history = plan.history();
        match agree(&history, &asked(seed, &history)) {
            Ok(effects) => (0..4).for_each(|effect| all[effect] += effects[effect]),
            Err(_) => {
                let history = shrink(plan, fails).history();
                let why = agree(&history, &asked(seed, &history)).expect_err("it fails");
                panic!("seed {seed}: {why}\n{}", told(&history));
            }
        }
    }
    assert!(all.iter().all(|count| *count > 50), "{all:?} are too few to show anything");
}

#[test]
fn of_every_recording_each_migration_has_the_effect_that_a_slow_judge_finds() {
    let mut all = [0; 4];
    for path in traces() {
        let bytes = std::fs::read(&path).expect("readable");
        let Ok(history) = read(&bytes, &wastenot_read::Options::default()) else { continue };
        let effects = agree(&history, &Options::default());
        let effects = effects.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        (0..4).for_each(|effect| all[effect] += effects[effect]);
    }
    let [helped, not_helped, _, undecided] = all;
    assert!([helped, not_helped, undecided].iter().all(|count| *count > 100), "{all:?}");
}
