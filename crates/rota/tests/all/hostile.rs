//! Texts that nobody writes on purpose: each gets few words, soon.

use wastenot_rota::{Diagnostic, compile, format, fuzz_one, render, text};

/// The one thing that is said of it.
fn only(text: &str) -> Diagnostic {
    let mut faults = compile(text).expect_err("it is wrong");
    assert_eq!(faults.len(), 1, "{faults:?}");
    fuzz_one(text.as_bytes());
    faults.remove(0)
}

fn said(text: &str) -> String {
    let fault = only(text);
    format!("{}: {}; {}", fault.code, fault.message, fault.help)
}

#[test]
fn what_is_no_text_is_told_once() {
    let told = |bytes: &[u8]| text(bytes).expect_err("no text").message;
    assert_eq!(
        told(b"policy\n\xed\xa0\x80"),
        "not a text: byte 0xed in line 2 is not UTF-8",
        "half of a surrogate pair"
    );
    assert_eq!(told(b"\x7fELF\x02"), "not a text: it holds the control character '\\u{7f}'");
    assert_eq!(told(&vec![b'a'; 10 << 20]), "too long for a policy: at most 1 MiB is read");
    assert!(text(&vec![b'a'; 1 << 20]).is_ok());
    assert_eq!(only("policy p { \0 }").code, "R001");
    assert_eq!(only(&"a".repeat((1 << 20) + 1)).code, "R001");
}

#[test]
fn one_line_of_a_megabyte_is_shown_in_part() {
    let mut line = format!("policy p {{ queue q : fifo per cpu{} }}", " ".repeat((1 << 20) - 60));
    line.insert_str(1 << 19, "wrong");
    let fault = only(&line);
    assert_eq!((fault.code, fault.span.start), ("R008", 1 << 19));
    let shown = render(&[fault], "p.rota", &line, false, 80);
    assert!(shown.len() < 1_000 && shown.contains("wrong") && shown.contains("524289"), "{shown}");
    let many = render(&compile(&"? ".repeat(1 << 19)).unwrap_err(), "p.rota", &line, false, 80);
    assert!(many.len() < 20_000);
}

#[test]
fn a_hundred_thousand_braces_are_told_shortly() {
    assert_eq!(only(&"{".repeat(100_000)).code, "R007");
    for piece in ["policy p {", "policy p { on wake(t) {", "if a {", "}", "(", "policy p(", "on "] {
        let text = piece.repeat(100_000 / piece.len());
        fuzz_one(text.as_bytes());
        assert!(compile(&text).unwrap_err().len() <= 20);
    }
}

#[test]
fn depth_has_an_end() {
    let metric = |value: &str| format!("policy p {{ metric m(c: cpu) : count = {value} }}");
    let deep = |open: &str, close: &str, depth| {
        metric(&format!("{}1{}", open.repeat(depth), close.repeat(depth)))
    };
    for (open, close) in [("(", ")"), ("half(", ")"), ("1 + ", ""), ("not ", ""), ("a.", ".b")] {
        let said = said(&deep(open, close, 20_000));
        assert!(said.starts_with("R013: nested more than 64 deep"), "{open}: {said}");
    }
    let (ifs, ends) = ("if a { ".repeat(20_000), " }".repeat(20_000));
    let elses = "if a { } else ".repeat(20_000);
    for body in [format!("{ifs}{ends}"), format!("{elses}{{ }}")] {
        assert_eq!(only(&format!("policy p {{ on tick(t) {{ {body} }} }}")).code, "R013");
    }
    assert!(format(&deep("(", ")", 50)).is_ok());
}

#[test]
fn a_near_word_is_told() {
    assert_eq!(said("polici p { }"), "R008: unknown word `polici`; write `policy`");
    let said = said("policy p { queue q : fifo per mashine }");
    assert_eq!(said, "R008: unknown word `mashine`; write `machine`");
}

#[test]
fn a_wrong_unit_is_told_with_the_right_one() {
    for (number, told) in [
        ("20msec", "no unit `msec`; write `20ms`"),
        ("20µs", "no unit `µs`; write `20us`"),
        ("5seconds", "no unit `seconds`; write `5s`"),
        ("7m", "no unit `m`; the units are ns, us, ms, s, %"),
        ("7fortnights", "no unit `fortnights`; the units are ns, us, ms, s, %"),
        ("1.5ms", "`1.5ms` is not a whole number; write `1500us`"),
        ("0.25s", "`0.25s` is not a whole number; write `250ms`"),
        ("20", "a time needs a unit; write `20ms`, or ns, us, s"),
        ("99999999999s", "a number too large to count with; write at most 9223372036s"),
    ] {
        let said = said(&format!("policy p(slice: time = {number}) {{ }}"));
        assert_eq!(said, format!("R004: {told}"));
    }
}

#[test]
fn tabs_and_wide_letters_do_not_shift_the_mark() {
    let text = "policy p {\n\t// 漢字\n\tqueue q : fifo per core // größe\n}\n";
    let shown = render(&compile(text).unwrap_err(), "p.rota", text, false, 80);
    let lines: Vec<&str> = shown.lines().collect();
    let line = lines.iter().position(|line| line.contains("core //")).expect("the line");
    assert_eq!(lines[line].find("core"), lines[line + 1].find("^^^^"), "{shown}");
    assert!(shown.contains("p.rota:3:21"), "{shown}");
}

#[test]
fn colour_is_only_there_where_it_is_asked_for() {
    let text = "policy p { x }";
    let faults = compile(text).unwrap_err();
    assert!(!render(&faults, "p", text, false, 80).contains('\x1b'));
    assert!(render(&faults, "p", text, true, 80).contains('\x1b'));
}
