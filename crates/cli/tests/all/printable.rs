//! Names of tasks, groups, kernels and files are anybody's bytes: none reaches a terminal.

use serde_json::Value;
use wastenot_model::{
    Builder, By, Carries, Change, Clock, CpuId, Entry, Event, Head, How, Left, Machine, Prio, Sink,
    Task, TaskId, Time, is_printable,
};

use crate::shell::{Desk, said};

/// It would clear the screen, set the title of a window, colour what follows, reorder it, and
/// begin a line of its own.
const ODD: &str = "\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{202e}x\nNo CPU time was wasted.";

/// Tasks wait beside an idle CPU; everything that has a name is called [`ODD`].
fn recording() -> Vec<u8> {
    let mut head = Head::new(Machine::flat(2));
    head.clock = Clock { name: ODD.into(), nanoseconds: true };
    head.source.kernel = Some(ODD.into());
    head.source.notes.push((ODD.into(), ODD.into()));
    head.carries = Carries::WAKEUPS | Carries::PLACEMENT | Carries::NAMES | Carries::CGROUPS;
    let mut sink = Builder::new(head);
    let name = sink.name(ODD);
    let tasks: Vec<TaskId> = (1..4).map(|tid| sink.task(Task::new(tid, name))).collect();
    let (here, there) = (CpuId(0), CpuId(1));
    let at = |ms: u64| Time(1_000_000_000 + ms * 1_000_000);
    let event = |ms, event| Entry { time: at(ms), cpu: here, by: By::UNKNOWN, event };
    let switch = |ms, prev, next| Entry::switch(at(ms), here, prev, next, Left::Sleeping);
    sink.push(Entry::switch(at(0), there, tasks[2], TaskId::idle(there), Left::Sleeping));
    sink.push(switch(0, TaskId::idle(here), tasks[0]));
    sink.push(event(0, Event::Changed { task: tasks[0], what: Change::Cgroup(name) }));
    for n in 0..10 {
        let (running, task) = (tasks[n % 2], tasks[(n + 1) % 2]);
        let (on, how, prio) = (Some(here), How::Wakeup, Prio::UNKNOWN);
        sink.push(event(10 * n as u64 + 1, Event::Queued { task, on, how, prio }));
        sink.push(switch(10 * n as u64 + 9, running, task));
    }
    let mut bytes = Vec::new();
    wastenot_read::write::wn(&sink.finish(), &mut bytes).expect("memory");
    bytes
}

fn desk() -> Desk {
    let desk = Desk::laid();
    desk.put("odd.wn", recording());
    let toml = ODD.escape_debug().to_string().replace("\\u{1b}", "\\u001b");
    let toml = toml.replace("\\u{7}", "\\u0007").replace("\\u{9b}", "\\u009b");
    let toml = toml.replace("\\u{202e}", "\\u202e");
    let scenario = |tasks: &str| {
        format!("schema = \"wastenot.scenario/1\"\nmachine = \"smp4\"\n[[tasks]]\n{tasks}\n")
    };
    desk.put("odd.toml", scenario(&format!("name = \"{toml}\"\nprogram = [\"compute 1ms\"]")));
    desk.put("key.toml", scenario(&format!("name = \"a\"\n\"{toml}\" = 1")));
    desk.put("step.toml", scenario(&format!("name = \"a\"\nprogram = [\"{toml}\"]")));
    let line = ODD.split('\n').next().expect("its first line");
    desk.put("odd.csv", format!("name,wcet_us,period_us\n{line},1000,5000\n"));
    desk.put("bad.csv", format!("name,wcet_us,period_us\na,{line},5000\n"));
    desk.put("head.csv", format!("name,{line},period_us\na,1,5000\n"));
    let sweep = std::fs::read_to_string(desk.path().join("scenarios/sweeps/small.csv"));
    desk.put("sweep.csv", sweep.expect("a result").replace("one lock", line));
    desk.put("odd.rota", format!("# {line}\npolicy a() {{ queue q: {line} per cpu }}\n"));
    desk.put("bidi.rota", "policy a() {\n # \u{202e}\u{2066}\n queue q: fifi per cpu }\n");
    desk.put("odd.json", format!("{{\"tasks\": {{\"t\": {{\"{line}\": 5}}}}}}"));
    desk.put(
        "odd.txt",
        format!("# tracer: nop\n {line}-1 [000] d..2. 1.0: sched_switch: {line}\n"),
    );
    let name = format!("{line}.wn").replace('/', "-");
    desk.put(&name, recording());
    desk
}

/// Lines that show what files hold or are called: answers of every verb, and failures.
const LINES: &[&str] = &[
    "wastenot check odd.wn",
    "wastenot check odd.wn --budget 1ms",
    "wastenot check odd.wn --task nobody",
    "wastenot check odd.wn --json",
    "wastenot check *31m*.wn",
    "wastenot check $'no\\e[2Jsuch.wn'",
    "wastenot check odd.txt",
    "wastenot report odd.wn --text",
    "wastenot report odd.wn -o odd.html && cat odd.html",
    "wastenot report *31m*.wn -o $'page\\e[2J.html'",
    "wastenot draw cores odd.wn",
    "wastenot draw waiting odd.wn",
    "wastenot draw queues odd.wn",
    "wastenot draw cores *31m*.wn",
    "wastenot draw cores odd.wn -o odd.svg && cat odd.svg",
    "wastenot draw cores odd.wn --target nobody",
    "wastenot draw curves sweep.csv",
    "wastenot draw curves sweep.csv --only curve=none",
    "wastenot compare odd.wn *31m*.wn",
    "wastenot compare odd.wn odd.wn --json",
    "wastenot convert odd.wn -o $'odd\\e[2J.what'",
    "wastenot convert odd.wn -o $'/proc/none\\e[2J/odd.csv'",
    "wastenot run odd.toml",
    "wastenot run odd.toml --json",
    "wastenot run key.toml",
    "wastenot run step.toml",
    "wastenot run odd.json",
    "wastenot what-if odd.wn",
    "wastenot run odd.wn --machine smp4 --scheduler global-fifo",
    "wastenot bounds test odd.csv --cpus 2",
    "wastenot bounds test odd.csv --cpus 2 --json",
    "wastenot bounds test bad.csv --cpus 2",
    "wastenot bounds test head.csv --cpus 2",
    "wastenot bounds calibrate bad.csv",
    "wastenot bounds sweep key.toml -o x.csv",
    "wastenot rota check odd.rota bidi.rota",
    "wastenot rota check bidi.rota --json",
    "wastenot rota fmt odd.rota",
    "wastenot rota emit bidi.rota -o x.c",
    "wastenot rota error $'R\\e[2J'",
    "wastenot prove odd.rota",
    "wastenot prove bidi.rota",
    "wastenot prove --replay odd.wn",
    "wastenot record -o $'/proc/none\\e[2J/x.wn' --for 1ms",
    "wastenot watch --save $'/proc/none\\e[2J/x'",
    "wastenot man $'no\\e[2J'",
    "wastenot $'no\\e[2J\\u202e'",
];

#[test]
fn nothing_that_a_file_holds_drives_a_terminal() {
    let desk = desk();
    let mut driven = Vec::new();
    for line in LINES {
        let (text, _) = said(&desk.bash(line));
        assert!(!text.trim().is_empty(), "{line} prints something");
        let acts = |&letter: &char| letter != '\n' && !is_printable(letter);
        driven.extend(text.chars().find(acts).map(|letter| (line, letter)));
        let forged = text.lines().any(|line| line.trim_start().starts_with("No CPU time was"));
        assert!(!forged, "{line}: a name begins a line of its own\n{text}");
    }
    assert!(driven.is_empty(), "{driven:?}");
}

#[test]
fn a_name_is_seen_as_it_is_in_text_and_is_the_same_in_json() {
    let desk = desk();
    let (text, _) = said(&desk.bash("wastenot check odd.wn --text"));
    assert!(text.contains(r"\x1b[2J\x1b]0;t\x07\x9b31m\u{202e}x\nNo"), "{text}");
    let (json, _) = desk.json("wastenot check odd.wn --json");
    assert_eq!(json["trace"]["kernel"], ODD);
    assert_eq!(json["violations"][0]["task"], ODD);
    let csv = desk.bash("wastenot convert odd.wn --format jsonl -o -").stdout;
    let first = String::from_utf8(csv).expect("text");
    let names = first.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut values = names.flat_map(|it| it.as_object().cloned().unwrap_or_default());
    assert!(values.any(|(_, value)| value == ODD), "{first}");
}

#[test]
fn a_terminal_that_has_only_ascii_gets_no_other_characters() {
    let desk = Desk::laid();
    for draw in
        ["cores trace.dat", "waiting trace.dat", "queues trace.dat", "cores counterexample.wn"]
    {
        for locale in ["LC_ALL=C", "LC_ALL= LC_CTYPE=POSIX", "LC_ALL= LC_CTYPE= LANG=de_DE"] {
            let (text, code) = said(&desk.bash(&format!("{locale} wastenot draw {draw}")));
            assert!(code == 0 && text.is_ascii() && text.contains('|'), "{locale} {draw}: {text}");
        }
        let (text, _) = said(&desk.bash(&format!("LC_ALL=C.UTF-8 wastenot draw {draw}")));
        assert!(text.contains('│'), "{text}");
    }
}
