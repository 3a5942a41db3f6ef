//! `links=`: which nodes are one hop apart, as in `numa:4(links=0-1,1-2,2-3)`. hwloc has no such
//! attribute: its synthetic machines have no interconnect.

use wastenot_model::machine::Hops;
use wastenot_model::{Machine, shortened};

use super::{Fault, wrong};

/// The value of a `links=`, not yet parsed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

/// The distance of a node to itself, and what a hop adds: as on the Opterons of the literature.
const LOCAL: u32 = 10;
const HOP: u32 = 6;

impl Links<'_> {
    /// Connects the nodes of `machine`; there are `nodes`.
    pub(super) fn connect(self, machine: &mut Machine, nodes: usize) -> Result<(), Fault> {
        let mut links = vec![Vec::new(); nodes];
        for pair in self.text.split(',') {
            let ends = pair
                .split_once('-')
                .and_then(|(a, b)| Some((a.parse::<u16>().ok()?, b.parse::<u16>().ok()?)));
            let is_link = |(a, b): &(u16, u16)| a != b && usize::from(*a.max(b)) < nodes;
            let Some((a, b)) = ends.filter(is_link) else {
                let what =
                    format!("`{}` is not a link between two of the {nodes} nodes", shortened(pair));
                return wrong(self.at, what);
            };
            for (from, to) in [(a, b), (b, a)] {
                let row: &mut Vec<u32> = &mut links[usize::from(from)];
                if let Err(place) = row.binary_search(&to.into()) {
                    row.insert(place, to.into());
                }
            }
        }
        machine.links = Some(links);
        let hops = Hops::of(machine);
        let distance = |a, b| Some(LOCAL + HOP * hops.between(a, b)?);
        let rows = (0..nodes).map(|a| (0..nodes).map(|b| distance(a, b)).collect());
        match rows.collect::<Option<Vec<Vec<u32>>>>() {
            Some(distances) => machine.distances = Some(distances),
            None => return wrong(self.at, "the links do not connect all nodes"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::machine;
    use wastenot_model::machine::Hops;

    #[test]
    fn nodes_are_as_far_apart_as_their_links_say() {
        let line = machine("numa:4(links=0-1,1-2,3-2,1-0) core:2 pu:1").expect("a machine");
        assert_eq!((line.len(), line.node_count()), (8, 4));
        let hops = Hops::of(&line);
        assert_eq!([0, 1, 2, 3].map(|to| hops.between(0, to)), [0, 1, 2, 3].map(Some));
        assert_eq!(line.node_distance(0, 3), Some(28));
        assert_eq!(line.links, machine("numa:4(links=0-1,1-2,2-3) pu:1").expect("one").links);
        let beside = machine("pack:2 [numa(links=0-1)] core:2 pu:1").expect("a machine");
        assert_eq!(Hops::of(&beside).between(0, 1), Some(1));
    }

    #[test]
    fn links_that_make_no_machine_are_refused() {
        for (text, why) in [
            ("numa:2(links=0-2) pu:1", "`0-2` is not a link between two of the 2 nodes"),
            ("numa:2(links=0-0) pu:1", "`0-0` is not a link"),
            ("numa:2(links=) pu:1", "`` is not a link"),
            ("numa:3(links=0-1) pu:1", "the links do not connect all nodes"),
            ("core:2(links=0-1) pu:1", "only numa can have links"),
        ] {
            let error = machine(text).expect_err(text).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
