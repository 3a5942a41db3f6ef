//! What balances read that no situation holds, and what handlers do of which no test tells. Of the
//! former the explorer has one value each: what it finds wrong is wrong, but that it finds nothing
//! says nothing.

use wastenot_rota::ir::{
    Balance, Bool, ClaimKind, Num, Place, Policy, Visitor, visit_bool, visit_num,
};

use super::test::{Test, Wrong, tests};
use crate::text::{Sets, interrupting, is_plain, written};

/// What matters to a claim, but is seen by no test of the explorer, in a sentence. `None`: nothing.
pub(crate) fn unseen(policy: &Policy, claim: &ClaimKind) -> Option<String> {
    if *claim == ClaimKind::NoLostWakeup {
        // Who is woken is looked at; what that one then overlooks is not.
        let balance = policy.idle.as_ref().filter(|balance| !is_plain(balance))?;
        let mut words = Words { from: balance.from, policy, found: Vec::new() };
        asked(balance, &mut words);
        let what = "the search on small machines checks only which CPU is woken. It does not check \
                    the balance of this CPU, which also depends on other values";
        return Some(match words.found.as_slice() {
            [] => what.to_owned(),
            words => format!("{what}: {}", words.join(", ")),
        });
    }
    if matches!(claim, ClaimKind::Rounds(_)) && !interrupting(policy).is_empty() {
        return Some(
            "a handler preempts running tasks, and the search on small machines did not examine \
             the consequences"
                .into(),
        );
    }
    let tests = tests(policy, claim);
    let mut reads = Reads { policy, sets: Sets::of(policy), found: None };
    for balance in tests.iter().flat_map(|test| balances(policy, test)) {
        asked(balance, &mut reads);
    }
    if let Some(what) = reads.found {
        return Some(format!(
            "the search on small machines examines only single instants, but a balance reads {what}"
        ));
    }
    let remembers = policy.idle.as_ref().is_some_and(|balance| !balance.remembered().is_empty());
    let attempts = tests.iter().any(|test| test.wrong == Wrong::Fails);
    (remembers && attempts).then(|| {
        "the search on small machines examines only attempts during which one task is woken and no \
         CPU starts or stops running a task. But a re-check also uses an earlier value"
            .to_owned()
    })
}

/// Tells `visitor` what a balance asks. Which candidate is chosen matters to no proof.
fn asked(balance: &Balance, visitor: &mut impl Visitor) {
    visit_bool(&balance.filter, visitor);
    visit_bool(&balance.recheck, visitor);
    visit_num(&balance.count, visitor);
}

/// The balances that a test looks at.
fn balances<'p>(policy: &'p Policy, test: &Test) -> Vec<&'p Balance> {
    let periodic = policy.periodic.iter().map(|periodic| &periodic.balance);
    match test.wrong {
        Wrong::NobodyBeginsThere => Vec::new(),
        Wrong::RunsInACircle => periodic.collect(),
        _ => policy.idle.iter().chain(periodic.filter(|_| test.moves > 0)).collect(),
    }
}

struct Reads<'p> {
    policy: &'p Policy,
    sets: Sets,
    found: Option<String>,
}

impl Visitor for Reads<'_> {
    fn num(&mut self, num: &Num) {
        let read = match num {
            Num::Now | Num::Until(_) => "the time".to_owned(),
            Num::MinKey(at) => format!("keys of `{}`", self.policy.queues[at.queue].name),
            Num::TaskVar(var) => format!("`{}` of tasks", self.policy.task_vars[*var].name),
            Num::CpuVar(var, _) if self.sets.cpu[*var] => {
                format!("`{}` of CPUs", self.policy.cpu_vars[*var].name)
            }
            Num::Job => "jobs".to_owned(),
            Num::Param(param) => format!("the parameter `{}`", self.policy.params[*param].name),
            Num::Weight | Num::QueuedWeight(_) | Num::RunningWeight(_) => "weights".to_owned(),
            _ => return,
        };
        self.found.get_or_insert(read);
    }
}

/// What a balance reads besides how many wait at the candidate, in the words of the language.
struct Words<'p> {
    from: usize,
    policy: &'p Policy,
    found: Vec<String>,
}

impl Words<'_> {
    fn say(&mut self, word: &str) {
        let word = format!("`{word}`");
        if !self.found.contains(&word) {
            self.found.push(word);
        }
    }
}

impl Visitor for Words<'_> {
    fn num(&mut self, num: &Num) {
        let word = match num {
            Num::Queued(at) if at.queue == self.from && at.at == Place::Other => return,
            Num::Seen(..) => "seen".to_owned(),
            Num::Queued(_)
            | Num::QueuedWeight(_)
            | Num::MinKey(_)
            | Num::Running(_)
            | Num::RunningWeight(_)
            | Num::Cpus(_)
            | Num::CpuVar(..)
            | Num::TaskVar(_)
            | Num::Param(_)
            | Num::Weight
            | Num::Job
            | Num::Now => written::number(self.policy, num),
            _ => return,
        };
        self.say(&word);
    }
    fn bool(&mut self, condition: &Bool) {
        if let Bool::Idle(at) = condition {
            self.say(&format!("idle({})", written::place(at)));
        }
    }
}
