//! The page.

use std::fmt::Write;

use super::score::Scores;
use super::truth::{Case, View};

pub(super) fn page(seed: u64, cases: &[Case], failed: &[String]) -> String {
    let mut t = format!("# Causes {seed}\n");
    failed.iter().for_each(|f| t += f);
    for view in View::ALL {
        let s = Scores::of(cases, view);
        let p = |x: Option<f64>| x.map_or("-".into(), |x| format!("{x:.2}"));
        let _ = writeln!(t, "\n## {}\n", view.name());
        for (name, x) in [("all", &s.all), ("positive", &s.positive)].into_iter().map(|(a,b)| (a,b)).chain(s.by_fault.iter().map(|(a,b)| (*a,b))).chain(s.by_class.iter().map(|(a,b)| (*a,b))) {
            let _ = writeln!(t, "{name:24} cases {:3} pos {:3} truth {:8.3}s prec {} recall {} open {:.3} mean {} {} left {} little {}", x.cases, x.positive, x.truth_ns/1e9, p(x.precision()), p(x.recall()), x.open_ns/x.truth_ns, p(x.mean_precision()), p(x.mean_recall()), p(x.left()), x.little_left);
        }
        for (c, row) in &s.confusion {
            let _ = writeln!(t, "{c:24} prec {} {:?}", p(s.precision(c)), row.iter().map(|(k,v)| format!("{k}={:.3}", v/1e9)).collect::<Vec<_>>());
        }
    }
    t
}

pub(super) fn verdict(cases: &[Case]) -> String {
    let s = Scores::of(cases, View::Whole);
    format!("precision {:?} recall {:?}", s.all.precision(), s.all.recall())
}

/// The figures of every case, in ns.
pub(super) fn csv(cases: &[Case]) -> String {
    let mut text = "fault,number,class,machine,scheduler,view,truth,cpu,on,off,leaves\n".to_owned();
    for case in cases {
        for view in View::ALL {
            let found = &case.found[view as usize];
            let list = |of: &super::truth::ByCause| {
                let each = of.iter().map(|(cause, ns)| format!("{cause}={ns:.0}"));
                each.collect::<Vec<_>>().join(" ")
            };
            let _ = writeln!(
                text,
                "{},{},{},\"{}\",{},{},{:.0},{:.0},{},{},{}",
                case.fault.name,
                case.number,
                case.fault.class,
                case.machine,
                case.scheduler,
                view.name(),
                found.truth_ns,
                found.cpu_ns,
                list(&found.on),
                list(&found.off),
                list(&found.leaves)
            );
        }
    }
    text
}
