//! What is never emitted.

use wastenot_rota::emit::emit;

fn codes(text: &str) -> Vec<&'static str> {
    let program = wastenot_rota::compile(text).expect("it means something");
    emit(&program).expect_err("it is refused").iter().map(|fault| fault.code).collect()
}

fn work_stealing() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../policies/work-stealing.rota");
    std::fs::read_to_string(path).expect("a text")
}

#[test]
fn an_unsafe_protocol_is_never_emitted() {
    let unsafely = "\n    unsafe protocol { dispatch: no_chain }\n    prove ";
    let text = work_stealing().replace("\n    prove ", unsafely);
    assert_eq!(codes(&text), ["R701"]);
}

#[test]
fn a_recheck_that_the_kernel_does_not_make_is_refused() {
    let text = work_stealing()
        .replace("where me in allowed(t)", "where me in allowed(t) and queued(v.ready) >= 1");
    assert_eq!(codes(&text), ["R702"]);
}

#[test]
fn a_file_without_a_policy_is_refused() {
    for text in ["", "// nothing yet\n"] {
        assert_eq!(codes(text), ["R703"], "{text:?}");
    }
}

/// With one more, the verifier would have to follow a ninth call.
#[test]
fn set_operators_that_are_too_deep_are_refused() {
    let nested = |depth: usize| {
        let at = |n: usize| if n == 0 { "v".to_owned() } else { format!("i{}", n - 1) };
        let all: String = (0..depth).map(|n| format!("exists i{n} in llc({}) : ", at(n))).collect();
        let filter = format!("queued(v.ready) >= 1 and ({all} idle({}))", at(depth));
        work_stealing()
            .replace("queued(v.ready) >= 1", &filter)
            .replace("steal 1", "steal 1 from v.ready")
    };
    assert_eq!(codes(&nested(6)), ["R704"]);
    let program = wastenot_rota::compile(&nested(5)).expect("it means something");
    assert!(emit(&program).is_ok());
}

#[test]
fn names_that_do_not_fit_on_the_stack_are_refused() {
    let bound = |names: usize| {
        let all: String = (0..names).map(|n| format!("let a{n} = now\n")).collect();
        work_stealing().replacen(
            "on new(t), wake(t) {",
            &format!("on new(t), wake(t) {{\n{all}"),
            1,
        )
    };
    // Kernels take 48: 560 bytes were too large for 7.2.13 with 54.
    assert_eq!(codes(&bound(49)), ["R704"]);
    let program = wastenot_rota::compile(&bound(47)).expect("it means something");
    assert!(emit(&program).is_ok());
}
