//! The bound of a what-if against the best of all schedules, found by trying all of them.
//!
//! Programs are tiny and in whole milliseconds. Tasks may be preempted after each, any of them may
//! be dispatched, any of those who ask may get a lock or a token, and none has to take what is
//! there: so no scheduler can do better than the search. It reads the workload and nothing else.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use wastenot_experiment::extract::{self, Basis};
use wastenot_experiment::{Bench as _, Question, Sim, what_if};
use wastenot_model::machine::Costs;
use wastenot_model::report::Value;
use wastenot_model::workload::{
    BarrierId, LockId, PipeId, Program, Random, Step, Template, TemplateId, Variate, Waiting,
};
use wastenot_model::{CpuId, History, Machine, Span, Time, Workload};
use wastenot_needs::effort;
use wastenot_scenario::scenario::Choice;
use wastenot_sim::{End, Options, scheduler, simulate};

const END: Step = Step::End { of: 0 };
const UNIT: u64 = 1_000_000;
/// Programs of each construct that are tried.
const PROGRAMS: u64 = 100;

fn ms(units: u64) -> Step {
    Step::Compute(Variate::Fixed(Span(units * UNIT)))
}

/// The best of all schedules of a workload on so many CPUs.
mod search {
    use super::*;

    /// A task: where it is, how much of its step is left, and whether it waits at a barrier.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    struct Task {
        at: u8,
        left: u8,
        here: bool,
        there: bool,
        ended: bool,
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct State {
        tasks: Vec<Task>,
        owners: Vec<Option<u8>>,
        tokens: Vec<u8>,
        arrived: Vec<u8>,
    }

    pub(super) struct Search<'w> {
        load: &'w Workload,
        cpus: usize,
        /// Steps of each task, loops that end unrolled.
        steps: Vec<Vec<Step>>,
        awaited: Vec<bool>,
        /// The task that each fork makes, by parent and step.
        children: BTreeMap<(usize, usize), usize>,
        getters: Vec<usize>,
    }

    impl<'w> Search<'w> {
        pub(super) fn new(load: &'w Workload, cpus: usize) -> Search<'w> {
            let mut search = Search {
                load,
                cpus,
                steps: Vec::new(),
                awaited: Vec::new(),
                children: BTreeMap::new(),
                getters: vec![0; load.pipes.len()],
            };
            for launch in &load.launches {
                search.add(launch.template);
            }
            for steps in &search.steps {
                for (id, getters) in search.getters.iter_mut().enumerate() {
                    *getters += usize::from(steps.contains(&Step::Get(PipeId(id as u32))));
                }
            }
            search
        }

        fn add(&mut self, template: TemplateId) -> usize {
            let it = &self.load.templates[template.index()];
            let (task, steps) = (self.steps.len(), unrolled(it.program.steps()));
            self.steps.push(steps.clone());
            self.awaited.push(it.awaited);
            for (at, step) in steps.iter().enumerate() {
                if let Step::Fork(child) = *step {
                    let child = self.add(child);
                    self.children.insert((task, at), child);
                }
            }
            task
        }

        /// The fewest units after which all awaited tasks have ended.
        pub(super) fn optimum(&self) -> u64 {
            let forked: HashSet<usize> = self.children.values().copied().collect();
            let task =
                |n| Task { at: 0, left: 0, here: false, there: !forked.contains(&n), ended: false };
            let start = State {
                tasks: (0..self.steps.len()).map(task).collect(),
                owners: vec![None; self.load.locks.len()],
                tokens: self.load.pipes.iter().map(|pipe| pipe.tokens as u8).collect(),
                arrived: vec![0; self.load.barriers.len()],
            };
            let (mut seen, mut now) = (HashSet::new(), vec![start]);
            for time in 0..200 {
                let mut next = Vec::new();
                while let Some(mut state) = now.pop() {
                    self.settle(&mut state);
                    let over = |(task, awaited): (&Task, &bool)| task.ended || !awaited;
                    if state.tasks.iter().zip(&self.awaited).all(over) {
                        return time;
                    }
                    if !seen.insert(state.clone()) {
                        continue;
                    }
                    self.choices(&state, &mut now);
                    self.advance(&state, &mut next);
                }
                now = next;
            }
            panic!("it does not end: {:?}", self.steps);
        }

        /// Does whatever can only help, and takes no time.
        fn settle(&self, state: &mut State) {
            loop {
                let mut changed = false;
                for n in 0..state.tasks.len() {
                    while self.goes_on(state, n) {
                        changed = true;
                    }
                }
                if !changed {
                    return;
                }
            }
        }

        fn goes_on(&self, state: &mut State, n: usize) -> bool {
            let task = state.tasks[n];
            if !task.there || task.ended || task.left > 0 || task.here {
                return false;
            }
            let Some(&step) = self.steps[n].get(task.at as usize) else {
                state.tasks[n].ended = true;
                return true;
            };
            match step {
                Step::Compute(Variate::Fixed(span)) | Step::Sleep(Variate::Fixed(span)) => {
                    state.tasks[n].left = (span.0 / UNIT) as u8;
                    return false;
                }
                Step::Unlock(id) => state.owners[id.index()] = None,
                Step::Put(id) => {
                    let room = self.load.pipes[id.index()].capacity.unwrap_or(u32::MAX);
                    if u32::from(state.tokens[id.index()]) >= room {
                        return false;
                    }
                    state.tokens[id.index()] += 1;
                }
                Step::Get(id) if self.getters[id.index()] == 1 => {
                    if state.tokens[id.index()] == 0 {
                        return false;
                    }
                    state.tokens[id.index()] -= 1;
                }
                Step::Lock(_) | Step::Get(_) => return false,
                Step::Barrier(id) => {
                    self.arrive(state, n, id);
                    return true;
                }
                Step::Fork(_) => {
                    state.tasks[self.children[&(n, task.at as usize)]].there = true;
                }
                Step::WaitAll => {
                    let of =
                        |(at, _): &(&(usize, usize), &usize)| at.0 == n && at.1 < task.at as usize;
                    let mut children = self.children.iter().filter(of);
                    if !children.all(|(_, &child)| state.tasks[child].ended) {
                        return false;
                    }
                }
                Step::Loop(None) | Step::Exec => {}
                Step::End { of } => {
                    state.tasks[n].at = of as u8;
                    return true;
                }
                step => panic!("{step:?} is not searched"),
            }
            state.tasks[n].at += 1;
            true
        }

        fn arrive(&self, state: &mut State, n: usize, id: BarrierId) {
            state.arrived[id.index()] += 1;
            state.tasks[n].here = true;
            if u32::from(state.arrived[id.index()]) == self.load.barriers[id.index()].parties {
                state.arrived[id.index()] = 0;
                for (other, task) in state.tasks.iter_mut().enumerate() {
                    let at = self.steps[other].get(task.at as usize);
                    if task.here && at == Some(&Step::Barrier(id)) {
                        (task.here, task.at) = (false, task.at + 1);
                    }
                }
            }
        }

        /// Every lock and token that a task could take now.
        fn choices(&self, state: &State, into: &mut Vec<State>) {
            for (n, task) in state.tasks.iter().enumerate() {
                if !task.there || task.ended || task.left > 0 || task.here {
                    continue;
                }
                let mut other = state.clone();
                match self.steps[n].get(task.at as usize) {
                    Some(Step::Lock(id)) if state.owners[id.index()].is_none() => {
                        other.owners[id.index()] = Some(n as u8);
                    }
                    Some(Step::Get(id)) if state.tokens[id.index()] > 0 => {
                        other.tokens[id.index()] -= 1;
                    }
                    _ => continue,
                }
                other.tasks[n].at += 1;
                into.push(other);
            }
        }

        /// One unit passes: any tasks run, as many as there are CPUs for.
        fn advance(&self, state: &State, into: &mut Vec<State>) {
            let mut slept = state.clone();
            let mut ready = Vec::new();
            let mut asleep = false;
            for (n, task) in slept.tasks.iter_mut().enumerate().filter(|(_, task)| task.left > 0) {
                match self.steps[n][task.at as usize] {
                    Step::Sleep(_) => {
                        pass(task);
                        asleep = true;
                    }
                    _ => ready.push(n),
                }
            }
            let run = ready.len().min(self.cpus);
            if run == 0 && !asleep {
                return;
            }
            for chosen in 0_u32..1 << ready.len() {
                if chosen.count_ones() as usize == run {
                    let mut next = slept.clone();
                    let runs = ready.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1);
                    runs.for_each(|(_, &n)| pass(&mut next.tasks[n]));
                    into.push(next);
                }
            }
        }
    }

    fn pass(task: &mut Task) {
        task.left -= 1;
        task.at += u8::from(task.left == 0);
    }

    /// Without loops that end; what loops for ever is one loop around all.
    fn unrolled(steps: &[Step]) -> Vec<Step> {
        let mut all = Vec::new();
        let mut at = 0;
        while at < steps.len() {
            match steps[at] {
                Step::Loop(Some(rounds)) => {
                    let end = (at..).find(|&it| steps[it] == Step::End { of: at as u32 });
                    let end = end.expect("an end");
                    let body = unrolled(&steps[at + 1..end]);
                    (0..rounds).for_each(|_| all.extend(&body));
                    at = end;
                }
                step => all.push(step),
            }
            at += 1;
        }
        all
    }
}

/// A workload in the making.
struct Tiny {
    load: Workload,
    random: Random,
}

impl Tiny {
    fn some(&mut self, from: u64, to: u64) -> u64 {
        from + self.random.below(to - from + 1)
    }

    fn task(&mut self, steps: Vec<Step>) -> TemplateId {
        let program = Program::new(steps).expect("a program");
        let name = format!("{}", (b'a' + self.load.templates.len() as u8) as char);
        self.load.template(Template::new(&name, program))
    }

    /// Programs of their own, as processes have them.
    fn launched(&mut self, mut steps: Vec<Step>, count: u32) {
        steps.insert(0, Step::Exec);
        let task = self.task(steps);
        (0..count).for_each(|_| self.load.launch(task, CpuId(0)));
    }

    fn work(&mut self, most: u64) -> Step {
        let units = self.some(1, most);
        ms(units)
    }

    fn section(&mut self, lock: LockId) -> Vec<Step> {
        vec![self.work(3), Step::Lock(lock), self.work(4), Step::Unlock(lock)]
    }

    fn locks(&mut self) {
        let locks: Vec<LockId> =
            (0..self.some(1, 2)).map(|_| self.load.lock("l", Waiting::Block)).collect();
        for _ in 0..self.some(2, 4) {
            let mut steps = Vec::new();
            for _ in 0..self.some(1, 2) {
                let lock = locks[self.random.below(locks.len() as u64) as usize];
                steps.extend(self.section(lock));
            }
            if self.random.below(2) == 0 {
                steps.push(self.work(6));
            }
            self.launched(steps, 1);
        }
    }

    fn pipes(&mut self) {
        let mut before: Option<PipeId> = None;
        let (stages, items) = (self.some(2, 4), self.some(1, 3));
        for stage in 0..stages {
            let room = (self.random.below(2) == 0).then(|| self.some(1, 2) as u32);
            let last = stage + 1 == stages;
            let after = (!last).then(|| self.load.pipe("p", room, Waiting::Block));
            let mut steps = Vec::new();
            for _ in 0..items {
                steps.extend(before.map(Step::Get));
                steps.push(self.work(3));
                steps.extend(after.map(Step::Put));
            }
            self.launched(steps, 1);
            before = after;
        }
    }

    /// Several put into one pipe, from which several take so many each.
    fn fans(&mut self) {
        let pipe = self.load.pipe("p", None, Waiting::Block);
        let (putters, getters) = (self.some(1, 2), self.some(1, 2));
        let each = self.some(1, 3);
        for _ in 0..putters {
            let mut steps = Vec::new();
            for _ in 0..each * getters {
                steps.extend([self.work(2), Step::Put(pipe)]);
            }
            self.launched(steps, 1);
        }
        for _ in 0..getters {
            let mut steps = Vec::new();
            for _ in 0..each * putters {
                steps.extend([Step::Get(pipe), self.work(2)]);
            }
            self.launched(steps, 1);
        }
    }

    fn piles(&mut self) {
        let chunks = self.some(2, 7) as u32;
        let pile = self.load.pipe("pile", None, Waiting::Block);
        self.load.pipes[pile.index()].tokens = chunks;
        let done = self.load.pipe("done", None, Waiting::Block);
        let chunk = self.work(3);
        let steps = vec![Step::Loop(None), Step::Get(pile), chunk, Step::Put(done), END];
        let workers = self.some(2, 3) as u32;
        self.launched(steps, workers);
        self.load.templates.last_mut().expect("the worker").awaited = false;
        let mut counter = vec![Step::Loop(Some(chunks)), Step::Get(done), END];
        if self.random.below(2) == 0 {
            counter.push(self.work(3));
        }
        self.launched(counter, 1);
    }

    fn barriers(&mut self) {
        let parties = self.some(2, 4) as u32;
        let barrier = self.load.barrier("b", parties, Waiting::Block);
        let rounds = self.some(1, 3);
        for _ in 0..parties {
            let mut steps = Vec::new();
            for _ in 0..rounds {
                steps.extend([self.work(4), Step::Barrier(barrier)]);
            }
            if self.random.below(2) == 0 {
                steps.push(self.work(3));
            }
            self.launched(steps, 1);
        }
    }

    fn forks(&mut self) {
        let mut steps = Vec::new();
        let children = self.some(1, 3);
        for n in 0..children {
            if self.random.below(2) == 0 {
                steps.push(self.work(3));
            }
            let mut child = vec![self.work(6)];
            if self.random.below(4) == 0 {
                child.push(Step::Sleep(Variate::Fixed(Span(2 * UNIT))));
                child.push(self.work(2));
            }
            let child = self.task(child);
            steps.push(Step::Fork(child));
            if n + 1 == children || self.random.below(3) == 0 {
                steps.push(Step::WaitAll);
            }
        }
        steps.push(self.work(3));
        self.launched(steps, 1);
    }

    /// A pipe, a lock, a fork and a barrier at once.
    fn mixed(&mut self) {
        let lock = self.load.lock("l", Waiting::Block);
        let pipe = self.load.pipe("p", None, Waiting::Block);
        let barrier = self.load.barrier("b", 2, Waiting::Block);
        let mut child = self.section(lock);
        child.push(self.work(2));
        let child = self.task(child);
        let mut first = vec![self.work(3), Step::Fork(child)];
        first.extend(self.section(lock));
        first.extend([Step::Put(pipe), self.work(2), Step::Barrier(barrier), Step::WaitAll]);
        self.launched(first, 1);
        let mut second = vec![self.work(4), Step::Get(pipe)];
        second.extend(self.section(lock));
        second.extend([Step::Barrier(barrier), self.work(3)]);
        self.launched(second, 1);
        if self.random.below(2) == 0 {
            let third = self.section(lock);
            self.launched(third, 1);
        }
    }
}

type Maker = fn(&mut Tiny);
const CONSTRUCTS: [(&str, Maker); 7] = [
    ("lock", Tiny::locks),
    ("pipe", Tiny::pipes),
    ("pipe, several ends", Tiny::fans),
    ("pile", Tiny::piles),
    ("barrier", Tiny::barriers),
    ("fork", Tiny::forks),
    ("mixed", Tiny::mixed),
];

fn ran(load: &Workload, cpus: usize, name: &str, seed: u64) -> History {
    let policy = scheduler(name, &[]).expect("known");
    let options = Options { seed, limit: Time(60_000_000_000), ..Options::default() };
    let (history, outcome) =
        simulate(&Machine::flat(cpus), &Costs::default(), load, policy, &options);
    assert_eq!(outcome.end, End::Done, "{name} seed {seed}");
    history
}

/// What a recording tells of the same run: events, without what only a simulator knows.
fn stripped(mut history: History) -> History {
    history.annexes.clear();
    history.head.source.format = "trace-cmd".into();
    history
}

/// Figures over the optimum.
struct Case {
    bound: f64,
    /// The bound of the same run, of which only events are known.
    events: f64,
    /// What none beats that hands out locks and work as the recorded scheduler did.
    as_recorded: f64,
}

fn case(construct: usize, seed: u64) -> Case {
    let random = Random::stream(seed, 13, construct as u64);
    let mut tiny = Tiny { load: Workload::new(), random };
    CONSTRUCTS[construct].1(&mut tiny);
    let cpus = tiny.some(1, 3) as usize;
    let all = ["global-fifo", "work-conserving", "cfs-4.1", "pinned", "osv"];
    let name = all[tiny.random.below(all.len() as u64) as usize];
    let history = ran(&tiny.load, cpus, name, seed);
    let what = format!("{} {seed} on {cpus} under {name}", CONSTRUCTS[construct].0);
    let extracted = extract::extract(&history, &extract::Options::default()).expect("work");
    let bound = extracted.bound();
    assert_eq!(bound.basis, Basis::Programs, "{what}");
    assert!(bound.span() <= Some(extracted.recorded), "{what}: {bound:?}");
    let above = extracted.as_recorded().span();
    let events = extract::extract(&stripped(history), &extract::Options::default());
    let events = events.expect("work").bound();
    assert_eq!(events.basis, Basis::Tasks, "{what}");
    let events = events.span().expect("wakers are told").0;
    let optimum = search::Search::new(&tiny.load, cpus).optimum() * UNIT;
    let span = bound.span().expect("known");
    assert!(span.0 <= optimum, "{what}: {bound:?} > {optimum}\n{:#?}", tiny.load.templates);
    assert!(events <= optimum, "{what}: {events} > {optimum}\n{:#?}", tiny.load.templates);
    let share = |span: u64| span as f64 / optimum as f64;
    Case { bound: share(span.0), events: share(events), as_recorded: share(above.0) }
}

/// The middle one.
fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// How close the bounds of these come, as a row of the table in docs/results/what-if.md.
fn row(name: &str, cases: &[&Case]) -> String {
    let share = |holds: fn(&Case) -> bool| {
        let count = cases.iter().filter(|case| holds(case)).count();
        format!("{:.0} %", count as f64 * 100.0 / cases.len() as f64)
    };
    let bounds = || cases.iter().map(|case| case.bound);
    let least = bounds().fold(1.0, f64::min);
    let events = median(cases.iter().map(|case| case.events).collect());
    let (reached, above) = (share(|case| case.bound == 1.0), share(|case| case.as_recorded > 1.0));
    let (count, middle) = (cases.len(), median(bounds().collect()));
    format!("| {name} | {count} | {middle:.2} | {least:.2} | {reached} | {events:.2} | {above} |\n")
}

const HEAD: &str = "\
| construct | programs | median of bound / optimum | minimum of bound / optimum | bound = optimum \
| median, bound from events only | *recorded order* is above the optimum |
|---|---|---|---|---|---|---|
";

#[test]
fn no_bound_is_above_the_best_of_all_schedules_and_half_are_near_it() {
    let count = effort(PROGRAMS);
    let all: Vec<(&str, Vec<Case>)> = CONSTRUCTS
        .iter()
        .enumerate()
        .map(|(construct, (name, _))| {
            (*name, (0..count).map(|seed| case(construct, seed)).collect())
        })
        .collect();
    let mut table = HEAD.to_owned();
    for (name, cases) in &all {
        table += &row(name, &cases.iter().collect::<Vec<_>>());
        let middle = median(cases.iter().map(|case| case.bound).collect());
        assert!(middle >= 0.85, "{name}: {middle}");
    }
    table += &row("all", &all.iter().flat_map(|(_, cases)| cases).collect::<Vec<_>>());
    println!("{table}");
    if count == PROGRAMS {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/results/what-if.md");
        wastenot_golden::page_holds(page, [("optimum", format!("\n{table}"))]);
    }
}

#[test]
fn the_search_knows_the_shortest_schedules_of_small_examples() {
    let mut load = Workload::new();
    let lock = load.lock("l", Waiting::Block);
    for (name, held, after, count) in [("short", 10, 0, 2), ("long", 1, 50, 1)] {
        let mut steps = vec![ms(1), Step::Lock(lock), ms(held), Step::Unlock(lock)];
        steps.extend((after > 0).then(|| ms(after)));
        let program = Program::new(steps).expect("a program");
        let task = load.template(Template::new(name, program));
        (0..count).for_each(|_| load.launch(task, CpuId(0)));
    }
    assert_eq!(search::Search::new(&load, 2).optimum(), 52);
    assert_eq!(search::Search::new(&load, 1).optimum(), 74);
}

fn scenario(text: &str) -> (History, Span) {
    let text = format!("schema = \"wastenot.scenario/1\"\n{text}");
    let scenario = wastenot_experiment::scenario("a.toml", &text).expect("a scenario");
    let options = Options { seed: 1, limit: Time(60_000_000_000), ..Options::default() };
    let run = Sim.run(&scenario.variants[0], &options).expect("it runs");
    (run.history, Span(run.outcome.time.0))
}

fn asked(history: &History, name: &str) -> wastenot_experiment::WhatIf {
    let question =
        Question { scheduler: Some(Choice::named(name)), seed: 1, ..Question::default() };
    what_if(history, &question).expect("work")
}

const LOCKED: &str = r#"
machine = "core:2 pu:1"
locks = { l = {} }
tasks = [
    { name = "short", count = 2, program = ["compute 1ms", "lock l", "compute 10ms", "unlock l"] },
    { name = "long", program = [
        "compute 1ms", "lock l", "compute 1ms", "unlock l", "compute 50ms",
    ] },
]
"#;

#[test]
fn the_order_in_which_a_lock_was_handed_on_is_no_part_of_the_bound() {
    let of = |name: &str| scenario(&format!("scheduler = {{ name = \"{name}\" }}\n{LOCKED}"));
    let (history, recorded) = of("global-fifo");
    let answer = asked(&history, "cfs-4.1");
    assert_eq!(recorded, Span::ms(72));
    assert_eq!(answer.bound.span(), Some(Span::ms(52)), "the optimum: {:?}", answer.bound);
    assert_eq!(answer.as_recorded(), Some(Span::ms(72)));
    assert!(of("cfs-4.1").1 >= Span::ms(52));
    let verdict = answer.report().verdict;
    for words in [
        "save at most 28 % of this run",
        "no scheduler can finish the same work in less than 52.00 ms",
        "in the recorded order, no scheduler can finish in less than 72.00 ms",
    ] {
        assert!(verdict.contains(words), "{verdict}");
    }
}

const PILE: &str = r#"
machine = "core:4 pu:1"
tasks = [{ name = "w", use = "workpile", workers = 3, chunks = 60, chunk = "5ms" }]
"#;

#[test]
fn who_took_how_much_of_a_pile_is_no_part_of_the_bound() {
    let of = |name: &str| scenario(&format!("scheduler = {{ name = \"{name}\" }}\n{PILE}"));
    let (history, recorded) = of("osv");
    assert!(recorded >= Span::ms(130), "{recorded}");
    let answer = asked(&history, "global-fifo");
    assert_eq!(answer.bound.span(), Some(Span::ms(100)), "{:?}", answer.bound);
    assert_eq!(of("global-fifo").1, Span::ms(100), "as others do");
    assert!(answer.as_recorded() > Some(Span::ms(130)));
    // Without what the simulator knows, the workers may share their work: they are called alike.
    let events = asked(&stripped(history), "global-fifo");
    assert_eq!(events.bound.basis, Basis::Tasks);
    assert!(events.bound.span() <= Some(Span::ms(100)), "{:?}", events.bound);
}

#[test]
fn damaged_programs_are_none_or_others_and_nothing_panics() {
    let history = scenario(&format!("scheduler = {{ name = \"global-fifo\" }}\n{LOCKED}")).0;
    let values = [
        Value::Int(i64::MAX),
        Value::Int(-1),
        Value::Int(1),
        Value::Num(1.5),
        Value::Text("x".into()),
        Value::Unknown,
    ];
    let mut bases = [0, 0];
    for (table, annex) in history.annexes.iter().enumerate() {
        for (row, cells) in annex.table.rows.iter().enumerate() {
            for (column, value) in
                (0..cells.len()).flat_map(|it| values.iter().map(move |v| (it, v)))
            {
                let mut damaged = history.clone();
                damaged.annexes[table].table.rows[row][column] = value.clone();
                let extracted = extract::extract(&damaged, &extract::Options::default());
                if let Ok(extracted) = extracted {
                    bases[usize::from(extracted.bound().basis == Basis::Programs)] += 1;
                }
            }
        }
    }
    assert!(bases.iter().all(|&count| count > 100), "{bases:?}");
}
