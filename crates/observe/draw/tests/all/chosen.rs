//! Pictures of some CPUs and some tasks.

use wastenot_draw::{Colour, Cores, Queues, Scene, View, Waiting, cores, queues, waiting};
use wastenot_model::{CpuId, CpuSet, History, TaskId};

use crate::made::{columns, dump, tiny};

const GREY: Colour = Colour::rgb(0xc2c2c2);

fn view(cpus: Option<&[u16]>, tasks: Option<&[usize]>) -> View {
    let cpus = cpus.map(|cpus| cpus.iter().map(|&cpu| CpuId(cpu)).collect::<CpuSet>());
    let tasks = tasks.map(|tasks| tasks.iter().map(|&task| TaskId::nth(task)).collect());
    View { cpus, tasks, ..View::default() }
}

fn labels(scene: &Scene) -> Vec<&str> {
    scene.plot.lanes.iter().map(|lane| lane.label.as_str()).collect()
}

fn drawn(history: &History, view: View) -> Scene {
    cores(history, &Cores { view, ..Cores::default() })
}

/// Of the whole width, how much is grey and how much is in the colour of a task.
fn shares(scene: &Scene, lane: usize) -> (f64, f64) {
    let all = columns(scene, 100);
    let colours = [Colour::UNKNOWN, Colour::OFFLINE];
    let cells = || all[lane].iter().flatten().filter(|(colour, _)| !colours.contains(colour));
    let sum = |grey: bool| -> f64 {
        cells().filter(|cell| (cell.0 == GREY) == grey).map(|it| it.1).sum()
    };
    (sum(true), sum(false))
}

#[test]
fn only_chosen_cpus_have_lanes_and_the_title_names_them() {
    let history = tiny();
    for chosen in [drawn(&history, view(Some(&[1]), None)), {
        let view = view(Some(&[1]), None);
        queues(&history, &Queues { view, ..Queues::default() })
    }] {
        assert_eq!(labels(&chosen), ["1"]);
        assert!(chosen.title.contains(" cpus_1, duration"), "{}", chosen.title);
    }
    let all = drawn(&history, view(None, None));
    assert_eq!(labels(&all), ["0", "1", "2"]);
    assert!(!all.title.contains("cpus"), "{}", all.title);
    // What is drawn of a CPU is the same beside others and alone.
    let alone = drawn(&history, view(Some(&[1]), None));
    assert_eq!(columns(&alone, 100)[0], columns(&all, 100)[1]);
}

/// Task 0 runs on CPU 0 for 3 of 10 ms, then task 1.
#[test]
fn tasks_that_were_not_chosen_are_grey() {
    let scene = drawn(&tiny(), view(None, Some(&[0])));
    let (grey, coloured) = shares(&scene, 0);
    assert!((grey - 70.0).abs() < 1.0 && (coloured - 30.0).abs() < 1.0, "{grey} {coloured}");
    assert!(scene.legend.contains(&(GREY, "other tasks  7.000 ms".to_owned())), "{scene:?}");
    let (grey, coloured) = shares(&drawn(&tiny(), view(None, None)), 0);
    assert!(grey == 0.0 && (coloured - 100.0).abs() < 1.0, "{grey} {coloured}");
}

/// Two tasks run at once from 4 to 6 ms; of one of them one does.
#[test]
fn waiting_counts_the_chosen_tasks_on_the_chosen_cpus() {
    let most = |view: View| {
        let scene = waiting(&tiny(), &Waiting { view, ..Waiting::default() });
        let legend: Vec<String> = scene.legend.into_iter().map(|(_, label)| label).collect();
        let of = |what: &str| legend.iter().find(|it| it.contains(what)).expect(what).clone();
        let most = |text: String| text.split("max ").nth(1).expect("max")[..1].to_owned();
        (most(of("tasks waiting")), most(of("tasks running")), of("dotted"))
    };
    let found = |cpus, tasks| most(view(cpus, tasks));
    let cpus = |count: u32| format!("dotted: {count} CPUs");
    assert_eq!(found(None, None), ("1".into(), "2".into(), cpus(3)));
    assert_eq!(found(None, Some(&[0])), ("1".into(), "1".into(), cpus(3)));
    assert_eq!(found(Some(&[0]), None), ("1".into(), "1".into(), cpus(1)));
    // Task 1 waits on CPU 0 and runs there; on CPU 1 it does neither.
    assert_eq!(found(Some(&[1]), Some(&[1])), ("0".into(), "0".into(), cpus(1)));
}

#[test]
fn moves_of_tasks_that_were_not_chosen_are_not_marked() {
    let note = |view: View| {
        let scene = queues(&tiny(), &Queues { view, ..Queues::default() });
        let text = dump(&scene);
        text.lines().find(|line| line.contains("moves of waiting tasks")).map(str::to_owned)
    };
    assert!(note(view(None, None)).is_some());
    assert!(note(view(None, Some(&[0]))).is_some());
    assert_eq!(note(view(None, Some(&[1]))), None);
    assert_eq!(note(view(Some(&[0]), None)), None, "it is moved to CPU 1");
}
