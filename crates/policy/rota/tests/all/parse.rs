//! How texts are parsed, and which errors are reported.

use proptest::prelude::*;
use wastenot_chance::sample;
use wastenot_rota::syntax::FAULTS;
use wastenot_rota::syntax::ast::{Attempt, ExprKind, Item, Operator, StatementKind};
use wastenot_rota::{Diagnostic, parse, render};

use crate::texts::{FAIR, STEALING, mutated};

fn faults(text: &str) -> Vec<Diagnostic> {
    parse(text).1
}

/// The codes of the errors and the marked parts of the text.
fn told(text: &str) -> Vec<(&'static str, &str)> {
    let of = |fault: &Diagnostic| &text[fault.span.start as usize..fault.span.end as usize];
    faults(text).iter().map(|fault| (fault.code, of(fault))).collect()
}

#[test]
fn both_examples_are_read_whole() {
    for text in [STEALING, FAIR] {
        let (file, faults) = parse(text);
        assert_eq!(faults, [], "{text}");
        assert_eq!(file.policies.len(), 1);
    }
    let (file, _) = parse(STEALING);
    let handlers = file.policies[0].items.iter().filter(|item| matches!(item, Item::On(_)));
    assert_eq!(handlers.count(), 7);
}

/// The statements of a handler with this body.
fn statements(body: &str) -> Vec<StatementKind> {
    let (mut file, faults) = parse(&format!("policy p {{\n on new(t) {{\n{body}\n}}\n}}"));
    assert_eq!(faults, [], "{body}");
    let Item::On(handler) = file.policies.remove(0).items.remove(0) else { panic!("a handler") };
    handler.body.statements.into_iter().map(|statement| statement.kind).collect()
}

#[test]
fn operators_bind_as_in_arithmetic() {
    let [StatementKind::Let(_, expr)] =
        &statements("let x = a + b * c < d and not e in f or g")[..]
    else {
        panic!("one binding")
    };
    let ExprKind::Binary(both, Operator::Or, _) = &expr.kind else { panic!("or is weakest") };
    let ExprKind::Binary(less, Operator::And, not) = &both.kind else { panic!("then and") };
    assert!(matches!(&less.kind, ExprKind::Binary(_, Operator::Less, _)));
    let ExprKind::Not(inner) = &not.kind else { panic!("not before comparisons") };
    assert!(matches!(&inner.kind, ExprKind::Binary(_, Operator::In, _)));
}

#[test]
fn a_statement_goes_on_over_lines_until_it_is_whole() {
    let body = "put t in\n home(t).q\n slice 3ms\n slice.x := 4\n take t.q\n else balance idle";
    let [StatementKind::Put { slice: Some(_), .. }, StatementKind::Set { .. }, last] =
        &statements(body)[..]
    else {
        panic!("{:?}", statements(body))
    };
    let StatementKind::Attempts(attempts) = last else { panic!("{last:?}") };
    assert!(matches!(attempts[..], [Attempt::Take(_), Attempt::Balance(_)]));
}

#[test]
fn two_statements_on_a_line_need_a_semicolon() {
    assert_eq!(statements("kick a; kick b").len(), 2);
    let told = told("policy p { on new(t) { kick a kick b } }");
    assert_eq!(told, [("R011", "kick")]);
}

#[test]
fn several_faults_are_told_and_none_twice() {
    let text = "policy p {
    qeue q : fifo per cpu
    queue r : fifo per core
    on wake(t) {
        put t on home(t).q
        put t in q
        let 3 = 4
        kick here
    }
    on dispach(c) { }
    balance idle {
        levl machine
        retry 1 2
    }
}";
    let expected = [
        ("R008", "qeue"),
        ("R009", "core"),
        ("R007", "on"),
        ("R015", "q"),
        ("R007", "3"),
        ("R008", "dispach"),
        ("R008", "levl"),
        ("R007", "2"),
    ];
    assert_eq!(told(text), expected);
}

#[test]
fn an_open_brace_is_told_once_where_it_opens() {
    let text = "policy p {\n on new(t) { if a { kick b \n queue q : fifo per cpu\n}\n";
    assert_eq!(told(text), [("R010", "{")]);
    assert_eq!(faults(text)[0].span.start as usize, text.find("{ kick").unwrap());
    assert_eq!(told("policy p {\npolicy q { }\n"), [("R010", "{")]);
    assert_eq!(told("policy p { }\n}\npolicy q { }\n"), [("R010", "}")]);
}

/// Whether every reported position is in the text, between characters, and not after its end.
fn places_are_right(text: &str, faults: &[Diagnostic]) {
    for fault in faults {
        let others = fault.others.iter().map(|(span, _)| span);
        for span in std::iter::once(&fault.span).chain(others) {
            let (start, end) = (span.start as usize, span.end as usize);
            assert!(start <= end && text.get(start..end).is_some(), "{fault:?} in {text}");
        }
        assert!(!fault.message.is_empty() && !fault.help.is_empty(), "{fault:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_text_of_the_grammar_is_read(seed: u64) {
        let text = sample(seed);
        prop_assert_eq!(faults(&text), [], "{}", text);
    }

    #[test]
    fn damaged_texts_get_faults_with_places(seed: u64, places: Vec<(u32, u8)>) {
        let text = mutated(&sample(seed), &places);
        let found = faults(&text);
        prop_assert!(found.len() <= FAULTS);
        places_are_right(&text, &found);
        let shown = render(&found, "p.rota", &text, true, 80);
        prop_assert!(found.is_empty() || shown.contains("p.rota"));
    }

    #[test]
    fn any_text_gets_faults_with_places(text: String) {
        places_are_right(&text, &faults(&text));
    }
}
