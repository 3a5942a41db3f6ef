//! Every way through a handler. Ways part at a claim, at a pick and at a branch. Which ways there
//! are, and what a statement does on the way, depends on what is known: a situation, ranges of
//! numbers, or terms.

use crate::ir::{Bool, Level, Num, Place, Set, Stmt};

/// A way through a handler, as far as it was gone.
pub trait Way<'p>: Sized {
    /// Does a statement that leads on. `false`: nothing that follows matters.
    fn does(&mut self, stmt: &'p Stmt) -> bool;
    /// The ways on from a claim, which fills `slot` with an idle CPU, or none.
    fn claims(self, slot: usize, within: Option<Level>, near: &'p Place) -> Vec<Self>;
    /// The ways on from a pick, which fills `slot` with the best CPU of a set.
    fn picks(self, slot: usize, best: Best<'p>) -> Vec<Self>;
    /// The ways on from a branch, each with the block that it does.
    fn branches(
        self,
        condition: &'p Bool,
        then: &'p [Stmt],
        otherwise: &'p [Stmt],
    ) -> Vec<(Self, &'p [Stmt])>;
}

/// The CPU of a set for which a number, where the member of the set is at this depth, is greatest;
/// else the one for which it is least.
pub type Best<'p> = (&'p Set, usize, &'p Num, bool);

/// Goes every way through `body`, and gives each to `ends` when it is through.
pub fn follow<'p, W: Way<'p>>(body: &'p [Stmt], begun: W, ends: &mut impl FnMut(W)) {
    goes(vec![body], begun, ends);
}

/// `blocks` are done one after the other, the last first.
fn goes<'p, W: Way<'p>>(mut blocks: Vec<&'p [Stmt]>, mut way: W, ends: &mut impl FnMut(W)) {
    while let Some(block) = blocks.last_mut() {
        let Some((stmt, rest)) = block.split_first() else {
            blocks.pop();
            continue;
        };
        *block = rest;
        let none: &[Stmt] = &[];
        let on = |ways: Vec<W>| ways.into_iter().map(|way| (way, none)).collect();
        let ways: Vec<(W, &[Stmt])> = match stmt {
            Stmt::Claim { slot, within, near, .. } => on(way.claims(*slot, *within, near)),
            Stmt::Pick { slot, set, item, key, greatest } => {
                on(way.picks(*slot, (set, *item, key, *greatest)))
            }
            Stmt::If { condition, then, otherwise } => way.branches(condition, then, otherwise),
            plain => {
                if way.does(plain) {
                    continue;
                }
                break;
            }
        };
        for (way, block) in ways {
            let mut blocks = blocks.clone();
            blocks.push(block);
            goes(blocks, way, ends);
        }
        return;
    }
    ends(way);
}
