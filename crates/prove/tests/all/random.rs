//! Random policies: explorer and solver are each other's judge.
//!
//! What a solver proves of any number of CPUs, no small machine breaks; and what a small machine
//! breaks, a solver does not prove.

use std::time::Duration;

use wastenot_model::workload::Random;
use wastenot_prove::explore::{Bounds, search};
use wastenot_prove::{Finding, Options, Outcome, judge};
use wastenot_rota::ir::Policy;

use crate::solvers::solvers;

/// Policies in `make test`; `WASTENOT_POLICIES` asks for more.
const POLICIES: u64 = 150;
/// Situations that a proof is held against.
const MOST: u64 = 20_000;
const BOUNDS: Bounds = Bounds { cpus: 3, tasks: 3, events: 1 };

#[test]
fn what_is_proved_no_small_machine_breaks_and_the_other_way_round() {
    let test = "what_is_proved_no_small_machine_breaks_and_the_other_way_round";
    let Some(solver) = solvers(test).into_iter().next() else { return };
    let options = Options {
        solvers: vec![solver],
        cache: None,
        patience: Duration::from_secs(20),
        bounds: BOUNDS,
    };
    let asked = std::env::var("WASTENOT_POLICIES").ok().and_then(|text| text.parse().ok());
    let count: u64 = asked.unwrap_or(POLICIES);
    let (mut tried, mut proved, mut refuted, mut open) = (0, 0, 0, 0);
    let mut seed = 0;
    while proved + refuted + open < count {
        seed += 1;
        tried += 1;
        let text = text(&mut Random::stream(seed, 0, 0));
        let Ok(program) = wastenot_rota::compile(&text) else { continue };
        let policy = &program.policies[0];
        let verdict = judge(policy, &options).expect("an answer").remove(0);
        let holds = verdict.obligations.iter().all(|it| it.finding == Finding::Holds);
        match &verdict.outcome {
            Outcome::Refuted(found) => {
                refuted += 1;
                assert!(!holds, "proved and broken by seed {seed}: {}\n{text}", found.why());
            }
            Outcome::Proved(_) if holds => {
                proved += 1;
                let found = search_long(policy);
                assert!(found.is_none(), "proved and broken by seed {seed}: {found:?}\n{text}");
            }
            _ => open += 1,
        }
    }
    let share = |part: u64, of: u64| 100 * part / of;
    let judged = proved + refuted + open;
    println!(
        "{tried} texts, {} % mean something; {} % proved, {} % refuted, {} % neither",
        share(judged, tried),
        share(proved, judged),
        share(refuted, judged),
        share(open, judged)
    );
    assert!(share(judged, tried) >= 10 && share(proved, judged) >= 10, "most mean nothing");
    assert!(share(refuted, judged) >= 10, "hardly any is wrong");
}

fn search_long(policy: &Policy) -> Option<String> {
    let claim = &policy.claims[0].kind;
    search(policy, claim, BOUNDS, MOST)?.found.map(|found| found.why)
}

/// A policy: queues of some level, puts at home, and a balance with anything in it.
pub(crate) fn text(random: &mut Random) -> String {
    let pick = |random: &mut Random, words: &[&str]| -> String {
        words[random.below(words.len() as u64) as usize].to_owned()
    };
    let per = pick(random, &["cpu", "cpu", "smt", "llc", "node"]);
    let levels = pick(
        random,
        &["machine", "machine", "node, machine", "llc, machine", "llc, node, machine", "node"],
    );
    let filter = condition(random, 2);
    let retry = pick(random, &["untried", "untried", "untried", "untried", "0", "1"]);
    let recheck = match random.below(6) {
        0 => format!(" and {}", condition(random, 1)),
        1 => " and queued(v.q) = seen(queued(v.q))".to_owned(),
        _ => String::new(),
    };
    let put = pick(random, &["home(t)", "home(t)", "home(t)", "t.prev", "here"]);
    let claim = pick(random, &["work_conservation", "rounds(<= idle_cpus)"]);
    format!(
        "policy p() {{
            queue q : fifo per {per}
            on new(t), wake(t) {{
                let c = idle cpu in allowed(t) near t.prev by [llc]
                if c {{ run t on c }} else {{ put t in {put}.q }}
            }}
            on preempt(t), yield(t) {{ put t in home(t).q }}
            on block(t), exit(t) {{ }}
            on dispatch(c) {{ take c.q else balance idle }}
            balance idle {{
                level {levels}
                filter(me, v) = {filter}
                choose argmax queued(v.q) tie near(me)
                steal 1 where me in allowed(t){recheck}
                retry {retry}
            }}
            prove {claim}
        }}"
    )
}

/// A condition on `me`, a CPU, and `v`, which has a queue of that level.
fn condition(random: &mut Random, depth: u64) -> String {
    match random.below(if depth == 0 { 4 } else { 8 }) {
        0 | 1 => "queued(v.q) >= 1".to_owned(),
        2 => format!("{} >= {}", number(random), random.below(3)),
        3 => format!(
            "{} {} {}",
            number(random),
            ["<", "<=", ">", ">=", "!="][random.below(5) as usize],
            number(random)
        ),
        4 => format!("({} and {})", condition(random, depth - 1), condition(random, depth - 1)),
        5 | 6 => format!("({} or {})", condition(random, depth - 1), condition(random, depth - 1)),
        _ => {
            let fold = ["min", "max", "mean"][random.below(3) as usize];
            let level = ["node", "llc", "smt"][random.below(3) as usize];
            format!("({fold} c in {level}(me) : running(c)) < queued(v.q)")
        }
    }
}

fn number(random: &mut Random) -> String {
    let all = [
        "queued(v.q)",
        "queued(me.q)",
        "running(v)",
        "running(me)",
        "cpus(v)",
        "(queued(v.q) + running(v))",
        "(queued(v.q) - queued(me.q))",
        "half(queued(v.q))",
    ];
    all[random.below(all.len() as u64) as usize].to_owned()
}
