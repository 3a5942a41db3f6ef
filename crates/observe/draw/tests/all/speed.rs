//! 5 million events on 128 CPUs are drawn in 5 seconds and 5 MB. The full size runs on request:
//! `cargo test --release -p wastenot-draw -- --ignored --nocapture`.

use std::time::Instant;

use wastenot_draw::*;

use crate::made::busy;

fn draw(cpus: usize, events: usize) -> (f64, usize) {
    let history = busy(cpus, events, 2_000, 12);
    let begin = Instant::now();
    let scene = cores(&history, &Cores::default());
    let seen = begin.elapsed().as_secs_f64();
    let pdf = scene.pdf();
    let whole = begin.elapsed().as_secs_f64();
    println!(
        "cores: {cpus} CPUs, {events} events: {seen:.3} s to look, {whole:.3} s with {} bytes of PDF",
        pdf.len()
    );
    (whole, pdf.len())
}

#[test]
fn a_small_sample_draws() {
    let (_, bytes) = draw(128, 20_000);
    assert!(bytes < 5_000_000);
}

#[test]
#[ignore = "measures; meant for --release"]
fn five_million_events_on_128_cpus_draw_in_5_seconds_and_5_megabytes() {
    let (seconds, bytes) = draw(128, 5_000_000);
    assert!(seconds < 5.0 && bytes < 5_000_000);
}
