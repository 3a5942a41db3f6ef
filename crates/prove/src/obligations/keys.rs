//! Claims about the keys of ordered queues: `vt_monotone`, `lag`. Shown along every path of every
//! handler.

use wastenot_rota::ir::Policy;
use wastenot_rota::ir::{Bool, Event, Num, Set, Stmt};
use wastenot_rota::syntax::Span;

use super::sites::{Site, sites, whereabouts};
use super::{Obligation, Question};
use crate::encode::{Encoder, Names, NotEncoded};
use crate::smt::{Script, Term, and, int, less, not};

/// Paths of a handler that are followed; more are not put into words.
const PATHS: usize = 256;

/// No handler lets the key of a queue fall, and it is greater after its task ran.
pub(super) fn monotone(policy: &Policy) -> Vec<Obligation> {
    let mut all = vec![ordered(policy)];
    all.extend(passes(policy));
    // A new task had no key before.
    for event in Event::ALL.into_iter().filter(|event| *event != Event::New) {
        for (key, span) in keys(policy) {
            let name = &policy.task_vars[key].name;
            let what = format!("`{name}` does not fall in `{}`", event.name());
            let script = along(policy, event, &what, |_, step, _| {
                let Step::Sets(var, before, after) = step else { return None };
                (*var == key).then(|| less(after.clone(), before.clone()))
            });
            if let Some(question) = asked(script) {
                all.push(Obligation { name: "rises", what, span, question, model_only: false });
            }
        }
    }
    all
}

/// Of queues that are first in, first out there is nothing to say.
fn ordered(policy: &Policy) -> Obligation {
    let wakes = |site: &Site<'_>| matches!(site.event, Event::New | Event::Wake);
    let keyed = |site: &Site<'_>| policy.queues[site.put.queue.queue].key.is_some();
    Obligation {
        name: "ordered",
        what: "tasks that are new or wake are put into queues that are ordered by a key".into(),
        span: policy.span,
        question: Question::settled(sites(policy).iter().any(|it| wakes(it) && keyed(it))),
        model_only: false,
    }
}

/// A key that never changes does not fall either: so it has to rise while its task runs.
fn passes(policy: &Policy) -> Vec<Obligation> {
    let each = keys(policy).into_iter().map(|(key, span)| {
        let name = &policy.task_vars[key].name;
        let what = format!("`{name}` is greater when its task stops than when it began to run");
        let script = along(policy, Event::Stop, &what, |encoder, step, names| {
            let Step::Ends(before) = step else { return None };
            let ran = encoder.num(&Num::Ran, names).ok()?;
            let rose = less(before[key].clone(), names.vars[key].clone());
            Some(and([less(int(0), ran), not(rose)]))
        });
        let question = asked(script).unwrap_or(Question::Fails);
        Obligation { name: "passes", what, span, question, model_only: false }
    });
    each.collect()
}

/// A task that slept, or is new, is put no further than `bound` behind the least key of its queue;
/// and who is taken to other queues is as far behind there as it was.
pub(super) fn lag(policy: &Policy, bound: &Num) -> Vec<Obligation> {
    let mut all = vec![ordered(policy)];
    all.extend(rebased(policy));
    for event in [Event::New, Event::Wake] {
        let what = format!("a task of `{}` is put no further back than that", event.name());
        let script = along(policy, event, &what, |encoder, step, names| {
            let Step::Puts(queue, at) = step else { return None };
            let key = policy.queues[*queue].key?;
            let least = encoder.min_key(*queue, at.clone(), names);
            let bound = encoder.num(bound, names).ok()?;
            Some(less(names.vars[key].clone(), least - bound))
        });
        let Some(question) = asked(script) else { continue };
        let span = policy.span;
        all.push(Obligation { name: "lags", what, span, question, model_only: false });
    }
    all
}

fn rebased(policy: &Policy) -> Vec<Obligation> {
    let periodic = policy.periodic.iter().map(|periodic| &periodic.balance);
    let ordered = policy.idle.iter().chain(periodic).filter_map(|balance| {
        let queue = &policy.queues[balance.from];
        Some((balance, queue.key?, &queue.name))
    });
    let each = ordered.map(|(balance, key, queue)| {
        let same = balance.into.is_none_or(|into| policy.queues[into].key == Some(key));
        Obligation {
            name: "rebased",
            what: format!("a task that is taken from `{queue}` keeps how far it is behind"),
            span: balance.spans.steal,
            question: Question::settled(balance.rebase == Some(key) && same),
            model_only: false,
        }
    });
    each.collect()
}

/// What is asked along the paths of a handler. `None`: no step of it could be wrong.
fn asked(script: Result<Option<Script>, NotEncoded>) -> Option<Question> {
    match script {
        Ok(script) => script.map(Question::Unsatisfiable),
        Err(why) => Some(Question::NotEncoded(why)),
    }
}

/// Variables that queues are ordered by.
fn keys(policy: &Policy) -> Vec<(usize, Span)> {
    let mut keys: Vec<(usize, Span)> = Vec::new();
    for queue in &policy.queues {
        if let Some(key) = queue.key
            && !keys.iter().any(|(known, _)| *known == key)
        {
            keys.push((key, policy.task_vars[key].span));
        }
    }
    keys
}

/// Something on a path.
enum Step {
    /// A variable of the task is set: which, what it was, what it is.
    Sets(usize, Term, Term),
    /// It is put into a queue: which, and one of the CPUs whose it is.
    Puts(usize, Term),
    /// The path ends: what the variables of the task were when it began.
    Ends(Vec<Term>),
}

/// A script that is satisfied if on some path of a handler some step is as `wrong` says. `None`: no
/// step could be.
fn along(
    policy: &Policy,
    event: Event,
    what: &str,
    wrong: impl Fn(&mut Encoder<'_>, &Step, &Names) -> Option<Term>,
) -> Result<Option<Script>, NotEncoded> {
    let mut encoder = Encoder::new(policy, &format!("Not so: {what}."));
    let vars = policy.task_vars.iter().map(|var| format!("t.{}", var.name));
    let mut vars: Vec<Term> = vars.map(|called| encoder.number(&called)).collect();
    if event == Event::New {
        // A new task has what the text says.
        vars = policy.task_vars.iter().map(|var| int(var.value)).collect();
    }
    let first = vars.clone();
    let names = Names { vars, ..whereabouts(&mut encoder, "") };
    let mut walk = Walk { encoder, wrong, first, found: Vec::new(), paths: 0 };
    walk.block(&[policy.handlers[event as usize].as_slice()], names, &[])?;
    if walk.found.is_empty() {
        return Ok(None);
    }
    let any = crate::smt::or(walk.found);
    walk.encoder.assert("On some path it is wrong.", any);
    Ok(Some(walk.encoder.finish()))
}

struct Walk<'p, W> {
    encoder: Encoder<'p>,
    wrong: W,
    /// The variables of the task when a path begins.
    first: Vec<Term>,
    found: Vec<Term>,
    paths: usize,
}

impl<W: Fn(&mut Encoder<'_>, &Step, &Names) -> Option<Term>> Walk<'_, W> {
    fn block(
        &mut self,
        blocks: &[&[Stmt]],
        mut names: Names,
        given: &[Term],
    ) -> Result<(), NotEncoded> {
        let mut blocks = blocks.to_vec();
        while let Some(block) = blocks.last_mut() {
            let Some((stmt, rest)) = block.split_first() else {
                blocks.pop();
                continue;
            };
            *block = rest;
            match stmt {
                Stmt::Claim { slot, .. } | Stmt::Pick { slot, set: Set::Allowed, .. } => {
                    self.slot(&mut names, *slot, true);
                }
                Stmt::Pick { slot, .. } => self.slot(&mut names, *slot, false),
                Stmt::Let(slot, num) => {
                    let value = self.encoder.num(num, &names)?;
                    names.locals.resize(names.locals.len().max(slot + 1), None);
                    names.locals[*slot] = Some(value);
                }
                Stmt::SetTask(var, num) => {
                    let after = self.encoder.num(num, &names)?;
                    let before = std::mem::replace(&mut names.vars[*var], after.clone());
                    self.step(&Step::Sets(*var, before, after), &names, given);
                }
                Stmt::Put(put) => {
                    let cpu = self.encoder.queue_cpu(&put.queue, &names)?;
                    self.step(&Step::Puts(put.queue.queue, cpu), &names, given);
                }
                Stmt::If { condition, then, otherwise } => {
                    let (yes, no) = self.question(condition, &names);
                    for (branch, condition) in [(then, yes), (otherwise, no)] {
                        let mut inner = blocks.clone();
                        inner.push(branch);
                        let given: Vec<Term> = given.iter().cloned().chain(condition).collect();
                        self.block(&inner, names.clone(), &given)?;
                    }
                    return Ok(());
                }
                Stmt::SetCpu { .. } => names.sets += 1,
                Stmt::Run { .. } | Stmt::Kick { .. } => {}
            }
        }
        self.step(&Step::Ends(self.first.clone()), &names, given);
        self.paths += 1;
        if self.paths > PATHS {
            return Err(NotEncoded("a handler with so many paths"));
        }
        Ok(())
    }

    /// What is known in each branch; nothing, where the condition has no words.
    fn question(&mut self, condition: &Bool, names: &Names) -> (Option<Term>, Option<Term>) {
        match self.encoder.bool(condition, names) {
            Ok(term) => (Some(term.clone()), Some(not(term))),
            Err(NotEncoded(_)) => (None, None),
        }
    }

    fn slot(&mut self, names: &mut Names, slot: usize, able: bool) {
        let cpu = self.encoder.cpu(&format!("slot.{slot}"));
        if able {
            let able = self.encoder.allowed(cpu.clone());
            self.encoder.assert("It was found among those that it may run on.", able);
        }
        names.slots.resize(names.slots.len().max(slot + 1), None);
        names.slots[slot] = Some(cpu);
    }

    fn step(&mut self, step: &Step, names: &Names, given: &[Term]) {
        if let Some(wrong) = (self.wrong)(&mut self.encoder, step, names) {
            let path = given.iter().cloned().chain([wrong]);
            self.found.push(crate::smt::and(path));
        }
    }
}
