//! Genomes run, searches are the same again, and a published fault is found.

use std::path::Path;

use wastenot_experiment::{Bench, Sim};
use wastenot_host::store::Store;
use wastenot_hunt::finding::Finding;
use wastenot_hunt::genome::{CPUS, Genome, KINDS, Space, cross, smaller, vary};
use wastenot_hunt::oracle::{Kind, Promise, losses, worse};
use wastenot_hunt::search::{Hooks, Outcome, Question, search};
use wastenot_hunt::trial::{self, Notes, Seen, Served, Took};
use wastenot_model::workload::Random;
use wastenot_scenario::scenario::Choice;
use wastenot_sim::REAL_TIME;

/// CFS of Linux 4.1 with all published fixes but that of scheduling groups.
fn core0() -> Choice {
    let set = [
        ("groups", "core0"),
        ("imbalance", "minimum"),
        ("numa-levels", "keep"),
        ("wakeup", "longest-idle"),
        ("wake-affine-idle", "after"),
    ];
    let tunables = set.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    Choice { tunables, ..Choice::named("cfs-4.1") }
}

fn runs(genome: &Genome, choice: &Choice) {
    let read = trial::variant(genome, choice).map_err(|error| error.to_string());
    let fits = read.and_then(|it| Sim.fits(&it).map_err(|error| error.to_string()));
    if let Err(error) = fits {
        panic!("{error}\n{}", genome.text(choice, ""));
    }
    assert!(genome.machine().cpus() <= CPUS && genome.kinds() <= KINDS + 1);
    assert!(genome.longest() <= 30, "{}", genome.text(choice, ""));
}

#[test]
fn every_genome_is_a_scenario_that_runs() {
    let all = [core0(), Choice::named("gsn-edf"), Choice::named("osv"), policy("gang.rota")];
    for choice in all {
        let space = Space::of(&choice, None);
        let mut random = Random::stream(7, 0, 0);
        let mut last = Genome::random(&space, &mut random);
        for n in 0..200 {
            let new = Genome::random(&space, &mut random);
            runs(&new, &choice);
            last = match n % 4 {
                0 => cross(&last, &new, &mut random),
                _ => vary(&last, &space, &mut random),
            };
            runs(&last, &choice);
            if n % 40 == 0 {
                for less in smaller(&last) {
                    runs(&less, &choice);
                    assert!(less.size() < last.size());
                }
                last = new;
            }
        }
    }
}

#[test]
fn a_genome_may_set_what_its_scheduler_has() {
    let set = |choice: Choice| -> Vec<String> {
        let space = Space::of(&choice, None);
        space.tunables.iter().map(|(name, value)| format!("{name}={value}")).collect()
    };
    assert_eq!(set(Choice::named("cfs-6.1")), ["autogroup=off", "hz=100", "hz=1000"]);
    assert_eq!(set(Choice::named("gang")), ["quantum=25ms", "quantum=400ms"]);
    assert_eq!(set(policy("work-stealing.rota")), ["slice=5ms", "slice=80ms"]);
    assert_eq!(set(Choice::named("sched-deadline")), [""; 0]);
}

#[test]
fn sporadic_tasks_ask_for_no_more_than_all_cpus() {
    for kind in REAL_TIME {
        let choice = Choice::named(kind.name);
        let space = Space::of(&choice, None);
        let mut random = Random::stream(10, 0, 0);
        let mut last = Genome::random(&space, &mut random);
        for n in 0..200 {
            let genome = Genome::random(&space, &mut random);
            last = match n % 3 {
                0 => cross(&last, &genome, &mut random),
                1 => vary(&last, &space, &mut random),
                _ => genome,
            };
            let (load, cpus) = (last.load(), last.machine().cpus());
            let most = cpus - usize::from(kind.name.ends_with("-mp"));
            assert!(load > 0.0 && load <= most as f64 && cpus > 1, "{last:?}");
            if n < 12 {
                let variant = trial::variant(&last, &choice).expect("a scenario");
                let seen =
                    trial::look(&variant, 1, Notes::Tasks).expect("a scheduler that takes it");
                assert!(seen.jobs.iter().any(|it| it.jobs > 0), "{}: {seen:?}", kind.name);
            }
        }
    }
}

#[test]
fn a_late_job_is_found_under_global_edf_and_not_where_all_are_on_time() {
    let outcome = ask(Choice::named("gsn-edf"), None, 512);
    let finding = outcome.shrunk.first().expect("a finding");
    assert_eq!((finding.kind, finding.cause.as_str()), (Kind::Misses, "deadline"));
    // Global EDF is optimal on one CPU, and Dhall's effect needs a long task beside short ones.
    assert!(finding.genome.machine().cpus() >= 2, "{finding:?}");
    assert_eq!(in_band(finding, &Choice::named("gsn-edf")), [false, true]);
}

#[test]
fn what_genomes_do_ends_and_is_seen() {
    let mut random = Random::stream(8, 0, 0);
    let (mut ended, mut wasted) = (0, 0);
    for _ in 0..60 {
        let genome = Genome::random(&Space::default(), &mut random);
        let variant = trial::variant(&genome, &core0()).expect("a scenario");
        let seen = trial::look(&variant, 1, Notes::Tasks).expect("a scheduler");
        ended += usize::from(seen.ended == trial::Ended::Done);
        wasted += usize::from(seen.waste_ns > 0);
        let of_causes: u64 = seen.causes.iter().map(|it| it.ns).sum();
        assert_eq!(of_causes, seen.waste_ns, "causes sum to the waste");
    }
    assert!(ended > 30 && wasted > 10, "{ended} ended, {wasted} wasted");
}

/// Until it has found what groups that are built from one CPU's view lose.
fn hunt(trials: u64, store: Option<&Store<Seen>>) -> Outcome {
    let cause = Some("scheduler/balancing/beyond-one-hop".to_owned());
    let question = Question { trials, cause, ..Question::of(core0()) };
    search(&question, store, &QUIET).expect("a search")
}

const QUIET: Hooks<'_> =
    Hooks { look: &trial::look, is_over: &|| false, progress: &|_| (), found: &|_| () };

fn ask(choice: Choice, against: Option<Choice>, trials: u64) -> Outcome {
    let question = Question { against, trials, findings: 1, ..Question::of(choice) };
    search(&question, None, &QUIET).expect("a search")
}

fn policy(file: &str) -> Choice {
    let mut choice = Choice::named(file);
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../policies"));
    wastenot_experiment::resolve(&mut choice, folder).expect("a policy");
    choice
}

/// What a run shows of these tasks on this machine.
fn shown(text: &str, choice: Choice) -> Seen {
    let head = "schema = \"wastenot.scenario/1\"\nlimit = \"2s\"\nseeds = 1\n\
                scheduler = { name = \"work-conserving\" }\n";
    let scenario = wastenot_scenario::scenario("tasks.toml", &format!("{head}{text}"));
    let mut variant = scenario.expect("a scenario").variants.remove(0);
    variant.scheduler = choice;
    trial::look(&variant, 1, Notes::Tasks).expect("a run")
}

/// Of each figure of what is written of a finding, whether it lies in its band.
fn in_band(finding: &Finding, choice: &Choice) -> Vec<bool> {
    let text = finding.text(choice, "found");
    let scenario = wastenot_experiment::scenario("found.toml", &text).expect("a scenario");
    let grid = wastenot_experiment::Grid::new(&scenario, &Sim, &Default::default());
    let experiment = grid.expect("a grid").run(|_| ()).expect("runs");
    experiment.figures.iter().map(|it| it.in_band() == Some(true)).collect()
}

fn said(outcome: &Outcome) -> String {
    let found = |(it, trials): &(Finding, u64)| format!("{it:?} {trials}");
    let all = [&outcome.search, &outcome.random].into_iter().flat_map(|arm| &arm.found);
    let archive: Vec<String> = outcome
        .search
        .archive
        .iter()
        .map(|(niche, elite)| format!("{niche:?} {elite:?}"))
        .collect();
    format!("{:?} {archive:?} {:?}", all.map(found).collect::<Vec<_>>(), outcome.shrunk)
}

#[test]
fn a_search_is_the_same_again_with_any_number_of_threads_and_after_a_kill() {
    let with =
        |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let first = with(1).install(|| said(&hunt(128, None)));
    assert_eq!(with(3).install(|| said(&hunt(128, None))), first);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("results");
    // It was killed after the first generation, within a line.
    hunt(64, Some(&Store::open(&file).expect("a store")));
    let bytes = std::fs::read(&file).expect("lines");
    std::fs::write(&file, &bytes[..bytes.len() * 2 / 3]).expect("written");
    let store = Store::open(&file).expect("a store");
    assert_eq!(said(&hunt(128, Some(&store))), first);
}

#[test]
fn groups_that_are_built_from_one_cpus_view_are_found_and_shrunk() {
    let outcome = hunt(3000, None);
    let finding = outcome.shrunk.first().expect("a finding");
    assert_eq!(finding.cause, "scheduler/balancing/beyond-one-hop");
    assert_eq!(finding.control.words(), "groups=own-balanced");
    let genome = &finding.genome;
    assert!(genome.machine().cpus() <= 8 && genome.machine().nodes == 3, "{:?}", genome.machine());
    assert!(genome.kinds() <= 4 && genome.longest() <= 10);
    // What is written shows it, as `wastenot run` reads it.
    assert_eq!(
        in_band(finding, &core0()),
        [false, true],
        "the loss is there, and not in the control"
    );
}

#[test]
fn nothing_is_found_in_a_proved_policy() {
    let outcome = ask(policy("work-stealing.rota"), None, 128);
    assert!(outcome.shrunk.is_empty() && outcome.random.found.is_empty(), "{outcome:?}");
}

#[test]
fn a_cpu_that_forgets_to_look_again_is_found_only_where_decisions_take_steps() {
    let choice = policy("wrong/no-rescan.rota");
    let outcome = ask(choice.clone(), None, 512);
    let finding = outcome.shrunk.first().expect("a finding");
    assert_eq!((finding.kind, finding.cause.as_str()), (Kind::Sleeps, "lost-wakeup"));
    let asleep_ns = |choice: &Choice| {
        let variant = trial::variant(&finding.genome, choice).expect("a scenario");
        trial::look(&variant, 1, Notes::Tasks).expect("a run").asleep_ns
    };
    let with_steps = asleep_ns(&Promise::of(choice.clone(), None).choice);
    assert!(with_steps >= 500_000, "{with_steps} ns");
    // If a decision takes no time, no task comes between the last look and the idle flag.
    let at_once = asleep_ns(&choice);
    assert!(at_once < 100_000, "{at_once} ns");
}

#[test]
fn nothing_is_worse_than_itself() {
    for same in [Choice::named("cfs-6.1"), policy("work-stealing.rota")] {
        let outcome = ask(same.clone(), Some(same), 64);
        assert!(outcome.shrunk.is_empty(), "no worse than itself");
    }
}

#[test]
fn waste_that_only_has_another_cause_is_not_worse() {
    let seen = |cause: &str, ns| Seen {
        busy_ns: 100,
        waste_ns: ns,
        causes: vec![Took { cause: cause.to_owned(), ns, longest_ns: ns }],
        ..Seen::default()
    };
    let [one, other] = ["scheduler/placement", "scheduler/balancing"].map(|it| seen(it, 40));
    assert_eq!(worse(&one, &other), []);
    assert!((worse(&one, &seen("scheduler/balancing", 10))[0].share - 0.3).abs() < 1e-9);
}

#[test]
fn one_stretch_does_not_recur_and_a_cpu_that_is_overlooked_does_persist() {
    let genome = Genome::random(&Space::default(), &mut Random::stream(1, 0, 0));
    let osv = Promise::of(Choice::named("osv"), None);
    let took = vec![Took { cause: "scheduler/placement".into(), ns: 4000, longest_ns: 100 }];
    let once =
        Seen { busy_ns: 10_000, waste_ns: 4000, stretches: 1, causes: took, ..Seen::default() };
    let most = |seen: &Seen| losses(seen, &genome, &osv).first().map_or(0.0, |it| it.grade);
    assert!(most(&once) < 1.0, "it is one stretch, though of many waits");
    assert!(most(&Seen { stretches: 20, ..once.clone() }) >= 1.0, "20 stretches are 20");
    let fifo = Promise::of(Choice::named("global-fifo"), None);
    let long = Seen { overlooked_ns: 1_000_000, ..once };
    assert_eq!(losses(&long, &genome, &fifo)[0].kind, Kind::Persists);
}

#[test]
fn starvation_storms_and_hangs_are_losses() {
    let mut random = Random::stream(9, 0, 0);
    let mut genomes = std::iter::repeat_with(|| Genome::random(&Space::default(), &mut random));
    let genome =
        genomes.find(|it| it.is_alike() && !it.is_bound() && !it.yields()).expect("some are");
    let linux = Promise::of(Choice::named("eevdf-6.12"), None);
    let kinds = |seen: &Seen| -> Vec<Kind> {
        losses(seen, &genome, &linux)
            .iter()
            .filter(|it| it.grade >= 1.0)
            .map(|it| it.kind)
            .collect()
    };
    let calm = Seen { waited_ns: 10_000_000, moves: 3, ..Seen::default() };
    assert_eq!(kinds(&calm), []);
    // A slice of 3 ms and a tick of 4 ms to either side, for each task.
    let turn = 14_000_000 * genome.all_tasks() as u64;
    assert_eq!(kinds(&Seen { waited_ns: turn + 1, ..calm.clone() }), [Kind::Starves]);
    assert_eq!(kinds(&Seen { moves: 21, ..calm.clone() }), [Kind::Storms]);
    // Even on one CPU a task gets its share of all; a hundredth of that is less than half.
    let least = Served { of_ns: 2_000_000_000, ns: 2_000_000_000 / genome.all_tasks() as u64 };
    let served = |ns| Seen { served: vec![Served { ns, ..least }], ..calm.clone() };
    assert_eq!(kinds(&served(least.ns / 100)), [Kind::Unfair]);
    assert_eq!(kinds(&served(least.of_ns)), []);
    let short = Served { of_ns: 16_000_000, ns: 0 };
    assert_eq!(kinds(&Seen { served: vec![short], ..calm.clone() }), []);
    let ended = trial::Ended::Never("deadlock".into());
    assert_eq!(kinds(&Seen { ended, ..calm }), [Kind::Hangs]);
}

#[test]
fn a_task_that_is_moved_as_others_come_and_go_is_no_storm() {
    let moves = |choice: Choice, tasks: &str| {
        let text =
            format!("machine = \"numa:2 core:1 pu:1\"\n[[tasks]]\nname = \"worker\"\n{tasks}\n");
        shown(&text, choice).moves
    };
    let sleep = "count = 22\nprogram = [\"loop 3\", \"sleep 1ms\", \"compute 1ms\", \"end\"]";
    let compute = "count = 5\nprogram = [\"compute 175ms\"]";
    // In one wait a task is moved ten times and more, as others come and go.
    assert!(moves(Choice::named("cfs-6.1"), sleep) < 10);
    assert!(moves(policy("wrong/ping-pong.rota"), compute) > 20);
}

#[test]
fn a_late_kick_does_not_preempt_what_a_cpu_found_by_itself() {
    let text = r#"
schema = "wastenot.scenario/1"
machine = "numa:4(links=0-1,0-2,1-2,2-3) l3:2 core:2 pu:1"
limit = "1s"
seeds = 1
scheduler = { name = "work-stealing.rota", steps = "5us", pace = "even" }
costs = { switch = "2us", ipi = "5us" }

[[tasks]]
name = "parent"
count = 16
program = ["compute 200us", "fork child x 8", "wait all"]

[[tasks]]
name = "child"
forked = true
program = ["loop 2", "compute exp(500us)", "end"]
"#;
    let policies =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../policies/scenario.toml"));
    let scenario = wastenot_experiment::scenario(&policies.display().to_string(), text);
    let scenario = scenario.expect("a scenario");
    let grid = wastenot_experiment::Grid::new(&scenario, &Sim, &Default::default());
    let experiment = grid.expect("a grid").run(|_| ()).expect("runs");
    let cell = &experiment.variants[0].cells[0];
    // 131 ms of work on 16 CPUs; with a preemption for each kick it never ends.
    assert!(cell.done && cell.time_ns < 12_000_000, "{} ns", cell.time_ns);
}

#[test]
fn a_cpu_is_not_overlooked_while_others_are_about_to_run_what_waits() {
    let text = r#"
machine = "numa:1 l3:1 core:8 pu:1"
costs = { ipi = "200us" }

[[tasks]]
name = "worker"
count = 4
program = ["loop 50", "compute 50us", "sleep 100us", "end"]
"#;
    let set = [("steps", "1us"), ("pace", "even")];
    let tunables = set.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let seen = shown(text, Choice { tunables, ..policy("global-fifo.rota") });
    // All the time some task waits for a CPU that was told late, and four others have nothing.
    assert!(seen.asleep_ns >= 200_000, "{} ns", seen.asleep_ns);
    assert!(seen.overlooked_ns < 20_000, "{} ns", seen.overlooked_ns);
}
