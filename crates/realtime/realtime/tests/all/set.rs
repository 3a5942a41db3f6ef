//! One set, judged: as a curve of a sweep judges it.

use std::collections::BTreeMap;

use wastenot_bounds::verdict::{Reason, Verdict};
use wastenot_realtime::overheads::{Measured, curves};
use wastenot_realtime::set::Request;
use wastenot_realtime::sweep::{NAMES, Outcome, Plan, Wanted, Working};
use wastenot_realtime::{Error, Implementation};
use wastenot_scenario::overheads::read;
use wastenot_scenario::sweep::sweep;

/// Points at which sets are rejected for every reason that a sweep has.
const TEXT: &str = r#"
schema = "wastenot.sweep/1"
sets = 8
overheads = "table"
criteria = ["hard"]
cache_delay = 1
[points]
cpus = [2, 4]
tasks_per_cpu = [2, 4]
total = [0.5, 1, 1.5, 2]
utilizations = "randfixedsum"
periods = "log-uniform 1-20 ms"
working_sets = "4-64 KiB"
[[curves]]
name = "one lock"
implementation = "gsn-edf"
[[curves]]
name = "message passing"
implementation = "gedf-mp"
"#;

/// Small overheads for few tasks, and more than sets bear for many.
const TABLE: &str = "kind,at,max_us\nschedule,,3\nhandler,,3\nrelease,4,3\nrelease,8,30\n\
                     release,16,900\nlatency,4,10\nlatency,8,40\nlatency,16,4000\n\
                     cache_delay,4,1\ncache_delay,64,40\n";

fn table() -> Measured {
    Measured { name: "table".into(), table: read("table", TABLE.as_bytes()).expect("a table") }
}

#[test]
fn a_curve_and_a_report_give_the_same_answer() {
    let sweep = sweep("reasons.toml", TEXT, &NAMES).unwrap_or_else(|e| panic!("{e}"));
    let table = table();
    let of = |wanted: &Wanted| {
        let curves = curves(&table.table, wanted.criterion).expect("once");
        Ok::<_, Error>(curves.expect("maxima"))
    };
    let plan = Plan::new(&sweep, of).expect("a plan");
    let Outcome::Whole(swept) = plan.run(&Working::default(), |_| {}).expect("judged") else {
        panic!("points are missing");
    };
    let implementations = [Implementation::GsnEdf, Implementation::GedfMp];
    let mut tally: BTreeMap<char, u64> = BTreeMap::new();
    for (point, row) in sweep.points.iter().zip(&swept.rows) {
        let maker = point.recipe.maker().expect("a maker");
        for (n, implementation) in implementations.into_iter().enumerate() {
            for (number, letter) in row.verdicts[n].chars().enumerate() {
                let made = maker.make(point.seed(sweep.seed), number as u64).expect("a set");
                let request = Request {
                    cpus: point.cpus,
                    cluster: None,
                    implementation,
                    tests: &[],
                    overheads: Some(&table),
                    extrapolate: true,
                };
                let answer = request.answer("it", &made.tasks).expect("an answer");
                let json = serde_json::to_value(&answer.report).expect("JSON");
                let at = format!("{point}, set {number}: {letter} and {}", json["cause"]);
                *tally.entry(letter).or_default() += 1;
                match &answer.verdict {
                    Verdict::Schedulable(_) => assert_eq!(letter, Reason::NONE, "{at}"),
                    // What misses without overheads is rejected with them, for any reason.
                    Verdict::Unschedulable(_) => assert_ne!(letter, Reason::NONE, "{at}"),
                    Verdict::Unknown => {
                        let same = |reason: &&Reason| json["cause"] == reason.word();
                        let reason = *Reason::ALL.iter().find(same).expect("a reason");
                        // A sweep does not look at windows.
                        let seen = if reason == Reason::Demand { Reason::Test } else { reason };
                        assert_eq!(letter, seen.letter(), "{at}");
                    }
                }
            }
        }
    }
    let letters: String = tally.keys().collect();
    assert_eq!(letters, "ADILTU", "{tally:?}");
}
