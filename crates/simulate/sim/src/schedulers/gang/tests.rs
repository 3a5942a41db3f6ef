use wastenot_model::policy::{CpuView, Place, TaskView, View};
use wastenot_model::workload::{Group, GroupId};
use wastenot_model::{CpuSet, Machine, Span, Time};

use super::*;

/// A machine with these tasks, each of a job or without one, and a matrix in which they were placed
/// in this order.
fn placed(cpus: usize, jobs: &[Option<u32>]) -> (Context, Matrix) {
    let machine = Machine::flat(cpus);
    let tasks = jobs.iter().map(|&job| TaskView {
        place: Place::Nowhere,
        cpu: CpuId(0),
        nice: 0,
        group: GroupId(0),
        mask: 0,
        kthread: false,
        own: false,
        priority: 1.0,
        job,
        command: 0,
    });
    let idle = CpuView { current: None, idle_since: Time(0), online: true };
    let view = View {
        now: Time(0),
        cpu: CpuId(0),
        cpus: vec![idle; cpus],
        idle: machine.online(),
        online: machine.online(),
        tasks: tasks.collect(),
        groups: vec![Group::root()],
        commands: Vec::new(),
        masks: vec![CpuSet::first(cpus)],
        scan: Span::ZERO,
        seed: 0,
        machine,
    };
    let cx = Context::new(view, false);
    let mut matrix = Matrix::new(&cx, false);
    for n in 0..jobs.len() {
        matrix.place(&cx, TaskId::nth(n));
    }
    (cx, matrix)
}

fn rows_of(matrix: &Matrix, tasks: std::ops::Range<usize>) -> Vec<usize> {
    tasks.map(|n| matrix.cell(TaskId::nth(n)).expect("placed").row).collect()
}

#[test]
fn a_job_that_leaves_one_cpu_free_needs_few_rows() {
    for cpus in [2, 4, 8] {
        for stressors in 0..=12 {
            let job = vec![Some(1); cpus - 1];
            let alone = vec![None; stressors];
            let expected = match stressors {
                0 | 1 => 1,
                s => 1 + (s - 1).div_ceil(cpus),
            };
            for jobs in [[job.clone(), alone.clone()].concat(), [alone, job].concat()] {
                let (_, matrix) = placed(cpus, &jobs);
                assert_eq!(matrix.rows(), expected, "{cpus} CPUs, {stressors} stressors");
            }
        }
    }
}

#[test]
fn the_tasks_of_a_job_share_a_row_however_they_come() {
    let mixed: Vec<Option<u32>> = (0..12).map(|n| (n % 2 == 0).then_some(n % 4)).collect();
    let (_, matrix) = placed(4, &mixed);
    for job in [0, 2] {
        let tasks = (0..12).filter(|&n| mixed[n] == Some(job));
        let rows: Vec<usize> = tasks.flat_map(|n| rows_of(&matrix, n..n + 1)).collect();
        assert_eq!(rows, vec![rows[0]; 3]);
    }
}

#[test]
fn a_job_wider_than_the_machine_gets_several_rows() {
    let (_, matrix) = placed(4, &[Some(1); 6]);
    assert_eq!(rows_of(&matrix, 0..6), [0, 0, 0, 0, 1, 1]);
}

#[test]
fn holes_are_filled_when_tasks_leave() {
    // A job of three tasks and a task beside it, below four tasks and another job of three.
    let jobs = [&[Some(1); 3][..], &[None; 5], &[Some(2); 3]].concat();
    let (cx, mut matrix) = placed(4, &jobs);
    assert_eq!((matrix.rows(), rows_of(&matrix, 8..11)), (3, vec![2; 3]));
    (0..3).for_each(|n| matrix.remove(TaskId::nth(n)));
    matrix.pack(&cx);
    assert_eq!((matrix.rows(), rows_of(&matrix, 8..11)), (2, vec![1; 3]));
    (3..8).for_each(|n| matrix.remove(TaskId::nth(n)));
    matrix.pack(&cx);
    assert_eq!((matrix.rows(), rows_of(&matrix, 8..11)), (1, vec![0; 3]));
}

#[test]
fn cores_are_filled_before_siblings_if_asked() {
    let (mut cx, _) = placed(8, &[]);
    for (n, cpu) in cx.view_mut().machine.cpus.iter_mut().enumerate() {
        cpu.core = Some(n as u32 / 2);
    }
    let columns = |cores_first| Matrix::new(&cx, cores_first).order();
    assert_eq!(columns(false), [0, 1, 2, 3, 4, 5, 6, 7].map(CpuId));
    assert_eq!(columns(true), [0, 2, 4, 6, 1, 3, 5, 7].map(CpuId));
}
