//! Every state that can be reached, nearest first.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// What can happen, step by step.
pub(super) trait System {
    /// All there is to know at one instant.
    type State: Copy + Eq + Hash;
    /// Every state that one step leads to.
    fn next(&self, state: &Self::State, to: &mut Vec<Self::State>);
    /// Whether this is what a theorem says cannot be.
    fn broken(&self, state: &Self::State) -> bool;
}

/// What was seen.
#[derive(Debug)]
pub(super) struct Walked<State> {
    /// How many states.
    pub(super) states: usize,
    /// The shortest way to a broken one.
    pub(super) broken: Option<Vec<State>>,
    /// Whether steps can go on for ever.
    pub(super) endless: bool,
    /// Whether all states were seen, or a broken one.
    pub(super) complete: bool,
}

/// Walks until a state is broken, all are seen, or `most` are.
pub(super) fn walk<S: System>(
    system: &S,
    starts: impl IntoIterator<Item = S::State>,
    most: usize,
) -> Walked<S::State> {
    let mut seen = Seen { index: FxHashMap::default(), states: Vec::new(), from: Vec::new() };
    starts.into_iter().for_each(|state| {
        seen.add(state, None);
    });
    let (mut links, mut next, mut at) = (Vec::new(), Vec::new(), 0);
    while at < seen.states.len() {
        let state = seen.states[at];
        let broken = system.broken(&state).then(|| seen.way(at));
        if broken.is_some() || seen.states.len() > most {
            let (states, complete) = (seen.states.len(), broken.is_some());
            return Walked { states, broken, endless: false, complete };
        }
        system.next(&state, &mut next);
        for after in next.drain(..) {
            links.push((at as u32, seen.add(after, Some(at as u32))));
        }
        at += 1;
    }
    let states = seen.states.len();
    Walked { states, broken: None, endless: circles(states, &links), complete: true }
}

struct Seen<State> {
    index: FxHashMap<State, u32>,
    states: Vec<State>,
    /// From which state each was reached first.
    from: Vec<Option<u32>>,
}

impl<State: Copy + Eq + Hash> Seen<State> {
    fn add(&mut self, state: State, from: Option<u32>) -> u32 {
        let new = self.states.len() as u32;
        let at = *self.index.entry(state).or_insert(new);
        if at == new {
            self.states.push(state);
            self.from.push(from);
        }
        at
    }

    fn way(&self, end: usize) -> Vec<State> {
        let mut way = vec![self.states[end]];
        let mut at = end;
        while let Some(from) = self.from[at] {
            at = from as usize;
            way.push(self.states[at]);
        }
        way.reverse();
        way
    }
}

/// Whether some links lead in a circle: those that nothing leads to are taken away, one after the
/// other, until none is left (Kahn 1962).
fn circles(states: usize, links: &[(u32, u32)]) -> bool {
    let mut leading = vec![0_u32; states];
    links.iter().for_each(|&(_, to)| leading[to as usize] += 1);
    let mut free: Vec<u32> = (0..states as u32).filter(|&at| leading[at as usize] == 0).collect();
    let (mut gone, mut begin) = (0, vec![0_usize; states + 1]);
    // Links come in the order of where they begin.
    links.iter().for_each(|&(from, _)| begin[from as usize + 1] += 1);
    (0..states).for_each(|at| begin[at + 1] += begin[at]);
    while let Some(at) = free.pop() {
        gone += 1;
        for &(_, to) in &links[begin[at as usize]..begin[at as usize + 1]] {
            leading[to as usize] -= 1;
            if leading[to as usize] == 0 {
                free.push(to);
            }
        }
    }
    gone < states
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts from 0 to 4, and from there to wherever it is told.
    struct Counter(Option<u8>);

    impl System for Counter {
        type State = u8;
        fn next(&self, state: &u8, to: &mut Vec<u8>) {
            to.extend(if *state < 4 { Some(state + 1) } else { self.0 });
        }
        fn broken(&self, state: &u8) -> bool {
            *state == 7
        }
    }

    #[test]
    fn circles_and_broken_states_are_found() {
        let walked = |back| walk(&Counter(back), [0], 100);
        assert_eq!((walked(None).states, walked(None).endless), (5, false));
        assert_eq!((walked(Some(2)).states, walked(Some(2)).endless), (5, true));
        assert_eq!(walked(Some(7)).broken, Some(vec![0, 1, 2, 3, 4, 7]));
        assert!(!walk(&Counter(None), [0], 2).complete);
    }
}
