//! Every reader under damaged files: no panic, no hang, memory in proportion to the input.
//!
//! Every run has the same cases, so that they compare a change with the state before it. `make
//! fuzz` searches for new ones. A case that fails is kept in a file; every run replays those in
//! `fuzz/finds/`.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};

use wastenot_check::account::{Account, Question};
use wastenot_model::{Time, Window};
use wastenot_needs::{effort, texts};
use wastenot_read::write;
use wastenot_tests::Rng;
use wastenot_tests::encode::Family;
use wastenot_tests::fuzz::{case, case_of, tampered_wn};
use wastenot_tests::random::Plan;
use wastenot_tests::reference::Asked;

use crate::formats::kept;
use crate::memory::{unlimited, within};
use crate::traces::traces;
use crate::waste::measured;

/// The memory limit is this plus eight times the input.
const MEMORY: usize = 64 << 20;

/// Cases of a target. Readers get more, the faster the more.
const CASES: u64 = 400;

/// A case that is running.
struct Running {
    since: Instant,
    bytes: Arc<[u8]>,
}

static RUNNING: Mutex<BTreeMap<String, Running>> = Mutex::new(BTreeMap::new());

/// The bug that [`buggy`] has in this process: see [`a_buggy_reader_is_caught`].
fn bug() -> String {
    std::env::var("WASTENOT_CANARY").unwrap_or_default()
}

/// Ends a process whose allocator or watchdog found a fault in a case.
pub(crate) fn die(what: &str) -> ! {
    let name = std::thread::current().name().unwrap_or("").to_owned();
    // Another thread holds the lock only for a moment; this thread, which runs a case, does not.
    let running = RUNNING.lock().expect("nobody panics with it");
    let path = running.get(&name).map(|case| kept(&format!("fuzz-{name}"), &case.bytes));
    eprintln!("FUZZ {name}: {what}; kept as {path:?}");
    std::process::abort();
}

/// Ends the process if a case takes longer than this, and makes a panic report its place.
fn watch() {
    static STARTED: Once = Once::new();
    // With another bug, a busy machine or a long backtrace could look like a hang.
    let patience = Duration::from_millis(if bug() == "hang" { 500 } else { 20_000 });
    STARTED.call_once(|| {
        // The names of a backtrace take more memory than a case may use.
        let told = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| unlimited(|| told(panic))));
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(patience / 10);
                let running = RUNNING.lock().expect("nobody panics with it");
                let late = running.iter().find(|(_, case)| case.since.elapsed() > patience);
                if let Some((name, case)) = late {
                    let path = kept(&format!("fuzz-{name}"), &case.bytes);
                    eprintln!("FUZZ {name}: hangs for {patience:?}; kept as {path}");
                    std::process::abort();
                }
            }
        });
    });
}

/// Runs one case on this thread alone, so that its memory is counted.
fn run_one(name: &str, target: fn(&[u8]), bytes: Vec<u8>) -> Result<(), String> {
    let bytes: Arc<[u8]> = bytes.into();
    let running = Running { since: Instant::now(), bytes: Arc::clone(&bytes) };
    RUNNING.lock().expect("nobody panics with it").insert(name.to_owned(), running);
    let limit = MEMORY + 8 * bytes.len();
    let result = catch_unwind(AssertUnwindSafe(|| within(limit, || target(&bytes))));
    RUNNING.lock().expect("nobody panics with it").remove(name);
    result.map_err(|_| format!("{name} panics; kept as {}", kept(&format!("fuzz-{name}"), &bytes)))
}

/// Runs `target` on so many cases.
fn fuzz(
    name: &'static str,
    cases: u64,
    target: fn(&[u8]),
    make: impl Fn(u64) -> Vec<u8> + Send + Sync,
) {
    watch();
    // A pool of one thread: it does, and counts, the parallel work of a reader.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).thread_name(|_| name.to_owned());
    let pool = pool.build().expect("a thread");
    let begin = Instant::now();
    // A bug that was put in has to be found, however many cases that takes.
    let cases = if bug().is_empty() { effort(cases) } else { u64::MAX };
    let run = || {
        (1..=cases).try_for_each(|seed| {
            run_one(name, target, make(seed)).map_err(|failed| format!("{failed} (case {seed})"))
        })
    };
    let failed = pool.install(run).err();
    println!("{name}: {cases} cases in {:.1} s", begin.elapsed().as_secs_f64());
    assert!(failed.is_none(), "{}", failed.unwrap_or_default());
}

/// Small recordings whose names end with `end`.
fn real(end: &str) -> Vec<Vec<u8>> {
    let files = traces().into_iter().filter(|path| path.to_string_lossy().ends_with(end));
    let files = files.map(|path| std::fs::read(path).expect("readable"));
    files.filter(|bytes| bytes.len() < 170_000).take(12).collect()
}

/// Every History that can be read can be measured, whatever it contains.
fn read_and_measure(bytes: &[u8]) {
    let Ok(history) = wastenot_read::read(bytes, &wastenot_read::Options::default()) else {
        return;
    };
    let measured = measured(&history, &Asked::ALL);
    assert!(measured.waste_cpu_ns <= measured.waste_cpu_ns_max, "{measured:?}");
    assert!(measured.known_cpu_ns <= measured.online_cpu_ns, "{measured:?}");
}

#[test]
fn trace_dat_under_fuzz() {
    let real = real(".dat");
    fuzz("trace_dat", 12_000, read_and_measure, |seed| case(Family::TraceDat, seed, &real));
}

#[test]
fn perf_data_under_fuzz() {
    fuzz("perf_data", 8_000, read_and_measure, |seed| case(Family::PerfData, seed, &[]));
}

#[test]
fn perfetto_under_fuzz() {
    fuzz("perfetto", 12_000, read_and_measure, |seed| case(Family::Perfetto, seed, &[]));
}

#[test]
fn text_under_fuzz() {
    fuzz("text", 30_000, read_and_measure, |seed| case(Family::Text, seed, &[]));
}

/// A part has a past that no events contain, so every analysis must handle it.
fn read_and_check(bytes: &[u8]) {
    let Ok(history) = wastenot_read::read(bytes, &wastenot_read::Options::default()) else {
        return;
    };
    let options = wastenot_check::Options::default();
    let check = wastenot_check::check(&history, &options);
    assert!(!check.report(&history, &options).text().is_empty());
    let tasks: Vec<_> = history.tasks().map(|(task, _)| task).collect();
    for every in [false, true] {
        let question = Question { tasks: tasks.clone(), window: Window::ALL, every };
        let account = Account::of(&history, &question, &options);
        assert!(!account.report(&history).text().is_empty());
    }
}

#[test]
fn our_own_format_under_fuzz() {
    let seeds = (0..40).map(|seed| {
        let mut history = Plan::small(seed).history();
        if seed % 2 > 0 {
            let Window { from, to } = history.window();
            let from = Time(from.0 + (to - from).0 / 3);
            history = write::edit::window(&history, Window { from, to });
        }
        let mut bytes = Vec::new();
        write::wn(&history, &mut bytes).expect("memory");
        bytes
    });
    let seeds: Vec<Vec<u8>> = seeds.collect();
    fuzz("own", 4_000, read_and_check, move |seed| {
        let mut rng = Rng::new(seed);
        let whole = &seeds[rng.below(seeds.len())];
        match tampered_wn(&mut rng, whole) {
            Some(bytes) if seed % 3 > 0 => bytes,
            Some(bytes) => case_of(&[bytes], seed),
            None => panic!("what was written reads"),
        }
    });
}

#[test]
fn machines_under_fuzz() {
    const SEEDS: [&str; 8] = [
        "bulldozer64",
        "flat(2,8)",
        "pack:2 numa:2 l3:1 core:4 pu:2",
        "[numa(memory=1GB)] package:2 l3:2 core:4 pu:1",
        "# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n0,0,0,0,,0,0,0,0\n1,0,0,0,,0,0,0,0\n2,1,1,1,,1,1,1,1\n",
        "/sys/devices/system/cpu/cpu0/topology/core_id:0\n\
         /sys/devices/system/cpu/cpu1/topology/core_id:1\n\
         /sys/devices/system/cpu/online:0-1\n/sys/devices/system/node/node0/cpulist:0-1\n\
         /sys/devices/system/node/node0/distance:10\n",
        "<?xml version=\"1.0\"?><topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" \
         cpuset=\"0x3\"><object type=\"Package\" os_index=\"0\" cpuset=\"0x3\"><object \
         type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\"/><object type=\"Core\" os_index=\"0\" \
         cpuset=\"0x3\"><object type=\"PU\" os_index=\"0\" cpuset=\"0x1\"/><object type=\"PU\" \
         os_index=\"1\" cpuset=\"0x2\"/></object></object></object></topology>",
        "xeon6130x4",
    ];
    let seeds = SEEDS.map(|text| text.as_bytes().to_vec());
    fuzz("machines", CASES, wastenot_scenario::fuzz_one, move |seed| case_of(&seeds, seed));
}

/// A text with pieces left out, doubled, exchanged, or inserted from another one.
fn spliced(text: &str, other: &str, rng: &mut Rng) -> String {
    let cut = |text: &str| -> Vec<String> {
        let ends = |letter: char| !letter.is_alphanumeric() && letter != '_';
        text.split_inclusive(ends).map(str::to_owned).collect()
    };
    let (mut pieces, others) = (cut(text), cut(other));
    for _ in 0..=rng.below(6) {
        let (at, to) = (rng.below(pieces.len() + 1), rng.below(pieces.len() + 1));
        match rng.below(4) {
            0 if at < pieces.len() => drop(pieces.remove(at)),
            1 if at < pieces.len() => pieces.insert(to, pieces[at].clone()),
            2 if at.max(to) < pieces.len() => pieces.swap(at, to),
            _ if !others.is_empty() => pieces.insert(at, others[rng.below(others.len())].clone()),
            _ => {}
        }
    }
    pieces.concat()
}

#[test]
fn policies_under_fuzz() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies");
    let texts = [folder.join("wrong"), folder].into_iter().flat_map(|it| texts(it, "rota"));
    let texts: Vec<String> = texts.map(|(_, text)| text).collect();
    fuzz("rota", CASES, wastenot_rota::fuzz_one, move |seed| {
        let mut rng = Rng::new(seed);
        let random = wastenot_chance::sample(seed);
        let policy = &texts[rng.below(texts.len())];
        match seed % 4 {
            0 => random.into_bytes(),
            1 => spliced(&random, policy, &mut rng).into_bytes(),
            2 => spliced(policy, &random, &mut rng).into_bytes(),
            _ => case_of(&[policy.clone().into_bytes()], seed),
        }
    });
}

#[test]
fn what_was_once_found_stays_found() {
    watch();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/finds");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "find".into());
    let pool = pool.build().expect("a thread");
    let finds: Vec<_> = std::fs::read_dir(folder).expect("fuzz/finds is there").collect();
    assert!(!finds.is_empty(), "{folder} is empty");
    for file in finds {
        let bytes = std::fs::read(file.expect("a file").path()).expect("readable");
        let targets =
            [read_and_measure as fn(&[u8]), wastenot_scenario::fuzz_one, wastenot_rota::fuzz_one];
        for target in targets {
            let bytes = bytes.clone();
            pool.install(|| run_one("find", target, bytes)).expect("it was mended");
        }
    }
}

/// A reader with the bug that the environment names, deep enough that only a nearly valid file
/// reaches it: the page size of a trace.dat of version 7.
fn buggy(bytes: &[u8]) {
    let seven = bytes.starts_with(b"\x17\x08\x44tracing7\0");
    let Some(page) = bytes.get(14..18).filter(|_| seven) else { return };
    let page = u32::from_le_bytes(page.try_into().expect("four bytes"));
    match bug().as_str() {
        "panic" => assert!(page.is_multiple_of(2), "an odd page"),
        "memory" => drop(std::hint::black_box(Vec::<u8>::with_capacity(page as usize))),
        "hang" => while std::hint::black_box(page) > 1 << 30 {},
        _ => {}
    }
}

#[test]
#[ignore = "fails on purpose; run by the test below"]
fn canary() {
    fuzz("canary", CASES, buggy, |seed| case(Family::TraceDat, seed, &[]));
}

#[test]
fn a_buggy_reader_is_caught() {
    let own = std::env::current_exe().expect("a test");
    let folder = tempfile::tempdir().expect("a folder for what is kept");
    for (bug, word) in [("panic", "panics"), ("memory", "held"), ("hang", "hangs"), ("", "")] {
        let mut command = std::process::Command::new(&own);
        command.args(["--exact", "fuzz::canary", "--ignored", "--nocapture"]);
        command
            .env("TMPDIR", folder.path())
            .env("WASTENOT_CANARY", bug)
            .env("RUST_BACKTRACE", "full");
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.success(), bug.is_empty(), "{bug}: {said}");
        assert!(bug.is_empty() || said.contains(word) && said.contains("kept as"), "{bug}: {said}");
    }
}
