//! The emitted file as a third implementation: compiled natively against stand-ins for the kernel
//! (testing/chance/native), it makes the same decisions as the interpreter.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use wastenot_model::Machine;
use wastenot_model::workload::Random;
use wastenot_needs::effort;
use wastenot_rota::emit::{Tables, emit};
use wastenot_rota::ir::{Event, Place, Policy, Program, Stmt, Visitor, visit_block};
use wastenot_rota::{Tree, partitions};

use super::{policies, scratch, vocabulary};
use crate::schedule::{Player, Schedule};

/// Compiles the emitted C of a program. `None`, with a message: there is no C compiler.
pub(super) fn built(name: &str, program: &Program) -> Option<PathBuf> {
    // Tests run in parallel, and a running program's file cannot be overwritten.
    static BUILT: AtomicUsize = AtomicUsize::new(0);
    if !wastenot_needs::program("emit", "cc", "gcc") {
        return None;
    }
    let name = format!("{name}-{}", BUILT.fetch_add(1, Ordering::Relaxed));
    let (from, to) = (scratch(&format!("{name}.native.c")), scratch(&format!("{name}.native")));
    fs::write(&from, emit(program).expect("it can be emitted")).expect("room");
    let folder = wastenot_chance::together::native();
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-w", "-I"]).arg(&folder).arg(format!("-DPOLICY=\"{}\"", from.display()));
    if program.policies.iter().any(|policy| !policy.periodic.is_empty()) {
        cc.arg("-DREGULAR");
    }
    if program.partitions.len() > 1 {
        cc.arg("-DPARTED");
    }
    let output = cc.arg(folder.join("driver.c")).arg("-o").arg(&to).output().expect("cc runs");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(to)
}

/// Machines with different topologies.
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

/// The line that describes the machine to the driver. `None`: some partition has no CPU there.
pub(super) fn tables(program: &Program, machine: &Machine) -> Option<String> {
    let parts = partitions::cpus(program, machine);
    let trees: Vec<Tree> = parts.iter().map(|cpus| Tree::of(machine, cpus)).collect();
    let cpus = machine.len();
    let numbers = Tables::of(&trees)?.numbers(cpus).into_iter();
    let words: Vec<String> = numbers.map(|number| number.to_string()).collect();
    Some(format!("m {cpus} {}\n", words.join(" ")))
}

/// The decisions of the C: a line for each event.
pub(super) fn decided(binary: &Path, input: String) -> Vec<String> {
    let mut child = Command::new(binary)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the driver runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // If the driver ends early, its output states the reason.
    let writer = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().expect("the driver ends");
    writer.join().expect("the writer ends");
    String::from_utf8_lossy(&output.stdout).lines().map(sorted).collect()
}

/// A line with the moves and kicks at its end sorted, since their order is not specified.
fn sorted(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (mut text, mut moves, mut kicks, mut at) = (String::new(), Vec::new(), Vec::new(), 0);
    while at < words.len() {
        match words[at] {
            "kick" => kicks.push(format!(" kick {} {}", words[at + 1], words[at + 2])),
            "move" => moves.push(format!(" move {}", words[at + 1])),
            word => text += &format!(" {word}"),
        }
        at += match words[at] {
            "kick" => 3,
            "move" => 2,
            _ => 1,
        };
    }
    kicks.sort();
    moves.sort();
    text + &moves.concat() + &kicks.concat()
}

/// Short schedules of each policy.
const SCHEDULES: u64 = 200;
/// The maximum number of events in a short schedule, and the number in the long schedule of each
/// machine.
const SHORT: u64 = 100;
const LONG: usize = 20_000;
/// Short schedules for one start of the driver.
const BATCH: u64 = 500;

/// Random policies.
const RANDOM: u64 = 4;

#[test]
fn compiled_natively_it_decides_what_the_interpreter_decides() {
    let (schedules, mut held) = (effort(SCHEDULES), Held::default());
    for (name, program) in policies().into_iter().chain(vocabulary::policies()) {
        if !held.hold(&name, &program, schedules, LONG) {
            return;
        }
    }
    assert!(held.differ.is_empty(), "{:#?}", held.differ);
    println!("{} events in {schedules} short schedules a policy and the long ones", held.events);
}

/// The same for random policies, each with a tenth of the schedules.
#[test]
fn compiled_natively_random_policies_decide_what_the_interpreter_decides() {
    let schedules = effort(SCHEDULES) / 10;
    let (mut held, mut left) = (Held::default(), effort(RANDOM).min(100));
    for seed in 1.. {
        if left == 0 {
            break;
        }
        let text = wastenot_chance::policy(&mut Random::stream(seed, 4, 0));
        // Some texts do not compile, and some compile but hold in the model only.
        let Ok(program) = wastenot_rota::compile(&text) else { continue };
        if emit(&program).is_err() || places_otherwise(&program.policies[0]) {
            continue;
        }
        left -= 1;
        if !held.hold(&format!("chance-{seed}"), &program, schedules, LONG / 10) {
            return;
        }
        assert!(held.differ.is_empty(), "{:#?}\n{text}", held.differ);
    }
    println!("{} events of random policies", held.events);
}

/// Whether a handler that places its task does one of two things in which the stand-ins and the
/// interpreter differ. Either it kicks an idle CPU itself: the kernel does so before the task is in
/// its queue (docs/explain/emit.md), which the stand-ins report as a fault of the protocol. Or it
/// puts the task that ran elsewhere than at home: among several idle CPUs, one wakes the CPU
/// nearest to where the task ran, the other the nearest to where it waits.
fn places_otherwise(policy: &Policy) -> bool {
    struct Places(Event, bool);
    impl Visitor for Places {
        fn stmt(&mut self, stmt: &Stmt) {
            self.1 |= match stmt {
                Stmt::Kick { preempt, .. } => !preempt,
                Stmt::Put(put) => self.0 >= Event::Preempt && put.queue.at != Place::Home,
                _ => false,
            };
        }
    }
    let places = |event: Event| {
        let mut places = Places(event, false);
        visit_block(&policy.handlers[event as usize], &mut places);
        places.1
    };
    Event::ALL.into_iter().filter(|event| event.places()).any(places)
}

/// The cases in which C and interpreter were compared.
#[derive(Default)]
struct Held {
    events: usize,
    differ: Vec<String>,
}

impl Held {
    /// Compares this many short schedules, and one of `long` events for each machine. Does nothing
    /// without a C compiler.
    fn hold(&mut self, name: &str, program: &Program, schedules: u64, long: usize) -> bool {
        let Some(binary) = built(name, program) else { return false };
        let machines: Vec<(Machine, String)> = machines()
            .into_iter()
            .filter_map(|machine| tables(program, &machine).map(|tables| (machine, tables)))
            .collect();
        let play = |seed: u64, steps: usize| {
            let (machine, tables) = &machines[seed as usize % machines.len()];
            let tasks = 3 * machine.len() + 2;
            let schedule = Player::new(program, machine, tasks, seed).play(steps);
            (tables.clone() + &schedule.events, schedule)
        };
        let long = (0..machines.len() as u64).map(|seed| (seed, long));
        let short = (0..schedules).map(|seed| (seed, 1 + (seed * 31 % SHORT) as usize));
        let all: Vec<(u64, usize)> = long.chain(short).collect();
        for batch in all.chunks(BATCH as usize) {
            let (inputs, schedules): (Vec<String>, Vec<Schedule>) =
                batch.iter().map(|&(seed, steps)| play(seed, steps)).unzip();
            let said = decided(&binary, inputs.concat());
            let mut said = said.iter();
            for (schedule, (seed, steps)) in schedules.iter().zip(batch) {
                self.events += schedule.decisions.len();
                let found = first_difference(schedule, &mut said);
                self.differ.extend(found.map(|it| format!("{name}, {seed} of {steps}: {it}")));
            }
        }
        true
    }
}

/// The first event at which C and interpreter decide differently; lines about other events are
/// skipped.
fn first_difference<'s>(
    schedule: &Schedule,
    said: &mut impl Iterator<Item = &'s String>,
) -> Option<String> {
    let events = schedule.events.lines().filter(|line| !line.starts_with('a'));
    // The machine comes first, and has no output.
    let mut said = said.take(1 + schedule.decisions.len()).skip(1);
    let mut found = None;
    for (n, (event, expected)) in events.zip(&schedule.decisions).enumerate() {
        let line = said.next().map_or("nothing", |line| line.as_str());
        if found.is_none() && line != expected {
            found = Some(format!("event {n}, `{event}`:{line} instead of{expected}"));
        }
    }
    found
}
