//! A genome as a scenario: the TOML of `wastenot run`.

use std::fmt::Write;

use wastenot_experiment::{PACE, YARDSTICK};
use wastenot_model::Span;
use wastenot_scenario::scenario::Choice;

use super::{Costs, Genome, LIMIT, Length, Place, Role, Shape, Spread, Step, Waiting};

impl Shape {
    /// As in `--machine`.
    pub fn text(&self) -> String {
        let Shape { nodes, links, caches, cores, threads } = self;
        let links: Vec<String> = links.iter().map(|(a, b)| format!("{a}-{b}")).collect();
        let links =
            if links.is_empty() { String::new() } else { format!("(links={})", links.join(",")) };
        format!("numa:{nodes}{links} l3:{caches} core:{cores} pu:{threads}")
    }
}

impl Genome {
    /// The scenario, for `scheduler`. `about` says in a sentence what it shows.
    pub fn text(&self, scheduler: &Choice, about: &str) -> String {
        let mut to = String::from("schema = \"wastenot.scenario/1\"\n");
        if !about.is_empty() {
            let _ = writeln!(to, "about = {about:?}");
        }
        let _ = writeln!(
            to,
            "machine = \"{}\"\nlimit = \"{}\"\nseeds = 3",
            self.machine.text(),
            LIMIT.exact()
        );
        let _ = writeln!(to, "\n[scheduler]\nname = {:?}", scheduler.name);
        for (name, value) in self.settings(scheduler) {
            let _ = writeln!(to, "{name} = {value:?}");
        }
        if self.costs != Costs::None {
            let _ = writeln!(to, "\n[costs]\nswitch = \"2us\"\nipi = \"{}\"", self.kick().exact());
        }
        to += match self.costs {
            Costs::None | Costs::Switches => "",
            Costs::Moves => {
                "migration = [\"2us\", \"10us\", \"50us\", \"200us\"]\ncold = \"20us\"\n"
            }
            Costs::Late => "scan = \"5us\"\n",
        };
        self.groups_text(&mut to);
        self.shared_text(&mut to);
        for kind in 0..self.kinds.len() {
            self.kind_text(kind, &mut to);
        }
        if let Some((compute, period)) = self.kworker {
            let [compute, period] = [compute, period].map(|ns| Span(ns).exact());
            let _ = writeln!(
                to,
                "\n[[tasks]]\nuse = \"kworker\"\ncompute = \"{compute}\"\nperiod = \"{period}\""
            );
        }
        for it in &self.toggles {
            let [off, on] = [it.off_ns, it.on_ns].map(|ns| Span(ns).exact());
            let _ = writeln!(to, "\n[[hotplug]]\ncpu = {}\noff = \"{off}\"\non = \"{on}\"", it.cpu);
        }
        to
    }

    /// What is set of a scheduler: what is asked goes before what the genome has, and the reference
    /// runs as it is.
    pub(crate) fn settings(&self, scheduler: &Choice) -> Vec<(String, String)> {
        let mut all = scheduler.tunables.clone();
        let paced = (PACE.to_owned(), "even".to_owned());
        let paced = Some(paced).filter(|_| self.even && scheduler.text.is_some());
        let tuned = self.tuned.clone().filter(|_| scheduler.name != YARDSTICK);
        for (name, value) in tuned.into_iter().chain(paced) {
            if !all.iter().any(|(set, _)| *set == name) {
                all.push((name, value));
            }
        }
        all
    }

    fn groups_text(&self, to: &mut String) {
        for (n, group) in self.groups.iter().enumerate() {
            let _ = writeln!(to, "\n[groups.g{n}]");
            if group.session {
                *to += "session = true\n";
            }
            if group.nested {
                let _ = writeln!(to, "parent = \"g{}\"", n - 1);
            }
            if group.shares != 1024 {
                let _ = writeln!(to, "shares = {}", group.shares);
            }
            if let Some(quota) = group.quota_ms {
                let _ = writeln!(to, "quota = \"{quota}ms/100ms\"");
            }
        }
    }

    /// Locks, barriers, and the pipes of calls.
    fn shared_text(&self, to: &mut String) {
        let steps = || self.kinds.iter().flat_map(|kind| &kind.steps);
        for lock in 0..2 {
            if steps().any(|step| matches!(step, Step::Locked(it, _) if *it == lock)) {
                let _ = writeln!(to, "\n[locks.l{lock}]");
            }
        }
        for (n, kind) in self.kinds.iter().enumerate() {
            if kind.has(|step| *step == Step::Meet) {
                let (name, parties) = (self.name(n), kind.count);
                let _ = writeln!(to, "\n[barriers.{name}]\nparties = {parties}");
                waiting_text(kind.waiting, to);
            }
            if self.role(n) == Role::Server {
                let name = self.name(n);
                let _ = writeln!(to, "\n[pipes.{name}]");
                waiting_text(Waiting::Block, to);
                let _ = writeln!(to, "\n[pipes.{name}-answers]");
                waiting_text(Waiting::Block, to);
            }
        }
    }

    /// A name that says what tasks of a kind are for.
    pub(super) fn name(&self, kind: usize) -> String {
        let what = match self.role(kind) {
            Role::Worker if self.kinds[kind].forever => "hog",
            Role::Worker => "worker",
            Role::Server => "server",
            Role::Child => "child",
        };
        format!("{what}-{}", char::from(b'a' + kind as u8))
    }

    fn kind_text(&self, n: usize, to: &mut String) {
        let kind = &self.kinds[n];
        let role = self.role(n);
        let _ = writeln!(to, "\n[[tasks]]\nname = \"{}\"", self.name(n));
        match role {
            Role::Child => *to += "forked = true\n",
            _ if kind.count > 1 => {
                let _ = writeln!(to, "count = {}", kind.count);
            }
            _ => {}
        }
        if role != Role::Child {
            if kind.at_ns > 0 {
                let _ = writeln!(to, "at = \"{}\"", Span(kind.at_ns).exact());
            }
            if kind.from > 0 {
                let _ = writeln!(to, "from = {}", kind.from);
            }
        }
        if kind.nice != 0 {
            let _ = writeln!(to, "nice = {}", kind.nice);
        }
        if let Some(group) = kind.group {
            let _ = writeln!(to, "group = \"g{group}\"");
        }
        if let Some((key, value)) = self.place_text(kind.place) {
            let _ = writeln!(to, "{key} = \"{value}\"");
        }
        if role == Role::Server || kind.forever {
            *to += "background = true\n";
        }
        let lines = self.program(n);
        *to += "program = [\n";
        let mut depth = 1;
        for line in &lines {
            depth -= usize::from(line == "end");
            let _ = writeln!(to, "{:1$}\"{line}\",", "", 2 * depth);
            depth += usize::from(line.starts_with("loop"));
        }
        *to += "]\n";
    }

    /// The steps of a kind of tasks, a line each.
    pub(super) fn program(&self, n: usize) -> Vec<String> {
        let kind = &self.kinds[n];
        let mut lines = Vec::new();
        let role = self.role(n);
        let is_loop = role == Role::Server || kind.forever || kind.rounds > 1;
        match role == Role::Server || kind.forever {
            true => lines.push("loop forever".to_owned()),
            false if is_loop => lines.push(format!("loop {}", kind.rounds)),
            false => {}
        }
        if role == Role::Server {
            lines.push(format!("get {}", self.name(n)));
        }
        if let Some(period_ns) = kind.period_ns {
            lines.push(format!("every {}", Span(period_ns).exact()));
        }
        for step in &kind.steps {
            match *step {
                Step::Compute(length) => lines.push(format!("compute {}", length.text())),
                Step::Sleep(length) => lines.push(format!("sleep {}", length.text())),
                Step::Locked(lock, length) => {
                    lines.push(format!("lock l{lock}"));
                    lines.push(format!("compute {}", length.text()));
                    lines.push(format!("unlock l{lock}"));
                }
                Step::Meet => lines.push(format!("barrier {}", self.name(n))),
                Step::Call(server) => {
                    let server = self.name(usize::from(server));
                    lines.push(format!("put {server}"));
                    lines.push(format!("get {server}-answers"));
                }
                Step::Fork(child, count) => {
                    let child = self.name(usize::from(child));
                    lines.push(match count {
                        1 => format!("fork {child}"),
                        count => format!("fork {child} x {count}"),
                    });
                    lines.push("wait all".to_owned());
                }
                Step::Yield => lines.push("yield".to_owned()),
                Step::Nice(nice) => lines.push(format!("nice {nice}")),
                Step::Move(place) => {
                    let cpus = self.cpus_text(place);
                    lines.push(format!("cpus {cpus}"));
                }
            }
        }
        if role == Role::Server {
            lines.push(format!("put {}-answers", self.name(n)));
        }
        if is_loop {
            lines.push("end".to_owned());
        }
        lines
    }

    fn place_text(&self, place: Place) -> Option<(&'static str, String)> {
        match place {
            Place::Any => None,
            Place::Nodes(mask) => {
                let nodes = (0..8).filter(|node| mask & 1 << node != 0);
                let nodes: Vec<String> = nodes.map(|node: u8| node.to_string()).collect();
                Some(("nodes", nodes.join(",")))
            }
            Place::Cpus(..) => Some(("cpus", self.cpus_text(place))),
        }
    }

    fn cpus_text(&self, place: Place) -> String {
        let range = |first: usize, count: usize| match count {
            1 => format!("{first}"),
            count => format!("{first}-{}", first + count - 1),
        };
        match place {
            Place::Any => range(0, self.machine.cpus()),
            Place::Nodes(mask) => {
                let each = self.machine.cpus() / usize::from(self.machine.nodes);
                let mut ranges: Vec<(usize, usize)> = Vec::new();
                for node in (0..8usize).filter(|node| mask & 1 << node != 0) {
                    match ranges.last_mut() {
                        Some((first, count)) if *first + *count == node * each => *count += each,
                        _ => ranges.push((node * each, each)),
                    }
                }
                let ranges: Vec<String> =
                    ranges.into_iter().map(|(first, count)| range(first, count)).collect();
                ranges.join(",")
            }
            Place::Cpus(first, count) => range(first.into(), count.into()),
        }
    }
}

fn waiting_text(waiting: Waiting, to: &mut String) {
    *to += match waiting {
        Waiting::Block => "",
        Waiting::Spin => "waiting = \"spin\"\n",
        Waiting::Both => "waiting = \"spin 1ms then block\"\n",
    };
}

impl Length {
    fn text(self) -> String {
        let ns = Span(self.ns).exact();
        match self.spread {
            Spread::Fixed => ns,
            Spread::Some => format!("{ns} +-5%"),
            Spread::Wide => format!("exp({ns})"),
        }
    }
}
