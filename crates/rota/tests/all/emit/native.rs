//! The emitted file as a third implementation: compiled natively against stand-ins for the kernel
//! (tests/native), it decides what the interpreter decides.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use wastenot_model::{CpuSet, Machine};
use wastenot_rota::Tree;
use wastenot_rota::emit::{Tables, emit};
use wastenot_rota::ir::Program;

use super::schedule::{Player, Schedule};
use super::{policies, scratch};

/// Compiles what is emitted of a program. `None`: there is no C compiler.
pub(super) fn built(name: &str, program: &Program) -> Option<PathBuf> {
    // Tests run at once, and a program that runs cannot be written anew.
    static BUILT: AtomicUsize = AtomicUsize::new(0);
    Command::new("cc").arg("--version").output().ok()?;
    let name = format!("{name}-{}", BUILT.fetch_add(1, Ordering::Relaxed));
    let (from, to) = (scratch(&format!("{name}.native.c")), scratch(&format!("{name}.native")));
    fs::write(&from, emit(program).expect("it can be emitted")).expect("room");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-w", "-I"]).arg(&folder).arg(format!("-DPOLICY=\"{}\"", from.display()));
    if program.policies.iter().any(|policy| !policy.periodic.is_empty()) {
        cc.arg("-DREGULAR");
    }
    let output = cc.arg(folder.join("driver.c")).arg("-o").arg(&to).output().expect("cc runs");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(to)
}

/// Machines of several shapes.
pub(super) fn machines() -> Vec<Machine> {
    let shape = |cpus: u32, core: u32, llc: u32, node: u32, strided: bool| {
        let mut machine = Machine::flat(cpus as usize);
        for (n, cpu) in machine.cpus.iter_mut().enumerate() {
            // Strided: the second threads of all cores come after the first ones.
            let n = n as u32;
            let place = if strided { n % (cpus / 2) * 2 + n / (cpus / 2) } else { n };
            (cpu.core, cpu.llc, cpu.node) =
                (Some(place / core), Some(place / llc), Some(place / node));
        }
        machine
    };
    vec![
        shape(2, 1, 2, 2, false),
        shape(3, 1, 1, 3, false),
        shape(8, 2, 4, 4, false),
        shape(16, 2, 4, 8, true),
    ]
}

/// The line that tells the driver of the machine.
pub(super) fn tables(machine: &Machine, cpus: usize) -> String {
    let tree = Tree::of(machine, &CpuSet::first(cpus));
    let tables = Tables::of(&[tree]).expect("there is room");
    let mut line = format!("m {cpus}");
    let mut row = |values: &[u16]| {
        values.iter().for_each(|value| write!(line, " {value}").expect("text grows"));
    };
    row(&tables.part_of[..cpus]);
    tables.group_of.iter().for_each(|level| row(&level[..cpus]));
    tables.member.iter().for_each(|level| row(&level[..cpus]));
    for level in &tables.members {
        level[..cpus].iter().for_each(|span| row(&[span.first, span.count]));
    }
    for part in &tables.groups {
        part.iter().for_each(|span| row(&[span.first, span.count]));
    }
    line + "\n"
}

/// What the C decides: a line for each event.
pub(super) fn decided(binary: &Path, input: String) -> Vec<String> {
    let mut child = Command::new(binary)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the driver runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // It ends early only where its output says why.
    let writer = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("the driver ends");
    writer.join().expect("the writer ends");
    String::from_utf8_lossy(&output.stdout).lines().map(sorted).collect()
}

/// A line with its kicks at its end, in order: when they come does not matter.
fn sorted(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (mut text, mut kicks, mut at) = (String::new(), Vec::new(), 0);
    while at < words.len() {
        if words[at] == "kick" {
            kicks.push(format!(" kick {} {}", words[at + 1], words[at + 2]));
            at += 3;
        } else {
            text += &format!(" {}", words[at]);
            at += 1;
        }
    }
    kicks.sort();
    text + &kicks.concat()
}

#[test]
fn compiled_natively_it_decides_what_the_interpreter_decides() {
    const STEPS: usize = 25_000;
    let mut differ = Vec::new();
    for (name, program) in policies() {
        if !program.partitions.is_empty() {
            continue;
        }
        let Some(binary) = built(&name, &program) else {
            println!("SKIPPED emit: cc is missing: apt-get install gcc");
            return;
        };
        for (seed, machine) in machines().iter().enumerate() {
            let tasks = 3 * machine.len() + 2;
            let schedule = Player::new(&program, machine, tasks, seed as u64).play(STEPS);
            let input = tables(machine, machine.len()) + &schedule.events;
            let said = decided(&binary, input);
            differ.extend(
                first_difference(&schedule, &said).map(|it| format!("{name}, {seed}: {it}")),
            );
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}

/// The first event of which C and interpreter make different things.
fn first_difference(schedule: &Schedule, said: &[String]) -> Option<String> {
    let events = schedule.events.lines().filter(|line| !line.starts_with('a'));
    let mut said = said.iter().skip(1);
    events.zip(&schedule.decisions).enumerate().find_map(|(n, (event, expected))| {
        let line = said.next().map_or("nothing", |line| line.as_str());
        (line != expected).then(|| format!("event {n}, `{event}`:{line} instead of{expected}"))
    })
}
