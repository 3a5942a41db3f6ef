//! Hostile texts: each gets a short error message, quickly.

use wastenot_rota::{Diagnostic, codes, compile, format, fuzz_one, render, text};

/// The only error in it.
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
        "the file is not text: byte 0xed in line 2 is not UTF-8",
        "half of a surrogate pair"
    );
    assert_eq!(
        told(b"\x7fELF\x02"),
        "the file is not text: it contains the control character '\\u{7f}'"
    );
    assert_eq!(
        told(&vec![b'a'; 10 << 20]),
        "the file is too long for a policy: the limit is 1 MiB"
    );
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

/// A policy with these items and the rest that it needs.
fn with(items: &str) -> String {
    codes::whole(items)
}

/// As close to 1 MiB as this many different pieces come.
fn many(piece: impl Fn(usize) -> String) -> String {
    let (mut text, mut n) = (String::new(), 0);
    while text.len() < (1 << 20) - 2_000 {
        text += &piece(n);
        n += 1;
    }
    text
}

/// A checker that scans the whole rest for each piece would take minutes for one of these.
#[test]
fn a_megabyte_of_anything_is_looked_at_once() {
    let first = |text: &str| compile(text).err().map(|faults| faults[0].code);
    let told = |text: &str| {
        fuzz_one(text.as_bytes());
        first(text)
    };
    assert_eq!(told(&"/*\n".repeat(300_000)), Some("R006"));
    assert_eq!(told(&format!("{}*/", "/*\n".repeat(300_000))), Some("R006"));
    assert_eq!(told(&"/**/".repeat(250_000)), Some("R006"));
    assert_eq!(told(&"# ".repeat(500_000)), Some("R006"));
    let quotes = |number| format!("policy p {{\n{}\n}}", "\"".repeat(number));
    let faults = compile(&quotes(900_000)).expect_err("no item");
    assert_eq!((faults[0].code, faults[0].span.start), ("R007", 11), "where the quotes begin");
    assert_eq!(
        compile(&quotes(900_001)).expect_err("no end").last().map(|it| it.code),
        Some("R005")
    );
    assert_eq!(told(&"?".repeat(1 << 20)), Some("R002"));
    assert_eq!(told(&"\u{feff}".repeat(300_000)), Some("R002"));
}

#[test]
fn fifty_thousand_faults_are_told_as_twenty() {
    let puts = "put t in home(t).ready\n".repeat(40_000);
    let faults = compile(&with(&format!("on tick(t) {{\n{puts}\n}}"))).expect_err("no place");
    assert_eq!((faults.len(), faults[0].code), (20, "R310"));
    let faults = compile(&with(&"queue ready : fifo per cpu\n".repeat(38_000)));
    assert_eq!(faults.expect_err("twice").len(), 20);
}

#[test]
fn a_megabyte_of_declarations_is_read() {
    let first = |text: &str| compile(text).err().map(|faults| faults[0].code);
    let variables = many(|n| format!("v{n}: count = 0 shared\n"));
    assert_eq!(first(&with(&format!("cpu {{ {variables} }}"))), Some("R209"));
    let params = many(|n| format!("p{n}: count = 0,\n"));
    let params = params.trim_end().trim_end_matches(',');
    assert_eq!(first(&with("").replace("p {", &format!("p({params}) {{"))), Some("R209"));
    assert_eq!(first(&with(&many(|n| format!("queue w{n} : fifo per cpu\n")))), None);
    let metrics = many(|n| format!("metric m{n}(c: cpu) : count = {n}\n"));
    assert_eq!(first(&with(&metrics)), Some("R209"));
    let chain = many(|n| format!("metric m{}(c: cpu) : count = m{n}(c)\n", n + 1));
    let chain = format!("metric m0(c: cpu) : count = 0\n{chain}");
    assert_eq!(first(&with(&chain)), Some("R209"));
    let policies = many(|n| format!("policy p{n} {{}}\n"));
    assert_eq!(first(&policies), Some("R303"));
}

#[test]
fn a_megabyte_of_partitions_is_read() {
    let first = |text: &str| compile(text).err().map(|faults| faults[0].code);
    let rest = "partition r on rest runs p for rest\n";
    for cpus in ["llc", "cpus"] {
        let many =
            many(|n| format!("partition p{n} on {cpus} {} runs p for cgroup \"\"\n", n % 8000));
        assert_eq!(first(&with(&format!("{many}{rest}"))), Some("R504"), "some are named twice");
    }
    let ranges = many(|n| format!("{},", n % 8000 + 100));
    let two = format!("partition a on cpus {ranges}1 runs p for cgroup \"a\"\n");
    let (one, other) = two.split_at(two.len() / 2);
    let cut = one.rfind(',').expect("a comma");
    let other = format!("partition b on cpus 2{}{other}", &one[cut..]);
    let one = format!("{} runs p for cgroup \"b\"\n", &one[..cut]);
    assert_eq!(first(&with(&format!("{one}{other}{rest}"))), Some("R504"));
}

#[test]
fn depth_has_an_end() {
    let metric = |value: &str| format!("policy p {{ metric m(c: cpu) : count = {value} }}");
    let deep = |open: &str, close: &str, depth| {
        metric(&format!("{}1{}", open.repeat(depth), close.repeat(depth)))
    };
    for (open, close) in [("(", ")"), ("half(", ")"), ("not ", ""), ("a.", ".b")] {
        let said = said(&deep(open, close, 20_000));
        assert!(
            said.starts_with("R013: blocks or expressions are nested deeper than 64 levels"),
            "{open}: {said}"
        );
    }
    let said = said(&deep("1 + ", "", 20_000));
    assert!(said.starts_with("R013: the expression has a chain of more than 64"), "{said}");
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
        ("20msec", "there is no unit `msec`; write `20ms`"),
        ("20µs", "there is no unit `µs`; write `20us`"),
        ("5seconds", "there is no unit `seconds`; write `5s`"),
        ("7m", "there is no unit `m`; use one of the units ns, us, ms, s, %"),
        ("7fortnights", "there is no unit `fortnights`; use one of the units ns, us, ms, s, %"),
        ("1.5ms", "`1.5ms` is not a whole number; write `1500us`"),
        ("0.25s", "`0.25s` is not a whole number; write `250ms`"),
        ("20", "a time needs a unit; write `20ms`, or use the unit ns, us or s"),
    ] {
        let said = said(&format!("policy p(slice: time = {number}) {{ }}"));
        assert_eq!(said, format!("R004: {told}"));
    }
}

#[test]
fn a_number_that_is_too_large_is_told_with_the_largest() {
    for (number, largest) in [
        ("99999999999s", "100000000s"),
        ("100000001s", "100000000s"),
        ("18446744073709551616ns", "100000000000000000ns"),
    ] {
        let with =
            |number| with("").replace("policy p {", &format!("policy p(s: time = {number}) {{"));
        let told = format!("R203: the number is too large; write at most {largest}");
        assert_eq!(said(&with(number)), told);
        assert_eq!(compile(&with(largest)).err(), None);
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

#[test]
fn what_nobody_sees_is_named() {
    for (letter, help) in [('\u{a0}', "write a space"), ('\u{feff}', "remove it")] {
        let fault = said(&format!("policy{letter}p {{ }}"));
        let named = format!("R002: U+{:04X} is not allowed here; {help}", letter as u32);
        assert_eq!(fault, named);
    }
}

#[test]
fn a_file_may_begin_with_a_byte_order_mark() {
    let text = with("");
    let marked = format!("\u{feff}{text}");
    assert_eq!(compile(&marked).err(), None);
    assert_eq!(format(&marked), format(&text));
}

#[test]
fn a_carriage_return_alone_ends_no_line() {
    let told = said("// a comment\rpolicy p { }\r");
    let message = "the file is not text: it contains the control character '\\r'";
    let help = "end lines with a line feed; a carriage return alone does not end a line";
    assert_eq!(told, format!("R001: {message}; {help}"));
    assert_eq!(compile(&with("").replace('\n', "\r\n")).err(), None);
}
