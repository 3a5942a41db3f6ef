//! What is never emitted.

use wastenot_rota::emit::emit;

fn codes(text: &str) -> Vec<&'static str> {
    let program = wastenot_rota::compile(text).expect("it means something");
    emit(&program).expect_err("it is refused").iter().map(|fault| fault.code).collect()
}

fn work_stealing() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../policies/work-stealing.rota");
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
