//! rt-app files.

use wastenot_model::workload::{AffinityId, Step, Variate};
use wastenot_model::{CpuSet, Help, Span, Time};
use wastenot_scenario::scenario::Choice;
use wastenot_scenario::{Error, RtApp, from_rtapp, is_rtapp};

const FILE: &str = include_str!("../data/rtapp.json");

fn read(text: &str) -> RtApp {
    from_rtapp("try.json", text, None).unwrap_or_else(|e| panic!("{e}\nhelp: {}", e.help()))
}

/// The steps of one thread with these events, in order, inside its loop.
fn steps(events: &str) -> Vec<Step> {
    let text = format!("{{\"tasks\": {{\"t\": {{\"loop\": 2, {events}}}}}}}");
    let steps = read(&text).workload.templates[0].program.steps().to_vec();
    steps[1..steps.len() - 1].to_vec()
}

fn us(n: u64) -> Variate {
    Variate::Fixed(Span::us(n))
}

#[test]
fn events_keep_their_order_and_repeat() {
    let expected = [Step::Compute(us(10)), Step::Sleep(us(20)), Step::Compute(us(30))];
    assert_eq!(steps("\"run\": 10, \"sleep\": 20, \"run\": 30"), expected);
    assert_eq!(steps("\"run0\": 10, \"sleep_a\": 20, \"runtime1\": 30"), expected);
}

#[test]
fn timers_beat_and_one_of_no_period_does_nothing() {
    let timer = |period: u32| format!("\"timer\": {{\"ref\": \"unique\", \"period\": {period}}}");
    assert_eq!(steps(&timer(500)), [Step::Beat(Span::us(500))]);
    assert_eq!(steps(&timer(0)), []);
}

#[test]
fn waiting_gives_the_mutex_back_meanwhile() {
    let held = steps(
        "\"signal\": \"q\", \"lock\": \"m\", \"wait\": {\"ref\": \"q\", \"mutex\": \"m\"}, \
         \"unlock\": \"m\"",
    );
    let [Step::Signal(_), Step::Lock(taken), Step::Unlock(given), Step::Await(_), rest @ ..] =
        &held[..]
    else {
        panic!("{held:?}")
    };
    assert_eq!((given, rest), (taken, &[Step::Lock(*taken), Step::Unlock(*taken)][..]));
    let sync = "\"sync\": {\"ref\": \"q\", \"mutex\": \"m\"}, \"broad\": \"q\"";
    let takes = steps(sync);
    let around = steps(&format!("\"lock\": \"m\", {sync}, \"unlock\": \"m\""));
    assert!(matches!(takes[..2], [Step::Lock(_), Step::Signal(_)]), "it takes the mutex");
    assert!(matches!(around[..2], [Step::Lock(_), Step::Signal(_)]), "it has the mutex");
    assert_eq!(takes.len(), around.len());
}

#[test]
fn a_whole_file_is_read() {
    let file = read(FILE);
    let workload = &file.workload;
    assert_eq!(file.limit, Some(Span::s(2)));
    let names: Vec<&str> = workload.templates.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["player", "decoder", "worker", "helper"]);
    let [player, decoder, worker, helper] = &workload.templates[..] else { panic!("four") };
    assert_eq!((player.nice, &player.affinity), (-5, &CpuSet::parse("0,2")));
    assert_eq!(decoder.nice, 0, "a real-time priority is no nice value");
    assert_eq!(workload.barriers[0].parties, 3);
    assert_eq!(workload.launches.len(), 5, "helper is only forked");
    assert_eq!(workload.launches[4].at, Time(Span::us(700).0), "in the order of time");
    let groups: Vec<&str> = workload.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(groups, ["/", "/app", "/app/workers"]);
    assert_eq!(worker.group.0, 2);
    assert!(worker.program.steps().contains(&Step::Affinity(AffinityId(1))));
    assert_eq!(workload.affinities[1], CpuSet::parse("2-3").expect("list"));
    assert_eq!(helper.program.steps()[0], Step::Loop(Some(1)));
    for what in ["SCHED_FIFO", "`mem`", "utilization clamps", "`global.calibration`"] {
        assert!(file.notes.iter().any(|note| note.contains(what)), "{what}: {:?}", file.notes);
    }
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for (text, line, what, help) in [
        ("{}", 1, "no `tasks`", "object `tasks`"),
        ("{\n\"task\": {}}", 2, "the file has no key `task`", "did you mean `tasks`?"),
        ("{\"tasks\": {\n\"t\": {\n\"rum\": 5}}}", 3, "a thread has no key `rum`", "`run`"),
        ("{\"tasks\": {\"t\": {\"run\": -5}}}", 1, "`run` cannot be `-5`", "from 0"),
        (
            "{\"tasks\": {\"t\": {\"loop\": 1, \"lock\": \"m\"}}}",
            1,
            "at the end of the block",
            "compare",
        ),
        ("{\"tasks\": {\"t\": {\"loop\": 1, \"fork\": \"u\"}}}", 1, "no task `u`", ""),
        ("{\"tasks\": {\"t\": {\"yield\": \"\"}}}", 1, "the loop takes no time", "compute"),
        ("{\"tasks\": {\"t\": {\"cpus\": []}}}", 1, "`cpus`", "at least one"),
        ("{\"tasks\": {\"t\": {\"phases\": {}, \"run\": 5}}}", 1, "and `phases`", "into"),
    ] {
        let error = from_rtapp("try.json", text, None).expect_err(text);
        let Error::Wrong { line: found, .. } = &error else { panic!("{error:?}") };
        assert_eq!(*found, line, "{error}");
        assert!(error.to_string().contains(what), "{error}\nnot: {what}");
        assert!(error.help().contains(help), "{}\nnot: {help}", error.help());
    }
}

#[test]
fn it_runs_on_the_machine_that_is_named_or_has_the_cpus_that_it_names() {
    let bound = |cpu: u32| {
        format!("{{\"tasks\": {{\n\"t\": {{\"loop\": 1, \"run\": 5, \"cpus\": [{cpu}]}}}}}}")
    };
    let machine = |text: &str| wastenot_scenario::machine(text).expect("a machine");
    for (cpu, cpus, name) in [(0, 4, "smp4"), (3, 4, "smp4"), (11, 12, "flat(1,12)")] {
        let file = read(&bound(cpu));
        assert_eq!((file.machine.len(), file.machine.name.as_str()), (cpus, name));
        let note = file.notes.iter().find(|note| note.starts_with("machine: "));
        assert!(note.is_some_and(|note| note.contains(name)), "{:?}", file.notes);
    }
    let file = from_rtapp("a/try.json", &bound(11), Some(machine("bulldozer64"))).expect("fits");
    assert_eq!((file.name.as_str(), file.machine.len()), ("try", 64));
    assert!(file.notes.is_empty(), "{:?}", file.notes);
    let error = from_rtapp("try.json", &bound(11), Some(machine("smp4"))).expect_err("no CPU 11");
    assert_eq!(error.to_string(), "try.json:2: the machine has no CPU 11");
    assert_eq!(error.help(), "use one of its CPUs: 0-3");
}

#[test]
fn it_is_a_scenario_of_one_variant() {
    let choice = Choice::named("pinned");
    let file = read(FILE);
    let scenario = file.clone().scenario(choice.clone());
    let [variant] = &scenario.variants[..] else { panic!("one variant") };
    assert_eq!((&variant.workload, &variant.machine), (&file.workload, &file.machine));
    assert_eq!((scenario.name.as_str(), scenario.limit), ("try", Span::s(2)));
    assert_eq!((&variant.scheduler, &scenario.notes), (&choice, &file.notes));
}

#[test]
fn json_is_told_from_a_scenario_by_its_ending_or_its_beginning() {
    for (file, text) in [("a.json", ""), ("-", " \n{"), ("a", "\u{feff}/* x */ {")] {
        assert!(is_rtapp(file, text), "{file} {text}");
    }
    assert!(!is_rtapp("a.toml", "# {\nschema = 1"));
}
