use wastenot_model::*;

use super::perfetto;
use crate::perfetto::fields::{packet, trace};
use crate::perfetto::wire::Fields;
use crate::write::edit;
use crate::write::sample::{anything, plausible};
use crate::{Format, Options, detect, read};

fn written(history: &History) -> Vec<u8> {
    let mut bytes = Vec::new();
    perfetto(history, &mut bytes).expect("writing to memory");
    bytes
}

#[test]
fn what_is_written_reads_back_the_same_up_to_what_both_carry() {
    for seed in 0..60 {
        let history = plausible(seed, 2000);
        let bytes = written(&history);
        assert_eq!(detect(&bytes).expect("perfetto"), Format::Perfetto);
        let back = read(&bytes, &Options::default()).expect("perfetto");
        let both = history.head.carries & back.head.carries;
        let expected = Carries::WAKINGS
            | Carries::WAKEUPS
            | Carries::PLACEMENT
            | Carries::WAKERS
            | Carries::CONTEXT
            | Carries::LEFT
            | Carries::PRIO
            | Carries::NAMES
            | Carries::TGID
            | Carries::TOPOLOGY;
        assert!(both.has(expected), "{both}");
        if let Err(difference) = history.same(&back) {
            panic!("seed {seed}: {} {}", difference.index, difference.note);
        }
        let lost = |history: &History| {
            history.losses().iter().filter(|l| l.kind == LossKind::LostEvents).count()
        };
        assert_eq!(lost(&history), lost(&back));
    }
}

#[test]
fn topology_and_processes_come_back() {
    let history = plausible(1, 500);
    let back = read(&written(&history), &Options::default()).expect("perfetto");
    let mut machine = history.head.machine.clone();
    // The facts for which Perfetto has no field.
    (machine.name, machine.distances, machine.links) = (String::new(), None, None);
    machine.cpus.iter_mut().for_each(|cpu| (cpu.online, cpu.isolated) = (true, false));
    assert_eq!(back.head.machine, machine);
    assert_eq!(back.head.source.kernel.as_deref(), Some("Linux 6.12.1"));
    let pid = |history: &History, tid| {
        history.tasks().find(|(_, task)| task.tid == tid).and_then(|(_, task)| task.pid)
    };
    for tid in 100..112 {
        assert_eq!(pid(&back, tid), pid(&history, tid), "{tid}");
    }
}

#[test]
fn any_history_can_be_written_and_what_was_written_can_be_read() {
    for seed in 0..30 {
        let bytes = written(&anything(seed, 500));
        assert!(Fields::of(&bytes).all(|(number, _)| number == trace::PACKET));
        read(&bytes, &Options::default()).expect("perfetto");
    }
}

#[test]
fn each_cpu_has_a_counter_of_who_waits_there() {
    let history = plausible(3, 300);
    let bytes = written(&history);
    let count = |field: u32| {
        let packets = Fields::of(&bytes).map(|(_, wire)| wire.bytes());
        packets.filter(|packet| Fields::of(packet).any(|(number, _)| number == field)).count()
    };
    // The group of all, two nodes (whose caches are the same groups), six CPUs.
    assert_eq!(count(packet::TRACK_DESCRIPTOR), 1 + 2 + 6);
    assert!(count(packet::TRACK_EVENT) > 6 + 50);
}

#[test]
fn the_same_history_gives_the_same_bytes() {
    assert_eq!(written(&plausible(9, 900)), written(&plausible(9, 900)));
}

#[test]
fn the_window_of_a_cut_comes_back() {
    for seed in 0..40 {
        let history = plausible(seed, 1500);
        let Window { from, to } = history.window();
        let at = |percent| Time(from.0 + (to - from).0 * percent / 100);
        for (first, last) in [(0, 40), (25, 80), (60, 100)] {
            let cut = edit::window(&history, Window { from: at(first), to: at(last) });
            let back = read(&written(&cut), &Options::default()).expect("perfetto");
            assert_eq!(back.window(), cut.window(), "seed {seed}, {first}-{last}");
        }
    }
}
