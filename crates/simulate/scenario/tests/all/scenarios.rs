//! Scenarios: how they are read, and which errors are reported.

use wastenot_model::workload::{Class, Program, Step, TemplateId, Variate, Waiting};
use wastenot_model::{CpuId, CpuSet, Help, Span, Time, Workload};
use wastenot_scenario::scenario::{Choice, Instead, Measure, Over, Pick, Unfit};
use wastenot_scenario::{CATALOGUE, Error, Scenario, ambient, scenario, scenario_for};

/// A scenario on four CPUs with these further lines.
fn with(rest: &str) -> String {
    format!(
        "schema = \"wastenot.scenario/1\"\nmachine = \"smp4\"\n\
         scheduler = {{ name = \"pinned\" }}\n{rest}"
    )
}

/// Lines before `rest`.
const BEFORE: usize = 3;

fn read(rest: &str) -> Scenario {
    scenario("folder/try.toml", &with(rest)).unwrap_or_else(|e| panic!("{e}\nhelp: {}", e.help()))
}

fn workload(rest: &str) -> Workload {
    read(rest).variants[0].workload.clone()
}

/// A task with this program.
fn program(lines: &str) -> String {
    format!("[[tasks]]\nname = \"t\"\nprogram = [{lines}]\n")
}

#[test]
fn a_scenario_has_defaults() {
    let scenario = read(&program("\"compute 2ms\""));
    assert_eq!((scenario.name.as_str(), scenario.seeds, scenario.limit), ("try", 5, Span::s(600)));
    let [variant] = &scenario.variants[..] else { panic!("one variant") };
    assert_eq!((variant.name.as_str(), variant.scheduler.name.as_str()), ("default", "pinned"));
    assert_eq!(variant.costs, Default::default());
    assert_eq!(variant.workload.launches.len(), 1);
    assert!(scenario.figures.is_empty());
}

#[test]
fn every_step_is_read_as_it_is_written() {
    let text = r#"
conditions = ["c"]
[locks]
l = { waiting = "spin 1.1ms then block" }
[barriers]
b = { parties = 2, waiting = "spin" }
[pipes]
p = { capacity = 4, tokens = 1, sync = false }
[[tasks]]
name = "child"
forked = true
program = ["barrier b", "await c"]
[[tasks]]
name = "t"
program = [
  "compute 2ms", "compute 2ms +-5%", "compute exp(150ms)", "compute lognormal(8ms, 0.2)",
  "sleep uniform(0.2ms, 2ms)", "every 40ms", "lock l", "unlock l", "fork child", "barrier b",
  "put p", "get p", "signal c", "broadcast c", "exec", "wait", "wait all", "yield", "nice 5",
  "cpus 1-2", "mark shown", "loop 400", "unless late 40ms", "compute 1us", "end", "end",
]
"#;
    let workload = workload(text);
    let ms = Span::ms;
    let steps = workload.templates[1].program.steps();
    let expected = [
        Step::Compute(Variate::Fixed(ms(2))),
        Step::Compute(Variate::Uniform { from: Span::us(1900), to: Span::us(2100) }),
        Step::Compute(Variate::Exponential { mean: ms(150) }),
        Step::Compute(Variate::LogNormal { mean: ms(8), cv: 0.2 }),
        Step::Sleep(Variate::Uniform { from: Span::us(200), to: ms(2) }),
        Step::Beat(ms(40)),
    ];
    assert_eq!(steps[..6], expected);
    assert_eq!(steps[8], Step::Fork(TemplateId(0)));
    assert_eq!(steps[18], Step::Nice(5));
    assert_eq!(steps[21..23], [Step::Loop(Some(400)), Step::UnlessLate(ms(40))]);
    assert_eq!(steps.len(), 26);
    assert_eq!(workload.locks[0].waiting, Waiting::SpinThenBlock(Span::us(1100)));
    assert_eq!((workload.barriers[0].parties, workload.barriers[0].waiting), (2, Waiting::Spin));
    let pipe = &workload.pipes[0];
    assert_eq!((pipe.capacity, pipe.tokens, pipe.sync), (Some(4), 1, false));
    assert_eq!(workload.marks, ["shown"]);
    assert_eq!(workload.affinities, [CpuSet::parse("1-2").expect("list")]);
}

#[test]
fn forking_several_is_a_loop() {
    let child = "[[tasks]]\nname = \"c\"\nforked = true\nprogram = [\"compute 1ms\"]\n";
    let workload = workload(&(program("\"fork c x 15\"") + child));
    let loops = vec![Step::Loop(Some(15)), Step::Fork(TemplateId(1)), Step::End { of: 0 }];
    assert_eq!(workload.templates[0].program, Program::new(loops).expect("nested"));
    assert_eq!(workload.launches.len(), 1, "who is only forked is not launched");
}

#[test]
fn tasks_have_what_is_written_of_them() {
    let rest = r#"
[groups.a]
quota = "10ms/100ms"
[groups.b]
parent = "a"
session = true
shares = 512
[[tasks]]
name = "w"
count = 3
at = "5ms"
from-node = 2
nice = -5
group = "b"
nodes = "1,2"
job = 7
background = true
kthread = true
priority = 0.5
program = ["compute forever"]
"#;
    let text = with(rest).replace("smp4", "bulldozer64");
    let scenario = scenario("try.toml", &text).expect("a scenario");
    let workload = &scenario.variants[0].workload;
    let [_, a, b] = &workload.groups[..] else { panic!("two groups and the root") };
    let quota = a.quota.as_ref().map(|quota| (quota.runtime, quota.period));
    assert_eq!(quota, Some((Span::ms(10), Span::ms(100))));
    assert_eq!((b.parent.map(|group| group.0), b.session, b.shares), (Some(1), true, 512));
    let [first, _, _] = workload.launches[..] else { panic!("three") };
    assert_eq!((first.at, first.from), (Time(5_000_000), CpuId(16)));
    let template = &workload.templates[0];
    assert_eq!((template.nice, template.group.0, template.job), (-5, 2, Some(7)));
    assert_eq!(template.affinity, CpuSet::parse("8-23"));
    assert!(template.kthread && !template.awaited && template.priority == 0.5);
}

#[test]
fn a_cpuset_narrows_the_affinities_of_its_tasks_and_of_those_below() {
    let rest = r#"
[groups.above]
cpus = "0-2"
[groups.below]
parent = "above"
cpus = "2-3"
[groups.elsewhere]
parent = "above"
cpus = "3"
[[tasks]]
name = "t"
group = "below"
program = ["cpus 0-1", "cpus 1-3", "cpus all"]
[[tasks]]
name = "u"
group = "above"
cpus = "1-3"
program = ["compute 1ms"]
[[tasks]]
name = "v"
group = "elsewhere"
program = ["compute 1ms"]
"#;
    let workload = workload(rest);
    let affinity = |n: usize| workload.templates[n].affinity.as_ref().map(ToString::to_string);
    // One that has no CPU of its cpuset, or of that above, does not count.
    let expected = ["2", "1-2", "0-2"].map(|it| Some(it.to_owned()));
    assert_eq!([affinity(0), affinity(1), affinity(2)], expected);
    let changes = workload.templates[0].program.steps().iter().map(|step| match step {
        Step::Affinity(id) => workload.affinities[id.index()].to_string(),
        other => panic!("{other:?}"),
    });
    assert_eq!(changes.collect::<Vec<_>>(), ["2", "2", "2"]);
}

#[test]
fn tasks_ask_for_classes_with_what_they_take() {
    let of = |keys: &str| {
        let program = "program = [\"loop 9\", \"every 10ms\", \"compute 2ms\", \"end\"]";
        workload(&format!("[[tasks]]\nname = \"t\"\n{keys}\n{program}\n")).templates[0].class
    };
    assert_eq!(of(""), Class::Other);
    assert_eq!(of("class = \"batch\""), Class::Batch);
    for (written, class) in [
        ("other", Class::Other),
        ("idle", Class::Idle),
        ("fifo 50", Class::Fifo { priority: 50 }),
        ("rr 1", Class::RoundRobin { priority: 1 }),
    ] {
        assert_eq!(of(&format!("class = \"{written}\"")), class);
        assert_eq!(class.to_string(), written);
    }
    let (runtime, period) = (Span::ms(3), Span::ms(10));
    let deadline = |deadline| Class::Deadline { runtime, deadline, period };
    assert_eq!(of("class = \"deadline\"\nwcet = \"3ms\""), deadline(period));
    let all = "class = \"deadline\"\nwcet = \"3ms\"\ndeadline = \"5ms\"";
    assert_eq!(of(all), deadline(Span::ms(5)));
    let kinds = workload("[[tasks]]\nuse = \"make_j\"\nclass = \"idle\"").templates;
    assert!(kinds.len() > 1 && kinds.iter().all(|it| it.class == Class::Idle));
}

#[test]
fn classes_that_no_task_can_have_are_refused() {
    let task = |rest: &'static str| -> &'static str {
        Box::leak(format!("[[tasks]]\nname = \"t\"\nclass = {rest}\n").into())
    };
    const EVERY: &str = "program = [\"every 10ms\", \"compute 2ms\"]";
    let deadline = |rest: &str| -> &'static str {
        Box::leak(format!("[[tasks]]\nname = \"t\"\nclass = \"deadline\"\n{rest}\n").into())
    };
    for wrong in [
        (
            task("\"fifo\"\nprogram = []"),
            3,
            "`class` cannot be `fifo`",
            "`fifo 50`, with a priority",
        ),
        (task("\"rr 100\"\nprogram = []"), 3, "`class` cannot be `rr 100`", "from 1 to 99"),
        (task("\"batch 1\"\nprogram = []"), 3, "`class` cannot be `batch 1`", "`other`, `batch`"),
        (task("\"rt\"\nprogram = []"), 3, "`class` cannot be `rt`", "`fifo 50`, `rr 10`"),
        (task("7\nprogram = []"), 3, "`class` cannot be `7`", "a text in quotes"),
        (deadline(EVERY), 3, "has no `wcet`", "computation of a job"),
        (deadline("wcet = \"1ms\"\nprogram = [\"compute 1ms\"]"), 3, "no period", "every 10ms"),
        (deadline(&format!("wcet = \"11ms\"\n{EVERY}")), 3, "`wcet` 11.00 ms", "at most"),
        ("[[tasks]]\nuse = \"ep\"\nclass = \"deadline\"", 3, "of the catalogue", "`program`"),
    ] {
        refused(wrong);
    }
}

#[test]
fn ambient_load_runs_beside_and_nobody_waits_for_it() {
    let of = |rest: &str| {
        let text = program("\"compute 1ms\"").replace("[[tasks]]", &format!("{rest}\n[[tasks]]"));
        scenario("try.toml", &with(&text)).expect("a scenario").variants.remove(0)
    };
    let ambient = ambient::all().into_iter().find(|it| it.name == "linux-6.12").expect("known");
    let (quiet, none) = (of(""), of("ambient = \"none\""));
    assert_eq!((&quiet.workload, &quiet.costs), (&none.workload, &none.costs));
    let beside = of("ambient = \"linux-6.12\"");
    assert_eq!(beside.costs.ipi, ambient.ipi);
    let own = of("ambient = \"linux-6.12\"\ncosts = { ipi = \"1us\" }");
    assert_eq!((own.costs.ipi, &own.workload), (Span::us(1), &beside.workload));
    let templates = &beside.workload.templates;
    assert_eq!(templates[0], quiet.workload.templates[0], "the work is as it was");
    let threads = &templates[1..];
    assert!(threads.iter().all(|thread| thread.kthread && !thread.awaited));
    let expected: usize =
        ambient.threads.iter().map(|thread| if thread.each_cpu { 4 } else { 1 }).sum();
    assert_eq!((threads.len(), beside.workload.launches.len()), (expected, expected + 1));
    for thread in ambient.threads.iter().filter(|thread| thread.each_cpu) {
        for cpu in 0..4 {
            let name = format!("{}/{cpu}", thread.name);
            let found = threads.iter().find(|it| it.name == name).expect("one of each CPU");
            assert_eq!(found.affinity, CpuSet::parse(&cpu.to_string()), "{name}");
            assert_eq!(found.program.steps()[1], {
                Step::Sleep(Variate::Exponential { mean: thread.every })
            });
        }
    }
    const NEAR: &str = "ambient = \"linux-6.12-x\"\n[[tasks]]\nuse = \"ep\"\n";
    const FAR: &str = "ambient = \"windows\"\n[[tasks]]\nuse = \"ep\"\n";
    refused((NEAR, 1, "`ambient` cannot be `linux-6.12-x`", "did you mean `linux-6.12"));
    refused((FAR, 1, "`ambient` cannot be `windows`", "linux-5.10"));
}

#[test]
fn variants_are_merged_and_parameters_substituted() {
    let scenario = read(
        r#"
[parameters]
grain = "1ms"
n = 2
[costs]
switch = "1us"
[[tasks]]
name = "w"
count = "${n}"
program = ["compute ${grain} +-5%"]
[[variants]]
name = "a"
[[variants]]
name = "b"
parameters = { grain = "2ms" }
costs = { ipi = "3us", scan = "20us" }
scheduler = { name = "osv", thyst = "2ms" }
[sweep]
n = [2, 3]
"#,
    );
    let names: Vec<&str> = scenario.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["a n=2", "a n=3", "b n=2", "b n=3"]);
    let [a, _, _, b] = &scenario.variants[..] else { panic!("four") };
    assert_eq!((a.workload.launches.len(), b.workload.launches.len()), (2, 3));
    let grain = |variant: &wastenot_scenario::scenario::Variant| match variant.workload.templates[0]
        .program
        .steps()[0]
    {
        Step::Compute(variate) => variate.mean(),
        _ => Span::ZERO,
    };
    assert_eq!((grain(a), grain(b)), (Span::ms(1), Span::ms(2)));
    assert_eq!((a.costs.ipi, b.costs.ipi, b.costs.switch), (Span::ZERO, Span::us(3), Span::us(1)));
    assert_eq!((a.costs.scan, b.costs.scan), (Span(100), Span::us(20)));
    assert_eq!(b.scheduler.tunables, [("thyst".to_owned(), "2ms".to_owned())]);
}

#[test]
fn a_variant_of_another_scheduler_begins_with_its_defaults() {
    let text = with(&program("\"compute 1ms\""));
    let text = text.replace("name = \"pinned\"", "name = \"cfs-4.1\", wakeup = \"llc\"");
    let variants = "[[variants]]\nname = \"same\"\nscheduler = { hz = 1000 }\n\
                    [[variants]]\nname = \"other\"\nscheduler = { name = \"pinned\" }\n";
    let scenario = scenario("try.toml", &(text + variants)).expect("a scenario");
    let tunables = |n: usize| scenario.variants[n].scheduler.tunables.len();
    assert_eq!((tunables(0), tunables(1)), (2, 0));
}

#[test]
fn figures_say_what_is_measured_of_what() {
    let text = r#"
[[tasks]]
name = "w"
program = ["compute 1ms", "mark shown"]
[[variants]]
name = "bug"
[[variants]]
name = "fix"
[[figures]]
name = "ratio"
measure = "completion"
of = "w*"
variant = "bug"
over = { variant = "fix" }
published = 2
band = [1.9, 2.1]
formula = { value = 2.0, text = "2" }
pick = "share-at-least 1.6"
why = "because"
[[figures]]
name = "shown"
measure = "marks"
of = "shown"
variant = "fix"
within = "40ms"
over = 100
"#;
    let scenario = read(text);
    let [ratio, shown] = &scenario.figures[..] else { panic!("two figures") };
    let Over::Quantity(over) = &ratio.over else { panic!("over a quantity") };
    assert_eq!((over.variant.as_str(), over.measure), ("fix", Measure::Completion));
    assert_eq!(over.of.as_deref(), Some("w*"), "as in the figure");
    assert_eq!((ratio.pick, ratio.band), (Pick::ShareAtLeast(1.6), Some((1.9, 2.1))));
    assert_eq!((ratio.published, ratio.formula.as_ref().map(|f| f.value)), (Some(2.0), Some(2.0)));
    assert!(ratio.quantity.covers("w", true) && !ratio.quantity.covers("v", true));
    assert_eq!((shown.quantity.within, &shown.over), (Some(Span::ms(40)), &Over::Number(100.0)));
}

/// The erroneous text, the error's line after those of `with`, the message, the help.
type Wrong = (&'static str, usize, &'static str, &'static str);

#[track_caller]
fn refused((rest, line, what, help): Wrong) {
    let error = scenario("try.toml", &with(rest)).expect_err(rest);
    let Error::Wrong { line: found, .. } = &error else { panic!("{error:?}") };
    let said = error.to_string();
    assert_eq!(*found, BEFORE + line, "{said}");
    assert!(said.starts_with("try.toml:") && said.contains(what), "{said}\nnot: {what}");
    assert!(error.help().contains(help), "{}\nnot: {help}", error.help());
}

#[test]
fn wrong_keys_and_values_are_named_with_line_and_suggestion() {
    for wrong in [
        ("taks = []", 1, "the file has no key `taks`", "did you mean `tasks`?"),
        ("seeds = 0", 1, "`seeds` cannot be `0`", "a whole number from 1"),
        ("limit = 5", 1, "`limit` cannot be `5`", "add a unit: `5ns`"),
        ("costs = { swich = \"1us\" }", 1, "[costs] has no key `swich`", "did you mean `switch`?"),
        ("costs = { scan = \"2s\" }", 1, "`scan` cannot be `2s`", "at most 1s"),
        ("costs = { smt = 0.0 }", 1, "`smt`", "from 0.1 to 1"),
        ("costs = { migration = [\"1us\"] }", 1, "`migration`", "four times"),
        ("[groups.a]\nquota = \"10ms\"", 2, "`quota`", "10ms/100ms"),
        ("[groups.a]\ncpus = \"9-\"", 2, "`9-` is not a valid list of CPUs", "`0-3,8`"),
        ("[groups.a]\ncpus = \"0\"\nsession = true", 2, "a session has `cpus`", "`session`"),
        ("[groups.a]\nparent = \"b\"", 2, "no group `b`", "[groups.NAME]"),
        ("[groups.a]\nparent = \"a\"", 2, "contains itself", "another parent"),
        ("[locks.l]\nwaiting = \"spinn\"", 2, "`waiting` cannot be `spinn`", "block | spin"),
        ("[barriers.b]\nparties = 0", 2, "`parties` cannot be `0`", "from 1"),
        ("[barriers.b]\nwaiting = \"spin\"", 1, "no `parties`", "add `parties = 4`"),
        (
            "[pipes.p]\ncapacity = 1\ntokens = 2",
            1,
            "the pipe starts with more tokens than its capacity",
            "capacity",
        ),
        ("[[tasks]]\nuse = \"omp_barier\"", 2, "no workload `omp_barier`", "`omp_barrier`"),
        ("[[tasks]]\nuse = \"ep\"\nthraeds = 4", 3, "no key `thraeds`", "did you mean `threads`?"),
        ("[[tasks]]\nuse = \"ep\"\nwork = \"4\"", 3, "`work` cannot be `4`", "add a unit"),
        ("[[tasks]]\nuse = \"ep\"\ncount = 4", 3, "ep has no argument `count`", "threads, work"),
        ("[[tasks]]\nuse = \"ep\"\nthreads = \"${n}\"", 3, "no parameter `n`", "[parameters]"),
        ("[parameters]\nmany = 1\n[sweep]\nmani = [1]", 4, "no parameter `mani`", "`many`"),
        ("a = [1", 1, "array", "https://toml.io"),
    ] {
        refused(wrong);
    }
}

#[test]
fn what_is_wrong_with_a_task_or_after_it_is_named_with_line_and_suggestion() {
    const TASK: &str = "[[tasks]]\nname = \"t\"\nprogram = [\"compute 1ms\"]\n";
    let tasks = |rest: &'static str| -> &'static str { Box::leak(format!("{TASK}{rest}").into()) };
    for wrong in [
        (tasks("nise = 3"), 4, "[[tasks]] has no key `nise`", "did you mean `nice`?"),
        (tasks("nice = 20"), 4, "`nice` cannot be `20`", "from -20 to 19"),
        (tasks("cpus = \"4-5\""), 4, "none of the CPUs `4-5`", "its CPUs: 0-3"),
        (tasks("cpus = \"3-5\""), 4, "does not have all", "its CPUs: 0-3"),
        (tasks("nodes = \"7\""), 4, "does not have the nodes `7`", "its nodes:"),
        (tasks("from = 4"), 4, "`from` cannot be `4`", "from 0 to 3"),
        (tasks("group = \"g\""), 4, "no group `g`", "[groups.NAME]"),
        (tasks("at = \"soon\""), 4, "`at` cannot be `soon`", "ns, us, ms, s or m"),
        (tasks(TASK), 4, "there is already a task `t`", "only once"),
        (tasks("[[hotplug]]\ncpu = 9\noff = \"1ms\""), 5, "no CPU 9", "its CPUs: 0-3"),
        (tasks("[[hotplug]]\ncpu = 1"), 4, "the table has neither `off` nor `on`", "off"),
        (
            tasks("[[hotplug]]\ncpu = 1\non = \"1ms\""),
            6,
            "CPU 1 comes online at 1.000 ms, but it is online already",
            "a later time, or remove this entry",
        ),
        (
            tasks("[[hotplug]]\ncpu = 1\noff = \"1ms\"\n[[hotplug]]\ncpu = 1\noff = \"2ms\""),
            9,
            "CPU 1 goes offline at 2.000 ms, but it is offline already",
            "bring the CPU online before",
        ),
        (
            tasks("[[hotplug]]\ncpu = 2\noff = \"3ms\"\non = \"2ms\""),
            7,
            "CPU 2 comes online at 2.000 ms, but it is online already",
            "a later time",
        ),
        (
            tasks(
                "[[hotplug]]\ncpu = 0\noff = \"1ms\"\n[[hotplug]]\ncpu = 1\noff = \"1ms\"\n\
                 [[hotplug]]\ncpu = 3\noff = \"4ms\"\n[[hotplug]]\ncpu = 2\noff = \"2ms\"",
            ),
            12,
            "CPU 3 goes offline at 4.000 ms, but it is the last CPU that is online",
            "bring another CPU online before",
        ),
        (tasks("[[variants]]\nname = \"a\"\ntaks = 1"), 6, "no key `taks`", "`tasks`"),
        (
            tasks("[[variants]]\nname = \"a\"\n[[variants]]\nname = \"a\""),
            6,
            "already",
            "different name",
        ),
    ] {
        refused(wrong);
    }
}

/// A chain of tasks in which each forks the next this many times.
fn forks(of_each: &[&str]) -> String {
    let mut text = program(&format!("\"fork t1 x {}\"", of_each[0]));
    for (n, times) in of_each.iter().enumerate().skip(1) {
        let lines = format!("\"fork t{} x {times}\"", n + 1);
        text += &(program(&lines).replace("\"t\"", &format!("\"t{n}\"")) + "forked = true\n");
    }
    let last = program("\"compute 1ms\"").replace("\"t\"", &format!("\"t{}\"", of_each.len()));
    text + &last + "forked = true\n"
}

#[test]
fn more_tasks_than_memory_holds_are_refused_where_they_are_forked() {
    for (of_each, line, child) in [
        (&["1000", "1000", "1000"][..], 6, "t2"),
        (&["100000"], 3, "t1"),
        (&["99999", "2"], 6, "t2"),
        (&["4000000000"], 3, "t1"),
        (&["4000000000", "4000000000", "4000000000"], 3, "t1"),
    ] {
        let text: &'static str = Box::leak(forks(of_each).into());
        let what: &'static str = Box::leak(format!("this fork of `{child}` creates").into());
        refused((text, line, what, "at most 100000"));
    }
    assert_eq!(workload(&forks(&["99999"])).templates.len(), 2, "that many there may be");
    let often = "[[tasks]]\nuse = \"make_j\"\njobs = 1000000\n";
    refused((often, 1, "too many tasks", "fork fewer"));
}

#[test]
fn a_run_of_nobody_is_refused() {
    let forked: &'static str = Box::leak((program("\"compute 1ms\"") + "forked = true\n").into());
    refused((forked, 3, "no task starts", "not only by `fork`"));
    refused(("[[tasks]]\nuse = \"stress_ng\"\n", 1, "nothing to simulate", "at the start"));
    let error = scenario("try.toml", &with("")).expect_err("nobody");
    assert_eq!(error.to_string(), "try.toml:1: no task starts, so there is nothing to simulate");
    assert!(error.help().contains("add [[tasks]]"), "{}", error.help());
}

#[test]
fn parameters_do_not_nest() {
    let nested = "[parameters]\na = \"${b}\"\nb = \"x\"\n[[tasks]]\nname = \"${a}\"\n";
    refused((
        nested,
        2,
        "the value of the parameter `a` refers to another parameter",
        "write the value itself",
    ));
}

#[test]
fn empty_lists_of_cpus_and_nodes_are_no_lists() {
    let none: &'static str = Box::leak((program("\"compute 1ms\"") + "cpus = \"\"").into());
    refused((none, 4, "the list of CPUs is empty", "write `0-3,8` or `all`"));
    let none: &'static str = Box::leak((program("\"compute 1ms\"") + "nodes = \"\"").into());
    refused((none, 4, "`nodes` cannot be ``", "a list: \"1,2\""));
}

#[test]
fn a_scheduler_that_does_not_fit_is_named_with_the_line_of_what_is_wrong() {
    let text = with("").replace("pinned\" }", "cfs\",\nhz = 300 }") + &program("\"compute 1ms\"");
    for (tunable, line) in [(None, 3), (Some("hz"), 4)] {
        let unfit = || {
            let tunable = tunable.map(str::to_owned);
            Err(Unfit { tunable, what: "wrong".into(), help: "right".into() })
        };
        let fits = |choice: &mut Choice| {
            assert_eq!((&*choice.name, choice.tunables.len()), ("cfs", 1));
            unfit()
        };
        let error =
            scenario_for("try.toml", &text, &Instead::default(), &fits).expect_err("refused");
        assert_eq!(error.to_string(), format!("try.toml:{line}: wrong"));
        assert_eq!(error.help(), "right");
    }
}

#[test]
fn wrong_figures_are_named_with_line_and_suggestion() {
    const FIGURE: &str = "[[tasks]]\nname = \"work\"\nprogram = [\"compute 1ms\"]\n[[figures]]\n\
                          name = \"f\"\n";
    let figure = |rest: &str| -> &'static str { Box::leak(format!("{FIGURE}{rest}").into()) };
    for wrong in [
        (figure(""), 4, "no `measure`", "completion"),
        (figure("measure = \"speed\""), 6, "no measure `speed`", "use one of"),
        (figure("measure = \"wastte\""), 6, "no measure `wastte`", "did you mean `waste`?"),
        (figure("measure = \"waste\"\nvariant = \"x\""), 7, "no variant `x`", "`default`"),
        (figure("measure = \"waste\"\nof = \"wirk\""), 7, "no task `wirk`", "`work`"),
        (figure("measure = \"marks\"\nof = \"m\""), 7, "no mark `m`", "`default`"),
        (figure("measure = \"waste\"\nwithin = \"1ms\""), 7, "for marks", "remove `within`"),
        (
            figure("measure = \"waste\"\nband = [3, 1]"),
            7,
            "`band` has the numbers 3 and 1 in the wrong order",
            "write the lower number first: [1, 3]",
        ),
        (figure("measure = \"waste\"\nband = [3]"), 7, "`band` cannot be a list", "two numbers"),
        (figure("measure = \"waste\"\nover = 0"), 7, "`over` cannot be `0`", "a number above zero"),
        (
            figure("measure = \"waste\"\npick = \"best\""),
            7,
            "`pick` cannot be `best`",
            "median | min",
        ),
    ] {
        refused(wrong);
    }
}

#[test]
fn programs_that_cannot_be_are_refused() {
    for (lines, what, help) in [
        ("\"run\"", "the step \"run\" is invalid", "write a program and its arguments"),
        ("\"run sh 'a\"", "the step \"run sh 'a\" is invalid", "close the quote"),
        ("\"compte 2ms\"", "the step \"compte 2ms\" is invalid", "write \"compute TIME\""),
        ("\"compute 2\"", "is invalid", "add a unit: `2ns`, `2us`, `2ms` or `2s`"),
        ("\"compute 2ms +-5\"", "is invalid", "`2ms +-5%`"),
        ("\"compute 2ms +-500%\"", "is invalid", "0 to 100 per cent"),
        ("\"cpus \"", "the list of CPUs is empty", "write `0-3,8` or `all`"),
        ("\"compute uniform(2ms, 1ms)\"", "is invalid", "shorter time first"),
        ("\"sleep 99999999s\"", "is invalid", "write at most"),
        ("\"every 0ms\"", "is invalid", "above 0"),
        ("\"lock m\", \"unlock m\"", "no lock `m`", "[locks.NAME]"),
        ("\"loop\", \"end\"", "is invalid", "a whole number"),
        ("\"loop 3\"", "this step has no `end`", "add \"end\""),
        ("\"end\"", "this `end` has no `loop` or `unless`", "remove this `end`"),
        ("\"loop 0\", \"end\"", "the loop has zero rounds", "loop 3"),
        ("\"cpus 9\"", "none of the CPUs `9`", "its CPUs: 0-3"),
        ("\"fork u\"", "no task `u`", "[[tasks]]"),
        ("\"fork t\"", "`t` forks itself", "one single task fork"),
        ("\"nice 50\"", "\" is invalid", "from -20 to 19"),
        ("\"loop forever\", \"mark m\", \"end\"", "the loop takes no time", "compute 1us"),
        ("\"loop forever\", \"yield\", \"end\"", "the loop takes no time", "takes time"),
        ("\"loop 4000000000\", \"compute 0ms\", \"end\"", "the loop takes no time", "time"),
        (
            "\"loop forever\", \"unless late 1ms\", \"compute 1ms\", \"end\", \"end\"",
            "the loop takes no time",
            "compute",
        ),
    ] {
        let text: &'static str = Box::leak(program(lines).into());
        refused((text, 3, what, help));
    }
}

#[test]
fn locks_barriers_pipes_and_conditions_are_checked_before_a_run() {
    let shared = "conditions = [\"c\"]\n[locks]\nl = {}\nm = {}\n[barriers]\nb = { parties = 2 }\n\
                  [pipes]\np = { capacity = 1 }\nq = { capacity = 1 }\n";
    for (tasks, what, help) in [
        (&["\"lock l\""][..], "the lock `l` is never unlocked", "add \"unlock l\""),
        (&["\"unlock l\""], "is unlocked, but", "add \"lock l\" before"),
        (&["\"lock l\", \"lock l\""], "locked twice", "between the two steps"),
        (&["\"loop 2\", \"lock l\", \"end\", \"unlock l\""], "at the end of the block", "compare"),
        (&["\"barrier b\""], "`b` has 2 parties, but 1 tasks reach it", "write `parties = 1`"),
        (&["\"barrier b\"", "\"barrier b\"", "\"barrier b\""], "3 tasks reach it", "parties = 3"),
        (&["\"get p\""], "no task puts a token into the pipe `p`", "put p"),
        (&["\"await c\""], "no task signals the condition `c`", "signal c"),
        (&["\"put p\", \"put p\""], "waits for room in the pipe `p`", "background"),
        (
            &["\"get p\", \"put q\"", "\"get q\", \"put p\""],
            "t0 waits for a token in the pipe `p`; t1 waits for a token in the pipe `q`",
            "background",
        ),
        (
            &[
                "\"lock l\", \"lock m\", \"unlock m\", \"unlock l\"",
                "\"lock m\", \"lock l\", \"unlock l\", \"unlock m\"",
            ],
            "t0 waits for the lock `m`, which t1 holds",
            "background",
        ),
        (
            &["\"loop 2\", \"barrier b\", \"end\"", "\"barrier b\""],
            "t0 waits at the barrier `b`, where 1 of 2 tasks",
            "background",
        ),
    ] {
        let mut text = shared.to_owned();
        for (n, lines) in tasks.iter().enumerate() {
            text += &program(lines).replace("\"t\"", &format!("\"t{n}\""));
        }
        let error = scenario("try.toml", &with(&text)).expect_err(&text);
        assert!(error.to_string().contains(what), "{error}\nnot: {what}");
        assert!(error.help().contains(help), "{}\nnot: {help}", error.help());
    }
}

#[test]
fn a_signal_before_its_wait_is_a_matter_of_timing_and_no_deadlock() {
    let early = "conditions = [\"c\"]\n".to_owned()
        + &program("\"compute 1ms\", \"signal c\"")
        + &program("\"sleep 1ms\", \"await c\"").replace("\"t\"", "\"u\"");
    assert_eq!(workload(&early).templates.len(), 2);
}

#[test]
fn who_serves_for_ever_need_not_end() {
    let serve = program("\"loop forever\", \"get p\", \"compute 1ms\", \"end\"");
    let client = program("\"put p\"").replace("\"t\"", "\"client\"");
    let text = format!("[pipes]\np = {{}}\n{serve}background = true\n{client}");
    assert_eq!(workload(&text).launches.len(), 2);
    let awaited = text.replace("background = true\n", "");
    let error = scenario("try.toml", &with(&awaited)).expect_err("waits for ever");
    assert!(error.to_string().contains("t waits for a token in the pipe `p`"), "{error}");
}

#[test]
fn every_function_of_the_catalogue_expands_with_its_defaults() {
    for function in CATALOGUE.iter().flat_map(|family| family.functions) {
        // It makes no task without further arguments.
        let some = if function.name == "stress_ng" { "cpu = 1\n" } else { "" };
        let workload = workload(&format!("[[tasks]]\nuse = \"{}\"\n{some}", function.name));
        assert!(!workload.launches.is_empty(), "{}", function.name);
        let named = workload.templates.iter().all(|t| t.name.starts_with(function.name));
        assert!(named, "{} names its tasks after itself", function.name);
    }
}

#[test]
fn a_parallel_program_is_a_master_that_forks_the_rest_and_works_itself() {
    let tasks =
        "[[tasks]]\nuse = \"omp_barrier\"\nthreads = 4\nrounds = 3\nfrom = 2\nspin = \"2ms\"";
    let workload = workload(tasks);
    assert_eq!(workload.launches.len(), 1);
    assert_eq!((workload.launches[0].from, workload.launches[0].at), (CpuId(2), Time(0)));
    let master = workload.templates[workload.launches[0].template.index()].program.steps();
    assert_eq!(master[..2], [Step::Loop(Some(3)), Step::Fork(TemplateId(0))]);
    assert_eq!(master[3..6], workload.templates[0].program.steps()[..3]);
    let barrier = &workload.barriers[0];
    assert_eq!((barrier.parties, barrier.waiting), (4, Waiting::SpinThenBlock(Span::ms(2))));
}
