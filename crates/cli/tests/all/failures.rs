//! What people meet when something is wrong: the right exit code and two readable lines.

use wastenot_model::{Carries, Clock};
use wastenot_read::Options;

use crate::root;
use crate::shell::{Desk, said};

/// What `line` says on a desk where this may go wrong.
/// A recording that perf made.
const PERF: &str = "host-6.18-2cpu-messaging.perf.data";

fn desk() -> Desk {
    let desk = Desk::laid();
    let read = |name| std::fs::read(root().join("traces").join(name)).expect("a trace");
    let (trace, plain) = (read("7.2-k920-make.dat"), read("6.12-t4x4-fmt-v6.dat"));
    desk.put("empty.dat", "");
    desk.put("photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0");
    desk.put("cut.dat", &plain[..plain.len() * 4 / 5]);
    desk.put("head-only.dat", &trace[..64]);
    let perf = read(PERF);
    desk.put("cut.perf.data", &perf[..perf.len() / 2]);
    let mut unknown = trace;
    // The version follows the magic as a decimal text: `\x17\x08\x44tracing` `7\0`.
    unknown[10] = b'9';
    desk.put("version9.dat", &unknown);
    desk.put("cycles.wn", cycles());
    desk.put("switches.wn", switches());
    desk.put("notes.txt", "nothing of interest\n");
    desk.put("report.html", "mine\n");
    let scenario = |scheduler: &str| {
        format!(
            "schema = \"wastenot.scenario/1\"\nmachine = \"smp4\"\nscheduler = {{ {scheduler} }}\n\
             [[tasks]]\nname = \"a\"\nprogram = [\"compute 1ms\"]\n"
        )
    };
    desk.put("one.toml", scenario("name = \"osv\""));
    let program = scenario("name = \"osv\"").replace("compute 1ms", "run hackbench -g 2");
    desk.put("program.toml", program);
    desk.put("cfs.toml", scenario("name = \"cfs-41\""));
    desk.put("hz.toml", scenario("name = \"cfs-4.1\",\n hz = 300"));
    desk.put("rota.toml", scenario("name = \"turns.rota\",\n slices = 5"));
    desk.put("turns.rota", std::fs::read(root().join("policies/work-stealing.rota")).expect("one"));
    desk.put("typo.rota", "policy a() {\n  queue q : fifi per cpu\n}\n");
    desk.put("zero.csv", "wcet_us,period_us\n1,0\n");
    desk.put("two.csv", "wcet_us,period_us\n1,5\n1,5\n");
    desk.put("kinds.csv", "kind,at,max_us\nshedule,5,2\n");
    desk.put("nothing.csv", "kind,at,max_us\n");
    desk.put("quantum.csv", "kind,at,max_us\nquantum,,1000\n");
    desk.put("point.csv", "kind,at,max_us\nschedule,8,2\n");
    desk.put("range.csv", "kind,at,max_us\nschedule,5,2\nschedule,9,3\n");
    desk.put("cache.csv", "kind,at,max_us\ncache_delay,4,2\ncache_delay,9,3\n");
    desk.put("bad.json", "{\"tasks\": {\"t\": {\n\"rum\": 5}}}");
    desk.put("bound.json", "{\"tasks\": {\"t\": {\"loop\": 1, \"run\": 5, \"cpus\": [9]}}}");
    std::fs::create_dir(desk.path().join("folder")).expect("a folder");
    desk
}

/// A recording whose stamps count cycles of an unknown rate.
fn cycles() -> Vec<u8> {
    let trace = std::fs::read(root().join("traces/7.2-k920-make.dat")).expect("a trace");
    let mut history = wastenot_read::read(&trace, &Options::default()).expect("a History");
    history.head.clock = Clock { name: "x86-tsc".into(), nanoseconds: false };
    history.head.source.name = "/home/someone/secret/cycles.dat".into();
    let mut bytes = Vec::new();
    wastenot_read::write::wn(&history, &mut bytes).expect("memory");
    bytes
}

/// A recording that tells no wakeup.
fn switches() -> Vec<u8> {
    let trace = std::fs::read(root().join("traces/7.2-k920-make.dat")).expect("a trace");
    let mut history = wastenot_read::read(&trace, &Options::default()).expect("a History");
    history.head.carries = history.head.carries.without(Carries::WAKINGS | Carries::WAKEUPS);
    let mut bytes = Vec::new();
    wastenot_read::write::wn(&history, &mut bytes).expect("memory");
    bytes
}

/// `(what is typed, words of the first line, words of the second)`; all exit with 2.
const CASES: &[(&str, &str, &str)] = &[
    ("wastenot watch --confirm 500ms --period 500ms", "not shorter than --period", "--exact"),
    ("wastenot watch --confirm 0s", "expected a time from 1ms to 1s", "wastenot watch --help"),
    ("wastenot prove --replay missing.wn", "there is no counterexample missing.wn", "--cex"),
    ("wastenot record --for 1ms --memory 1GiB", "--last", "wastenot record --help"),
    ("wastenot", "no verb given", "wastenot doctor"),
    ("wastenot what-if cycles.wn", "counts cycles", "--clock-hz 2.4GHz"),
    ("wastenot what-if switches.wn", "the trace has no wakeup", "`wastenot record`"),
    ("wastenot what-if trace.dat a.toml", "unexpected argument", "what-if --help"),
    ("wastenot what-if", "`what-if` needs a trace file", "`wastenot what-if trace.dat`"),
    ("wastenot what-if trace.dat --scheduler fifo", "`fifo`", "global-fifo"),
    ("wastenot what-if trace.dat --task nobody", "no task matches", "for example"),
    ("wastenot what-if trace.dat --from 1ms --to 1001us", "this part of the trace", "`--from`"),
    (
        "wastenot what-if trace.dat --target-machine abacus",
        "machine: there is no machine",
        "preset",
    ),
    ("wastenot run a.toml --from 1s", "unexpected argument", "run --help"),
    ("wastenot run", "`run` needs a scenario", "scenarios/seeds/workpile.toml"),
    ("wastenot run one.toml --on moon", "invalid value 'moon'", "run --help"),
    ("wastenot run program.toml", "runs `hackbench -g 2`, but the sim", "on a kernel: --on"),
    ("wastenot run -- hackbench -g 2", "runs `hackbench -g 2`, but the sim", "--on 7.2"),
    (
        "wastenot run --set limit=1s -- true",
        "--set limit: the scenario of a command has no such",
        "run COMMAND",
    ),
    (
        "wastenot run --on host -- ./nothing",
        "runs `./nothing`, which cannot be",
        "install the program",
    ),
    ("wastenot run one.toml --seed 3-1", "write 1-3", "run --help"),
    ("wastenot run one.toml --set limit", "expected NAME=VALUE", "run --help"),
    (
        "wastenot run one.toml --set limt=2s",
        "--set limt=2s: there is no key",
        "did you mean `limit`",
    ),
    ("wastenot run bad.json --set limit=2s", "--set limit: an rt-app file", "--machine"),
    ("wastenot list", "`list` needs the kind", "`wastenot list schedulers`"),
    ("wastenot list schedules", "invalid value 'schedules'", "did you mean `schedulers`"),
    ("wastenot run cfs.toml", "cfs.toml:3: there is no scheduler `cfs-41`", "`cfs-4.1`"),
    ("wastenot run hz.toml", "hz.toml:4: cfs-4.1: `hz` cannot be `300`", "100 | 250 | 1000"),
    ("wastenot run one.toml --scheduler osvv", "no scheduler `osvv`", "did you mean `osv`"),
    ("wastenot run one.toml --scheduler gang,quantum=0ms", "cannot be `0ms`", "`10us`"),
    (
        "wastenot run rota.toml",
        "rota.toml:4: turns.rota: ws has no parameter `slices`",
        "did you mean `slice`?",
    ),
    (
        "wastenot run one.toml --scheduler turn.rota",
        "cannot read the policy turn.rota: no such file",
        "policies/",
    ),
    ("wastenot run one.toml --scheduler typo.rota", "typo.rota:2:13: R", "fifo"),
    ("wastenot run one.toml -o x.wn --seed 1-3", "-o writes the trace of one run", "`--seed 1`"),
    (
        "wastenot run one.toml --resume one.toml",
        "one.toml: the file is not a results file",
        "a new file",
    ),
    ("wastenot run bad.json", "bad.json:2: a thread has no key `rum`", "`run`"),
    ("wastenot run bound.json --machine hal9", "--machine: there is no machine", "preset"),
    ("wastenot bounds --nope", "unexpected argument '--nope'", "wastenot bounds --help"),
    ("wastenot check /dev/zero", "/dev/zero is a device", "give a file"),
    ("wastenot run /dev/zero", "/dev/zero is a device", "give a file"),
    ("wastenot traces/x.dat", "there is no verb `traces/x.dat`", "`wastenot check traces/x.dat`"),
    ("wastenot chekc trace.dat", "unrecognized subcommand 'chekc'", "did you mean `check`"),
    ("wastenot check", "`check` needs a trace file", "wastenot check trace.dat"),
    ("wastenot draw cores", "`draw` needs a trace file", "wastenot draw cores trace.dat"),
    ("wastenot draw", "`draw` needs a trace file", "wastenot draw cores trace.dat"),
    (
        "wastenot draw trace.dat",
        "`cores`, `waiting` or `queues`",
        "`wastenot draw cores trace.dat`",
    ),
    ("wastenot draw missing.dat", "the kind of picture", "`wastenot draw cores missing.dat`"),
    (
        "wastenot convert trace.dat",
        "`convert` needs an output file",
        "`wastenot convert trace.dat -o trace.pftrace`",
    ),
    ("wastenot convert", "needs a trace", "`wastenot convert trace.dat -o trace.pftrace`"),
    ("wastenot watch --listen localhost", "expected ADDR:PORT", "wastenot watch --help"),
    ("wastenot record --last 0s", "expected a duration above 0", "wastenot record --help"),
    ("wastenot record --last 0.9s --until 'wait > 1ms'", "is too short", "`--last 1s`"),
    (
        "wastenot bounds",
        "`bounds` needs a subcommand",
        "`wastenot bounds test`, `sweep`, `overheads`",
    ),
    (
        "wastenot bounds test two.csv",
        "`bounds test` needs --cpus",
        "`wastenot bounds test two.csv --cpus 4`",
    ),
    (
        "wastenot bounds test --cpus 2",
        "`bounds test` needs a task set",
        "`wastenot bounds test tasks.csv --cpus 2`",
    ),
    (
        "wastenot bounds two.csv --cpus 2",
        "`bounds` needs a subcommand before the name of the task set",
        "`wastenot bounds test two.csv --cpus 2`",
    ),
    (
        "wastenot bounds --cpus 2 two.csv",
        "`bounds` needs a subcommand before the name of the task set",
        "`wastenot bounds test --cpus 2 two.csv`",
    ),
    ("wastenot bounds test no.csv --cpus 2", "cannot open no.csv: no such file", "check the path"),
    ("wastenot bounds test folder --cpus 2", "folder is a directory", "give a file in it"),
    (
        "wastenot bounds test zero.csv --cpus 2",
        "zero.csv:2: period_us: the value is 0",
        "at least 1",
    ),
    ("wastenot bounds test trace.dat --cpus 2", "trace.dat:1: ", ""),
    (
        "wastenot bounds test two.csv --cpus 0",
        "0 is not in 1..=8192",
        "wastenot bounds test --help",
    ),
    ("wastenot bounds sweeep e.toml", "subcommand 'sweeep'", "did you mean `sweep`"),
    (
        "wastenot bounds test two.csv --cpus 2 --test ffdfb",
        "did you mean `ffdbf`?",
        "bounds test --help",
    ),
    (
        "wastenot bounds test two.csv --cpus 2 --implementation gedfmp",
        "did you mean `gedf-mp`?",
        "--help",
    ),
    (
        "wastenot bounds test two.csv --cpus 1 --implementation gedf-mp",
        "no CPU for tasks",
        "`--cpus 2`",
    ),
    (
        "wastenot bounds test two.csv --cpus 2 --overheads kinds.csv",
        "no kind `shedule`",
        "`schedule`?",
    ),
    (
        "wastenot bounds test two.csv --cpus 2 --overheads nothing.csv",
        "the table has no overhead",
        "schedule,,9",
    ),
    ("wastenot bounds test two.csv --cpus 2 --overheads quantum.csv", "no overhead", "schedule,,9"),
    (
        "wastenot bounds test two.csv --cpus 2 --overheads point.csv",
        "point.csv: schedule was measured at 8 tasks, but the task set has 2",
        "`--extrapolate`",
    ),
    ("wastenot bounds test two.csv --cpus 2 --extrapolate", "--overheads", "bounds test --help"),
    (
        "wastenot bounds test two.csv --cpus 2 --overheads range.csv",
        "range.csv: schedule was measured at 5 to 9 tasks, but the task set has 2",
        "`--extrapolate`",
    ),
    (
        "wastenot bounds test two.csv --cpus 2 --overheads cache.csv",
        "cache.csv: cache_delay was measured at 4 to 9 KiB, but a task has a working set of 0 KiB",
        "set `wss_kb` for each task",
    ),
    ("wastenot bounds test two.csv --cpus 2 -o x.pdf", "not `.pdf`", ".html"),
    ("wastenot bounds test two.csv --cpus 2 -o report.html", "exists already", "--force"),
    ("wastenot compare", "two traces", "`wastenot compare before.dat after.dat`"),
    ("wastenot draw pie trace.dat", "invalid value 'pie'", "wastenot draw --help"),
    ("wastenot check --form 1s trace.dat", "unexpected argument '--form'", "`--from`"),
    ("wastenot check missing.dat", "cannot open missing.dat: no such file", "wastenot doctor"),
    ("wastenot check folder", "folder is a directory", "give one trace file"),
    ("wastenot check empty.dat", "empty.dat: the file is empty", "record again"),
    ("wastenot check photo.jpg", "it is a JPEG", "give a trace.dat"),
    ("wastenot check notes.txt", "not a trace", "give a trace.dat"),
    ("wastenot check version9.dat", "version 9", "convert"),
    ("wastenot check head-only.dat", "head-only.dat", ""),
    ("wastenot check cut.perf.data", "which perf writes last", "--formats-from FILE"),
    ("wastenot check cut.perf.data --formats-from notes.txt", "notes.txt", ""),
    (
        "wastenot check cut.perf.data --formats-from cycles.wn",
        "contain event descriptions",
        "same kernel",
    ),
    ("wastenot check - < empty.dat", "standard input: the file is empty", ""),
    (
        "wastenot check trace.dat --from 200ms --to 100ms",
        "--from @6.439970827 is after",
        "exchange the two times",
    ),
    ("wastenot check trace.dat --from 5", "no part of the trace is between", "a time between @"),
    ("wastenot check trace.dat --from yesterday", "'yesterday' for '--from <TIME>'", "--help"),
    ("wastenot check trace.dat --longer-than five", "expected a duration", "--help"),
    ("wastenot watch --save /proc/x", "cannot write traces to /proc/x", "`--save DIR`"),
    ("wastenot record make -j", "unexpected argument 'make'", "`wastenot record -- make -j`"),
    (
        "wastenot record -o a.wn make -j4 -k",
        "unexpected argument 'make'",
        "`wastenot record -o a.wn -- make -j4 -k`",
    ),
    ("wastenot check trace.dat --cpus 0-900", "no CPU 16", "CPUs 0-15"),
    ("wastenot check trace.dat --task nobody", "no task matches `nobody`", "for example"),
    ("wastenot explain trace.dat", "`explain` needs a task", "trace.dat --task 'make*'`"),
    ("wastenot explain trace.dat --task cc --pid 7", "cannot be used with", "explain --help"),
    ("wastenot explain trace.dat --command nobody", "no task matches `nobody`", "for example"),
    ("wastenot explain trace.dat --pid 7", "no task of process 7", "`--task TASK`"),
    ("wastenot explain trace.dat --cgroup /x", "cgroup that matches `/x`", "contains no cgroups"),
    ("wastenot explain cycles.wn --task 1", "counts cycles", "--clock-hz 2.4GHz"),
    ("wastenot explain trace.dat --confirm --task cc", "cannot be used with", "explain --help"),
    ("wastenot explain trace.dat --scheduler cfs-6.1", "not provided: --confirm", "--help"),
    ("wastenot explain trace.dat --confirm --seeds 5", "5 is not in 6..=1000", "--help"),
    ("wastenot explain trace.dat --confirm --cause x", "`wastenot list causes` lists", "--help"),
    ("wastenot explain trace.dat --confirm -o x.txt", "`.txt` is unknown", "use .wn"),
    ("wastenot explain trace.dat --confirm --force", "needs an output file", "-o trace."),
    ("wastenot explain counterexample.wn --confirm", "is a counterexample", "--replay"),
    ("wastenot check trace.dat --budget lots", "expected a share", "--help"),
    ("wastenot check trace.dat --machine hal9000", "--machine", ""),
    (
        "wastenot check trace.dat --machine 'numa:2 core:2 pu:1'",
        "4 CPUs, but the trace has 16",
        "recorded",
    ),
    (
        "wastenot check trace.dat --machine 'core:16 pu:2'",
        "32 CPUs, but the trace has 16",
        "recorded",
    ),
    (
        "wastenot check trace.dat --buffer x",
        "there is no buffer \"x\"; the buffers are top",
        "--buffer",
    ),
    ("wastenot check perf.data --buffer x", "perf.data has no buffers", "leave out"),
    ("wastenot check trace.dat --clock-hz fast", "expected cycles per second: 2.4GHz", "--help"),
    ("wastenot convert cycles.wn -o c.csv", "(x86-tsc) counts cycles", "--clock-hz 2.4GHz"),
    ("wastenot convert cycles.wn -o c.pftrace", "counts cycles", "--clock-hz 2.4GHz"),
    ("wastenot draw cores trace.dat --target nosuch", "no task matches `nosuch`", "for example"),
    ("wastenot report trace.dat -o x.pdf", "not `.pdf`", ".html"),
    ("wastenot draw cores trace.dat -o cores.gif", "`.gif`", ".pdf, .svg or .png"),
    ("wastenot draw cores trace.dat -o nowhere/cores.pdf", "cannot write nowhere/cores.pdf", "-o"),
    ("wastenot report trace.dat -o report.html", "report.html exists already", "--force"),
    ("wastenot report trace.dat -o folder", "folder is a directory", "-o FILE"),
    ("wastenot convert trace.dat -o trace.xyz", "`.xyz`", "--format"),
    ("wastenot compare trace.dat", "nothing to compare", "wastenot compare before.dat after.dat"),
    (
        "wastenot compare before.dat after.dat trace.dat",
        "with 3 files, `--` must separate the files before and after the change",
        "`wastenot compare before.dat -- after.dat trace.dat`",
    ),
    ("wastenot compare trace.dat -- trace.dat --json", "--json follows `--`", "options before"),
    ("wastenot rota", "needs a subcommand", "`wastenot rota check`, `fmt`, `error` or `emit`"),
    ("wastenot deploy missing.rota", "cannot open missing.rota: no such file", ""),
    ("wastenot deploy turns.rota --for 0s", "invalid value '0s'", "--help"),
    (
        "wastenot deploy turns.rota --allow-unproved --object empty.dat --dry-run",
        "empty.dat is not a scheduler that was compiled",
        "wastenot rota emit my.rota",
    ),
    (
        "wastenot deploy turns.rota --allow-unproved --object nowhere.o --dry-run",
        "cannot read nowhere.o",
        "--object FILE.o",
    ),
    (
        "wastenot deploy turns.rota turns.rota",
        "one of several policies has no CPUs",
        "a.rota=0-3:web* b.rota=rest",
    ),
    ("wastenot deploy turns.rota=0:web*", "no policy has the CPUs", "`rest`"),
    ("wastenot deploy turns.rota=rest missing.rota=0:web*", "cannot open missing.rota", ""),
    ("wastenot deploy turns.rota --dry-run -- make", "cannot be used with", "--help"),
    ("wastenot rota fmt", "`rota` needs a file", "`wastenot rota fmt my.rota`"),
    ("wastenot rota chekc a.rota", "unrecognized subcommand 'chekc'", "did you mean `check`"),
    ("wastenot draw cores trace.dat --bogus", "unexpected argument '--bogus'", "draw --help"),
    ("wastenot bounds sweeep", "subcommand 'sweeep'", "did you mean `sweep`"),
    ("wastenot bounds sweeep.csv", "a subcommand", "`wastenot bounds test sweeep.csv`"),
    (
        "wastenot rota check missing.rota",
        "cannot open missing.rota: no such file",
        "check the path",
    ),
    ("wastenot rota check folder", "folder is a directory", "give a file in it"),
    ("wastenot rota error R018", "there is no code `R018`", "did you mean `R008`"),
    ("wastenot rota error why", "there is no code `why`", "`wastenot rota error`"),
    ("wastenot man nothing", "no verb `nothing`", "wastenot --help"),
];

#[test]
fn each_failure_exits_with_2_and_says_what_and_how_on_in_two_lines() {
    let desk = desk();
    for (line, what, help) in CASES {
        let output = desk.bash(line);
        let (text, code) = said(&output);
        assert_eq!(code, 2, "{line}\n{text}");
        assert!(output.stdout.is_empty(), "{line}: results stay on stdout\n{text}");
        let lines: Vec<&str> = text.lines().collect();
        let [first, second] = lines[..] else { panic!("{line}: two lines\n{text}") };
        assert!(first.starts_with("wastenot: error: ") && first.contains(what), "{line}\n{text}");
        assert!(second.starts_with("help: ") && second.contains(help), "{line}\n{text}");
        assert!(!text.contains("os error"), "{line}\n{text}");
    }
}

#[test]
fn a_perf_data_cut_before_it_says_what_events_mean_is_read_with_another_recording() {
    let desk = desk();
    let other = root().join("traces").join(PERF);
    let line = format!("wastenot check cut.perf.data --formats-from {}", other.display());
    desk.says(0, &line, &["cut"]);
}

#[test]
fn a_cut_trace_is_read_up_to_the_cut_and_says_so() {
    desk().says(0, "wastenot check cut.dat", &["cut"]);
}

#[test]
fn what_exists_is_kept_unless_forced() {
    let desk = desk();
    desk.bash("wastenot report trace.dat -o report.html");
    assert_eq!(desk.read("report.html"), "mine\n");
    desk.exits(0, "wastenot report trace.dat -o report.html --force");
    assert!(desk.read("report.html").starts_with("<!"), "a page now");
    let left = desk.bash("ls -a | grep -c '^\\.wastenot-'");
    assert_eq!(left.stdout, b"0\n", "no temporary file is left behind");
}

#[test]
fn what_is_cut_off_a_file_is_not_said_to_be_known() {
    let desk = desk();
    let cut = "head -c $(($(stat -c %s $f) / 2)) $f >cut.wn; wastenot check cut.wn --text";
    let cut = format!(
        "f=whole.wn; wastenot convert trace.dat -o $f; {cut}; wastenot check cut.wn --json"
    );
    let text = desk.says(0, &cut, &["events, truncated", "Known CPU time before the cut"]);
    assert!(text.replace('\n', " ").contains("The file is truncated"), "{text}");
    let (text, _) = said(&desk.bash("wastenot check whole.wn --text"));
    assert!(!text.contains("truncated") && !text.contains("cut"), "{text}");
}

#[test]
fn whoever_reads_only_a_few_lines_is_not_complained_to() {
    let desk = desk();
    for line in ["wastenot convert trace.dat -o - --format csv", "wastenot check trace.dat --json"]
    {
        let output = desk.bash(&format!("set -o pipefail; {line} | head -1"));
        let (text, code) = said(&output);
        assert!(output.stderr.is_empty() && code == 0, "{line}: {code}\n{text}");
    }
}

#[test]
fn exit_codes_tell_answers_apart() {
    let desk = desk();
    for (line, wanted) in [
        ("wastenot check trace.dat", 0),
        ("wastenot check trace.dat --budget 90%", 0),
        ("wastenot check trace.dat --budget 0.1%", 1),
        ("wastenot compare trace.dat trace.dat --worse-than 1%", 0),
        ("wastenot check cycles.wn --budget 1s", 3),
        ("wastenot check traces/6.12-t4x4-fmt-v7-tscclock.dat --budget 1s", 3),
        ("wastenot check cycles.wn --budget 90%", 0),
        ("wastenot check cycles.wn --budget 0.1%", 1),
        ("wastenot check cycles.wn --budget 1s --clock-hz 1GHz", 0),
        ("wastenot check cycles.wn --budget 1ms --clock-hz 2400MHz", 1),
        ("wastenot convert cycles.wn -o c.csv --clock-hz 2400000000", 0),
        ("wastenot compare cycles.wn cycles.wn --worse-than 1%", 0),
        ("wastenot compare before.dat after.dat", 0),
        ("wastenot compare before.dat after.dat --worse-than 5%", 3),
        ("wastenot compare before.dat after.dat --worse-than 5% --anyway", 1),
        ("wastenot compare before.dat after.dat --worse-than 9000% --anyway", 0),
        ("wastenot compare trace.dat traces/5.10-b8x8-make.dat --worse-than 1%", 3),
        ("wastenot check trace.dat --shared-queue", 0),
        ("wastenot report trace.dat --text --shared-queue", 0),
        ("wastenot compare trace.dat trace.dat --shared-queue", 0),
        ("wastenot --help", 0),
        ("wastenot --version", 0),
    ] {
        desk.exits(wanted, line);
    }
}

#[test]
fn nothing_but_results_goes_to_standard_output() {
    let (json, _) = desk().json("wastenot check trace.dat --json");
    assert_eq!(json["schema"], "wastenot.check/1");
}

#[test]
fn what_exceeds_a_bound_is_said_on_stderr_and_in_json() {
    let desk = desk();
    let told = |line: &str| {
        let output = desk.bash(line);
        (String::from_utf8(output.stderr).expect("text"), output.stdout)
    };
    let (said, _) = told("wastenot check trace.dat --budget 1%");
    assert!(said.starts_with("wastenot: over budget: "), "{said}");
    assert!(said.contains("1.00 % is allowed"), "{said}");
    let (said, _) = told("wastenot check cycles.wn --budget 1ms");
    assert!(said.contains("--clock-hz"), "{said}");
    let line = "wastenot compare before.dat after.dat --worse-than 5% --anyway --json";
    let (said, json) = told(line);
    let named: Vec<&str> = said
        .lines()
        .map(|line| line.strip_prefix("wastenot: worse: ").expect(line))
        .map(|line| line.split(' ').next().expect("a name"))
        .collect();
    let json: serde_json::Value = serde_json::from_slice(&json).expect("one object");
    let listed: Vec<&str> =
        json["worse"].as_array().expect("a list").iter().filter_map(|it| it.as_str()).collect();
    assert!(named.contains(&"waste.cpu_ns"), "{said}");
    assert_eq!(named, listed);
    let (json, _) = desk.json("wastenot compare after.dat after.dat --worse-than 5% --json");
    assert!(json["worse"].as_array().is_some_and(Vec::is_empty), "{json}");
}

#[test]
fn an_order_that_cannot_be_had_is_said() {
    let desk = desk();
    let draw = "wastenot draw cores trace.dat -o cores.svg --force --socket-order";
    desk.says(0, draw, &["--socket-order", "--machine"]);
    let (text, _) = said(&desk.bash(&format!("{draw} --machine 'node:2 core:8 pu:1'")));
    assert!(!text.contains("--machine"), "{text}");
}

#[test]
fn a_dump_of_sched_ext_is_explained_without_a_task() {
    let desk = Desk::laid();
    let dump = "w/0[4] triggered exit kind 1026:\n  runnable task stall (make[7] failed to run for \
                5.314s)\n\nCPU states\n----------\n\nCPU 0   : nr_run=2 flags=0x1\n          \
                curr=cc[8] class=ext_sched_class\n\n  R make[7] -5314ms\n      ops_state/qseq=2/3\n\
                \x20     dsq_id=(n/a)\n      cpus=1\n";
    let text = desk.exits(0, &format!("printf '{dump}' | wastenot explain -"));
    assert!(text.contains("make:7 was runnable and did not run for 5.314 s"), "{text}");
    assert!(text.contains("No CPU that the task may use (0) was idle"), "{text}");
}
