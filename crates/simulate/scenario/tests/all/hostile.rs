//! Hostile input: the result must be a machine or an error, quickly and with little memory.

use proptest::prelude::*;
use wastenot_model::CpuId;
use wastenot_model::machine::domains::{Domains, Grouping};
use wastenot_scenario::{fuzz_one, machine_from};

/// Each broken in the same ways: cut anywhere, a byte changed anywhere, a piece repeated.
const SEEDS: [&[u8]; 6] = [
    include_bytes!("../data/synthetic-01.v2.xml"),
    include_bytes!("../data/synthetic-10.v1.xml"),
    include_bytes!("../data/interleaved.lscpu-physical.txt"),
    include_bytes!("../data/interleaved.sys.txt"),
    b"Package:2 [NUMANode(memory=1GB indexes=1,0)] Die:2 L3:1(size=20MB) L2u:2 Core:1 2",
    b"pack:2 numa:2(indexes=pack) l3:1 pu:2(indexes=4*2:1*4)",
];

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(600)
    })]

    #[test]
    fn damaged_files_end_in_a_machine_or_an_error(
        seed in 0..SEEDS.len(),
        cut in 0.0..1.0f64,
        changes in prop::collection::vec((0.0..1.0f64, any::<u8>()), 0..4),
    ) {
        let mut data = SEEDS[seed].to_vec();
        let place = |share: f64, len: usize| (share * len as f64) as usize;
        for (share, byte) in changes {
            let at = place(share, data.len());
            data[at] = byte;
        }
        fuzz_one(&data);
        data.truncate(place(cut, data.len()));
        fuzz_one(&data);
    }

    #[test]
    fn any_text_of_the_synthetic_alphabet_ends(text in "[a-z0-9:,*()\\[\\]= ]{0,60}") {
        fuzz_one(text.as_bytes());
    }
}

#[test]
fn xml_made_to_blow_up_is_refused() {
    let entities = "<!DOCTYPE t [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><topology>&b;</topology>";
    let attributes: String = (0..100_000).map(|n| format!(" a{n}=\"\"")).collect();
    let deep = "<object type=\"PU\" os_index=\"1\">".repeat(200_000);
    for (name, text) in [
        ("entities", entities.to_string()),
        ("attributes", format!("<topology{attributes}/>")),
        ("elements", format!("<topology>{}</topology>", "<a/>".repeat(400_000))),
        ("equals", format!("<topology>{}</topology>", "=".repeat(1_000_000))),
        ("deep", format!("<topology>{deep}")),
    ] {
        assert!(machine_from(name, text.as_bytes()).is_err(), "{name}");
    }
    let closed = format!(
        "<topology>{}{}</topology>",
        "<object type=\"Group\">".repeat(100_000),
        "</object>".repeat(100_000)
    );
    assert!(machine_from("deep and closed", closed.as_bytes()).is_err());
}

#[test]
fn files_that_tools_never_write_do_not_stop_the_fuzz_entry() {
    fuzz_one(b"");
    fuzz_one(&[0xff; 300]);
    fuzz_one("é:2 pu:1".as_bytes());
    fuzz_one(b"<topology><object type=\"PU\" os_index=\"99999999\"/></topology>");
    fuzz_one(b"<topology><object type=\"Machine\" complete_cpuset=\"0xf...f\"><object type=\"PU\" os_index=\"0\"/></object></topology>");
    fuzz_one(b"/sys/devices/system/cpu/online:0-8191\n/sys/devices/system/node/online:0-8191\n");
}

#[test]
fn the_largest_machine_has_domains() {
    let machine = wastenot_scenario::machine("chiplet(2,64,64)").expect("8192 CPUs");
    let domains = Domains::of(&machine, Grouping::OwnBalanced);
    let counts: Vec<usize> =
        (0..domains.levels().len()).map(|level| domains.groups(level, CpuId(8191)).len()).collect();
    assert_eq!(counts, [64, 64, 2]);
}

/// Pieces of scenarios and of rt-app's files, put together in any order.
const PIECES: [&str; 40] = [
    "schema = \"wastenot.scenario/1\"\n",
    "machine = \"smp4\"\n",
    "machine = \"chiplet(2,64,64)\"\n",
    "scheduler = { name = \"pinned\" }\n",
    "limit = \"1s\"\n",
    "conditions = [\"c\"]\n",
    "[parameters]\nn = 3\n",
    "[sweep]\nn = [1, 2, 3, 4, 5, 6, 7, 8, 9]\n",
    "[groups.a]\nparent = \"b\"\n",
    "[groups.b]\nparent = \"a\"\n",
    "[locks]\nl = {}\n",
    "[barriers]\nb = { parties = 100000 }\n",
    "[pipes]\np = { capacity = 1 }\n",
    "[[tasks]]\nname = \"t\"\nprogram = [\"compute 1ms\"]\n",
    "[[tasks]]\nname = \"u\"\ncount = 100000\nprogram = [\"loop 4294967295\", \"get p\", \
     \"end\"]\n",
    "[[tasks]]\nname = \"v\"\nforked = true\nprogram = [\"fork w x 4294967295\"]\n",
    "[[tasks]]\nname = \"w\"\nprogram = [\"fork v x 4294967295\", \"wait all\"]\n",
    "[[tasks]]\nname = \"x\"\nprogram = [\"loop forever\", \"lock l\", \"compute 1ns\", \
     \"unlock l\", \"end\"]\n",
    "[[tasks]]\nname = \"y\"\ncount = \"${n}\"\nprogram = [\"barrier b\", \"await c\", \
     \"signal c\"]\n",
    "[[tasks]]\nuse = \"messaging\"\ngroups = 100\nsenders = 100\nreceivers = 100\n",
    "[[tasks]]\nuse = \"spin_pipeline\"\nthreads = 4096\nsteps = 4294967295\n",
    "[[tasks]]\nuse = \"make_j\"\njobs = 1000000\n",
    "[[tasks]]\nuse = \"db_tpch\"\ncontainers = 64\n",
    "[[tasks]]\nuse = \"osv_intermittent\"\nwork = \"1000000s\"\nbusy = \"1ns\"\n",
    "[[tasks]]\nuse = \"xine\"\n",
    "[[tasks]]\nuse = \"kworker\"\ncompute = \"uniform(0ns, 1000000s)\"\n",
    "[[hotplug]]\ncpu = 1\noff = \"1ms\"\n",
    "[[variants]]\nname = \"a\"\n",
    "[[variants]]\nname = \"b\"\nparameters = { n = \"${n}\" }\n",
    "[[variants]]\nname = \"c\"\nscheduler = { name = \"osv\" }\n",
    "[[figures]]\nname = \"f\"\nmeasure = \"waste\"\nof = \"*a*a*a*a*a*b\"\n",
    "[[figures]]\nname = \"g\"\nmeasure = \"marks\"\nover = { measure = \"tasks\" }\n",
    "{\"tasks\": {\"a\": {",
    "\"instance\": 100000, \"loop\": -1, ",
    "\"run\": 10, \"suspend\", \"resume\": \"b\", ",
    "\"phases\": {\"p\": {\"loop\": 4294967295, ",
    "\"lock\": \"m\", \"wait\": {\"ref\": \"q\", \"mutex\": \"m\"}, \"unlock\": \"m\", ",
    "}}, ",
    "}, \"b\": {",
    "}}}",
];

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn pieces_of_scenarios_in_any_order_end(
        toml in any::<bool>(),
        pieces in prop::collection::vec(0..PIECES.len(), 0..16),
        changes in prop::collection::vec((0.0..1.0f64, any::<u8>()), 0..2),
    ) {
        let begin = if toml { PIECES[..4].concat().replace(PIECES[2], "") } else { String::new() };
        let text: String = pieces.iter().map(|&piece| PIECES[piece]).collect();
        fuzz_one((begin.clone() + &text).as_bytes());
        let mut data = (begin + &text).into_bytes();
        for (share, byte) in changes {
            if !data.is_empty() {
                let at = (share * data.len() as f64) as usize;
                data[at] = byte;
            }
        }
        fuzz_one(&data);
    }

    #[test]
    fn damaged_scenarios_end(
        which in any::<prop::sample::Index>(),
        cut in 0.0..1.0f64,
        moved in (0.0..1.0f64, 0.0..1.0f64),
        changes in prop::collection::vec((0.0..1.0f64, any::<u8>()), 0..4),
    ) {
        let scenarios = super::seeds::all();
        let mut data = scenarios[which.index(scenarios.len())].1.clone().into_bytes();
        let place = |share: f64, len: usize| (share * len as f64) as usize;
        let (from, to) = (place(moved.0, data.len()), place(moved.1, data.len()));
        let piece: Vec<u8> = data[from.min(to)..from.max(to)].to_vec();
        for (share, byte) in changes {
            let at = place(share, data.len());
            data[at] = byte;
        }
        fuzz_one(&data);
        data.splice(to..to, piece);
        fuzz_one(&data);
        data.truncate(place(cut, data.len()));
        fuzz_one(&data);
    }
}

#[test]
fn scenarios_made_to_take_long_are_soon_done() {
    let head = PIECES[..2].concat() + PIECES[3];
    let lines = |line: &str, count: usize| line.repeat(count);
    let task = |program: &str| format!("{head}[[tasks]]\nname = \"t\"\nprogram = [{program}]\n");
    let variants: String = (0..250).map(|n| format!("[[variants]]\nname = \"{n}\"\n")).collect();
    for text in [
        task(&lines("\"mark m\", ", 20_000)),
        task(&(0..20_000).map(|n| format!("\"mark m{n}\",")).collect::<String>()),
        task(&lines("\"loop 4000000000\", \"compute 1ns\", \"end\", ", 4000)),
        task(&lines("\"loop 4000000000\", ", 8)),
        head.clone() + &lines("[[tasks]]\nuse = \"messaging\"\ngroups = 100\n", 30),
        head.clone() + &variants + PIECES[14] + PIECES[12],
        head.clone() + &variants + PIECES[19],
        head.clone() + "[sweep]\nn = " + &format!("{:?}\n", vec![1; 10_000]) + PIECES[6],
        head.clone()
            + &format!(
                "[parameters]\nn = \"{}\"\nm = \"{}\"\n",
                "x".repeat(256),
                "${n}".repeat(50_000)
            ),
        head.clone() + &format!("a = {}", "[".repeat(100_000)),
        head.clone() + &format!("a = \"{}\"", "é".repeat(100_000)),
        format!("{{\"tasks\": {{{}}}}}", lines("\"a\": {\"run\": 1}, ", 50_000)),
        format!("{{\"a\": {}", lines("[", 100_000)),
    ] {
        fuzz_one(text.as_bytes());
    }
}
