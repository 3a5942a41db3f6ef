//! Random programs for the emitter alone: expressions as deep as they may be written, any queues,
//! several regular balances, slices, parameters, partitions. Provers have no words for most.

use wastenot_model::workload::Random;

const LEVELS: [&str; 5] = ["cpu", "smt", "llc", "node", "machine"];
const COMPARES: [&str; 6] = ["<", "<=", ">", ">=", "=", "!="];

/// A random program, which may or may not compile: one policy, or two on two sets of CPUs.
pub fn program(random: &mut Random) -> String {
    match random.below(6) {
        0 => {
            let two = ["p", "r"].map(|name| policy(name, random));
            two.concat()
                + "partition front on node 0 runs p for cgroup \"web*\"\n\
                   partition back on rest runs r for rest\n"
        }
        _ => policy("p", random),
    }
}

fn policy(name: &str, random: &mut Random) -> String {
    let many = 1 + random.below(3) as usize;
    let queues = ["q", "w", "z"][..many].iter();
    let mut queue = |name: &&'static str| Queue {
        name,
        level: [0, 0, 0, 1, 2, 3, 4][random.below(7) as usize],
        keyed: random.below(3) == 0,
    };
    let queues = queues.map(&mut queue).collect();
    let depth = 1 + random.below(3) as usize;
    Wide { random, queues, depth, at: At::Handler, items: 0, ran: false, placed: false }
        .policy(name)
}

struct Queue {
    name: &'static str,
    /// Index into [`LEVELS`].
    level: usize,
    /// It is ordered by `t.vt`.
    keyed: bool,
}

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq)]
enum At {
    Handler,
    /// `v`, and `me` if the flag is set, are groups of this level; `me` else is a CPU.
    Balance(usize, bool),
    /// A period.
    Nowhere,
}

struct Wide<'r> {
    random: &'r mut Random,
    queues: Vec<Queue>,
    /// So deep are expressions.
    depth: usize,
    at: At,
    /// So many members of sets are named around an expression: `i0`, `i1`.
    items: usize,
    ran: bool,
    placed: bool,
}

impl Wide<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound as u64) as usize
    }

    fn one(&mut self, of: &[&str]) -> String {
        of[self.below(of.len())].to_owned()
    }

    fn policy(mut self, name: &str) -> String {
        let queue = |it: &Queue| {
            let order = if it.keyed { "ordered(vt)" } else { "fifo" };
            format!("queue {} : {order} per {}\n", it.name, LEVELS[it.level])
        };
        let queues: String = self.queues.iter().map(queue).collect();
        let placing = [0, 1, 2, 3].map(|n| self.placing(n < 2));
        let [block, exit, start, tick] = [0, 1, 2, 3].map(|_| self.some());
        self.ran = true;
        let stop = self.some();
        self.ran = false;
        let (takes, idle) = self.dispatch();
        let regular: String =
            (0..self.below(4).saturating_sub(1)).map(|_| self.regular()).collect();
        format!(
            "policy {name}(slice: time = 3ms, edge: count = 2, load: weight = 150) {{
                task {{
                    vt: time = 0 owner queue, b: count = 0 owner queue
                    w: weight = 100 owner queue
                }}
                cpu {{
                    x: count = 0 owner cpu, n: count = 0 shared, at: time = 7ms owner cpu
                    all: weight = 0 shared
                }}
                {queues}
                on new(t) {{ {} }}
                on wake(t) {{ {} }}
                on preempt(t) {{ {} }}
                on yield(t) {{ {} }}
                on block(t) {{ {block} }}
                on exit(t) {{ {exit} }}
                on start(t) {{ {start} }}
                on stop(t, ran) {{ {stop} }}
                on tick(t) {{ {tick} }}
                on dispatch(c) {{ {takes} }}
                {idle}
                {regular}
            }}\n",
            placing[0], placing[1], placing[2], placing[3]
        )
    }

    /// Where a CPU looks, and how it balances.
    fn dispatch(&mut self) -> (String, String) {
        let mut takes: Vec<String> =
            self.queues.iter().map(|it| format!("take c.{}", it.name)).collect();
        let first = self.below(takes.len());
        takes.rotate_left(first);
        if self.below(4) == 0 && takes.len() > 1 {
            takes.pop();
        }
        let narrow: Vec<usize> =
            (0..self.queues.len()).filter(|n| self.queues[*n].level < 4).collect();
        if narrow.is_empty() {
            return (takes.join(" else "), String::new());
        }
        let from = narrow[self.below(narrow.len())];
        let place = self.below(takes.len() + 1).max(self.below(takes.len() + 1));
        takes.insert(place, "balance idle".into());
        let (name, level, keyed) =
            (self.queues[from].name, self.queues[from].level, self.queues[from].keyed);
        self.at = At::Balance(level, false);
        let (levels, filter, choose) = (self.levels(level), self.filter(name), self.choose());
        self.at = At::Handler;
        let rebase = if keyed { self.one(&["", " rebase vt"]) } else { String::new() };
        let retry = self.one(&["untried", "untried", "0", "1", "5"]);
        let idle = format!(
            "balance idle {{
                level {levels}
                filter(me, v) = {filter}
                {choose}
                steal 1 from v.{name} where me in allowed(t){rebase}
                retry {retry}
            }}"
        );
        (takes.join(" else "), idle)
    }

    fn regular(&mut self) -> String {
        let from = self.below(self.queues.len());
        let (name, level, keyed) =
            (self.queues[from].name, self.queues[from].level, self.queues[from].keyed);
        if level == 4 {
            return String::new();
        }
        self.at = At::Nowhere;
        let period = match self.below(3) {
            0 => format!("max(1ms, {})", self.time(1)),
            _ => self.one(&["4ms", "slice", "100us"]),
        };
        self.at = At::Balance(level, true);
        let (levels, filter, choose) = (self.levels(level), self.filter(name), self.choose());
        let count = match self.below(3) {
            0 => self.count(self.depth),
            _ => self
                .one(&["1", "edge", "64", "half(queued(v.q))"])
                .replace("v.q", &format!("v.{name}")),
        };
        let (into, rebase) = match self.below(3) {
            0 => {
                let other = self.below(self.queues.len());
                let Queue { name, level: wide, .. } = self.queues[other];
                (format!("{}.{name}", group(wide.max(level), "me")), String::new())
            }
            _ if keyed => (format!("me.{name}"), self.one(&["", " rebase vt"])),
            _ => (format!("me.{name}"), String::new()),
        };
        self.at = At::Handler;
        let leader = self.one(&["", "", " on leader(smt)", " on leader(llc)", " on leader(node)"]);
        let retry = self.one(&["untried", "untried", "0", "2"]);
        format!(
            "balance every {period}{leader} {{
                level {levels}
                filter(me, v) = {filter}
                {choose}
                steal {count} from v.{name} into {into}{rebase}
                retry {retry}
            }}\n"
        )
    }

    /// Some levels wider than that of a queue.
    fn levels(&mut self, level: usize) -> String {
        let mut levels: Vec<&str> = Vec::new();
        for wide in LEVELS.iter().take(5).skip(level + 1) {
            if self.below(2) == 0 {
                levels.push(wide);
            }
        }
        if levels.is_empty() { "machine".into() } else { levels.join(", ") }
    }

    fn filter(&mut self, queue: &str) -> String {
        match self.below(4) {
            0 => format!("queued(v.{queue}) >= 1"),
            1 => self.bool(self.depth),
            _ => format!("queued(v.{queue}) >= 1 and ({})", self.bool(self.depth)),
        }
    }

    fn choose(&mut self) -> String {
        let near = self.one(&["", " tie near(me)"]);
        match self.below(5) {
            0 => format!("choose any{near}"),
            _ => {
                let (how, key) = (self.one(&["argmax", "argmin"]), self.number(self.depth));
                format!("choose {how} {key}{near}")
            }
        }
    }

    /// The handler of an event that places its task.
    fn placing(&mut self, wakes: bool) -> String {
        let before = self.some();
        let body = match self.below(6) {
            _ if !wakes => self.put(),
            0 => self.put(),
            1 => format!("if {} {{ {} }} else {{ {} }}", self.bool(1), self.claim(), self.put()),
            _ => self.claim(),
        };
        self.placed = true;
        let after = self.some();
        self.placed = false;
        format!("{before}\n{body}\n{after}")
    }

    /// Claims an idle CPU, or two, and puts the task.
    fn claim(&mut self) -> String {
        let find = |name: &str, this: &mut Self| {
            let within = this.one(&["", "", " within smt", " within llc", " within node"]);
            let near = this.cpu();
            let by = this.one(&["smt", "llc, machine", "smt, llc", "smt, llc, node, machine"]);
            format!("let {name} = idle cpu in allowed(t){within} near {near} by [{by}]")
        };
        let first = find("c", self);
        let second = find("d", self);
        let [a, b, slice] = [0, 1, 2].map(|n| if n < 2 { self.slice() } else { self.put() });
        match self.below(3) {
            0 => format!(
                "{first}\n if c {{ run t on c{a} }} else {{\n {second}\n if d {{ run t on d{b} }} \
                 else {{ {slice} }} }}"
            ),
            1 => format!("{slice}\n {first}\n if c {{ kick c }}"),
            _ => format!("{first}\n if c {{ run t on c{a} }} else {{ {slice} }}"),
        }
    }

    fn slice(&mut self) -> String {
        match self.below(5) {
            0 => String::new(),
            1 => " slice forever".into(),
            2 => format!(" slice max(1ms, {})", self.time(1)),
            _ => self.one(&[" slice slice", " slice half(slice)", " slice 2ms"]),
        }
    }

    fn put(&mut self) -> String {
        let wake = self.one(&["", "", "", " wake within smt", " wake within llc"]);
        let put = |this: &mut Self| {
            let which = this.below(this.queues.len());
            let name = this.queues[which].name;
            let (slice, cpu) = (this.slice(), this.cpu());
            match this.below(6) {
                0 => {
                    let (best, set) = (this.one(&["argmin", "argmax"]), this.set(true));
                    let key = this.member(|this| this.number(this.depth.min(2)));
                    let pick = format!("let h = {best} i0 in {set} : {key}\n");
                    format!("{pick} put t in h.{name}{slice}{wake}")
                }
                _ => format!("put t in {cpu}.{name}{slice}{wake}"),
            }
        };
        match self.below(4) {
            0 => {
                let (a, b) = (put(self), put(self));
                format!("if {} {{ {a} }} else {{ {b} }}", self.bool(self.depth))
            }
            _ => put(self),
        }
    }

    /// A few statements that place no task.
    fn some(&mut self) -> String {
        let many = self.below(4).saturating_sub(1);
        let all: Vec<String> = (0..many).map(|_| self.statement(2)).collect();
        all.join("\n ")
    }

    fn statement(&mut self, depth: usize) -> String {
        let deep = self.depth;
        match self.below(if self.placed { 8 } else { 11 }) {
            0 | 1 if depth > 0 => {
                let (condition, then) = (self.bool(deep), self.statement(depth - 1));
                let other = match self.below(2) {
                    0 => String::new(),
                    _ => format!(" else {{ {} }}", self.statement(depth - 1)),
                };
                format!("if {condition} {{ {then} }}{other}")
            }
            2 => format!("here.x := {}", self.count(deep)),
            3 => format!("{}.n += {}", self.cpu(), self.count(deep)),
            4 => format!("here.at := {}", self.time(deep)),
            5 => format!("here.at += {}", self.time(deep)),
            6 => format!("{}.all += {}", self.cpu(), self.weight(deep)),
            8 => format!("t.vt += {}", self.time(deep)),
            9 => format!("t.b := {}", self.count(deep)),
            10 => format!("t.w := {}", self.weight(deep)),
            _ => format!("kick {}{}", self.cpu(), self.one(&["", " preempt"])),
        }
    }
}

/// Expressions.
impl Wide<'_> {
    /// A CPU.
    fn cpu(&mut self) -> String {
        if self.items > 0 && self.below(2) == 0 {
            return format!("i{}", self.below(self.items));
        }
        match self.at {
            At::Handler => self.one(&["home(t)", "home(t)", "t.prev", "here"]),
            At::Balance(0, _) => self.one(&["v", "v", "me"]),
            At::Balance(_, false) => "me".into(),
            At::Balance(..) | At::Nowhere => "here".into(),
        }
    }

    /// A CPU or a group, and its level.
    fn place(&mut self) -> (usize, String) {
        let here = self.at;
        let (at, inner) = match here {
            At::Balance(level, groups) if self.below(3) > 0 => match self.below(3) {
                0 if !groups => (0, "me".into()),
                0 => (level, "me".into()),
                _ => (level, "v".into()),
            },
            _ => (0, self.cpu()),
        };
        match self.below(3) {
            0 if self.below(2) == 0 => (4, "machine".into()),
            0 => {
                let wide = 1 + self.below(3);
                (wide.max(at), group(wide, &inner))
            }
            _ => (at, inner),
        }
    }

    /// The CPUs of a place, or those where the task may run.
    fn set(&mut self, any: bool) -> String {
        if self.at == At::Handler && any && self.below(3) == 0 {
            return "allowed(t)".into();
        }
        match self.place() {
            (0, cpu) => group(1 + self.below(3), &cpu),
            (_, place) => place,
        }
    }

    /// An expression about one more member of a set.
    fn member(&mut self, of: impl FnOnce(&mut Self) -> String) -> String {
        self.items += 1;
        let text = of(self);
        self.items -= 1;
        text
    }

    /// A queue, if one can be named.
    fn queue(&mut self, keyed: bool) -> Option<String> {
        let which: Vec<usize> =
            (0..self.queues.len()).filter(|n| self.queues[*n].keyed || !keyed).collect();
        if which.is_empty() {
            return None;
        }
        let which = which[self.below(which.len())];
        let (name, level) = (self.queues[which].name, self.queues[which].level);
        let (at, place) = self.place();
        (at <= level).then(|| format!("{place}.{name}"))
    }

    fn number(&mut self, depth: usize) -> String {
        match self.below(3) {
            0 => self.time(depth),
            1 => self.weight(depth),
            _ => self.count(depth),
        }
    }

    /// What all dimensions have: sums, parts, bounds, folds.
    fn wide(&mut self, depth: usize, of: fn(&mut Self, usize) -> String) -> String {
        let (a, b) = (of(self, depth - 1), of(self, depth - 1));
        match self.below(10) {
            0 | 1 => format!("({a} + {b})"),
            2 => format!("({a} - {b})"),
            3 => format!("min({a}, {b})"),
            4 => format!("max({a}, {b})"),
            5 => format!("half({a})"),
            6 => format!("({a} * {})", self.one(&["2", "50%", "3"])),
            7 => format!("({a} / {})", self.one(&["2", "7"])),
            8 if self.at != At::Nowhere => {
                format!("decayed({a}, {}, {})", self.time(depth - 1), self.one(&["3ms", "slice"]))
            }
            _ if self.items < 2 && self.at != At::Nowhere => {
                let (fold, set) = (self.one(&["sum", "min", "max", "mean"]), self.set(true));
                let item = self.items;
                let body = self.member(|this| of(this, depth - 1));
                format!("({fold} i{item} in {set} : {body})")
            }
            _ => a,
        }
    }

    fn count(&mut self, depth: usize) -> String {
        let plain = match self.below(9) {
            0 => self.one(&["0", "1", "2", "100"]),
            1 => "edge".into(),
            2 | 3 => match self.queue(false) {
                Some(queue) if !self.placed => format!("queued({queue})"),
                _ => "1".into(),
            },
            4 if self.at != At::Nowhere => format!("running({})", self.place().1),
            5 if self.at != At::Nowhere => format!("cpus({})", self.place().1),
            6 if self.at == At::Handler => self.one(&["t.b", "t.job"]),
            7 if self.at != At::Nowhere && depth > 0 && self.items < 2 => {
                let (set, item) = (self.set(true), self.items);
                let body = self.member(|this| this.bool(depth - 1));
                return format!("(count i{item} in {set} : {body})");
            }
            _ => self.of_cpu(&["x", "n"], "2"),
        };
        if depth > 0 && self.below(2) == 0 { self.wide(depth, Self::count) } else { plain }
    }

    fn time(&mut self, depth: usize) -> String {
        let plain = match self.below(9) {
            0 => self.one(&["1ms", "20ms", "3s", "0ns"]),
            1 => "slice".into(),
            2 => "now".into(),
            3 if self.ran => "ran".into(),
            3 | 4 if self.at == At::Handler => "t.vt".into(),
            5 => match self.queue(true) {
                Some(queue) if !self.placed && self.at != At::Nowhere => format!("min_vt({queue})"),
                _ => "now".into(),
            },
            6 if depth > 0 => {
                return format!("scaled({}, {})", self.time(depth - 1), self.weight(depth - 1));
            }
            7 => self.one(&["until(10ms)", "until(slice)"]),
            _ => self.of_cpu(&["at"], "1us"),
        };
        if depth > 0 && self.below(2) == 0 { self.wide(depth, Self::time) } else { plain }
    }

    fn weight(&mut self, depth: usize) -> String {
        let plain = match self.below(5) {
            0 if self.at == At::Handler => self.one(&["t.weight", "t.w"]),
            1 if self.at != At::Nowhere => format!("weight({})", self.place().1),
            2 => match self.queue(false) {
                Some(queue) if !self.placed && self.at != At::Nowhere => format!("weight({queue})"),
                _ => "load".into(),
            },
            3 => self.of_cpu(&["all"], "load"),
            _ => "load".into(),
        };
        if depth > 0 && self.below(2) == 0 { self.wide(depth, Self::weight) } else { plain }
    }

    /// A variable of a CPU, if one can be named.
    fn of_cpu(&mut self, vars: &[&str], none: &str) -> String {
        let wide = matches!(self.at, At::Balance(1.., true) | At::Nowhere);
        match wide && self.items == 0 {
            true => none.to_owned(),
            false => format!("{}.{}", self.cpu(), self.one(vars)),
        }
    }

    fn bool(&mut self, depth: usize) -> String {
        let less = depth.saturating_sub(1);
        match self.below(if depth > 0 { 12 } else { 6 }) {
            0 => format!("running({}) >= 1", self.place().1),
            1 if !self.placed && matches!(self.at, At::Handler | At::Balance(0, _)) => {
                format!("idle({})", self.cpu())
            }
            2 if self.at == At::Handler => format!("{} in allowed(t)", self.cpu()),
            3 => {
                let (a, wide) = (self.place(), 1 + self.below(3));
                let b = self.place();
                match a.0 <= wide.max(b.0) {
                    true => format!("{} in {}", a.1, group(wide.max(b.0), &b.1)),
                    false => "edge >= 2".into(),
                }
            }
            6 => format!("({} and {})", self.bool(less), self.bool(less)),
            7 => format!("({} or {})", self.bool(less), self.bool(less)),
            8 => format!("not ({})", self.bool(less)),
            9 | 10 if self.items < 2 => {
                let (fold, set) = (self.one(&["exists", "forall"]), self.set(true));
                let item = self.items;
                let body = self.member(|this| this.bool(less));
                format!("({fold} i{item} in {set} : {body})")
            }
            _ => {
                let how = COMPARES[self.below(COMPARES.len())];
                let of: fn(&mut Self, usize) -> String = match self.below(4) {
                    0 => Self::time,
                    1 => Self::weight,
                    _ => Self::count,
                };
                format!("{} {how} {}", of(self, less), of(self, less))
            }
        }
    }
}

/// The group of a level that contains a place.
fn group(level: usize, place: &str) -> String {
    match level {
        0 => place.to_owned(),
        4 => "machine".to_owned(),
        level => format!("{}({place})", LEVELS[level]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn many_texts_mean_something() {
        let (mut mean, mut wrong) = (0, BTreeMap::new());
        for seed in 0..2_000 {
            let text = program(&mut Random::stream(seed, 0, 0));
            match wastenot_rota::compile(&text) {
                Ok(_) => mean += 1,
                Err(faults) => {
                    let fault = faults.into_iter().next().expect("a fault");
                    let at = fault.span.start as usize;
                    let text = text[at..fault.span.end as usize].to_owned();
                    wrong.entry((fault.code, fault.message)).or_insert((0, text)).0 += 1;
                }
            }
        }
        println!("{mean} of 2000; {wrong:#?}");
        assert!(mean > 500, "{mean} {wrong:#?}");
    }
}
