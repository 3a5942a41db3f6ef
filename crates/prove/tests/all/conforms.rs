//! Conformance of emitted C, compiled natively: its CPUs take turns in a random order wherever the
//! scheduler calls the kernel (crates/rota/tests/native/together.c). The project's policies
//! conform; C that was changed by hand does not.

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
use wastenot_rota::steps::{Log, Step};
use wastenot_rota::{Tree, partitions};

/// Runs of each policy in `make test`; `WASTENOT_CONFORMS` asks for more.
const RUNS: u64 = 24;
/// Events in a run.
const EVENTS: usize = 400;

/// The number in this environment variable, or the default.
fn asked() -> u64 {
    let asked = std::env::var("WASTENOT_CONFORMS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(RUNS)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The policies of the project.
fn policies() -> Vec<(String, Program)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(root().join("policies"))
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "rota"))
        .collect();
    paths.sort();
    paths.into_iter().map(|path| read(&path)).collect()
}

fn read(path: &Path) -> (String, Program) {
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let text = fs::read_to_string(path).expect("a text");
    (name, wastenot_rota::compile(&text).expect("it means something"))
}

/// Compiles C that logs its steps. `None`: there is no C compiler.
fn built(name: &str, program: &Program, text: &str) -> Option<PathBuf> {
    Command::new("cc").arg("--version").output().ok()?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (from, to) = (folder.join(format!("{name}.steps.c")), folder.join(format!("{name}.steps")));
    fs::write(&from, text).expect("room");
    let native = root().join("crates/rota/tests/native");
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
    Some(to)
}

fn steps(program: &Program) -> String {
    emit_with(program, Options { steps: true }).expect("it can be emitted")
}

fn machine(seed: u64) -> Machine {
    let cpus = [2, 3, 4, 8][seed as usize % 4];
    let mut machine = Machine::flat(cpus);
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        let n = n as u32;
        (cpu.core, cpu.llc, cpu.node) = (Some(n / 2), Some(n / 2), Some(n / 4 + n % 2 * 0));
        if cpus < 8 {
            cpu.node = Some(n / 2);
        }
    }
    machine
}

/// The machine and its tasks, as the driver reads them. `None`: some partition has no CPU there.
fn input(program: &Program, machine: &Machine, seed: u64) -> Option<String> {
    let parts = partitions::cpus(program, machine);
    let trees: Vec<Tree> = parts.iter().map(|cpus| Tree::of(machine, cpus)).collect();
    let (tables, cpus) = (Tables::of(&trees)?, machine.len());
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
    line += "\n";
    let mut random = Random::stream(seed, 9, 0);
    let count = 1 + random.below(2 * cpus as u64 + 1);
    for task in 0..count {
        let all = (1u64 << cpus) - 1;
        let mask = if random.below(2) == 0 { all } else { 1 + random.below(all) };
        let (cpu, part) = (random.below(cpus as u64), random.below(parts.len() as u64));
        let weight = [100, 1, 8668][random.below(3) as usize];
        writeln!(line, "c {task} {cpu} {weight} {} {part} {mask} 0 0 0", random.below(3))
            .expect("text grows");
    }
    Some(line)
}

/// The log of one run.
fn logged(binary: &Path, input: &str, seed: u64) -> Log {
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
    assert!(output.status.success(), "{}: {:?}", binary.display(), output.status);
    let mut log = Log { whole: true, ..Log::default() };
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        let words = line.split_whitespace().map(|word| word.parse::<u64>().expect("a number"));
        let bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
        log.steps.push(Step::of_bytes(&bytes).expect("a step"));
    }
    log.order();
    log
}

/// What came of one run; `None` if the machine does not fit.
fn run(binary: &Path, program: &Program, seed: u64) -> Option<(String, Conformance)> {
    let machine = machine(seed);
    let log = logged(binary, &input(program, &machine, seed)?, seed);
    let found = conforms(program, &machine, &log);
    Some((report("log", (program, &machine), &log, &found).text(), found))
}

#[test]
fn what_is_emitted_conforms_in_every_order_that_is_tried() {
    let mut all = 0;
    for (name, program) in policies() {
        let Some(binary) = built(&name, &program, &steps(&program)) else {
            println!("SKIPPED conforms: cc is missing: apt-get install gcc");
            return;
        };
        let mut judged = [0; 9];
        for seed in 0..asked() {
            let Some((told, found)) = run(&binary, &program, seed) else { continue };
            all += found.counts.iter().map(|it| it.judged).sum::<u64>();
            assert_eq!(found.breaks, [], "{name}, seed {seed}: {told}");
            judged.iter_mut().zip(found.counts).for_each(|(sum, it)| *sum += it.judged);
        }
        println!("{name}: {judged:?}");
    }
    assert!(all > 100_000, "{all} steps");
}

/// What is changed in the emitted C, and to what. The steps are still logged.
const WRONG: [(&str, &str, &str); 12] = [
    ("the chain wakes nobody", "\tchain_queues(&c);\n", ""),
    (
        "a claim does not clear the flag",
        "return __sync_lock_test_and_set(&idle[at(cpu)], 0);",
        "return true;",
    ),
    ("the flag is set after the looks", "\t\tset_idle(cpu, 1);\n", ""),
    (
        "the flag stays set after a take",
        "\tif (took) {\n\t\tset_idle(cpu, 0);",
        "\tif (took) {\n\t\t(void)0;",
    ),
    (
        "a claimed CPU is not kicked",
        "\tkick(cpu, SCX_KICK_IDLE);\n\treturn true;",
        "\treturn true;",
    ),
    ("a put wakes nobody", "\twake_for(p, t, t->wake);\n", ""),
    (
        "a put searches one CPU only",
        "cpu = nearest(&s, t->at, BY_ALL, MACHINE);",
        "cpu = search_in(&s, CPU, t->at) ? s.found : -1;",
    ),
    (
        "looks are forgotten",
        "\tif (!holds(own))\n\t\ttook = move_from(shared, S_TAKE);",
        "\tif (!holds(own))\n\t\trecord(tick(), ABOUT(-1, S_TAKE), shared, took = 0, 0);",
    ),
    ("tasks are put at CPU 0", "group(CPU, f->home), 0, MACHINE)", "group(CPU, 0), 0, MACHINE)"),
    ("the balance skips short queues", "f->other)) >= 1;", "f->other)) >= 2;"),
    (
        "one victim is tried only",
        "\tif (s->took)\n\t\treturn stop();\n\treturn 0;",
        "\treturn stop();",
    ),
    ("nothing is stolen", "if (!stays && ws_balance_idle(f, f->me))", "if (0)"),
];

#[test]
fn wrong_protocols_do_not_conform() {
    let (name, program) = read(&root().join("policies/work-stealing.rota"));
    let right = steps(&program);
    for (n, (what, from, to)) in WRONG.iter().enumerate() {
        assert!(right.contains(from), "{what}");
        let Some(binary) = built(&format!("{name}-{n}"), &program, &right.replace(from, to)) else {
            return;
        };
        let mut runs = (0..20 * RUNS).filter_map(|seed| run(&binary, &program, seed));
        let found = runs.find(|(_, found)| !found.breaks.is_empty());
        let (told, found) = found.unwrap_or_else(|| panic!("{what} is not found out"));
        println!("{what}: {:?} {}", found.breaks[0].rule, found.breaks[0].why);
        if std::env::var_os("WASTENOT_CONFORMS").is_some() {
            println!("{told}");
        }
    }
}
