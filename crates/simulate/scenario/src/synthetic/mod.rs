//! hwloc's synthetic descriptions: `pack:2 numa:2 l3:1 core:4 pu:2`.
//!
//! Levels run from wide to narrow; each gives a type and how many of it are in one object of the
//! level before. `[numa]` attaches a node to each object of the level before it. Attributes follow
//! in brackets; only `indexes=` of PUs and nodes has an effect here, and `links=` of nodes, which
//! is ours. Else the language is that of the "Synthetic topologies" page of hwloc's documentation
//! (2.9). Where hwloc warns and drops something, this is an error, since a machine other than the
//! one described is of no use.

mod indexes;
mod links;
mod words;

use wastenot_model::{CpuId, Machine, shortened};

use crate::NODE_LIMIT;
use crate::error::Error;
use indexes::Indexes;
use links::Links;
use wastenot_model::machine::draft::{DistanceRows, Draft, Place, TooLarge};
use words::{Attributes, Cursor};

/// The maximum number of levels, and of loops of indexes; lstopo writes about ten.
const LEVELS: usize = 64;

/// Reads a description.
pub(crate) fn read(text: &str) -> Result<Machine, Error> {
    let tower = Tower::parse(text).and_then(Tower::check);
    tower.and_then(|tower| tower.machine(text)).map_err(|fault| match fault {
        Fault::Wrong { at, why } => {
            let at = text.get(..at).map_or(at, |before| before.chars().count());
            Error::Synthetic { text: shortened(text), at, why }
        }
        Fault::TooLarge(unit) => Error::TooLarge { what: shortened(text), unit },
        Fault::Error(error) => error,
    })
}

/// The type of a level's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Package,
    Die,
    Group,
    Node,
    /// A data or unified cache and its depth.
    Cache(u8),
    /// An instruction cache and its depth.
    CodeCache(u8),
    Core,
    Pu,
}

#[derive(Clone, Copy, Debug)]
struct Level<'t> {
    kind: Kind,
    /// The number of objects on the whole machine.
    width: usize,
    indexes: Option<Indexes<'t>>,
    at: usize,
}

/// All levels, and the nodes attached to them.
#[derive(Debug, Default)]
struct Tower<'t> {
    levels: Vec<Level<'t>>,
    /// `hanging[i]` nodes are attached to each object above level i; the machine is above level 0.
    hanging: Vec<usize>,
    hanging_indexes: Option<Indexes<'t>>,
    links: Option<Links<'t>>,
}

enum Fault {
    /// At an offset in bytes.
    Wrong {
        at: usize,
        why: String,
    },
    TooLarge(&'static str),
    Error(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Error(error)
    }
}

fn wrong<T>(at: usize, why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Wrong { at, why: why.into() })
}

impl<'t> Tower<'t> {
    fn parse(text: &'t str) -> Result<Tower<'t>, Fault> {
        let mut tower = Tower { hanging: vec![0], ..Tower::default() };
        let mut cursor = Cursor { text, at: 0 };
        let mut untyped = 0;
        cursor.skip_space();
        cursor.attributes()?;
        while !cursor.rest().is_empty() {
            let at = cursor.at;
            if cursor.eat('[') {
                tower.hang(&mut cursor)?;
                continue;
            }
            let kind = match cursor.word() {
                "" => None,
                word => Some(kind_of(word, at)?),
            };
            if kind.is_some() && !cursor.eat(':') {
                return wrong(cursor.at, "a colon and a number must follow the type");
            }
            untyped += usize::from(kind.is_none());
            let count = cursor.number()?;
            let Attributes { indexes, links } = cursor.attributes()?;
            if let Some(links) = links {
                if kind != Some(Kind::Node) {
                    return wrong(links.at, "only numa can have links");
                }
                tower.links = Some(links);
            }
            let above = tower.levels.last().map_or(1, |level: &Level<'_>| level.width);
            let width = above.checked_mul(count).filter(|&width| width <= CpuId::LIMIT);
            let width = width.ok_or(Fault::TooLarge("CPUs"))?;
            let kind = kind.unwrap_or(Kind::Pu);
            tower.levels.push(Level { kind, width, indexes, at });
            tower.hanging.push(0);
            if tower.levels.len() > LEVELS {
                return wrong(at, "there are too many levels");
            }
        }
        tower.name_untyped(untyped)?;
        Ok(tower)
    }

    /// Reads `numa(...)]`, or `numa:1]`.
    fn hang(&mut self, cursor: &mut Cursor<'t>) -> Result<(), Fault> {
        let at = cursor.at;
        if kind_of(cursor.word(), at)? != Kind::Node {
            return wrong(at, "the brackets after a level may contain only numa");
        }
        if cursor.eat(':') && cursor.number()? != 1 {
            return wrong(at, "write [numa] once for each node");
        }
        let Attributes { indexes, links } = cursor.attributes()?;
        self.hanging_indexes = indexes.or(self.hanging_indexes);
        self.links = links.or(self.links);
        if !cursor.eat(']') {
            return wrong(cursor.at, "the closing ] is missing");
        }
        cursor.skip_space();
        if let Some(count) = self.hanging.last_mut() {
            *count += 1;
        }
        Ok(())
    }

    /// Bare numbers stand for the default levels.
    fn name_untyped(&mut self, untyped: usize) -> Result<(), Fault> {
        use Kind::{Cache, CodeCache, Core, Node, Package, Pu};
        let kinds: &[Kind] = match (untyped, self.levels.len()) {
            (0, _) => return Ok(()),
            // As lstopo writes it: types, then a bare number for the PUs of a core.
            (1, len) if len > 1 && self.levels[len - 1].kind == Pu => return Ok(()),
            (1, 1) => &[Pu],
            (2, 2) => &[Node, Pu],
            (3, 3) => &[Package, Node, Pu],
            (4, 4) => &[Package, Node, Core, Pu],
            (5, 5) => &[Package, Node, Cache(2), Core, Pu],
            (6, 6) => &[Package, Node, Cache(2), Cache(1), Core, Pu],
            (7, 7) => &[Package, Node, Cache(3), Cache(2), Cache(1), Core, Pu],
            (8, 8) => &[Package, Node, Cache(3), Cache(2), Cache(1), CodeCache(1), Core, Pu],
            (n, len) if n == len => {
                return wrong(0, "with more than 8 levels, each level needs a type");
            }
            _ => return wrong(0, "give a type to all levels or to no level"),
        };
        self.levels.iter_mut().zip(kinds).for_each(|(level, &kind)| level.kind = kind);
        Ok(())
    }

    /// Refuses what hwloc refuses.
    fn check(self) -> Result<Tower<'t>, Fault> {
        let Some(last) = self.levels.last() else { return wrong(0, "there is no level") };
        if last.kind != Kind::Pu {
            return wrong(last.at, "the last level must be pu");
        }
        for (index, level) in self.levels.iter().enumerate() {
            let again = self.levels[..index].iter().any(|other| other.kind == level.kind);
            if again && level.kind != Kind::Group {
                return wrong(level.at, "another level has this type already");
            }
            if level.kind == Kind::Node && self.hanging.iter().any(|&count| count > 0) {
                return wrong(
                    level.at,
                    "numa is written both as a level and in brackets; write it in one way only",
                );
            }
        }
        if self.node_count() > NODE_LIMIT { Err(Fault::TooLarge("nodes")) } else { Ok(self) }
    }

    fn level(&self, kind: impl Fn(Kind) -> bool) -> Option<&Level<'t>> {
        self.levels.iter().find(|level| kind(level.kind))
    }

    /// The number of objects above level `index`.
    fn width_above(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(1, |above| self.levels[above].width)
    }

    fn node_count(&self) -> usize {
        let hanging = self.hanging.iter().enumerate();
        let hanging: usize = hanging.map(|(index, &n)| n * self.width_above(index)).sum();
        self.level(|kind| kind == Kind::Node).map_or(hanging, |level| level.width)
    }

    /// The node of the PU at `position`, before `indexes=`; the first, if several are attached
    /// there.
    ///
    /// hwloc numbers the nodes attached to an object after all nodes attached further down.
    fn node_at(&self, position: usize, pus: usize) -> usize {
        if let Some(level) = self.level(|kind| kind == Kind::Node) {
            return position / (pus / level.width);
        }
        let deepest = self.hanging.iter().rposition(|&count| count > 0).unwrap_or(0);
        let pus_in = |index| pus / self.width_above(index);
        let start = position - position % pus_in(deepest);
        (0..=deepest).map(|index| start / pus_in(index) * self.hanging[index]).sum()
    }

    fn machine(&self, text: &str) -> Result<Machine, Fault> {
        let pus = self.levels.last().map_or(0, |level| level.width);
        let pu_indexes = self.levels.last().and_then(|level| level.indexes);
        let cpu_of = self.numbers(pu_indexes, pus)?;
        let node_indexes = match self.level(|kind| kind == Kind::Node) {
            Some(level) => level.indexes,
            None => self.hanging_indexes,
        };
        let node_of = self.numbers(node_indexes, self.node_count().max(1))?;
        let depth = |kind| if let Kind::Cache(depth) = kind { depth } else { 0 };
        let llc_depth = self.levels.iter().map(|level| depth(level.kind)).max().unwrap_or(0);
        let within = |kind: Kind, position: usize| {
            self.level(|other| other == kind).map(|level| position / (pus / level.width))
        };
        let mut draft = Draft::default();
        for (position, &cpu) in cpu_of.iter().enumerate() {
            let place = Place {
                core: within(Kind::Core, position),
                llc: within(Kind::Cache(llc_depth), position),
                package: within(Kind::Package, position),
                node: Some(node_of[self.node_at(position, pus)]),
                ..Place::default()
            };
            let placed = draft.place(cpu, place);
            if !placed.map_err(|TooLarge(unit)| Fault::TooLarge(unit))? {
                let at = pu_indexes.map_or(0, |indexes| indexes.at);
                return wrong(at, format!("CPU {cpu} is used twice"));
            }
        }
        let mut machine = draft.finish(&DistanceRows::new());
        machine.name = text.into();
        if let Some(links) = self.links {
            links.connect(&mut machine, self.node_count())?;
        }
        Ok(machine)
    }
}

/// The type that a word names: in any case, possibly shortened to two letters or more.
fn kind_of(word: &str, at: usize) -> Result<Kind, Fault> {
    let word = word.to_ascii_lowercase();
    if let Some(rest) = word.strip_prefix('l') {
        let depth = rest.chars().next().and_then(|depth| depth.to_digit(10)).unwrap_or(0) as u8;
        let suffix = rest.get(1..).unwrap_or("");
        let code = suffix.starts_with('i');
        let cache = suffix.strip_prefix(['i', 'd', 'u']).unwrap_or(suffix);
        if (1..=5).contains(&depth) && "cache".starts_with(cache) {
            return Ok(if code { Kind::CodeCache(depth) } else { Kind::Cache(depth) });
        }
    }
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() >= 2 && "group".starts_with(stem) {
        return Ok(Kind::Group);
    }
    let names = [
        ("package", Kind::Package),
        ("socket", Kind::Package),
        ("numanode", Kind::Node),
        ("node", Kind::Node),
        ("die", Kind::Die),
        ("core", Kind::Core),
        ("pu", Kind::Pu),
    ];
    let named = names.iter().find(|(name, _)| word.len() >= 2 && name.starts_with(&word));
    match named {
        Some((_, kind)) => Ok(*kind),
        None => wrong(
            at,
            format!(
                "`{}` is not a type; the types are pack numa die group l3 core pu",
                shortened(&word)
            ),
        ),
    }
}
