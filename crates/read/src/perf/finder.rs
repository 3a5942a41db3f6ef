//! Which attr a sample is of.

use std::collections::HashMap;

use super::attr::{Attr, Layout};
use super::bytes::Bytes;

/// How to tell which attr a sample is of; those that are not read are not found.
pub(super) enum Finder {
    /// There is only one.
    One,
    /// By the id at this place of a sample.
    ById(usize, Ids),
    /// By the tracepoint's own id: files of old perfs, all of whose attrs have one layout.
    ByType(Layout, Vec<u16>),
}

/// Which attr an id belongs to. The kernel counts ids up, so a table is mostly dense.
pub(super) enum Ids {
    Dense(u64, Vec<u16>),
    Sparse(HashMap<u64, u16>),
}

const NONE: u16 = u16::MAX;

impl Finder {
    /// `read` tells of each of the attrs whether it is read.
    pub(super) fn new(attrs: &[Attr], layouts: &[Layout], read: &[bool]) -> Finder {
        if attrs.len() == 1 {
            return Finder::One;
        }
        let attrs: Vec<(u16, &Attr)> = (0..NONE).zip(attrs).collect();
        let read = |(index, _): &&(u16, &Attr)| read[usize::from(*index)];
        let place = layouts.first().and_then(|layout| layout.id);
        if let Some(at) = place
            && attrs.iter().any(|(_, attr)| !attr.ids.is_empty())
        {
            return Finder::ById(at, Ids::new(attrs.iter().filter(read)));
        }
        let mut types = Vec::new();
        for (index, attr) in attrs.iter().filter(read) {
            let id = usize::from(attr.config as u16);
            types.resize(types.len().max(id + 1), NONE);
            types[id] = *index;
        }
        Finder::ByType(layouts.first().copied().unwrap_or_default(), types)
    }

    #[inline(always)]
    pub(super) fn find(&self, sample: Bytes<'_>) -> Option<u16> {
        let attr = match self {
            Finder::ById(at, ids) => ids.get(sample.u64(*at)?),
            Finder::One => 0,
            Finder::ByType(layout, types) => {
                let raw = Bytes { data: layout.raw(sample)?, endian: sample.endian };
                *types.get(usize::from(raw.u16(0)?))?
            }
        };
        (attr != NONE).then_some(attr)
    }
}

impl Ids {
    fn new<'a>(attrs: impl Iterator<Item = &'a (u16, &'a Attr)> + Clone) -> Ids {
        let all =
            || attrs.clone().flat_map(|(index, attr)| attr.ids.iter().map(|&id| (id, *index)));
        let (low, high) =
            all().fold((u64::MAX, 0), |(low, high), (id, _)| (id.min(low), id.max(high)));
        let room = 4 * all().count() as u64 + 1024;
        if low > high || high - low >= room {
            return Ids::Sparse(all().collect());
        }
        let mut dense = vec![NONE; (high - low + 1) as usize];
        all().for_each(|(id, index)| dense[(id - low) as usize] = index);
        Ids::Dense(low, dense)
    }

    #[inline(always)]
    fn get(&self, id: u64) -> u16 {
        match self {
            Ids::Dense(low, dense) => {
                let index = usize::try_from(id.wrapping_sub(*low)).ok();
                index.and_then(|index| dense.get(index)).copied().unwrap_or(NONE)
            }
            Ids::Sparse(map) => map.get(&id).copied().unwrap_or(NONE),
        }
    }
}
