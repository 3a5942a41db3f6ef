//! Makes what takes long: the pages in docs/results, the table of ambient load, and the schedulers
//! that kernels must verify. `USAGE` lists the work, and .ci/long.toml says which page comes from
//! which.

mod ambient;
mod beside;
mod causes;
mod elsewhere;
mod emitted;
mod guests;
mod hunts;
mod kernels;
mod knobs;
mod message_passing;
mod mutants;
mod parts;
mod policies;
mod power;
mod seeds;
mod trial;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

const USAGE: &str = "usage: xtask seeds SCENARIOS OUTPUT.md [figures]\n       \
                     xtask policies SCENARIOS OWN OUTPUT.md\n       \
                     xtask mutants POLICIES OUTPUT.md\n       \
                     xtask emitted SEED COUNT POLICIES FOLDER\n       \
                     xtask power POLICIES PAGE.md\n       \
                     xtask messages PAGE.md [ends]\n       \
                     xtask ambient TRACES TABLE.csv\n       \
                     xtask beside TRACES SCENARIOS PAGE.md\n       \
                     xtask causes [SEED] OUTPUT.md [TIMES]\n       \
                     xtask causes SEED FAULT NUMBER\n       \
                     xtask hunt PAGE.md\n       \
                     xtask hunt-policies POLICIES/ PAGE.md\n       \
                     xtask hunt-mutants PAGE.md\n       \
                     xtask hunt-texts POLICIES/ PAGE.md\n       \
                     xtask hunt-suite SUITE/ PAGE.md\n       \
                     xtask hunt-kernel FOUND/ POLICY PAGE.md\n       \
                     xtask scoreboard SUITE/ POLICIES/ PAGE.md\n       \
                     xtask kernels SCENARIOS POLICIES TABLE.csv\n       \
                     xtask kernels TABLE.csv PAGE.md";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // What a guest's first process is, and what becomes QEMU.
    if let ["lab", "qemu", "--", arguments @ ..] = &words[..] {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        return ExitCode::from(wastenot_lab::exec(&arguments));
    }
    let done = match words[..] {
        ["lab", "guest"] => {
            wastenot_lab::guest().map(|()| "done".into()).map_err(|error| error.to_string())
        }
        ["seeds", scenarios, output] => seeds::write(scenarios.as_ref(), output.as_ref(), false),
        ["seeds", scenarios, output, "figures"] => {
            seeds::write(scenarios.as_ref(), output.as_ref(), true)
        }
        ["policies", scenarios, own, output] => {
            policies::write(scenarios.as_ref(), own.as_ref(), output.as_ref())
        }
        ["emitted", seed, count, policies, folder] => {
            emitted::write(seed, count, policies.as_ref(), folder.as_ref())
        }
        ["power", policies, page] => power::write(policies.as_ref(), page.as_ref()),
        ["messages", page] => message_passing::write(page.as_ref(), false),
        ["messages", page, "ends"] => message_passing::write(page.as_ref(), true),
        ["ambient", traces, table] => ambient::write(traces.as_ref(), table.as_ref()),
        ["beside", traces, scenarios, page] => {
            beside::write(traces.as_ref(), scenarios.as_ref(), page.as_ref())
        }
        ["causes", output] => causes::write(causes::SEED, output.as_ref(), u64::MAX),
        ["causes", seed, output] => causes::write(seed, output.as_ref(), u64::MAX),
        ["causes", seed, output, times] if output.ends_with(".md") => {
            causes::number(times).and_then(|times| causes::write(seed, output.as_ref(), times))
        }
        ["causes", seed, fault, number] => causes::show(seed, fault, number),
        ["kernels", scenarios, policies, table] => {
            kernels::run(scenarios.as_ref(), policies.as_ref(), table.as_ref())
        }
        ["kernels", table, page] => kernels::write(table.as_ref(), page.as_ref()),
        ["hunt", page] => hunts::faults(page.as_ref()),
        ["hunt-policies", folder, page] => hunts::policies(folder.as_ref(), page.as_ref()),
        ["hunt-texts", folder, page] => hunts::texts(folder.as_ref(), page.as_ref()),
        ["hunt-kernel", found, policy, page] => {
            hunts::confirmed(found.as_ref(), policy.as_ref(), page.as_ref())
        }
        ["hunt-suite", suite, page] => hunts::suite(suite.as_ref(), page.as_ref()),
        ["scoreboard", suite, policies, page] => {
            hunts::scoreboard(suite.as_ref(), policies.as_ref(), page.as_ref())
        }
        ["hunt-mutants", page] => hunts::mutants(page.as_ref()),
        ["mutants", folder, output] => mutants::write(folder.as_ref(), output.as_ref()),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(verdict) => {
            let _ = writeln!(io::stdout(), "{verdict}");
            ExitCode::SUCCESS
        }
        Err(what) => {
            let _ = writeln!(io::stderr(), "xtask: {what}");
            ExitCode::from(2)
        }
    }
}
