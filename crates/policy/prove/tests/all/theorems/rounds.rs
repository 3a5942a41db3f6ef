//! Theorem 1: rounds, while nothing happens but attempts and moves.

use wastenot_prove::explore::Place;

use super::attempt::{Attempts, Next, Pc};
use super::scenes::{CPUS, Cpus, Scene, members};
use super::walk::System;

/// Idle CPUs at their attempts, each round as short as it can be: the next one begins at once.
pub(super) struct Rounds<'a, 's, 'w, 'p> {
    pub(super) attempts: &'a Attempts<'s, 'w, 'p>,
    /// What is counted.
    pub(super) counts: Counts,
    /// Whether a move of periodic balancing makes up for a round.
    pub(super) moves_count: bool,
}

/// What the theorem says of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    /// No round that begins with a violation is without a success. A round begins anew with each.
    Successes,
    /// After so many rounds as CPUs were idle, or tasks waited, there is no violation.
    Rounds,
}

/// One instant of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Round {
    pub(super) scene: Scene,
    pub(super) at: [Option<Pc>; CPUS],
    /// Whose attempt began in this round.
    begun: Cpus,
    /// Who completed one that did.
    done: Cpus,
    /// Rounds that may still pass.
    left: u8,
    /// Moves that are still looked at, where they are counted.
    moves: u8,
}

/// So many moves are looked at where each is good for a round.
const MOVES: u8 = 2;

impl Rounds<'_, '_, '_, '_> {
    /// How it begins.
    pub(super) fn starts(&self, scene: Scene) -> Round {
        let scenes = self.attempts.scenes;
        let situation = scenes.situation(scene);
        let waits = |place| matches!(place, Place::Waits { .. });
        let waiting = situation.tasks.iter().filter(|task| waits(task.place)).count();
        let left = match self.counts {
            Counts::Successes => 1,
            Counts::Rounds => waiting.min(scenes.idle(scene).count_ones() as usize) as u8,
        };
        Round { scene, at: [None; CPUS], begun: 0, done: 0, left, moves: MOVES }
    }

    fn step(&self, round: &Round, cpu: usize, next: Next, to: &mut Vec<Round>) {
        let mut after = *round;
        let me = 1 << cpu;
        after.at[cpu] = None;
        match next {
            Next::On(pc) => after.at[cpu] = Some(pc),
            Next::Fails => {
                after.done |= after.begun & me;
                after.begun &= !me;
            }
            Next::Takes(left) => {
                after.scene = left.after;
                after.begun &= !me;
                if self.counts == Counts::Successes {
                    (after.begun, after.done) = (0, 0);
                }
            }
        }
        self.ends(&mut after);
        to.push(after);
    }

    /// A CPU that is still idle was idle throughout: no step makes a CPU idle.
    fn ends(&self, round: &mut Round) {
        let idle = self.attempts.scenes.idle(round.scene);
        if idle & !round.done == 0 && round.left > 0 {
            round.left -= 1;
            (round.begun, round.done) = (0, 0);
        }
    }
}

impl System for Rounds<'_, '_, '_, '_> {
    type State = Round;

    fn next(&self, round: &Round, to: &mut Vec<Round>) {
        let scenes = self.attempts.scenes;
        if !scenes.violated(round.scene) {
            return;
        }
        let mut ways = Vec::new();
        for cpu in members(scenes.idle(round.scene)) {
            match round.at[cpu] {
                Some(pc) => {
                    self.attempts.goes_on(round.scene, cpu, pc, &mut ways);
                    ways.drain(..).for_each(|next| self.step(round, cpu, next, to));
                }
                None => {
                    self.attempts.begins(round.scene, cpu, &mut ways);
                    let begun = Round { begun: round.begun | 1 << cpu, ..*round };
                    ways.drain(..).for_each(|next| self.step(&begun, cpu, next, to));
                }
            }
        }
        for moved in scenes.moves(round.scene).iter() {
            let mut after = Round { scene: moved.after, ..*round };
            match (self.moves_count, self.counts) {
                (false, _) => {}
                (true, Counts::Successes) => (after.begun, after.done) = (0, 0),
                (true, Counts::Rounds) if round.moves == 0 => continue,
                (true, Counts::Rounds) => {
                    (after.left, after.moves) = (round.left + 1, round.moves - 1);
                }
            }
            to.push(after);
        }
    }

    fn broken(&self, round: &Round) -> bool {
        let scenes = self.attempts.scenes;
        round.left == 0 && scenes.violated(round.scene) || scenes.trespassed(round.scene)
    }
}
