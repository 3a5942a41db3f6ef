//! Input made to hurt: it must end in a machine or an error, soon and in little memory.

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
