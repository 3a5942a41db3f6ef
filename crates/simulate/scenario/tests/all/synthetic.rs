//! Synthetic descriptions, compared with what hwloc makes of them and what it refuses.

use wastenot_model::Machine;
use wastenot_scenario::{Error, machine, machine_from};

fn at(machine: &Machine, key: impl Fn(&wastenot_model::Cpu) -> Option<u32>) -> Vec<u32> {
    machine.cpus.iter().filter_map(key).collect()
}

#[test]
fn descriptions_make_the_machine_that_hwloc_makes_of_them() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("fixtures") {
        let path = entry.expect("fixture").path();
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        if !name.starts_with("synthetic-") {
            continue;
        }
        let xml = std::fs::read_to_string(&path).expect("text");
        let (_, description) =
            xml.split_once("SyntheticDescription\" value=\"").expect("hwloc writes it");
        let (description, _) = description.split_once('"').expect("quote");
        let ours = machine(description).unwrap_or_else(|e| panic!("{name}: {e}"));
        let theirs = machine_from(&name, xml.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(ours.cpus, theirs.cpus, "{name}: {description}");
        seen += 1;
    }
    assert_eq!(seen, 13);
}

#[test]
fn the_example_of_the_help_has_the_parts_that_it_names() {
    let made = machine("pack:2 numa:2 l3:1 core:4 pu:2").expect("reads");
    assert_eq!((made.len(), made.node_count()), (32, 4));
    assert_eq!((made.count(|cpu| cpu.core), made.count(|cpu| cpu.llc)), (16, 4));
    assert_eq!(made.cpus[17].package, Some(1));
}

#[test]
fn indexes_interleave_as_hwloc_interleaves() {
    // What `lstopo -i` prints for each; CPU numbers in the order of its tree.
    for (description, node_by_cpu) in [
        ("numa:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", [0, 0, 1, 1, 0, 0, 1, 1]),
        ("numa:2 core:2 pu:2(indexes=core:numa)", [0, 0, 1, 1, 0, 0, 1, 1]),
        ("numa:2 core:2 pu:2(indexes=numa:core)", [0, 1, 0, 1, 0, 1, 0, 1]),
        ("numa:2 core:2 pu:2(indexes=4*2:2*2:1*2)", [0, 1, 0, 1, 0, 1, 0, 1]),
        ("numa:2 core:2 pu:2(indexes=4*2)", [0, 1, 0, 1, 0, 1, 0, 1]),
        ("numa:2 core:2 pu:2(indexes=core)", [0, 0, 1, 1, 0, 0, 1, 1]),
        // A level of one object in each of the level above turns once.
        ("numa:2 l3:1 core:2 pu:2(indexes=l3:numa:core)", [0, 1, 0, 1, 0, 1, 0, 1]),
    ] {
        let made = machine(description).unwrap_or_else(|error| panic!("{description}: {error}"));
        assert_eq!(at(&made, |cpu| cpu.node), node_by_cpu, "{description}");
    }
}

#[test]
fn gaps_in_cpu_numbers_are_offline_cpus() {
    let made = machine("pack:2 pu:2(indexes=0,5,1,2)").expect("reads");
    let online: Vec<bool> = made.cpus.iter().map(|cpu| cpu.online).collect();
    assert_eq!(online, [true, true, true, false, false, true]);
}

#[test]
fn what_is_not_in_the_description_is_unknown_but_the_node() {
    let made = machine("pack:2 pu:2").expect("reads");
    assert!(made.cpus.iter().all(|cpu| cpu.core.is_none() && cpu.llc.is_none()));
    assert_eq!(at(&made, |cpu| cpu.node), [0; 4]);
    assert_eq!((made.distances, made.links), (None, None));
}

#[test]
fn what_hwloc_refuses_or_drops_is_refused_with_its_place() {
    for (description, place) in [
        ("pack:2 numa:2 core:2", 14),
        ("core:2 core:2 pu:1", 7),
        ("numa:2 numa:2 pu:1", 7),
        ("pack:2 numa:2 [numa] pu:2", 7),
        ("machine:2 core:2 pu:1", 0),
        ("l9:2 pu:1", 0),
        ("p:2", 0),
        ("pack:0 pu:2", 5),
        ("l3:2 2 1", 0),
        ("pack:2 pu:2(foo=3)", 12),
        ("pack:2 pu:2(indexes=0,1", 23),
        ("pack:2 pu:2(indexes=0,1)", 12),
        ("pack:2 pu:2(indexes=0,0,1,2)", 12),
        ("pack:2 pu:2(indexes=die)", 12),
        ("pack:2 core:2 pu:2(indexes=2*2:1*2)", 19),
        ("pack:2 pu:2(indexes=1*2:1*2)", 12),
        ("pack:2 pu:2(indexes=2*4)", 12),
        ("pack:2 [core] pu:2", 8),
        ("pack:2 [numa pu:2", 13),
        ("pack:2 pu:2 é", 12),
        ("pack: pu:2", 6),
        ("1 1 1 1 1 1 1 1 1", 0),
    ] {
        match machine(description) {
            Err(Error::Synthetic { at, why, .. }) => assert_eq!(at, place, "{description}: {why}"),
            other => panic!("{description}: {other:?}"),
        }
    }
    // The permutation of one loop that repeats is the identity.
    assert!(machine("pack:2 pu:2(indexes=1*4)").is_ok());
}

#[test]
fn a_machine_too_large_is_an_error_and_takes_no_memory() {
    for description in [
        "pack:99999 core:99999 pu:1",
        "pack:99999999999999999999999 pu:1",
        "99999999999 99999999999",
        "pack:2 pu:1(indexes=0,8192)",
        "numa:2000 pu:1",
        "pu:2(indexes=0,99999999)",
        "flat(99999,99999)",
        "flat(2000,1)",
        "smt(18446744073709551615)",
    ] {
        let error = machine(description).expect_err(description);
        assert!(matches!(error, Error::TooLarge { .. }), "{description}: {error}");
    }
    assert_eq!(machine("pack:8192 pu:1").expect("the limit itself").len(), 8192);
}
