//! Presets, and the domains that the kernel builds for them (known answers for published machines).

use wastenot_model::machine::Hops;
use wastenot_model::machine::domains::{Domains, Grouping, Kind};
use wastenot_model::{CpuId, Help, Machine};
use wastenot_scenario::{Error, machine, presets};

fn preset(name: &str) -> Machine {
    machine(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The first CPU of each node.
fn first_of(machine: &Machine, node: u32) -> CpuId {
    let index = machine.cpus.iter().position(|cpu| cpu.node == Some(node));
    CpuId(index.expect("the node has a CPU") as u16)
}

/// The groups of the widest domain as node numbers, as seen from `node`.
fn widest_groups(machine: &Machine, grouping: Grouping, node: u32) -> Vec<Vec<u32>> {
    let domains = Domains::of(machine, grouping);
    let groups = domains.groups(domains.levels().len() - 1, first_of(machine, node));
    let nodes_of = |group: &wastenot_model::machine::domains::Group| {
        let mut nodes: Vec<u32> =
            group.cpus.iter().filter_map(|cpu| machine.cpus[cpu.index()].node).collect();
        nodes.dedup();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    };
    groups.iter().map(nodes_of).collect()
}

/// Ordered pairs of nodes (from, to) where `to` can never take work from `from`.
fn blind(machine: &Machine, grouping: Grouping) -> Vec<(u32, u32)> {
    let domains = Domains::of(machine, grouping);
    let nodes = machine.node_count() as u32;
    let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
    let cpu = |node| first_of(machine, node);
    pairs.filter(|&(from, to)| from != to && domains.blind(cpu(from), cpu(to))).collect()
}

/// Unordered pairs that are blind both ways.
fn blind_both_ways(machine: &Machine, grouping: Grouping) -> Vec<(u32, u32)> {
    let directed = blind(machine, grouping);
    let both = |&&(a, b): &&(u32, u32)| a < b && directed.contains(&(b, a));
    directed.iter().filter(both).copied().collect()
}

#[test]
fn every_preset_makes_a_machine_of_known_topology_under_its_own_name() {
    for preset in presets() {
        let text = match preset.arguments.len() {
            0 => preset.name.to_string(),
            n => format!("{}({})", preset.name, vec!["2"; n].join(", ")),
        };
        let made = machine(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(made.name, text);
        assert!(made.cpus.iter().all(|cpu| {
            cpu.core.is_some() && cpu.llc.is_some() && cpu.node.is_some() && cpu.online
        }));
        let distances = made.distances.as_ref().expect("presets have distances");
        assert_eq!(distances.len(), made.node_count(), "{text}");
        for (a, row) in distances.iter().enumerate() {
            assert_eq!((row.len(), row[a]), (made.node_count(), 10), "{text}");
            let mirrored = (0..row.len()).all(|b| distances[b][a] == row[b]);
            assert!(mirrored, "{text}: the way back is as long");
        }
        assert!(!preset.about.is_empty() && !preset.source.is_empty());
    }
}

#[test]
fn presets_have_the_published_counts() {
    // CPUs, cores, caches, nodes, packages.
    for (name, counts) in [
        ("bulldozer64", [64, 32, 8, 8, 4]),
        ("bulldozer64-slit", [64, 32, 8, 8, 4]),
        ("magny48", [48, 48, 8, 8, 4]),
        ("xeon6130x4", [128, 64, 4, 4, 4]),
        ("e7-8870x4", [160, 80, 4, 4, 4]),
        ("smp4", [4, 4, 4, 1, 4]),
        ("xeon4ht", [8, 4, 4, 1, 4]),
        ("up1", [1, 1, 1, 1, 1]),
        ("osv2", [2, 2, 1, 1, 1]),
        ("ring4", [4, 4, 4, 4, 4]),
        ("t4x4", [16, 16, 4, 4, 4]),
        ("b8x2", [16, 16, 8, 8, 8]),
        ("k920", [16, 16, 4, 4, 4]),
        ("b8x8", [64, 64, 8, 8, 8]),
        ("s4x16x2", [128, 64, 4, 4, 4]),
        ("flat(3,5)", [15, 15, 3, 3, 3]),
        ("smt(6)", [12, 6, 1, 1, 1]),
        ("chiplet(2,4,8)", [64, 64, 8, 2, 2]),
        ("chiplet", [128, 128, 16, 2, 2]),
    ] {
        let made = preset(name);
        let found = [
            made.len(),
            made.count(|cpu| cpu.core),
            made.count(|cpu| cpu.llc),
            made.node_count(),
            made.count(|cpu| cpu.package),
        ];
        assert_eq!(found, counts, "{name}");
    }
}

#[test]
fn siblings_are_where_the_recordings_and_slides_have_them() {
    let sibling = |name: &str, cpu: u16| {
        preset(name).sharing(CpuId(cpu), |cpu| cpu.core).iter().map(|c| c.0).collect::<Vec<_>>()
    };
    assert_eq!(sibling("xeon6130x4", 97), [97, 113]);
    assert_eq!(sibling("s4x16x2", 35), [34, 35]);
    assert_eq!(sibling("bulldozer64", 9), [8, 9]);
    assert_eq!(preset("xeon6130x4").cpus[96].node, Some(3));
}

#[test]
fn bulldozer_has_the_published_distances_and_levels() {
    let machine = preset("bulldozer64");
    let rows: [[u32; 8]; 8] = [
        [10, 16, 16, 22, 16, 22, 16, 22],
        [16, 10, 22, 16, 16, 16, 22, 16],
        [16, 22, 10, 16, 16, 16, 16, 16],
        [22, 16, 16, 10, 16, 16, 22, 16],
        [16, 16, 16, 16, 10, 16, 16, 22],
        [22, 16, 16, 16, 16, 10, 22, 16],
        [16, 22, 16, 22, 16, 22, 10, 16],
        [22, 16, 16, 16, 22, 16, 16, 10],
    ];
    assert_eq!(machine.distances, Some(rows.map(Vec::from).to_vec()));
    let degrees: Vec<usize> = machine.links.iter().flatten().map(Vec::len).collect();
    assert_eq!(degrees, [4, 5, 6, 5, 6, 5, 4, 5]);
    let hops = Hops::of(&machine);
    assert_eq!((hops.between(1, 2), hops.between(1, 5)), (Some(2), Some(1)));
    let domains = Domains::of(&machine, Grouping::Core0);
    let kinds: Vec<Kind> = domains.levels().iter().map(|level| level.kind).collect();
    assert_eq!(kinds, [Kind::Smt, Kind::Llc, Kind::Numa(1), Kind::Numa(2)]);
}

#[test]
fn bulldozer_groups_by_own_view_are_the_published_ones() {
    let machine = preset("bulldozer64");
    let golden: [[&[u32]; 2]; 8] = [
        [&[0, 1, 2, 4, 6], &[1, 2, 3, 4, 5, 7]],
        [&[0, 1, 3, 4, 5, 7], &[0, 2, 3, 4, 5, 6, 7]],
        [&[0, 2, 3, 4, 5, 6, 7], &[0, 1, 3, 4, 5, 7]],
        [&[1, 2, 3, 4, 5, 7], &[0, 2, 4, 6, 7]],
        [&[0, 1, 2, 3, 4, 5, 6], &[1, 2, 3, 5, 6, 7]],
        [&[1, 2, 3, 4, 5, 7], &[0, 2, 4, 6, 7]],
        [&[0, 2, 4, 6, 7], &[0, 1, 3, 4, 5, 7]],
        [&[1, 2, 3, 5, 6, 7], &[0, 1, 2, 4, 6]],
    ];
    for (node, golden) in golden.iter().enumerate() {
        let node = node as u32;
        assert_eq!(widest_groups(&machine, Grouping::Own, node), golden, "own view of {node}");
        assert_eq!(widest_groups(&machine, Grouping::OwnBalanced, node), golden);
        let shared = widest_groups(&machine, Grouping::Core0, node);
        assert_eq!(shared, [[0, 1, 2, 4, 6].to_vec(), [1, 2, 3, 4, 5, 7].to_vec()]);
    }
}

#[test]
fn one_pair_of_bulldozer_nodes_is_blind_under_the_shared_list_and_none_in_own_views() {
    let machine = preset("bulldozer64");
    assert_eq!(blind_both_ways(&machine, Grouping::Core0), [(1, 2)]);
    // One way only: both groups hold node 1, and both hold node 4.
    assert_eq!(blind(&machine, Grouping::Core0), [(1, 2), (2, 1), (6, 1), (7, 4)]);
    assert_eq!(blind(&machine, Grouping::Own), []);
    assert_eq!(blind(&machine, Grouping::OwnBalanced), []);
}

#[test]
fn the_firmware_table_of_bulldozer_shows_the_same_blind_pair() {
    let machine = preset("bulldozer64-slit");
    let shared = widest_groups(&machine, Grouping::Core0, 5);
    assert_eq!(shared, [vec![0, 1, 2, 4, 6], vec![1, 2, 3, 4, 5], vec![1, 2, 5, 6, 7]]);
    assert_eq!(blind_both_ways(&machine, Grouping::Core0), [(1, 2)]);
    assert_eq!(blind_both_ways(&machine, Grouping::Own), []);
    let neighbours = |row: &Vec<u32>| row.iter().filter(|&&distance| distance == 16).count();
    let links: usize = machine.distances.iter().flatten().map(neighbours).sum();
    assert_eq!(links / 2, 18);
}

#[test]
fn magny_cours_has_two_blind_pairs() {
    let machine = preset("magny48");
    let near = |node: usize| {
        let row = &machine.distances.as_ref().expect("distances")[node];
        (0..8).filter(|&other| row[other] == 16).collect::<Vec<usize>>()
    };
    assert_eq!((near(0), near(3)), (vec![1, 2, 4, 6], vec![2, 4, 5, 7]));
    assert_eq!(blind_both_ways(&machine, Grouping::Core0), [(1, 6), (5, 7)]);
    assert_eq!(blind_both_ways(&machine, Grouping::Own), []);
}

#[test]
fn small_graphs_have_the_groups_of_the_kernels_examples() {
    let ring = preset("ring4");
    assert_eq!(widest_groups(&ring, Grouping::Own, 0), [[0, 1, 3], [1, 2, 3]]);
    assert_eq!(ring.distances.as_ref().expect("distances")[0], [10, 20, 30, 20]);
    assert_eq!(blind(&ring, Grouping::Own), []);
    let line = preset("line4");
    assert_eq!(Hops::of(&line).between(0, 3), Some(3));
    assert_eq!(line.distances.as_ref().expect("distances")[0], [10, 20, 30, 40]);
    assert_eq!(widest_groups(&line, Grouping::Own, 0), [[0, 1, 2].to_vec(), [1, 2, 3].to_vec()]);
    let mesh = preset("mesh-asym4");
    assert_eq!(mesh.distances.as_ref().expect("distances")[0], [10, 20, 20, 30]);
    assert_eq!(widest_groups(&mesh, Grouping::Own, 3), [[1, 2, 3], [0, 1, 2]]);
}

#[test]
fn recorded_machines_have_the_levels_that_their_kernels_showed() {
    for (name, levels) in [
        ("t4x4", "LLC NUMA-1"),
        ("b8x2", "LLC NUMA-1 NUMA-2"),
        ("b8x8", "LLC NUMA-1 NUMA-2"),
        ("s4x16x2", "SMT LLC NUMA-1"),
    ] {
        let domains = Domains::of(&preset(name), Grouping::OwnBalanced);
        let found: Vec<String> =
            domains.levels().iter().map(|level| level.kind.to_string()).collect();
        assert_eq!(found.join(" "), levels, "{name}");
    }
    let b8x2 = preset("b8x2");
    assert_eq!(b8x2.links.iter().flatten().map(Vec::len).sum::<usize>(), 2 * 17);
    // The kernel counts three levels above the node for these distances from any one node.
    let k920 = Domains::of(&preset("k920"), Grouping::OwnBalanced);
    assert_eq!(k920.chain(CpuId(0)).count(), 4);
}

#[test]
fn a_mistyped_preset_is_answered_with_the_nearest_and_all_ways() {
    let error = machine("buldozer64").expect_err("no such preset");
    assert_eq!(error.to_string(), "there is no machine `buldozer64`; did you mean `bulldozer64`?");
    for way in ["magny48", "flat(nodes,cores)", "pack:2", "lstopo", "lscpu -p"] {
        assert!(error.help().contains(way), "{}", error.help());
    }
    let error = machine("something-else-entirely").expect_err("no such preset");
    assert!(matches!(error, Error::UnknownPreset { nearest: None, .. }), "{error:?}");
    let error = machine(&"x".repeat(5000)).expect_err("no such preset");
    assert!(error.to_string().len() < 200, "what was typed is shown in part");
}

#[test]
fn wrong_arguments_are_answered_with_the_right_form() {
    for text in ["flat", "flat(1)", "flat(0,2)", "flat(2,2", "flat(a,b)", "flat()"] {
        let error = machine(text).expect_err(text);
        assert_eq!(
            error.to_string(),
            format!("the arguments of the machine `{text}` are wrong: write flat(nodes,cores)")
        );
    }
    let error = machine("chiplet(1)").expect_err("two forms");
    assert!(error.to_string().ends_with("write chiplet(nodes,caches,cores) or chiplet"), "{error}");
    assert!(matches!(machine("t4x4(3)"), Err(Error::Arguments { .. })));
}
