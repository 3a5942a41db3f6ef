//! Conformance: whether the steps that a kernel took are steps of the model that was proved
//! (docs/explain/conformance.md).
//!
//! Each step of a [`Log`] took effect at some moment between two that are recorded. So of each
//! state only parts are certain: from when a task surely is in a queue and until when it surely
//! stays there ([`Stay`]), and the same of each idle flag. A step is refused only if no order that
//! the moments allow permits it.

mod balances;
mod flags;
mod handlers;
mod keys;
mod model;
mod numbers;
mod order;
mod report;
mod runs;
mod searches;
mod sequence;
mod slices;
mod stays;
mod wakeups;
mod windows;
mod words;

use wastenot_model::Machine;
use wastenot_rota::ir::Program;
use wastenot_rota::step_log::{Log, What};

use self::flags::Flags;
use self::model::Model;
pub use self::report::{conforms as is_conforming, report};
use self::stays::Stays;
pub use self::windows::{Kind, Window};

/// A rule of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A task is put only where its handler can put it, and not while it waits.
    Put,
    /// A CPU runs or takes only a task that it took from a queue, and that may run there.
    Take,
    /// The first task that a CPU may take is taken first.
    Order,
    /// A look finds nothing only if no such task was there all the time.
    Look,
    /// A whole attempt fails only as often as others removed tasks (Theorem 2).
    Attempt,
    /// Only a set flag is claimed.
    Claim,
    /// A search fails only if no such flag was set all the time.
    Search,
    /// A CPU sets its flag before it looks, and clears it and searches after it took a task.
    Sequence,
    /// A handler that places a task takes a path of its text.
    Handler,
    /// A task begins to run with a slice that its handler gave it.
    Slice,
    /// A task is put with a key that its handlers can give it.
    Key,
    /// A balance chooses, moves and leaves out candidates as its text says.
    Select,
    /// No CPU sleeps while a task that it would take waits, and no wakeup is pending.
    Wakeup,
}

impl Rule {
    /// All of them.
    pub const ALL: [Rule; 13] = [
        Rule::Put,
        Rule::Take,
        Rule::Order,
        Rule::Look,
        Rule::Attempt,
        Rule::Claim,
        Rule::Search,
        Rule::Sequence,
        Rule::Handler,
        Rule::Slice,
        Rule::Key,
        Rule::Select,
        Rule::Wakeup,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Put => "put",
            Rule::Take => "take",
            Rule::Order => "order",
            Rule::Look => "look",
            Rule::Attempt => "attempt",
            Rule::Claim => "claim",
            Rule::Search => "search",
            Rule::Sequence => "sequence",
            Rule::Handler => "handler",
            Rule::Slice => "slice",
            Rule::Key => "key",
            Rule::Select => "select",
            Rule::Wakeup => "wakeup",
        }
    }

    /// What it says.
    pub(crate) fn says(self) -> &'static str {
        match self {
            Rule::Put => {
                "a task is enqueued only in a queue that its handler can choose, and only while it \
                 is in no queue"
            }
            Rule::Take => {
                "a CPU runs only a task that it took, and takes only tasks that are in the queue"
            }
            Rule::Order => "from each queue, a CPU takes the first task that it may take",
            Rule::Look => {
                "a CPU finds a task if a task that it may take was in the queue during the whole \
                 attempt"
            }
            Rule::Attempt => {
                "attempts fail at most as often as other CPUs removed tasks (Theorem 2)"
            }
            Rule::Claim => "a CPU is claimed only if its idle flag is set, and only once",
            Rule::Search => {
                "a search for an idle CPU succeeds if some CPU had its idle flag set during the \
                 whole search"
            }
            Rule::Sequence => {
                "a CPU first sets its idle flag, and then looks for a task; after it took a task, \
                 it clears the flag and searches for idle CPUs"
            }
            Rule::Handler => "a handler that places a task follows one of its paths in the policy",
            Rule::Slice => "a task starts to run with a slice that its handler gives",
            Rule::Key => "a task is enqueued with a key that its handlers can give",
            Rule::Select => "a balance chooses, moves and skips candidates as the policy states",
            Rule::Wakeup => {
                "while a task waits and a CPU that would take this task sleeps, a wakeup is pending"
            }
        }
    }
}

/// A step that the model does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// Which step of the log.
    pub at: usize,
    /// The rule that it breaks.
    pub rule: Rule,
    /// How.
    pub why: String,
}

/// What a rule was applied to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many steps it judged.
    pub judged: u64,
    /// How many of them it could not have refused: their moments overlap too much, or a window was
    /// open.
    pub open: u64,
}

/// What came of a replay.
#[derive(Clone, Debug, Default)]
pub struct Conformance {
    /// The steps that the model does not allow, in the order of the log.
    pub breaks: Vec<Break>,
    /// By rule, in the order of [`Rule::ALL`].
    pub counts: [Count; Rule::ALL.len()],
    /// Failed attempts of CPUs, all of them.
    pub failed: u64,
    /// Those at every instant of which a task waited that the CPU may take.
    pub beside: u64,
    /// For how many of those no removal by another CPU is left.
    pub beyond: u64,
    /// Times in which the kernel did what the model assumes that it does not.
    pub windows: Vec<Window>,
    /// Tasks that began to run though no handler placed them: the kernel did.
    pub(crate) by_kernel: u64,
    /// How many steps are judged: later ones may have seen what a step did that was not over when
    /// the log ended.
    pub certain: usize,
    /// The time of the log, in ns.
    pub span_ns: u64,
}

impl Conformance {
    fn count(&mut self, rule: Rule) -> &mut Count {
        &mut self.counts[rule as usize]
    }

    /// Counts a step, and keeps what is wrong with it.
    fn judge(&mut self, rule: Rule, at: usize, wrong: Option<String>) {
        if at < self.certain {
            self.count(rule).judged += 1;
            self.breaks.extend(wrong.map(|why| Break { at, rule, why }));
        }
    }
}

/// Replays a log in the model of a program on the machine that it ran on. The log must be whole.
pub fn conforms(program: &Program, machine: &Machine, log: &Log) -> Conformance {
    let model = Model::new(program, machine);
    let until = log.certain_until();
    let certain = log.steps.partition_point(|step| step.end < until);
    let mut found = Conformance { certain, ..Conformance::default() };
    let stays = Stays::of(&model, &log.steps, &mut found);
    let flags = Flags::of(&model, &log.steps);
    order::check(&model, &log.steps, &stays, &mut found);
    flags.check(&model, &log.steps, &mut found);
    searches::check(&model, &log.steps, &stays, &flags, &mut found);
    sequence::check(&model, &log.steps, &mut found);
    runs::check(&model, &log.steps, &mut found);
    handlers::check(&model, &log.steps, &mut found);
    slices::check(&model, &log.steps, &mut found);
    keys::check(&model, &log.steps, &mut found);
    balances::check(&model, &log.steps, &stays, &mut found);
    wakeups::check(&model, &log.steps, &stays, &flags, &mut found);
    windows::find(&log.steps, &mut found);
    found.breaks.sort_by_key(|it| it.at);
    found.breaks.retain(|it| it.at < found.certain);
    let times = log.steps.iter().map(|it| it.time_ns);
    let (first, last) = (times.clone().min(), times.max());
    found.span_ns = last.zip(first).map_or(0, |(last, first)| last - first);
    found
}

/// Whether a step begins a search of its own for an idle CPU.
fn is_search(what: What) -> bool {
    matches!(what, What::Find | What::Claim)
}
