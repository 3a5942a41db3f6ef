//! Histories written as lines: `TIME EVENT ARGS`, tasks by letters, `-` for the idle task.

use std::collections::BTreeMap;

use wastenot_model::{
    Builder, By, Carries, Change, Context, CpuId, CpuSet, Entry, Event, Head, History, How, Left,
    Machine, Prio, Sink, Task, TaskId, Time,
};

/// What a full source carries, affinities aside.
pub(crate) fn full() -> Carries {
    let all = Carries::ALL.iter().fold(Carries::NONE, |all, (carry, _, _)| all | *carry);
    all.without(Carries::AFFINITY)
}

/// A History told line by line:
///
/// - `T switch CPU PREV NEXT LEFT` (LEFT as in prev_state: R R+ S D X)
/// - `T waking CPU TASK PREV` · `T queued CPU TASK ON` · `T new CPU TASK ON`
/// - `T migrate CPU TASK TO` · `T fork CPU PARENT CHILD` · `T lost CPU`
/// - `T up CPU` · `T down CPU` · `T mask TASK LIST` · `T throttled TASK yes|no`
/// - `T nice TASK NICE` · `T cgroup TASK PATH`
/// - `T end`
///
/// A line may end in `by TASK`, `by irq` or `by softirq`: in whose context it was recorded.
pub(crate) fn story(cpus: usize, carries: Carries, lines: &str) -> History {
    told(Machine::flat(cpus), carries, lines)
}

/// The same on a machine of which more is known.
pub(crate) fn told(machine: Machine, carries: Carries, lines: &str) -> History {
    let mut head = Head::new(machine);
    head.carries = carries;
    let mut teller = Teller { sink: Builder::new(head), tasks: BTreeMap::new() };
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        teller.tell(line);
    }
    teller.sink.finish()
}

struct Teller {
    sink: Builder,
    tasks: BTreeMap<String, TaskId>,
}

impl Teller {
    fn task(&mut self, word: &str, cpu: CpuId) -> TaskId {
        if word == "-" {
            return TaskId::idle(cpu);
        }
        if let Some(&task) = self.tasks.get(word) {
            return task;
        }
        let name = self.sink.name(word);
        let task = self.sink.task(Task::new(100 + self.tasks.len() as i32, name));
        self.tasks.insert(word.to_owned(), task);
        task
    }

    /// In whose context a line was recorded.
    fn by(&mut self, words: &[&str], at: CpuId) -> By {
        match words.iter().position(|word| *word == "by").map(|at| words[at + 1]) {
            Some("irq") => By { task: Some(TaskId::idle(at)), context: Context::Hardirq },
            Some("softirq") => By { task: Some(TaskId::idle(at)), context: Context::Softirq },
            Some(task) => By::task(self.task(task, at)),
            None => By { task: None, context: Context::Unknown },
        }
    }

    fn tell(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let time = Time(words[0].parse().expect("a time"));
        let cpu = |word: &str| CpuId(word.parse().expect("a CPU"));
        let prio = Prio::UNKNOWN;
        let mut at = CpuId(0);
        let event = match words[1] {
            "switch" => {
                at = cpu(words[2]);
                let (prev, next) = (self.task(words[3], at), self.task(words[4], at));
                self.sink.push(Entry::switch(time, at, prev, next, left(words[5])));
                return;
            }
            "waking" => {
                at = cpu(words[2]);
                let task = self.task(words[3], at);
                Event::Waking { task, prev: Some(cpu(words[4])), prio }
            }
            word @ ("queued" | "new") => {
                at = cpu(words[2]);
                let how = if word == "new" { How::New } else { How::Wakeup };
                let task = self.task(words[3], at);
                Event::Queued { task, on: Some(cpu(words[4])), how, prio }
            }
            "migrate" => {
                at = cpu(words[2]);
                let task = self.task(words[3], at);
                Event::Migrate { task, from: None, to: cpu(words[4]) }
            }
            "fork" => {
                at = cpu(words[2]);
                let parent = self.task(words[3], at);
                Event::Fork { parent, child: self.task(words[4], at) }
            }
            "lost" => {
                at = cpu(words[2]);
                Event::Lost { count: None }
            }
            word @ ("up" | "down") => Event::Cpu { cpu: cpu(words[2]), up: word == "up" },
            "mask" => {
                let mask = self.sink.mask(&CpuSet::parse(words[3]).expect("a list of CPUs"));
                let task = self.task(words[2], at);
                Event::Changed { task, what: Change::Affinity(mask) }
            }
            "throttled" => {
                let task = self.task(words[2], at);
                Event::Changed { task, what: Change::Throttled(words[3] == "yes") }
            }
            "cgroup" => {
                let group = self.sink.name(words[3]);
                let task = self.task(words[2], at);
                Event::Changed { task, what: Change::Cgroup(group) }
            }
            "nice" => {
                let task = self.task(words[2], at);
                Event::Changed { task, what: Change::Nice(words[3].parse().expect("nice")) }
            }
            "end" => {
                self.sink.head().window.to = time;
                return;
            }
            other => panic!("no such event: {other}"),
        };
        let by = self.by(&words, at);
        self.sink.push(Entry { time, cpu: at, by, event });
    }
}

fn left(letters: &str) -> Left {
    let mut letters = letters.chars();
    match (letters.next(), letters.next()) {
        (Some('R'), Some('+')) => Left::Preempted,
        (Some(letter), _) => Left::from_letter(letter),
        _ => Left::Unknown,
    }
}
