//! Random policies and profiles for tests, and what runs of policies must show.
//!
//! Policies have every construct about queues, CPUs and tasks, in every combination. Most of the
//! texts compile; some of those are correct and some are wrong. The prover, the explorer, the
//! interpreter and the emitter must agree about each of them. Emitted C runs in a random order,
//! too: [`together`]. A [`sample`] of the grammar parses, but need not compile.

mod attempts;
pub mod grammar;
mod profile;
mod sample;
pub mod together;
mod wide;
mod worst;

pub use attempts::{Attempts, attempts};
pub use profile::profile;
pub use sample::sample;
use wastenot_model::workload::Random;
pub use wide::program;
pub use worst::Worst;

/// A random text, which may or may not compile. It makes every claim that can be made about it.
pub fn policy(random: &mut Random) -> String {
    let [tame, keeps, keyed, two] =
        [2, 2, 4, 3].map(|of: u64| random.below(of) == 0 && (of != 2 || random.below(8) > 0));
    let levels = ["cpu", "cpu", "smt", "llc", "node", "machine"];
    let [q, w] = [0, 1].map(|_| levels[random.below(6) as usize]);
    let w = two.then_some(w);
    Draw { random, tame, keeps, keyed, q, w, placed: false }.policy()
}

/// The random choices for one text.
struct Draw<'r> {
    random: &'r mut Random,
    /// Mostly the safe choice: the first of the alternatives.
    tame: bool,
    /// The policy has CPU variables: `x` and `n` are counts, `at` is a time.
    keeps: bool,
    /// Its queue `q` is ordered by `vt`.
    keyed: bool,
    /// The level of `q`, and of `w` if it exists.
    q: &'static str,
    w: Option<&'static str>,
    /// The task is already placed. From here on no statement reads the state of queues and CPUs:
    /// the interpreter inserts the task only after the handler, the model inserts it at once.
    placed: bool,
}

impl Draw<'_> {
    fn policy(&mut self) -> String {
        let (q, order) = (self.q, if self.keyed { "ordered(vt)" } else { "fifo" });
        let vars = [
            if self.keyed { "task { vt: time = 0 owner queue }" } else { "" },
            match self.keeps {
                true => {
                    "cpu { x: count = 0 owner cpu, n: count = 0 shared, at: time = 0 owner cpu }"
                }
                false => "",
            },
        ];
        let second = self.w.map_or(String::new(), |w| format!("queue w : fifo per {w}"));
        let (woken, put) = (self.woken(), self.placing());
        let [block, start, tick] = [0, 1, 2].map(|_| self.few());
        let stop = self.stop();
        let (takes, balance) = (self.takes(), self.balance());
        let regular = if self.random.below(3) == 0 { self.regular() } else { String::new() };
        let (protocol, claims) = (self.protocol(), self.claims(!regular.is_empty()));
        format!(
            "policy p() {{
                {}
                {}
                queue q : {order} per {q}
                {second}
                on new(t), wake(t) {{ {woken} }}
                on preempt(t), yield(t) {{ {put} }}
                on block(t), exit(t) {{ {block} }}
                on start(t) {{ {start} }}
                on stop(t, ran) {{ {stop} }}
                on tick(t) {{ {tick} }}
                on dispatch(c) {{ {takes} }}
                {balance}
                {regular}
                {protocol}
                prove {claims}
            }}",
            vars[0], vars[1]
        )
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        match self.tame && self.random.below(8) > 0 {
            true => words[0],
            false => words[self.random.below(words.len() as u64) as usize],
        }
    }

    /// The claims: a random policy claims everything, except claims that cannot apply to it.
    fn claims(&mut self, regular: bool) -> String {
        let moves = if regular { self.pick(&[" + periodic_moves", ""]) } else { "" };
        let settles = if regular { ", settles" } else { "" };
        let wait = if self.keyed { "" } else { ", wait(dispatches <= position + direct_runs)" };
        let keys = if self.keyed { ", vt_monotone, lag(<= 2ms)" } else { "" };
        format!(
            "work_conservation, no_lost_wakeup, no_lost_task, rounds(<= \
             idle_cpus{moves}){settles}{wait}{keys}"
        )
    }

    fn protocol(&mut self) -> &'static str {
        let broken = [
            "",
            "unsafe protocol { enqueue: kick, insert }",
            "unsafe protocol { idle: no_rescan }",
            "unsafe protocol { dispatch: no_chain }",
            "unsafe protocol { steal: unchecked }",
        ];
        if self.random.below(10) == 0 { self.pick(&broken) } else { "" }
    }

    fn takes(&mut self) -> &'static str {
        match self.w {
            // There is one such queue, so there is no other queue to take from.
            Some(_) if self.q == "machine" => {
                self.pick(&["take c.q else take c.w", "take c.w else take c.q", "take c.q"])
            }
            None if self.q == "machine" => "take c.q",
            Some(_) => self.pick(&[
                "take c.q else take c.w else balance idle",
                "take c.w else take c.q else balance idle",
                "take c.q else balance idle else take c.w",
                "take c.q else balance idle",
            ]),
            None => self.pick(&[
                "take c.q else balance idle",
                "take c.q else balance idle",
                "balance idle else take c.q",
                "balance idle",
            ]),
        }
    }
}

/// Handlers.
impl Draw<'_> {
    /// The handler of a new or waking task.
    fn woken(&mut self) -> String {
        let within = self.pick(&["", "", "", " within llc", " within node"]);
        let near = self.pick(&["t.prev", "t.prev", "here", "home(t)"]);
        let key = if self.keyed { self.key() } else { String::new() };
        let (before, put, after) = (self.few(), self.put(), self.after());
        let claim = format!("let c = idle cpu in allowed(t){within} near {near} by [smt, llc]");
        let body = match self.random.below(8) {
            0 => put,
            1 => format!("{put}\n {claim}\n if c {{ kick c }}"),
            _ => format!("{claim}\n if c {{ run t on c }} else {{ {put} }}"),
        };
        // A CPU variable may be set before the key is set, or between that and the put.
        match self.random.below(2) {
            0 => format!("{before}\n {key}\n {body}\n {after}"),
            _ => format!("{key}\n {before}\n {body}\n {after}"),
        }
    }

    /// The handler of a task whose slice is over.
    fn placing(&mut self) -> String {
        let (before, put, after) = (self.few(), self.put(), self.after());
        format!("{before}\n {put}\n {after}")
    }

    fn stop(&mut self) -> String {
        let (before, after) = (self.few(), self.few());
        let rises = if self.keyed {
            self.pick(&[
                "t.vt += ran",
                "t.vt += scaled(ran, t.weight)",
                "t.vt := max(t.vt, now)",
                "t.vt := t.vt + ran / 2",
                "if ran >= 1ms { t.vt += ran }",
            ])
        } else {
            ""
        };
        let kept = match self.keeps {
            true => self.pick(&[
                "",
                "here.at += ran",
                "here.at := ran",
                "let a = here.at\n here.at := ran\n here.at += a - ran",
            ]),
            false => "",
        };
        format!("{before}\n {kept}\n {rises}\n {after}")
    }

    /// The key of a waking task.
    fn key(&mut self) -> String {
        let least = "t.vt := max(t.vt, min_vt(home(t).q) - 2ms)";
        let plain = ["", "t.vt := min_vt(home(t).q)", "t.vt := max(t.vt, now)", "t.vt := now"];
        let kept = [
            "let a = here.at\n here.at := 1ms\n t.vt := max(t.vt + here.at - a, min_vt(home(t).q))",
            "here.at += 1us\n t.vt := max(t.vt, min_vt(home(t).q) + here.at - 1us)",
            "t.vt := max(t.vt, here.at)\n here.at := t.vt",
        ];
        let all: Vec<&str> = match self.keeps {
            true => [least].into_iter().chain(plain).chain(kept).collect(),
            false => [least].into_iter().chain(plain).collect(),
        };
        self.pick(&all).to_owned()
    }

    /// A few statements that do not place the task.
    fn few(&mut self) -> String {
        let many = self.random.below(4).saturating_sub(1);
        let all: Vec<String> = (0..many).map(|_| self.aside()).collect();
        all.join("\n ")
    }

    /// The same, after the task is placed.
    fn after(&mut self) -> String {
        self.placed = true;
        let few = self.few();
        self.placed = false;
        few
    }

    /// A statement that does not place the task.
    fn aside(&mut self) -> String {
        let kick = ["kick home(t)", "kick here", "kick t.prev", "kick home(t) preempt"];
        if !self.keeps {
            return match self.random.below(3) {
                0 => format!("if {} {{ {} }}", self.asks(), self.pick(&kick)),
                _ => self.pick(&kick).to_owned(),
            };
        }
        let all = [
            "here.x += 1",
            "here.n += 1",
            "home(t).n += 1",
            "here.x := 0",
            "here.x := 1",
            "here.x := half(here.x + here.n)",
            "here.at := now",
            "here.x := here.x - 1",
            "here.x := queued(home(t).q)",
            "t.prev.n += running(llc(here))",
        ];
        let sets = if self.placed { &all[..all.len() - 2] } else { &all[..] };
        match self.random.below(6) {
            0 => self.pick(&kick).to_owned(),
            1 => format!("if {} {{ {} }}", self.asks(), self.pick(sets)),
            2 => format!(
                "if {} {{ {} }} else {{ {} }}",
                self.asks(),
                self.pick(sets),
                self.pick(&kick)
            ),
            _ => self.pick(sets).to_owned(),
        }
    }

    /// The condition of a branch in a handler.
    fn asks(&mut self) -> &'static str {
        let kept = ["here.x >= 2", "home(t).n <= here.x", "here.at <= now"];
        let all = [
            "t.weight > 100",
            "t.weight <= 80",
            "now >= 5ms",
            "here in llc(t.prev)",
            "idle(home(t))",
            "queued(home(t).q) >= 1",
        ];
        let plain = if self.placed { &all[..all.len() - 2] } else { &all[..] };
        match self.keeps && self.random.below(2) == 0 {
            true => kept[self.random.below(kept.len() as u64) as usize],
            false => plain[self.random.below(plain.len() as u64) as usize],
        }
    }

    fn put(&mut self) -> String {
        let wake = self.pick(&["", "", "", " wake within llc", " wake within node"]);
        let mut at = self.pick(&["home(t)", "home(t)", "home(t)", "t.prev", "here"]);
        let mut before = String::new();
        if self.random.below(6) == 0 {
            let best = self.pick(&["argmin", "argmax"]);
            let set = self.pick(&["allowed(t)", "allowed(t)", "llc(t.prev)", "machine"]);
            let least =
                if self.keeps { ["queued(o.q)", "o.n"] } else { ["queued(o.q)", "running(o)"] };
            let least = self.pick(&least);
            at = "h";
            before = format!("let h = {best} o in {set} : {least}\n ");
            if self.keeps && self.random.below(2) == 0 {
                before += "h.n += 1\n ";
            }
        }
        let queues = if self.w.is_some() { 3 } else { 1 };
        let put = match self.random.below(queues) {
            0 => format!("put t in {at}.q{wake}"),
            1 => format!("put t in {at}.w{wake}"),
            _ => {
                let asks = self.asks();
                format!("if {asks} {{ put t in {at}.w{wake} }} else {{ put t in {at}.q{wake} }}")
            }
        };
        before + &put
    }
}

/// Balances.
impl Draw<'_> {
    /// Levels wider than a given one, in order; the last is mostly the machine.
    fn levels(&mut self) -> String {
        let wider: Vec<&str> = match self.q {
            "cpu" => vec!["machine", "node, machine", "llc, machine", "smt, llc, machine", "node"],
            "smt" => vec!["machine", "node, machine", "llc, node, machine", "llc"],
            "llc" => vec!["machine", "node, machine", "node"],
            _ => vec!["machine"],
        };
        self.pick(&wider).to_owned()
    }

    fn balance(&mut self) -> String {
        if self.q == "machine" {
            return String::new();
        }
        let (levels, filter) = (self.levels(), self.condition(2, false));
        let recheck = match self.random.below(5) {
            0 => format!(" and {}", self.recheck()),
            _ => String::new(),
        };
        let rebase = if self.keyed { self.pick(&[" rebase vt", ""]) } else { "" };
        let retry = self.pick(&["untried", "untried", "untried", "0", "1"]);
        format!(
            "balance idle {{
                level {levels}
                filter(me, v) = {filter}
                choose argmax queued(v.q) tie near(me)
                steal 1 from v.q where me in allowed(t){recheck}{rebase}
                retry {retry}
            }}"
        )
    }

    fn recheck(&mut self) -> String {
        let kept = ["v.n = seen(v.n)", "v.x <= seen(v.x)", "me.n >= seen(v.n)"];
        let same = "queued(v.q) >= min(1, seen(queued(v.q)))";
        match self.random.below(6) {
            0 => self.condition(1, false),
            1 => self.pick(&[same, "t.weight >= 50", "t.weight <= weight(v.q)"]).to_owned(),
            2 if self.keeps && self.q == "cpu" => self.pick(&kept).to_owned(),
            3 => self.pick(&[same, "seen(running(me)) = running(me)"]).to_owned(),
            _ => self
                .pick(&[
                    same,
                    "queued(v.q) = seen(queued(v.q))",
                    "queued(v.q) <= seen(queued(v.q))",
                    "weight(v.q) >= seen(weight(v.q))",
                ])
                .to_owned(),
        }
    }

    fn regular(&mut self) -> String {
        if self.q == "machine" {
            return String::new();
        }
        let leader = self.pick(&["", " on leader(node)", " on leader(llc)"]);
        let levels = self.levels();
        let filter = match self.random.below(6) {
            0 => self.condition(1, true),
            _ => format!("queued(v.q) - queued(me.q) >= {}", self.pick(&["2", "3", "1"])),
        };
        let into = match self.w {
            Some(_) => self.pick(&["me.q", "me.w", "llc(me).w", "machine.w"]),
            None => self.pick(&["me.q", "me.q", "llc(me).q"]),
        };
        let count = self.pick(&["1", "1", "2", "half(queued(v.q) - queued(me.q))"]);
        let rebase = match self.keyed && into.ends_with(".q") {
            true => self.pick(&[" rebase vt", ""]),
            false => "",
        };
        format!(
            "balance every 4ms{leader} {{
                level {levels}
                filter(me, v) = {filter}
                choose argmax queued(v.q)
                steal {count} from v.q into {into}{rebase}
            }}"
        )
    }

    /// A condition on `me` and `v`. `v` has a queue of that level; with `wide`, so has `me`.
    fn condition(&mut self, depth: u64, wide: bool) -> String {
        let kind = self.pick(&["plain", "compare", "and", "or", "or", "fold", "kept", "weighs"]);
        match kind {
            "compare" => {
                let how = self.pick(&[">=", "<", "<=", ">", "!=", "="]);
                let many = self.random.below(3).to_string();
                let (a, b) = (self.number(), self.number());
                format!("{a} {how} {}", if self.random.below(3) == 0 { &many } else { b })
            }
            "and" | "or" if depth > 0 => {
                let (a, b) = (self.condition(depth - 1, wide), self.condition(depth - 1, wide));
                format!("({a} {kind} {b})")
            }
            "fold" if depth > 0 => self.fold(),
            "kept" if self.keeps => self.kept(wide),
            "weighs" => self
                .pick(&[
                    "weight(v.q) >= 1",
                    "weight(v.q) > weight(me)",
                    "weight(v.q) >= weight(me.q)",
                    "weight(v) <= 100",
                ])
                .to_owned(),
            _ => "queued(v.q) >= 1".to_owned(),
        }
    }

    fn fold(&mut self) -> String {
        let level = self.pick(&["node", "llc", "smt"]);
        let of = match self.keeps {
            true => self.pick(&["running(c)", "c.x", "c.n"]),
            false => "running(c)",
        };
        match self.random.below(5) {
            0 => format!("(exists c in {level}(v) : {of} >= 1)"),
            1 => format!("(count c in {level}(me) : {of} >= 1) <= queued(v.q)"),
            _ => {
                let fold = self.pick(&["min", "max", "mean", "sum"]);
                format!("({fold} c in {level}(me) : {of}) < queued(v.q)")
            }
        }
    }

    /// A condition on CPU variables; for a group, on those of all its CPUs.
    fn kept(&mut self, wide: bool) -> String {
        let of = |whom: &str, wide: bool, var: &str| match wide {
            true => format!("(sum o in {whom} : o.{var})"),
            false => format!("{whom}.{var}"),
        };
        let var = self.pick(&["n", "x", "at"]);
        let theirs = of("v", self.q != "cpu", var);
        let mine = of("me", wide && self.q != "cpu", var);
        let how = self.pick(&[">=", "<=", "!=", "=", "<"]);
        match (var, self.random.below(3)) {
            ("at", 0) => format!("{theirs} {how} {mine}"),
            ("at", _) => format!("now {how} {theirs}"),
            (_, 0) => format!("{theirs} {how} {mine}"),
            (_, 1) => format!("queued(v.q) {how} {theirs}"),
            _ => format!("{mine} {how} {}", self.random.below(3)),
        }
    }

    fn number(&mut self) -> &'static str {
        self.pick(&[
            "queued(v.q)",
            "queued(me.q)",
            "running(v)",
            "running(me)",
            "cpus(v)",
            "(queued(v.q) + running(v))",
            "(queued(v.q) - queued(me.q))",
            "half(queued(v.q))",
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn most_texts_mean_something() {
        let (mut mean, mut wrong) = (0, BTreeMap::new());
        for seed in 0..2_000 {
            let text = policy(&mut Random::stream(seed, 0, 0));
            match wastenot_rota::compile(&text) {
                Ok(_) => mean += 1,
                Err(faults) => {
                    let fault = faults.into_iter().next().expect("a fault");
                    *wrong.entry((fault.code, fault.message)).or_insert(0) += 1;
                }
            }
        }
        println!("{mean} of 2000; {wrong:#?}");
        assert!(mean > 1_000, "{mean} {wrong:#?}");
    }
}
