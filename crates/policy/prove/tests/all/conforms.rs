//! Conformance of emitted C, compiled natively ([`wastenot_chance::together`]). The project's
//! policies conform; C that was changed by hand does not.

use std::fs;
use std::path::Path;

use wastenot_chance::together::{Ran, built, root, run, steps};
use wastenot_needs::{effort, files, program, stem};
use wastenot_prove::conforms::Rule;
use wastenot_rota::ir::Program;

/// Runs of each policy.
const RUNS: u64 = 10;

/// For the files of these tests. `None`, with a message: there is no C compiler.
fn folder(test: &str) -> Option<&'static Path> {
    program(test, "cc", "gcc").then_some(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// The policies of the project.
fn policies() -> Vec<(String, Program)> {
    files(root().join("policies"), "rota").iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> (String, Program) {
    let text = fs::read_to_string(path).expect("a text");
    (stem(path), wastenot_rota::compile(&text).expect("it means something"))
}

#[test]
fn what_is_emitted_conforms_in_every_order_that_is_tried() {
    let test = "what_is_emitted_conforms_in_every_order_that_is_tried";
    let Some(folder) = folder(test) else { return };
    let mut all = 0;
    for (name, program) in policies() {
        let binary = built(folder, &name, &program, &steps(&program));
        let mut judged = [0; Rule::ALL.len()];
        for seed in 0..effort(RUNS) {
            let Some(ran) = run(&binary, &program, &program, seed) else { continue };
            let Ran { found, told, is_one_forgotten } = ran;
            assert!(!is_one_forgotten, "{name}, seed {seed}: a CPU sleeps without its flag");
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
    are_found_out("wrong_protocols_do_not_conform", "work-stealing", &WRONG);
}

/// The same of keys and slices.
const WRONG_KEYS: [(&str, &str, &str); 3] = [
    (
        "a task is not charged",
        "\tf->t->vrt_vt = plus(f->t->vrt_vt, scaled(f->ran, (s64)f->p->scx.weight));\n",
        "",
    ),
    (
        "a key goes back",
        "preempt_yield(struct frame *f)\n{\n",
        "preempt_yield(struct frame *f)\n{\n\tf->t->vrt_vt -= 1000000000;\n",
    ),
    ("a slice never ends", "slice_of(vrt_slice)", "SCX_SLICE_INF"),
];

#[test]
fn wrong_keys_and_slices_do_not_conform() {
    are_found_out("wrong_keys_and_slices_do_not_conform", "fair-vtime", &WRONG_KEYS);
}

#[test]
fn where_idle_cpus_do_not_look_once_it_is_loaded_one_is_forgotten() {
    let test = "where_idle_cpus_do_not_look_once_it_is_loaded_one_is_forgotten";
    let Some(folder) = folder(test) else { return };
    let (name, program) = read(&root().join("policies/global-fifo.rota"));
    let (right, looks) = (steps(&program), "\tbpf_loop(MAX_CPUS, look_step, 0, 0);\n");
    assert!(right.contains(looks));
    let wrong = right.replace(looks, "");
    let binary = built(folder, &format!("{name}-blind"), &program, &wrong);
    let mut runs = (0..20 * RUNS).filter_map(|seed| run(&binary, &program, &program, seed));
    assert!(runs.any(|ran| ran.is_one_forgotten), "no run of {}", 20 * RUNS);
}

/// Each change of the emitted C of a policy is found out.
fn are_found_out(test: &str, name: &str, changes: &[(&str, &str, &str)]) {
    let Some(folder) = folder(test) else { return };
    let (name, program) = read(&root().join(format!("policies/{name}.rota")));
    let right = steps(&program);
    for (n, (what, from, to)) in changes.iter().enumerate() {
        assert!(right.contains(from), "{what}");
        let binary = built(folder, &format!("{name}-{n}"), &program, &right.replace(from, to));
        let mut runs = (0..20 * RUNS).filter_map(|seed| run(&binary, &program, &program, seed));
        let found = runs.find(|ran| !ran.found.breaks.is_empty());
        let Ran { found, told, .. } = found.unwrap_or_else(|| panic!("{what} is not found out"));
        println!("{what}: {:?} {}", found.breaks[0].rule, found.breaks[0].why);
        println!("{told}");
    }
}
