//! CPUs that go off and come back.

use wastenot_model::machine::Costs;
use wastenot_model::workload::{Step, Template};
use wastenot_model::{
    Change, CpuId, CpuSet, Event, History, Machine, Span, TaskId, Time, Workload,
};
use wastenot_sim::{End, Outcome, SCHEDULERS};

use crate::made::{self, END, compute, launch, plug, sleep, template};

fn ms(ms: u64) -> Time {
    Time(Span::ms(ms).0)
}

fn run(machine: &Machine, ipi: Span, name: &str, load: &Workload) -> (History, Outcome) {
    let costs = Costs { ipi, ..Costs::default() };
    let ran = made::run(machine, &costs, name, load);
    assert_eq!(ran.1.end, End::Done, "{name}");
    ran
}

fn waste(history: &History) -> Span {
    Span(wastenot_check::check(history, &wastenot_check::Options::default()).waste.cpu_ns)
}

#[test]
fn nobody_stays_on_a_cpu_that_is_off() {
    let mut load = Workload::new();
    launch(&mut load, 2, template("t", &[compute(Span::ms(10))]));
    load.hotplug = vec![plug(ms(4), CpuId(0), false), plug(ms(6), CpuId(0), true)];
    let (history, outcome) = run(&Machine::flat(2), Span::ZERO, "global-fifo", &load);
    assert_eq!(outcome.time, ms(12));
    assert_eq!(history.task_count(), 2);
}

#[test]
fn a_cpu_that_was_busy_is_off_and_not_idle() {
    const OFF: CpuId = CpuId(1);
    for kind in SCHEDULERS {
        let mut load = Workload::new();
        let hog = load.template(template("hog", &[compute(Span::ms(500))]));
        (0..3).for_each(|n| load.launch(hog, CpuId(n % 2)));
        load.hotplug = vec![plug(ms(10), OFF, false)];
        let (history, _) = run(&Machine::flat(2), Span::ZERO, kind.name, &load);
        let mut entries = history.entries();
        let goes = |event: &Event| matches!(event, Event::Cpu { cpu: OFF, up: false });
        assert!(entries.any(|entry| goes(&entry.event)), "{}", kind.name);
        let acts = |event: &Event| matches!(event, Event::Switch { cpu: OFF, .. });
        assert!(!entries.any(|entry| acts(&entry.event)), "{}", kind.name);
        if ["work-conserving", "global-fifo", "cfs-6.1"].contains(&kind.name) {
            assert_eq!(waste(&history), Span::ZERO, "{}", kind.name);
        }
    }
}

#[test]
fn who_was_bound_to_it_goes_to_idle_cpus() {
    let mut load = Workload::new();
    let affinity = Some(CpuSet::from_iter([CpuId(1)]));
    let hog = load.template(Template { affinity, ..template("hog", &[compute(Span::s(1))]) });
    (0..3).for_each(|_| load.launch(hog, CpuId(1)));
    load.hotplug = vec![plug(ms(100), CpuId(1), false)];
    for name in ["global-fifo", "work-conserving"] {
        let (history, outcome) = run(&Machine::flat(4), Span::ZERO, name, &load);
        assert_eq!(waste(&history), Span::ZERO, "{name}");
        assert!((ms(1000)..=ms(1100)).contains(&outcome.time), "{name} {:?}", outcome.time);
    }
}

/// Two tasks that share a core while others come and go, so that running tasks have to be pushed
/// away.
fn unequal() -> Workload {
    let mut load = Workload::new();
    let all = load.affinity(CpuSet::first(4));
    let first = [compute(Span::ms(1)), Step::Affinity(all), compute(Span::s(2))];
    let affinity = Some(CpuSet::first(2));
    let hog = load.template(Template { affinity, ..template("hog", &first) });
    let turns = [Step::Loop(None), compute(Span::us(200)), sleep(Span::ms(7)), END];
    let other = load.template(Template { awaited: false, ..template("other", &turns) });
    (0..2).for_each(|n| load.launch(hog, CpuId(n)));
    (0..2).for_each(|n| load.launch(other, CpuId(n + 2)));
    load
}

/// When and where the scheduler's own threads, one for each of four CPUs, began to run.
fn runs_of_own(history: &History) -> Vec<(Time, CpuId, TaskId)> {
    let own = |entry: wastenot_model::Entry| match entry.event {
        Event::Switch { cpu, next, .. } if next.index().is_some_and(|index| index < 4) => {
            Some((entry.time, cpu, next))
        }
        _ => None,
    };
    history.entries().filter_map(own).collect()
}

#[test]
fn the_schedulers_own_threads_stay_on_their_cpus() {
    let mut machine = Machine::flat(4);
    for (n, cpu) in machine.cpus.iter_mut().enumerate() {
        let pair = Some(n as u32 / 2);
        (cpu.core, cpu.llc, cpu.node) = (pair, pair, Some(0));
    }
    for name in ["cfs-4.1", "cfs-5.10", "cfs-6.1", "eevdf-6.12", "osv", "osv-vruntime"] {
        for ipi in [0, 5] {
            let (history, _) = run(&machine, Span::us(ipi), name, &unequal());
            let began = runs_of_own(&history);
            assert!(!began.is_empty(), "{name}: the test is of threads that run");
            // CPUs go off shortly before such a thread runs, while it runs, and after.
            for &(time, cpu, _) in began.iter().take(3) {
                for offset in [-4_000, -1_000, 0, 1_000, 3_000] {
                    let off = Time(time.0.saturating_add_signed(offset));
                    let on = off + Span::ms(50);
                    let mut load = unequal();
                    load.hotplug = vec![plug(off, cpu, false), plug(on, cpu, true)];
                    let (history, _) = run(&machine, Span::us(ipi), name, &load);
                    for (_, cpu, thread) in runs_of_own(&history) {
                        assert_eq!(thread, TaskId::nth(cpu.index()), "{name} {off} {cpu}");
                    }
                    let freed = |event| match event {
                        Event::Changed { task, what: Change::Affinity(_) } => {
                            task.index().is_some_and(|index| index < 4)
                        }
                        _ => false,
                    };
                    let told = history.entries().filter(|entry| freed(entry.event));
                    assert_eq!(told.count(), 4, "{name}: each is bound once");
                }
            }
        }
    }
}

#[test]
fn balancers_whose_cpu_is_back_balance_again() {
    let mut load = Workload::new();
    launch(&mut load, 4, template("hog", &[compute(Span::s(2))]));
    load.hotplug = vec![plug(ms(500), CpuId(1), false), plug(ms(900), CpuId(1), true)];
    for name in ["osv", "osv-vruntime"] {
        let (history, _) = run(&Machine::flat(2), Span::ZERO, name, &load);
        let runs = runs_of_own(&history);
        let of_1 = |from, to| {
            let within = |at: Time| (from..to).contains(&at);
            runs.iter().filter(|&&(at, cpu, _)| cpu == CpuId(1) && within(at)).count()
        };
        assert!(of_1(ms(0), ms(500)) >= 3, "{name}");
        assert_eq!(of_1(ms(501), ms(900)), 0, "{name}");
        assert!(of_1(ms(900), ms(1500)) >= 3, "{name}");
    }
}
