//! The grammar of programs: one step a line, no expressions.

use wastenot_model::workload::{
    BarrierId, ConditionId, LockId, MarkId, PipeId, Program, Step, TemplateId, Unbalanced, Variate,
    Waiting,
};
use wastenot_model::{CpuSet, Machine, Span, Workload, shortened};

use super::fields::{LONGEST, read_span, text};
use super::names::{Kind, Names, is_name};
use super::node::{Node, Wrong, wrong};
use wastenot_model::nearest;

/// One form of a step, a time or a wait.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Its syntax.
    pub form: &'static str,
    /// Its meaning.
    pub about: &'static str,
}

/// The steps of programs.
pub const STEPS: &[Form] = &[
    form("compute TIME", "uses this much CPU time"),
    form("compute forever", "uses the CPU until the run is over"),
    form("sleep TIME", "sleeps for this time"),
    form(
        "every 40ms",
        "sleeps until the next period begins; if the task is late, it catches up on the missed \
         periods without sleeping",
    ),
    form("lock L", "acquires a lock of `[locks]`, and waits if another task holds the lock"),
    form("unlock L", "releases the lock"),
    form("barrier B", "waits until all parties of a barrier of `[barriers]` have arrived"),
    form("put P", "puts a token into a pipe of `[pipes]`, and waits while the pipe is full"),
    form("get P", "takes a token from the pipe, and waits while the pipe is empty"),
    form("await C", "waits for the next signal of a condition of `conditions`"),
    form("signal C", "wakes the task that has waited longest for the condition"),
    form("broadcast C", "wakes all tasks that wait for the condition"),
    form("fork T", "creates a task of `[[tasks]]` as a child"),
    form("fork T x 15", "creates this many children"),
    form(
        "exec",
        "starts a new program (as `execve` does); schedulers may migrate the task at this moment",
    ),
    form("run COMMAND", "runs a program and waits until it ends; only in real kernels (`--on`)"),
    form("wait", "waits until one of the task's children has ended"),
    form("wait all", "waits until all children of the task have ended"),
    form("yield", "yields the CPU to another task, if another task is runnable"),
    form("nice 5", "changes the nice value of the task"),
    form("cpus 0-3", "changes the CPUs on which the task may run"),
    form(
        "mark M",
        "records the current time; after an `every`, also records the time since the period began",
    ),
    form("loop 400", "runs the steps between this step and its `end` 400 times"),
    form(
        "loop forever",
        "runs the steps between this step and its `end` again and again, until the run is over",
    ),
    form(
        "unless late 40ms",
        "skips the steps between this step and its `end` if the period began more than 40ms ago",
    ),
    form("end", "ends the nearest `loop` or `unless`"),
];

/// The forms of a TIME.
pub const TIMES: &[Form] = &[
    form("2ms", "the same time at every execution; the units are ns, us, ms, s and m"),
    form("2ms +-5%", "uniform within this percentage of the time"),
    form("uniform(0.2ms, 2ms)", "uniform between the two times"),
    form("exp(150ms)", "exponential with this mean"),
    form(
        "lognormal(8ms, 0.2)",
        "log-normal with this mean and this ratio of standard deviation to mean",
    ),
];

/// How tasks can wait for each other.
pub const WAITINGS: &[Form] = &[
    form("block", "sleeps until another task wakes the task"),
    form("spin", "keeps running and polls"),
    form("spin 1.1ms then block", "polls for this much CPU time, then sleeps"),
];

const fn form(form: &'static str, about: &'static str) -> Form {
    Form { form, about }
}

/// CPU time beyond the end of any run.
pub(crate) const FOREVER: Variate = Variate::Fixed(LONGEST);

/// A program and the position of each of its steps.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) program: Program,
    pub(crate) lines: Vec<usize>,
}

/// Reads a program; its marks and the CPU sets that it uses are added to `workload`.
pub(crate) fn read(
    lines: &[Node],
    machine: &Machine,
    names: &Names,
    workload: &mut Workload,
) -> Result<Written, Wrong> {
    let (mut steps, mut at) = (Vec::new(), Vec::new());
    for line in lines {
        let text = text(line, "program")?;
        Line { text, at: line.at, machine, names }.read(workload, &mut steps)?;
        at.resize(steps.len(), line.at);
    }
    let program = Program::new(steps).map_err(|unbalanced| {
        let (what, step, help) = match unbalanced {
            Unbalanced::End(step) => {
                ("this `end` has no `loop` or `unless`", step, "remove this `end`")
            }
            Unbalanced::Open(step) => {
                ("this step has no `end`", step, "add \"end\" after the steps of the block")
            }
            Unbalanced::Deep(step) => {
                ("the loops are nested too deep", step, "use fewer nested loops")
            }
            Unbalanced::Never(step) => {
                ("the loop has zero rounds", step, "write the number of rounds: \"loop 3\"")
            }
        };
        wrong(at.get(step).copied().unwrap_or_default(), what, help)
    })?;
    Ok(Written { program, lines: at })
}

/// One line of a program.
struct Line<'a> {
    text: &'a str,
    at: usize,
    machine: &'a Machine,
    names: &'a Names,
}

impl Line<'_> {
    fn read(&self, workload: &mut Workload, steps: &mut Vec<Step>) -> Result<(), Wrong> {
        let text = self.text.trim();
        let (verb, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let step = match verb {
            "compute" if rest == "forever" => Step::Compute(FOREVER),
            "compute" => Step::Compute(self.variate(rest)?),
            "sleep" => Step::Sleep(self.variate(rest)?),
            "every" => Step::Beat(self.period(rest)?),
            "lock" => Step::Lock(LockId(self.find(Kind::Lock, rest)?)),
            "unlock" => Step::Unlock(LockId(self.find(Kind::Lock, rest)?)),
            "barrier" => Step::Barrier(BarrierId(self.find(Kind::Barrier, rest)?)),
            "put" => Step::Put(PipeId(self.find(Kind::Pipe, rest)?)),
            "get" => Step::Get(PipeId(self.find(Kind::Pipe, rest)?)),
            "await" => Step::Await(ConditionId(self.find(Kind::Condition, rest)?)),
            "signal" => Step::Signal(ConditionId(self.find(Kind::Condition, rest)?)),
            "broadcast" => Step::Broadcast(ConditionId(self.find(Kind::Condition, rest)?)),
            "fork" => return self.fork(rest, steps),
            "exec" if rest.is_empty() => Step::Exec,
            "run" => Step::Run(workload.command(words(rest).map_err(|help| self.cannot(help))?)),
            "wait" if rest.is_empty() => Step::WaitOne,
            "wait" if rest == "all" => Step::WaitAll,
            "yield" if rest.is_empty() => Step::Yield,
            "nice" => Step::Nice(self.nice(rest)?),
            "cpus" => {
                let cpus =
                    cpus(self.at, rest, self.machine)?.unwrap_or_else(|| self.machine.online());
                Step::Affinity(workload.affinity_of(cpus))
            }
            "mark" if is_name(rest) => Step::Mark(mark(workload, rest)),
            "loop" if rest == "forever" => Step::Loop(None),
            "loop" => Step::Loop(Some(self.count(rest)?)),
            "unless" => {
                let late = rest.strip_prefix("late").ok_or_else(|| self.odd(verb))?;
                Step::UnlessLate(self.period(late)?)
            }
            "end" if rest.is_empty() => Step::End { of: 0 },
            _ => return Err(self.odd(verb)),
        };
        steps.push(step);
        Ok(())
    }

    /// `fork T` or `fork T x 15`.
    fn fork(&self, rest: &str, steps: &mut Vec<Step>) -> Result<(), Wrong> {
        let words: Vec<&str> = rest.split_whitespace().collect();
        match words[..] {
            [child] => steps.push(Step::Fork(TemplateId(self.find(Kind::Task, child)?))),
            [child, "x", times] => {
                let times = self.count(times)?;
                let child = TemplateId(self.find(Kind::Task, child)?);
                steps.extend([Step::Loop(Some(times)), Step::Fork(child), Step::End { of: 0 }]);
            }
            _ => return Err(self.odd("fork")),
        }
        Ok(())
    }

    fn find(&self, kind: Kind, name: &str) -> Result<u32, Wrong> {
        self.names.find(kind, name, self.at)
    }
    fn variate(&self, text: &str) -> Result<Variate, Wrong> {
        read_variate(text).map_err(|help| self.cannot(help))
    }
    fn period(&self, text: &str) -> Result<Span, Wrong> {
        let zero = "write a time above 0".to_owned();
        let span = read_span(text).and_then(|span| (span.0 > 0).then_some(span).ok_or(zero));
        span.map_err(|help| self.cannot(help))
    }
    fn count(&self, text: &str) -> Result<u32, Wrong> {
        text.parse().map_err(|_| self.cannot(format!("write a whole number up to {}", u32::MAX)))
    }
    fn nice(&self, text: &str) -> Result<i8, Wrong> {
        let nice = text.parse().ok().filter(|nice| (-20..=19).contains(nice));
        nice.ok_or_else(|| self.cannot("write a nice value from -20 to 19"))
    }

    fn cannot(&self, help: impl Into<String>) -> Wrong {
        wrong(self.at, format!("the step \"{}\" is invalid", shortened(self.text)), help)
    }
    fn odd(&self, verb: &str) -> Wrong {
        let verbs = || STEPS.iter().map(|step| first_word(step.form));
        let near =
            if verbs().any(|known| known == verb) { Some(verb) } else { nearest(verb, verbs()) };
        let forms = |near: &str| {
            let forms = STEPS.iter().filter(|step| first_word(step.form) == near);
            forms.map(|step| format!("\"{}\"", step.form)).collect::<Vec<_>>().join(" or ")
        };
        match near {
            Some(near) => self.cannot(format!("write {}", forms(near))),
            None => {
                let mut all: Vec<&str> = verbs().collect();
                all.dedup();
                self.cannot(format!("begin a step with one of {}", all.join(", ")))
            }
        }
    }
}

/// The words of a command. As in a shell, quotes keep spaces, and stand nowhere else.
fn words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some(end) if end == letter => break,
                        Some(inner) => word.push(inner),
                        None => return Err("close the quote"),
                    }
                }
            }
            '\0' => return Err("remove the zero byte from the command"),
            _ if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    match words.first().is_some_and(|program| !program.is_empty()) {
        true => Ok(words),
        false => Err("write a program and its arguments: \"run hackbench -g 2 -l 50\""),
    }
}

fn first_word(form: &str) -> &str {
    form.split(' ').next().unwrap_or(form)
}

/// A TIME, or what to write instead.
pub(crate) fn read_variate(text: &str) -> Result<Variate, String> {
    let text = text.trim();
    let within =
        |name: &str| text.strip_prefix(name)?.trim_start().strip_prefix('(')?.strip_suffix(')');
    if let Some(mean) = within("exp") {
        return Ok(Variate::Exponential { mean: read_span(mean)? });
    }
    if let Some(inside) = within("uniform") {
        let (from, to) = inside.split_once(',').ok_or("write `uniform(1ms, 5ms)`")?;
        let (from, to) = (read_span(from)?, read_span(to)?);
        let ordered = (from <= to).then_some(Variate::Uniform { from, to });
        return ordered.ok_or_else(|| "write the shorter time first: `uniform(1ms, 5ms)`".into());
    }
    if let Some(inside) = within("lognormal") {
        let (mean, cv) = inside.split_once(',').ok_or("write `lognormal(8ms, 0.2)`")?;
        let cv = cv.trim().parse().ok().filter(|cv| (0.0..=100.0).contains(cv));
        let cv = cv.ok_or("write a ratio of standard deviation to mean from 0 to 100")?;
        return Ok(Variate::LogNormal { mean: read_span(mean)?, cv });
    }
    let Some((mean, share)) = text.split_once("+-") else {
        return Ok(Variate::Fixed(read_span(text)?));
    };
    let percent = share.trim().strip_suffix('%').and_then(|percent| percent.trim().parse().ok());
    let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
    let percent: f64 = percent.ok_or("write 0 to 100 per cent: `2ms +-5%`")?;
    Ok(Variate::around(read_span(mean)?, percent / 100.0))
}

/// A way of waiting, or what to write instead.
pub(crate) fn read_waiting(text: &str) -> Result<Waiting, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        ["block"] => Ok(Waiting::Block),
        ["spin"] => Ok(Waiting::Spin),
        ["spin", time, "then", "block"] => Ok(Waiting::SpinThenBlock(read_span(time)?)),
        _ => {
            let forms: Vec<&str> = WAITINGS.iter().map(|form| form.form).collect();
            Err(format!("write {}", forms.join(" | ")))
        }
    }
}

/// The CPUs of a list; `None` for `all`.
pub(crate) fn cpus(at: usize, list: &str, machine: &Machine) -> Result<Option<CpuSet>, Wrong> {
    if list.trim() == "all" {
        return Ok(None);
    }
    let form = || {
        wrong(
            at,
            format!("`{}` is not a valid list of CPUs", shortened(list)),
            "write `0-3,8` or `all`",
        )
    };
    let cpus = CpuSet::parse(list).ok_or_else(form)?;
    if cpus.is_empty() {
        return Err(wrong(at, "the list of CPUs is empty", "write `0-3,8` or `all`"));
    }
    let usable = cpus.and(&machine.online());
    if usable.is_empty() {
        let what = format!("the machine has none of the CPUs `{}`", shortened(list));
        let help = format!("use its CPUs: {}", machine.online());
        return Err(wrong(at, what, help));
    }
    if usable != cpus {
        let what = format!("the machine does not have all of the CPUs `{}`", shortened(list));
        return Err(wrong(at, what, format!("use its CPUs: {}", machine.online())));
    }
    Ok(Some(cpus))
}

/// The mark with this name.
pub(crate) fn mark(workload: &mut Workload, name: &str) -> MarkId {
    let known = workload.marks.iter().position(|mark| mark == name);
    known.map_or_else(|| workload.mark(name), |at| MarkId(at as u32))
}
