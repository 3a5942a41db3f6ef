//! Partitions: no CPU is in two, and an action in one changes nothing in another.

use wastenot_model::Machine;
use wastenot_rota::{compile, partitions};

use crate::schedule::Player;
use crate::texts::{FAIR, STEALING};

/// Two policies, and partitions with these CPUs; the last has the rest.
fn parted(cpus: &[&str]) -> String {
    let named = cpus.iter().enumerate().map(|(n, cpus)| {
        let policy = ["ws", "vrt"][n % 2];
        format!("partition p{n} on {cpus} runs {policy} for cgroup \"g{n}*\"\n")
    });
    let named: String = named.collect();
    format!("{STEALING}{FAIR}{named}partition others on rest runs vrt for rest\n")
}

#[test]
fn partitions_that_may_meet_on_some_machine_are_refused() {
    for (cpus, what) in [
        (["cpus 0-3", "cpus 3"], "a CPU is in two partitions"),
        (["node 0", "node 0"], "a CPU is in two partitions"),
        (["node 0", "llc 1"], "partitions may overlap, because they name CPUs in different ways"),
        (
            ["cpus 0-3", "node 1"],
            "partitions may overlap, because they name CPUs in different ways",
        ),
    ] {
        let faults = compile(&parted(&cpus)).expect_err("they may meet");
        let found: Vec<(&str, &str)> =
            faults.iter().map(|fault| (fault.code, fault.message.as_str())).collect();
        assert_eq!(found, [("R504", what)], "{cpus:?}");
    }
    for cpus in [["cpus 0-3,6", "cpus 4-5"], ["node 0", "node 1"], ["llc 3", "llc 1"]] {
        assert_eq!(compile(&parted(&cpus)).err(), None, "{cpus:?}");
    }
}

/// Tasks of all partitions arrive, leave and wait; then the same again with those of one partition
/// only.
#[test]
fn what_happens_in_one_partition_changes_no_decision_in_another() {
    let program = compile(&parted(&["cpus 0-2,7", "cpus 3-5"])).expect("it means something");
    let mut machine = Machine::flat(10);
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        let n = n as u32;
        (cpu.core, cpu.llc, cpu.node) = (Some(n / 2), Some(n / 4), Some(n / 5));
    }
    let cpus = partitions::cpus(&program, &machine);
    let mut decided = vec![0; cpus.len()];
    for seed in 0..40 {
        let all = Player::new(&program, &machine, 40, seed).play(600);
        let decisions = &all.decisions[all.decisions.len() - all.acts.len()..];
        for (part, decided) in decided.iter_mut().enumerate() {
            let mut alone = Player::new(&program, &machine, 40, seed);
            for (&(now, act), decision) in all.acts.iter().zip(decisions) {
                if alone.part_of(act, &program, &cpus) == part {
                    assert_eq!(alone.does(now, act), decision, "{act:?} in {part}, seed {seed}");
                    *decided += usize::from(!decision.is_empty());
                }
            }
        }
    }
    assert!(decided.iter().all(|&decided| decided > 1000), "{decided:?}");
}
