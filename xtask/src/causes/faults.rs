//! The faults that are planted, each with the class of the time that it loses.

use wastenot_model::machine::domains::{Domains, Grouping};
use wastenot_model::{CpuId, Machine};

use super::setup::{Draw, LONG, SHORT, Setup};

/// Something that can be switched on and off.
pub(super) struct Fault {
    pub(super) name: &'static str,
    /// The class of causes that time lost by it belongs to.
    pub(super) class: &'static str,
    /// The cause itself, where there is one.
    pub(super) leaf: Option<&'static str>,
    /// What is different with and without it.
    pub(super) about: &'static str,
    /// How often it is planted.
    pub(super) times: u64,
    /// Draws a setup with the fault, and the same without it.
    pub(super) plant: fn(&mut Draw) -> [Setup; 2],
}

pub(super) const FAULTS: &[Fault] = &[
    Fault {
        name: "imbalance",
        class: "scheduler/balancing",
        leaf: Some("scheduler/balancing/beside-group"),
        about: "the balancer compares groups by their average load / by the load of their least \
                loaded CPU",
        times: 80,
        plant: imbalance,
    },
    Fault {
        name: "groups",
        class: "scheduler/balancing",
        leaf: Some("scheduler/balancing/beyond-one-hop"),
        about: "groups of nodes are built from the view of CPU 0 / from the view of each CPU",
        times: 80,
        plant: groups,
    },
    Fault {
        name: "numa-levels",
        class: "scheduler/balancing",
        leaf: Some("scheduler/balancing/after-hotplug"),
        about: "domains between nodes are lost after a hotplug / domains between nodes are kept",
        times: 60,
        plant: numa_levels,
    },
    Fault {
        name: "wakeup",
        class: "scheduler/placement",
        leaf: Some("scheduler/placement/search-limited"),
        about: "a wakeup searches only the CPUs of one cache / a wakeup selects the CPU that has \
                been idle longest",
        times: 120,
        plant: wakeup,
    },
    Fault {
        name: "wake-affine-idle",
        class: "scheduler/placement",
        leaf: Some("scheduler/placement/previous-idle"),
        about: "the kernel compares loads although the previous CPU is idle / the kernel selects \
            the previous CPU if it is idle",
        times: 120,
        plant: wake_affine,
    },
    Fault {
        name: "policy",
        class: "scheduler/policy",
        leaf: None,
        about: "a wrong policy from policies/wrong runs / the correct original of this policy \
                runs",
        times: 120,
        plant: policy,
    },
    Fault {
        name: "reserving",
        class: "design/reserved",
        leaf: Some("design/reserved"),
        about: "the scheduler has gangs, bound tasks or partitions / the scheduler may use every \
            CPU",
        times: 100,
        plant: reserving,
    },
    Fault {
        name: "affinity",
        class: "configuration/affinity",
        leaf: Some("configuration/affinity"),
        about: "tasks may use only some CPUs / tasks may use all CPUs",
        times: 60,
        plant: affinity,
    },
    Fault {
        name: "quota",
        class: "configuration/quota",
        leaf: Some("configuration/quota"),
        about: "a cgroup has a quota / no cgroup has a quota",
        times: 60,
        plant: quota,
    },
    Fault {
        name: "late-start",
        class: "host/late-start",
        leaf: Some("host/late-start"),
        about: "an idle CPU reacts after milliseconds / an idle CPU reacts at once",
        times: 60,
        plant: |draw| reaction(draw, 1500.0, 5000.0),
    },
    Fault {
        name: "slow-wakeup",
        class: "host/wakeup",
        leaf: Some("host/wakeup"),
        about: "an idle CPU reacts after up to half a millisecond / an idle CPU reacts at once",
        times: 80,
        plant: |draw| reaction(draw, 50.0, 500.0),
    },
];

/// Machines of several nodes: 4 to 64 CPUs.
const NODES: &[&str] = &[
    "t4x4",
    "b8x2",
    "k920",
    "bulldozer64",
    "magny48",
    "b8x8",
    "flat(2,4)",
    "flat(4,8)",
    "chiplet(2,2,4)",
    "pack:2 numa:2 l3:1 core:4 pu:1",
];
/// All machines: 2 to 64 CPUs.
const ALL: &[&str] = &[
    "osv2",
    "smp4",
    "xeon4ht",
    "smt(4)",
    "t4x4",
    "b8x2",
    "bulldozer64",
    "magny48",
    "flat(2,4)",
    "chiplet(2,2,4)",
    "pack:2 l3:1 core:4 pu:2",
    "pack:1 l3:2 core:4 pu:1",
];
/// Linux, as it was and is.
const LINUX: &[&str] = &["cfs-4.1", "cfs-5.10", "cfs-6.1", "eevdf-6.12"];

const SESSION: &str = "group = \"app\"";

fn session(name: &str) -> String {
    format!("[groups.{name}]\nsession = true")
}

/// A setup on one of these machines under one of these schedulers.
fn begin(draw: &mut Draw, machines: &[&str], schedulers: &[&str]) -> (Setup, Machine) {
    let (name, machine) = draw.machine(machines);
    let scheduler = draw.of(schedulers).to_owned();
    (Setup { machine: name, limit: LONG, scheduler, ..Setup::default() }, machine)
}

fn imbalance(draw: &mut Draw) -> [Setup; 2] {
    let (mut setup, machine) = begin(draw, NODES, LINUX);
    setup.tables.push(session("app"));
    let nodes = machine.node_count();
    for n in 0..draw.share(nodes, 0.2, 0.5) {
        setup.tables.push(session(&format!("r{n}")));
        let node = draw.below(nodes);
        setup.tasks.push(format!(
            "use = \"r_batch\"\nname = \"r{n}\"\ngroup = \"r{n}\"\nfrom-node = {node}\n\
             work = \"20s\""
        ));
    }
    let node = draw.below(nodes);
    let more = format!("{SESSION}\nfrom-node = {node}");
    let threads = draw.share(machine.len(), 0.7, 1.2).max(2);
    let tasks = match draw.below(4) {
        0 | 1 => draw.make(threads, &more),
        2 => draw.pile(threads, &more),
        _ => draw.barrier(threads, &more),
    };
    setup.tasks.push(tasks);
    draw.ambient(&mut setup);
    let right = if setup.scheduler == "cfs-4.1" { "minimum" } else { "v5.5" };
    [setup.set("imbalance", "average"), setup.set("imbalance", right)]
}

fn groups(draw: &mut Draw) -> [Setup; 2] {
    let (mut setup, machine) = begin(draw, &["bulldozer64", "b8x2", "b8x8"], LINUX);
    let domains = Domains::of(&machine, Grouping::Core0);
    let first = |node: usize| {
        machine.cpus.iter().position(|cpu| cpu.node == Some(node as u32)).unwrap_or(0)
    };
    let blind = |a: usize, b: usize| domains.blind(CpuId(first(a) as u16), CpuId(first(b) as u16));
    let pairs = machine.nodes().flat_map(|a| machine.nodes().map(move |b| (a, b)));
    let pairs: Vec<_> = pairs.filter(|&(a, b)| a != b).collect();
    let blind: Vec<_> = pairs.iter().copied().filter(|&(a, b)| blind(a, b)).collect();
    let any = blind.is_empty() || draw.chance(0.1);
    let (a, b) = draw.of(if any { &pairs } else { &blind });
    setup.tables.push(session("app"));
    let more = format!("{SESSION}\nnodes = \"{a},{b}\"\nfrom-node = {a}");
    let threads = draw.share(2 * machine.len() / machine.node_count(), 0.7, 1.3).max(3);
    draw.work(&mut setup, threads, &more);
    draw.ambient(&mut setup);
    [setup.set("groups", "core0"), setup.set("groups", "own-balanced")]
}

fn numa_levels(draw: &mut Draw) -> [Setup; 2] {
    let (mut setup, machine) = begin(draw, NODES, LINUX);
    let (cpu, node) = (draw.below(machine.len()), draw.below(machine.node_count()));
    setup.head.push(format!("hotplug = [{{ cpu = {cpu}, off = \"1us\", on = \"2us\" }}]"));
    setup.tables.push(session("app"));
    let more = format!("{SESSION}\nfrom-node = {node}\nat = \"3us\"");
    let threads = draw.share(machine.len(), 0.4, 1.2).max(2);
    draw.work(&mut setup, threads, &more);
    draw.ambient(&mut setup);
    [setup.set("numa-levels", "lose"), setup.set("numa-levels", "keep")]
}

fn wakeup(draw: &mut Draw) -> [Setup; 2] {
    let (mut setup, machine) = begin(draw, NODES, LINUX);
    setup.limit = SHORT;
    let autogroup = draw.of(&["on", "off"]);
    setup.tunables.push(("autogroup", autogroup));
    setup.tables.push(session("app"));
    if draw.chance(0.6) {
        setup.tasks.push("use = \"transient\"".to_owned());
    }
    let threads = draw.share(machine.len(), 0.9, 1.05).max(2);
    let tasks = match draw.below(8) {
        0 => draw.requests(threads, SESSION),
        1 => draw.clients(threads, SESSION),
        2 => draw.loners(threads, SESSION),
        _ => draw.database(threads, SESSION),
    };
    setup.tasks.push(tasks);
    draw.ambient(&mut setup);
    [setup.set("wakeup", "llc"), setup.set("wakeup", "longest-idle")]
}

fn wake_affine(draw: &mut Draw) -> [Setup; 2] {
    let (mut setup, machine) = begin(draw, NODES, &LINUX[1..]);
    setup.limit = SHORT;
    setup.tables.push(session("app"));
    let (compute, period) = (draw.time(30.0, 120.0), draw.time(2000.0, 8000.0));
    setup.tasks.push(format!("use = \"kworker\"\ncompute = \"{compute}\"\nperiod = \"{period}\""));
    let threads = draw.share(machine.len(), 0.9, 1.1).max(2);
    let tasks = match draw.below(6) {
        0..=3 => {
            let grain = draw.varied(100.0, 800.0);
            format!(
                "use = \"omp_barrier\"\nname = \"omp\"\nthreads = {threads}\nrounds = 100000\n\
                 grain = \"{grain}\"\nspin = \"0us\"\n{SESSION}"
            )
        }
        4 => draw.database(threads, SESSION),
        _ => draw.clients(threads, SESSION),
    };
    setup.tasks.push(tasks);
    [setup.set("wake-affine-idle", "before"), setup.set("wake-affine-idle", "after")]
}

/// Wrong policies, and their right originals. Those of which the simulator shows what is wrong come
/// more often: it takes decisions in zero time, so no other CPU acts in between.
const WRONG: &[(&str, &str)] = &[
    ("wake-in-cache", "work-stealing"),
    ("one-try", "work-stealing"),
    ("nobody-takes", "work-stealing"),
    ("group-average", "work-stealing"),
    ("groups-from-cpu0", "work-stealing"),
    ("version-check", "work-stealing"),
    ("minimum-for-all", "work-stealing"),
    ("no-chain", "work-stealing"),
    ("no-rescan", "work-stealing"),
    ("kick-first", "work-stealing"),
    ("ping-pong", "work-stealing"),
    ("unchecked-steal", "work-stealing"),
    ("endless-leader", "fair-vtime"),
];
/// So many of them.
const SHOWN: usize = 3;

fn policy(draw: &mut Draw) -> [Setup; 2] {
    let (mut setup, machine) = begin(draw, NODES, LINUX);
    let often = draw.chance(0.8);
    let (wrong, right) = draw.of(if often { &WRONG[..SHOWN] } else { WRONG });
    let (nodes, cpus) = (machine.node_count(), machine.len());
    let threads = draw.share(cpus, 0.7, 1.5).max(2);
    let (a, b) = (draw.below(nodes), draw.below(nodes));
    let some = format!("nodes = \"{a},{b}\"\nfrom-node = {a}");
    match wrong {
        // A heavy task raises the average of its node.
        "group-average" | "minimum-for-all" => {
            for _ in 0..draw.share(nodes, 0.3, 0.8) {
                let node = draw.below(nodes);
                setup.tasks.push(format!("use = \"stressor\"\nnice = -15\nfrom-node = {node}"));
            }
            draw.work(&mut setup, threads, "");
        }
        // The longest queue holds tasks that may not run elsewhere.
        "one-try" => {
            let few = draw.share(2 * cpus / nodes, 1.0, 2.0);
            setup.tasks.push(format!("use = \"stressor\"\ncount = {few}\nnodes = \"{a}\""));
            draw.work(&mut setup, threads, "");
        }
        "groups-from-cpu0" => {
            let threads = draw.share(2 * cpus / nodes, 0.7, 1.5);
            draw.work(&mut setup, threads, &some);
        }
        "nobody-takes" => {
            // Once every CPU is idle the simulator ends the run.
            setup.tasks.push("use = \"stressor\"".to_owned());
            let (compute, sleep) = (draw.time(500.0, 20_000.0), draw.time(200.0, 10_000.0));
            setup.tasks.push(format!(
                "name = \"loner\"\ncount = {threads}\nprogram = [\"loop 100000\", \
                 \"compute exp({compute})\", \"yield\", \"compute exp({compute})\", \
                 \"sleep exp({sleep})\", \"end\"]"
            ));
        }
        _ => draw.work(&mut setup, threads, ""),
    }
    let with = |file: String| Setup { scheduler: file, ..setup.clone() };
    [with(format!("policies/wrong/{wrong}.rota")), with(format!("policies/{right}.rota"))]
}

fn reserving(draw: &mut Draw) -> [Setup; 2] {
    let (mut setup, machine) = begin(draw, ALL, &["work-conserving"]);
    let cpus = machine.len();
    let name = draw.of(&["pinned", "pinned", "gang", "gang", "p-edf", "c-edf", "partitions"]);
    let with = |setup: &Setup, name: &str, tunables| Setup {
        scheduler: name.to_owned(),
        tunables,
        ..setup.clone()
    };
    match name {
        "pinned" => {
            let threads = draw.share(cpus, 0.7, 2.0);
            draw.work(&mut setup, threads, "");
            let other = draw.of(LINUX);
            let other = draw.of(&["work-conserving", other]);
            [with(&setup, name, Vec::new()), with(&setup, other, Vec::new())]
        }
        "gang" => {
            let (processes, grain) =
                (draw.share(cpus, 0.3, 0.9).max(2), draw.varied(500.0, 8000.0));
            for job in 1..=2 {
                setup.tasks.push(format!(
                    "use = \"bsp\"\nname = \"bsp{job}\"\nprocesses = {processes}\njob = {job}\n\
                     rounds = 100000\nwaiting = \"block\"\ngrain = \"{grain}\""
                ));
            }
            let count = draw.share(cpus, 0.3, 1.0);
            setup.tasks.push(format!("use = \"stressor\"\ncount = {count}"));
            [with(&setup, name, vec![("quantum", "20ms")]), setup]
        }
        "partitions" => {
            let (front, back) = (draw.share(cpus, 0.5, 1.5), draw.share(cpus, 0.5, 1.5));
            setup.tables.push("[groups.web]\n[groups.batch]".to_owned());
            let web = draw.requests(front, "group = \"web\"");
            setup.tasks.push(web);
            draw.work(&mut setup, back, "group = \"batch\"");
            let file = |name| with(&setup, name, Vec::new());
            [file("policies/partitions.rota"), file("policies/work-stealing.rota")]
        }
        _ => {
            let count = draw.share(cpus, 1.0, 2.0);
            for n in 0..count {
                let period = draw.of(&[10.0, 20.0, 40.0, 50.0]);
                let load = draw.between(0.3, 0.9) * (cpus as f64 / count as f64).min(1.0);
                let compute = (period * load * 1000.0).round();
                setup.tasks.push(format!(
                    "name = \"job{n}\"\nbackground = true\nprogram = [\"loop forever\", \
                     \"every {period}ms\", \"compute {compute}us\", \"end\"]"
                ));
            }
            [with(&setup, name, Vec::new()), with(&setup, "gsn-edf", Vec::new())]
        }
    }
}

fn affinity(draw: &mut Draw) -> [Setup; 2] {
    let (mut setup, machine) = begin(draw, ALL, LINUX);
    let few = draw.share(machine.len(), 0.2, 0.7).min(machine.len() - 1);
    let from = draw.below(machine.len() - few);
    let more = format!("{SESSION}\ncpus = \"{from}-{}\"", from + few - 1);
    let threads = draw.share(machine.len(), 0.7, 1.5).max(2);
    setup.tables.push(session("app"));
    if draw.chance(0.3) {
        let count = draw.share(machine.len(), 0.1, 0.5);
        setup.tasks.push(format!("use = \"stressor\"\ncount = {count}"));
    }
    draw.ambient(&mut setup);
    // The same work, drawn once.
    draw.work(&mut setup, threads, &more);
    let mut wide = setup.clone();
    for tasks in &mut wide.tasks {
        *tasks = tasks.replace(&more, SESSION);
    }
    [setup, wide]
}

fn quota(draw: &mut Draw) -> [Setup; 2] {
    let (mut setup, machine) = begin(draw, ALL, LINUX);
    let period = draw.of(&[20.0, 50.0, 100.0]);
    let runtime = (period * machine.len() as f64 * draw.between(0.1, 0.7)).round();
    let threads = draw.share(machine.len(), 0.7, 1.5).max(2);
    draw.work(&mut setup, threads, SESSION);
    draw.ambient(&mut setup);
    let with = |quota: String| {
        let mut with = setup.clone();
        with.tables.insert(0, format!("[groups.app]\n{quota}"));
        with
    };
    [with(format!("quota = \"{runtime}ms/{period}ms\"")), with(String::new())]
}

/// Interrupts to idle CPUs take time, in microseconds.
fn reaction(draw: &mut Draw, low: f64, high: f64) -> [Setup; 2] {
    let (mut setup, machine) = begin(draw, ALL, LINUX);
    setup.limit = SHORT;
    let threads = draw.share(machine.len(), 0.5, 1.2).max(2);
    setup.tables.push(session("app"));
    draw.work(&mut setup, threads, SESSION);
    let ipi = draw.time(low, high);
    let with = |ipi: &str| {
        let mut with = setup.clone();
        with.head.push(format!("costs = {{ ipi = \"{ipi}\" }}"));
        with
    };
    [with(&ipi), with("0us")]
}
