//! A recording in the browser.
//!
//! [`View`] holds what a page shows of one History: the report of its check, the machine, the names
//! of tasks, and [`Tiles`](wastenot_tiles::Tiles). It answers the page's questions (`answer`);
//! [`Server`] does so over HTTP, for a browser of this machine alone. The page is in `page/`
//! (TypeScript); its built form is part of this crate, so that building needs no Node.

mod answer;
mod server;
mod tables;

use serde_json::{Value, json};
use wastenot_check::causes::{LostTime, TREE};
use wastenot_check::{Check, Options, check_beside};
use wastenot_model::{CpuId, History, Report, Window};
use wastenot_tiles::{Builder, Tiles};

pub use self::answer::{Answer, TILE_CELLS, TILE_CPUS};
pub use self::server::{Error, Server};

/// What a page shows of one History.
#[derive(Debug)]
pub struct View {
    tiles: Tiles,
    /// Which CPU is at which place: CPUs that share something are beside each other.
    order: Vec<CpuId>,
    head: Value,
}

/// Checks `history`, and makes tiles in the same replay.
pub fn check(history: &History, options: &Options) -> (Check, Tiles) {
    let mut builder = Builder::new(history);
    let options = Options { marks: true, ..options.clone() };
    let found = check_beside(history, &options, &mut builder);
    let tiles = builder.finish(in_vain(&found));
    (found, tiles)
}

/// Why a task waited in vain where none of the waste is charged to it: more tasks waited than CPUs
/// were idle. Causes have numbers from 1 on, in the order of the tree.
const NOT_CHARGED: u8 = u8::MAX;

/// When tasks waited in vain, where, and why.
fn in_vain(found: &Check) -> impl Iterator<Item = (CpuId, Window, u8)> + '_ {
    let causes = found.causes.iter().flat_map(|causes| &causes.stretches);
    let causes = causes.filter(|(_, loss, _)| *loss == LostTime::Waste).map(|(cause, _, it)| {
        let place = TREE.iter().position(|other| other == cause).unwrap_or(TREE.len() - 1);
        (it.cpu, it.window, place as u8 + 1)
    });
    let waited = found.violations.marks.waited.iter();
    causes.chain(waited.map(|it| (it.cpu, it.window, NOT_CHARGED)))
}

impl View {
    /// Of what [`check`] found, with its `report`.
    pub fn new(history: &History, report: &Report, tiles: Tiles) -> View {
        let machine = &history.head.machine;
        let order = machine.socket_order();
        let cpus = order.iter().map(|&id| {
            let cpu = machine.cpu(id);
            json!({
                "cpu": id.0,
                "core": cpu.and_then(|cpu| cpu.core),
                "llc": cpu.and_then(|cpu| cpu.llc),
                "node": cpu.and_then(|cpu| cpu.node),
                "package": cpu.and_then(|cpu| cpu.package),
            })
        });
        let tasks = history.tasks().map(|(id, task)| json!([task.tid, history.task_name(id)]));
        let causes = TREE.iter().map(|cause| json!([cause.label(), cause.about]));
        let window = tiles.window();
        let head = json!({
            // Times are numbers of JavaScript, exact up to 2^53 ns from the begin: 104 days.
            "from": window.from.0.to_string(),
            "span": window.span().0,
            "cpus": cpus.collect::<Vec<_>>(),
            "tasks": tasks.collect::<Vec<_>>(),
            "causes": causes.collect::<Vec<_>>(),
            "tile": { "cells": TILE_CELLS, "cpus": TILE_CPUS },
            "title": report.title,
            "verdict": report.whole_verdict(),
            "tables": tables::tables(report, window.from),
        });
        View { tiles, order, head }
    }
}
