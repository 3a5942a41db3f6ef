//! Random policies: one queue or two, of any levels, puts here and there, any balance, regular ones
//! too, and sometimes a broken protocol.

use wastenot_model::workload::Random;

/// What is drawn. Those that are tame mostly are as they should be: the first of what there is.
struct Draw<'r> {
    random: &'r mut Random,
    tame: bool,
}

/// A text that may mean something.
pub(super) fn text(random: &mut Random) -> String {
    let tame = random.below(2) == 0;
    let mut draw = Draw { random, tame };
    let two = draw.random.below(3) == 0;
    let levels = ["cpu", "smt", "llc", "node", "machine"];
    let [q, w] = [0, 1].map(|_| levels[draw.random.below(5) as usize]);
    let second = if two { format!("queue w : fifo per {w}") } else { String::new() };
    let takes = match two {
        true => draw.pick(&["take c.q else take c.w else ", "take c.q else "]),
        false => draw.pick(&["take c.q else ", ""]),
    };
    let puts = [0, 1].map(|_| draw.put(two));
    let claims = draw.pick(&["", "", " within llc", " within node"]);
    let balance = draw.balance(two);
    let (regular, settles) = match draw.random.below(3) {
        0 => (draw.regular(), ", settles"),
        _ => (String::new(), ""),
    };
    let moves = if regular.is_empty() { "" } else { draw.pick(&[" + periodic_moves", ""]) };
    let broken = [
        "unsafe protocol { enqueue: kick, insert }",
        "unsafe protocol { idle: no_rescan }",
        "unsafe protocol { dispatch: no_chain }",
    ];
    let protocol = match draw.random.below(8) {
        0 => draw.pick(&["", broken[0], broken[1], broken[2]]),
        _ => "",
    };
    format!(
        "policy p() {{
            queue q : fifo per {q}
            {second}
            on new(t), wake(t) {{
                let c = idle cpu in allowed(t){claims} near t.prev by [llc]
                if c {{ run t on c }} else {{ {} }}
            }}
            on preempt(t), yield(t) {{ {} }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ {takes}balance idle }}
            {balance}
            {regular}
            {protocol}
            prove work_conservation, no_lost_wakeup, rounds(<= idle_cpus{moves}){settles}
        }}",
        puts[0], puts[1]
    )
}

impl Draw<'_> {
    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let as_it_should_be = self.tame && self.random.below(8) > 0;
        if as_it_should_be {
            words[0]
        } else {
            words[self.random.below(words.len() as u64) as usize]
        }
    }

    fn put(&mut self, two: bool) -> String {
        let wake = self.pick(&["", "", " wake within llc", " wake within node"]);
        let at = self.pick(&["home(t)", "home(t)", "t.prev", "here"]);
        match self.random.below(if two { 3 } else { 1 }) {
            0 => format!("put t in {at}.q{wake}"),
            1 => format!("put t in {at}.w{wake}"),
            _ => format!(
                "if queued({at}.q) >= 1 {{ put t in {at}.w{wake} }} \
                 else {{ put t in {at}.q{wake} }}"
            ),
        }
    }

    fn balance(&mut self, two: bool) -> String {
        let levels = self.pick(&["machine", "node, machine", "llc, machine", "node"]);
        let filter = self.condition(2);
        let from = if two { " from v.q" } else { "" };
        let recheck = match self.random.below(5) {
            0 => {
                let seen = "queued(v.q) >= min(1, seen(queued(v.q)))";
                let (same, fewer) =
                    ("queued(v.q) = seen(queued(v.q))", "queued(v.q) <= seen(queued(v.q))");
                format!(" and {}", self.pick(&[seen, same, fewer]))
            }
            _ => String::new(),
        };
        let retry = self.pick(&["untried", "untried", "0", "1"]);
        format!(
            "balance idle {{
                level {levels}
                filter(me, v) = {filter}
                choose argmax queued(v.q) tie near(me)
                steal 1{from} where me in allowed(t){recheck}
                retry {retry}
            }}"
        )
    }

    fn regular(&mut self) -> String {
        let leader = self.pick(&["", " on leader(node)", " on leader(llc)"]);
        let level = self.pick(&["machine", "node", "llc, machine"]);
        let filter = match self.random.below(8) {
            0 => self.condition(0),
            _ => format!("queued(v.q) - queued(me.q) >= {}", self.pick(&["2", "3", "1"])),
        };
        format!(
            "balance every 4ms{leader} {{
                level {level}
                filter(me, v) = {filter}
                choose argmax queued(v.q)
                steal 1 into me.q
            }}"
        )
    }

    /// A condition on `me` and `v`, which has a queue.
    fn condition(&mut self, depth: u64) -> String {
        let kind = self.pick(&["plain", "compare", "and", "or", "or", "fold"]);
        match kind {
            "compare" => {
                let how = self.pick(&[">=", "<", "<=", ">", "!="]);
                format!("{} {how} {}", self.number(), self.number())
            }
            "and" | "or" if depth > 0 => {
                let (a, b) = (self.condition(depth - 1), self.condition(depth - 1));
                format!("({a} {kind} {b})")
            }
            "fold" if depth > 0 => {
                let (fold, level) =
                    (self.pick(&["min", "max", "mean"]), self.pick(&["node", "llc", "smt"]));
                format!("({fold} c in {level}(me) : running(c)) < queued(v.q)")
            }
            _ => "queued(v.q) >= 1".to_owned(),
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
            "half(queued(v.q))",
        ])
    }
}
