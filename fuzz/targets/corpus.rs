//! Writes the initial corpus of a format: files of the tests' encoders, whole and damaged.
//!
//! `corpus FAMILY FOLDER`, FAMILY being `trace_dat`, `perf_data`, `perfetto`, `text` or `own`.

use std::path::Path;

use wastenot_tests::encode::{Family, encoded};
use wastenot_tests::fuzz::case;
use wastenot_tests::random::Plan;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [family, folder] = &arguments[..] else { panic!("corpus FAMILY FOLDER") };
    let family = match &**family {
        "trace_dat" => Some(Family::TraceDat),
        "perf_data" => Some(Family::PerfData),
        "perfetto" => Some(Family::Perfetto),
        "text" => Some(Family::Text),
        "own" => None,
        other => panic!("no family {other}"),
    };
    std::fs::create_dir_all(folder).expect("a folder");
    for seed in 0..60 {
        let files = match family {
            Some(family) => vec![encoded(family, seed, 12).bytes, case(family, seed, &[])],
            None => {
                let mut bytes = Vec::new();
                let plan = Plan { steps: 12, ..Plan::small(seed) };
                wastenot_read::write::wn(&plan.history(), &mut bytes).expect("memory");
                vec![bytes]
            }
        };
        for (number, bytes) in files.iter().enumerate() {
            let path = Path::new(folder).join(format!("{seed}-{number}"));
            std::fs::write(path, bytes).expect("writable");
        }
    }
}
