//! Tasks have the names that they took, however short they were.

use std::thread::Builder as Thread;
use std::time::Duration;

use wastenot_model::{Builder, Help};
use wastenot_needs::skipped;
use wastenot_record::{Options, Way, begin};

#[test]
fn a_thread_that_ran_once_has_its_own_name() {
    let _alone = super::tracefs::alone();
    let begun = match begin(&Options { way: Way::Bpf, ..Options::default() }) {
        Ok(begun) => begun,
        Err(error) => {
            let test = "a_thread_that_ran_once_has_its_own_name";
            return skipped(test, &error.to_string(), &error.help());
        }
    };
    let (mut recording, mut tape) = (begun.recording, Builder::new(begun.head));
    const THREADS: usize = 40;
    for _ in 0..THREADS {
        let thread = Thread::new().name("wastenot-short".into()).spawn(|| ());
        thread.expect("a thread").join().expect("it ended");
    }
    recording.wait(Duration::from_millis(50));
    recording.drain(&mut tape);
    recording.finish(&mut tape);
    let history = tape.finish();
    let named = history.tasks().filter(|(id, _)| history.task_name(*id) == "wastenot-short");
    assert_eq!(named.count(), THREADS);
}
