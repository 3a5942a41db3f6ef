//! Finds the attr of a sample.

use std::collections::HashMap;

use super::attr::{Attr, Fields, Layout};
use super::bytes::Bytes;

/// How to find the attr of a sample; attrs that are not read are not found.
pub(super) enum Finder {
    /// There is only one.
    One(Option<Fields>),
    /// By the id at this place of a sample.
    ById(usize, Ids),
    /// By the tracepoint's own id: files of old perf versions, all of whose attrs have one layout.
    ByType(Layout, HashMap<u16, Fields>),
}

/// The attr of each id. The kernel counts ids up, so a table is mostly dense.
pub(super) enum Ids {
    Dense(u64, Vec<Option<Fields>>),
    Sparse(HashMap<u64, Fields>),
}

impl Finder {
    /// `read` has the fields of the `attrs` that are read.
    pub(super) fn new(attrs: &[Attr], layouts: &[Layout], read: &[Option<Fields>]) -> Finder {
        if attrs.len() == 1 {
            return Finder::One(read.first().copied().flatten());
        }
        let first = layouts.first().copied().unwrap_or_default();
        let pairs = || attrs.iter().zip(read).filter_map(|(attr, read)| Some((attr, (*read)?)));
        match first.id {
            Some(at) if attrs.iter().any(|attr| !attr.ids.is_empty()) => {
                let ids =
                    pairs().flat_map(|(attr, read)| attr.ids.iter().map(move |&id| (id, read)));
                Finder::ById(at, Ids::new(&ids.collect::<Vec<_>>()))
            }
            _ => {
                let types = pairs().map(|(attr, read)| (attr.config as u16, read));
                Finder::ByType(first, types.collect())
            }
        }
    }

    #[inline(always)]
    pub(super) fn find(&self, sample: Bytes<'_>) -> Option<Fields> {
        match self {
            Finder::ById(at, ids) => ids.get(sample.u64(*at)?),
            Finder::One(fields) => *fields,
            Finder::ByType(layout, types) => {
                let raw = Bytes { data: layout.raw(sample)?, endian: sample.endian };
                types.get(&raw.u16(0)?).copied()
            }
        }
    }
}

impl Ids {
    fn new(all: &[(u64, Fields)]) -> Ids {
        let ids = || all.iter().map(|&(id, _)| id);
        let (low, high) = (ids().min().unwrap_or(0), ids().max().unwrap_or(0));
        let room = 4 * all.len() as u64 + 1024;
        if high - low >= room {
            return Ids::Sparse(all.iter().copied().collect());
        }
        let mut dense = vec![None; (high - low + 1) as usize];
        all.iter().for_each(|&(id, fields)| dense[(id - low) as usize] = Some(fields));
        Ids::Dense(low, dense)
    }

    #[inline(always)]
    fn get(&self, id: u64) -> Option<Fields> {
        match self {
            Ids::Dense(low, dense) => *dense.get(usize::try_from(id.wrapping_sub(*low)).ok()?)?,
            Ids::Sparse(map) => map.get(&id).copied(),
        }
    }
}
