//! Runs emitted C that logs its steps, natively: its CPUs take turns in a random order wherever the
//! scheduler calls the kernel (testing/chance/native/together.c).

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wastenot_model::Machine;
use wastenot_model::workload::Random;
use wastenot_prove::conforms::{Conformance, conforms, report};
use wastenot_rota::emit::{Options, Tables, emit_with};
use wastenot_rota::ir::Program;
use wastenot_rota::step_log::{Log, Step};
use wastenot_rota::{Tree, partitions};

/// Wakeups in a run.
const EVENTS: usize = 100;

/// The project's folder.
pub fn root() -> PathBuf {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|it| it.join("policies").is_dir());
    root.expect("it is in the project").to_owned()
}

/// The folder with the kernel and the drivers that emitted C is compiled with.
pub fn native() -> PathBuf {
    root().join("testing/chance/native")
}

/// Compiles C that logs its steps.
///
/// # Panics
/// There is no C compiler, or it refuses the text.
pub fn built(folder: &Path, name: &str, program: &Program, text: &str) -> PathBuf {
    let (from, to) = (folder.join(format!("{name}.steps.c")), folder.join(format!("{name}.steps")));
    fs::write(&from, text).expect("room");
    let native = native();
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-w", "-DCHANGES=1", "-I"]).arg(&native);
    cc.arg(format!("-DPOLICY=\"{}\"", from.display()));
    if program.policies.iter().any(|policy| !policy.periodic.is_empty()) {
        cc.arg("-DREGULAR");
    }
    if program.partitions.len() > 1 {
        cc.arg("-DPARTED");
    }
    let output = cc.arg(native.join("together.c")).arg("-o").arg(&to).output().expect("cc runs");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    to
}

/// Emits C that logs its steps.
pub fn steps(program: &Program) -> String {
    emit_with(program, Options { steps: true }).expect("it can be emitted")
}

/// Machines by how many CPUs there are, and how many share a core, a cache, a node.
const MACHINES: [[u32; 4]; 10] = [
    [2, 1, 1, 2],
    [8, 2, 4, 4],
    [4, 1, 2, 2],
    [3, 1, 3, 3],
    [8, 2, 2, 4],
    [4, 2, 2, 2],
    [16, 2, 4, 8],
    [6, 1, 1, 3],
    [8, 1, 2, 2],
    [16, 2, 2, 4],
];

fn machine(seed: u64) -> Machine {
    let [cpus, core, llc, node] = MACHINES[seed as usize % MACHINES.len()];
    let mut machine = Machine::flat(cpus as usize);
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        let n = n as u32;
        (cpu.core, cpu.llc, cpu.node) = (Some(n / core), Some(n / llc), Some(n / node));
    }
    machine
}

/// The machine and its tasks, as the driver reads them. `None`: some partition has no CPU there.
fn input(program: &Program, machine: &Machine, seed: u64) -> Option<String> {
    let parts = partitions::cpus(program, machine);
    let trees: Vec<Tree> = parts.iter().map(|cpus| Tree::of(machine, cpus)).collect();
    let cpus = machine.len();
    let numbers = Tables::of(&trees)?.numbers(cpus).into_iter();
    let words: Vec<String> = numbers.map(|number| number.to_string()).collect();
    let mut lines = format!("m {cpus} {}\n", words.join(" "));
    let mut random = Random::stream(seed, 9, 0);
    // Where it is crowded, tasks begin in one half of the machine, and some have to stay there.
    let (crowded, half) = (seed % 3 == 2, 1 + (cpus as u64 - 1) / 2);
    let count = if crowded { 4 * cpus as u64 } else { 1 + random.below(2 * cpus as u64 + 1) };
    for task in 0..count {
        let all = (1u64 << cpus) - 1;
        let mask = match random.below(4) {
            0 | 1 => all,
            2 if crowded => (1 << half) - 1,
            _ => 1 + random.below(all),
        };
        let begins = if crowded { half } else { cpus as u64 };
        let (cpu, part) = (random.below(begins), random.below(parts.len() as u64));
        let weight = [100, 1, 8668][random.below(3) as usize];
        writeln!(lines, "c {task} {cpu} {weight} {} {part} {mask} 0 0 0", random.below(3))
            .expect("text grows");
    }
    Some(lines)
}

/// The log of one run, and whether in the end a CPU slept that no search finds.
fn logged(binary: &Path, input: &str, seed: u64) -> (Log, bool) {
    let mut child = Command::new(binary)
        .args([seed.to_string(), EVENTS.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the driver runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the driver ends");
    let is_one_forgotten = output.status.code() == Some(3);
    let ended = output.status.success() || is_one_forgotten;
    assert!(ended, "{}: {:?}", binary.display(), output.status);
    let mut log = Log { whole: true, ..Log::default() };
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        let words = line.split_whitespace().map(|word| word.parse::<u64>().expect("a number"));
        let bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
        log.steps.push(Step::of_bytes(&bytes).expect("a step"));
    }
    log.order();
    (log, is_one_forgotten)
}

/// What came of one run.
pub struct Ran {
    /// Its replay in the model.
    pub found: Conformance,
    /// The same in words.
    pub told: String,
    /// Whether in the end a CPU slept without its idle flag.
    pub is_one_forgotten: bool,
}

/// Runs `program`, and replays it in the model of `right`. `None` if the machine does not fit.
pub fn run(binary: &Path, program: &Program, right: &Program, seed: u64) -> Option<Ran> {
    let machine = machine(seed);
    let (log, is_one_forgotten) = logged(binary, &input(program, &machine, seed)?, seed);
    let found = conforms(right, &machine, &log);
    let told = report("log", (right, &machine), &log, &found).text();
    Some(Ran { found, told, is_one_forgotten })
}
