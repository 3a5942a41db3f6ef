//! Lower bounds for schedulers that keep the recorded lock order and the recorded division of work:
//! the longest chain of dependent steps, and the work of each set of CPUs.
//!
//! The chain is the run on as many CPUs as there are tasks. Tokens are all alike and only one task
//! takes from each pipe, so nothing happens later there than elsewhere.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use wastenot_model::workload::{Step, TemplateId, Variate};
use wastenot_model::{CpuSet, Span, Workload};

use super::super::Extracted;
use super::super::life::taker;
use super::crowd::Crowd;

/// The maximum number of distinct affinities, those with the most work first.
const SETS: usize = 1024;

/// Lower bounds for schedulers that keep the recorded order and division.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsRecorded {
    /// The longest chain to the end of an awaited task.
    pub chain: Chain,
    /// The same for the awaited tasks of each name, longest first.
    pub ends: Vec<End>,
    /// The work of awaited tasks on all CPUs.
    pub all: Crowd,
    /// Among the sets of CPUs to which some tasks are bound, the one with the most work per CPU.
    pub bound: Option<Crowd>,
}

/// A chain of steps, each of which had to wait for the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chain {
    /// The part that is sleep and late arrival.
    pub sleep: Span,
    /// The part that is CPU time.
    pub compute: Span,
}

/// The longest chain to the end of any task with one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The name.
    pub name: String,
    /// How many awaited tasks have it.
    pub tasks: usize,
    /// The chain.
    pub chain: Chain,
}

impl Chain {
    /// Its length.
    pub fn span(self) -> Span {
        self.sleep + self.compute
    }
}

impl AsRecorded {
    /// The least time that the work takes.
    pub fn span(&self) -> Span {
        let bound = self.bound.as_ref().map_or(Span::ZERO, Crowd::span);
        self.chain.span().max(self.all.span()).max(bound)
    }
}

impl Extracted {
    /// Lower bounds for schedulers that keep the recorded order and division.
    pub fn as_recorded(&self) -> AsRecorded {
        let online = self.online();
        let sets = self.work_by_set(&online);
        let all = sets.iter().fold(Span::ZERO, |all, (_, work)| all + *work);
        let crowds = sets.iter().filter(|(cpus, _)| *cpus != online).map(|(cpus, _)| {
            let within = sets.iter().filter(|(other, _)| other.is_subset(cpus));
            let work = within.fold(Span::ZERO, |all, (_, work)| all + *work);
            Crowd { cpus: cpus.clone(), work }
        });
        let ends = Run::of(self).ends();
        AsRecorded {
            chain: ends.first().map(|end| end.chain).unwrap_or_default(),
            ends,
            all: Crowd { cpus: online.clone(), work: all },
            bound: crowds.max_by_key(Crowd::span),
        }
    }

    /// The work of awaited tasks, by the CPUs that it may use.
    fn work_by_set(&self, online: &CpuSet) -> Vec<(CpuSet, Span)> {
        let usable = |set: &CpuSet| {
            let set = set.and(online);
            if set.is_empty() { online.clone() } else { set }
        };
        let mut sets: Vec<(CpuSet, Span)> = vec![(online.clone(), Span::ZERO)];
        let mut known = HashMap::from([(online.clone(), 0)]);
        let mut add = |set: &CpuSet, work: Span| {
            let at = *known.entry(set.clone()).or_insert(sets.len());
            if at == sets.len() {
                sets.push((set.clone(), Span::ZERO));
            }
            sets[at].1 += work;
        };
        for template in &self.workload.templates {
            let steps = template.program.steps();
            // An awaited task may sleep on after the last work that was recorded.
            if !steps.iter().rev().take(2).any(|step| *step == Step::Mark(self.done)) {
                continue;
            }
            let mut set = template.affinity.as_ref().map_or_else(|| online.clone(), usable);
            let mut work = Span::ZERO;
            for step in steps {
                match step {
                    Step::Compute(Variate::Fixed(span)) => work += *span,
                    Step::Affinity(id) => {
                        add(&set, std::mem::take(&mut work));
                        set = usable(&self.workload.affinities[id.index()]);
                    }
                    _ => {}
                }
            }
            add(&set, work);
        }
        // Work of the affinities left out counts as able to run anywhere.
        sets[1..].sort_by_key(|(_, work)| Reverse(*work));
        let rest = sets.split_off(sets.len().min(SETS));
        rest.iter().for_each(|(_, work)| sets[0].1 += *work);
        sets
    }
}

/// The run on as many CPUs as there are tasks.
struct Run<'e> {
    workload: &'e Workload,
    extracted: &'e Extracted,
    /// Next step of each task.
    at: Vec<usize>,
    /// Tokens in each pipe.
    tokens: Vec<u32>,
    /// Whether a task waits for a token in it.
    waits: Vec<bool>,
    /// Which task continues when, along which chain; ties in order of arrival.
    due: BinaryHeap<Reverse<(Span, u64, u32, Chain)>>,
    pushed: u64,
    ends: BTreeMap<&'e str, (usize, Chain)>,
}

impl<'e> Run<'e> {
    fn of(extracted: &'e Extracted) -> Run<'e> {
        let workload = &extracted.workload;
        let (count, pipes) = (workload.templates.len(), workload.pipes.len());
        let (at, tokens, waits) = (vec![0; count], vec![0; pipes], vec![false; pipes]);
        let (due, ends) = (BinaryHeap::new(), BTreeMap::new());
        let mut run = Run { workload, extracted, at, tokens, waits, due, pushed: 0, ends };
        for launch in &workload.launches {
            let untold = extracted.untold[launch.template.index()].birth;
            let sleep = if untold { Span::ZERO } else { Span(launch.at.0) };
            run.go_on(launch.template, Chain { sleep, compute: Span::ZERO });
        }
        run
    }

    fn go_on(&mut self, task: TemplateId, chain: Chain) {
        self.pushed += 1;
        self.due.push(Reverse((chain.span(), self.pushed, task.0, chain)));
    }

    fn ends(mut self) -> Vec<End> {
        while let Some(Reverse((_, _, task, chain))) = self.due.pop() {
            self.steps(task, chain);
        }
        let end = |(name, (tasks, chain)): (&str, _)| End { name: name.into(), tasks, chain };
        let mut ends: Vec<End> = self.ends.into_iter().map(end).collect();
        ends.sort_by_key(|end| Reverse(end.chain.span()));
        ends
    }

    /// `task` does all steps that take no time, up to one that does.
    fn steps(&mut self, task: u32, mut chain: Chain) {
        let workload = self.workload;
        let steps = workload.templates[task as usize].program.steps();
        while let Some(step) = steps.get(self.at[task as usize]) {
            let at = self.at[task as usize];
            self.at[task as usize] += 1;
            match step {
                // Another task may have ended it, and earlier.
                Step::Sleep(_) if self.extracted.untold[task as usize].steps.contains(&at) => {
                    continue;
                }
                Step::Compute(Variate::Fixed(span)) => chain.compute += *span,
                Step::Sleep(Variate::Fixed(span)) => chain.sleep += *span,
                Step::Fork(child) => {
                    self.go_on(*child, chain);
                    continue;
                }
                Step::Put(pipe) => {
                    match std::mem::take(&mut self.waits[pipe.index()]) {
                        true => self.go_on(taker(*pipe), chain),
                        false => self.tokens[pipe.index()] += 1,
                    }
                    continue;
                }
                Step::Get(pipe) if self.tokens[pipe.index()] > 0 => {
                    self.tokens[pipe.index()] -= 1;
                    continue;
                }
                Step::Get(pipe) => {
                    self.waits[pipe.index()] = true;
                    return;
                }
                Step::Mark(mark) if *mark == self.extracted.done => {
                    self.end(task, chain);
                    continue;
                }
                _ => continue,
            }
            return self.go_on(TemplateId(task), chain);
        }
    }

    fn end(&mut self, task: u32, chain: Chain) {
        let name = self.workload.templates[task as usize].name.as_str();
        let (tasks, longest) = self.ends.entry(name).or_default();
        *tasks += 1;
        if chain.span() > longest.span() {
            *longest = chain;
        }
    }
}
