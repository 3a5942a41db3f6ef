//! Profiles: how a file is read, and which errors are reported.

use wastenot_model::machine::{Profile, Section, Spin};
use wastenot_model::workload::Random;
use wastenot_model::{Help, Span};
use wastenot_scenario::profile::{named, profile, written};

fn good(text: &str) -> Profile {
    profile("my.toml", text).unwrap_or_else(|e| panic!("{e}\nhelp: {}\n{text}", e.help()))
}

#[test]
fn what_is_not_said_is_as_in_the_base() {
    let text = "schema = \"wastenot.profile/1\"\nbase = \"x7550-assumed\"\n\
                line_near = \"60ns\"\nspin = \"own\"\ncoarse = { lines = 7 }\n[handler]\n\
                work = \"2us\"\nlines = 0\n";
    let mut expected = Profile::X7550_ASSUMED;
    expected.hardware.line_near = Span(60);
    expected.spin = Spin::Own;
    expected.coarse.lines = 7;
    expected.handler = Section { work: Span(2_000), lines: 0 };
    assert_eq!(good(text), expected);
    assert_eq!(good("schema = \"wastenot.profile/1\""), Profile::FREE);
}

#[test]
fn what_is_written_is_read_back() {
    let mut random = Random::stream(1, 0, 0);
    let some = (0..100).map(|_| wastenot_chance::profile(&mut random));
    for profile in some.chain(Profile::NAMED.map(|(_, profile)| profile)) {
        let text = written(&profile, "by \"chance\"\nand so on");
        assert_eq!(good(&text), profile, "{text}");
    }
}

#[test]
fn names_are_known_or_told() {
    for (name, profile) in Profile::NAMED {
        assert_eq!(named(name), Ok(profile));
    }
    let error = named("x7550").expect_err("none of that name");
    assert!(error.help().contains("x7550-assumed"), "{}", error.help());
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let head = "schema = \"wastenot.profile/1\"\n";
    for (text, line, what, help) in [
        ("", 1, "no `schema`", "wastenot.profile/1"),
        ("schema = \"wastenot.sweep/1\"", 1, "not a profile", "wastenot.profile/1"),
        (&format!("{head}line_nera = \"1ns\""), 2, "no key `line_nera`", "`line_near`"),
        (&format!("{head}ipi = 3"), 2, "`ipi` cannot be `3`", "`3us`"),
        (&format!("{head}ipi = \"1s\""), 2, "longer than 10000 us", "short code path"),
        (&format!("{head}line_far = \"11us\""), 2, "longer than 10 us", "short code path"),
        (&format!("{head}\nfetches = -1"), 3, "`fetches` cannot be `-1`", "from 0 to 100"),
        (&format!("{head}spin = \"mcs\""), 2, "`spin` cannot be `mcs`", "`own`"),
        (&format!("{head}base = \"x7550\""), 2, "no profile `x7550`", "free"),
        (&format!("{head}coarse = 4"), 2, "`CODE` cannot be `4`", "a table"),
        (&format!("{head}coarse = {{ line = 4 }}"), 2, "no key `line`", "`lines`"),
        (&format!("{head}coarse = {{ work = \"1s\" }}"), 2, "is longer than", "short code path"),
        (&format!("{head}coarse = {{ lines = 1000000 }}"), 2, "`lines` cannot be", "100000"),
        (&format!("{head}ipi = \"1us"), 2, "", "toml.io"),
    ] {
        let error = profile("my.toml", text).expect_err(text);
        let said = error.to_string();
        assert!(said.starts_with(&format!("my.toml:{line}: ")), "{text}: {said}");
        assert!(said.contains(what) && error.help().contains(help), "{said}: {}", error.help());
    }
}
