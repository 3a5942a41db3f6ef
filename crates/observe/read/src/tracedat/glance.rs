//! A glance at a trace.dat: the pages of short stretches, spread over its time.
//!
//! The stamp of a page stands at its begin, so that pages of a time are found without reading those
//! before them. All CPUs have the same stretches. A CPU of which a page, or a chunk of packed ones,
//! is longer than a stretch has more of its time.

use std::collections::HashMap;

use rayon::prelude::*;

use super::codec::{Codec, believable};
use super::pages::{Pages, Stretch, chunk_head, floor};
use crate::ftrace::Order;
use crate::ftrace::format::PageLayout;

/// Stretches, unless fewer fit: one for each column of a screen.
const STRETCHES: usize = 1024;
/// Fewer do not show how a recording went.
const FEW: usize = 8;
/// A glance at more than this part of a trace is not worth having.
const PART: usize = 4;

/// The CPUs of a trace, with how many events may come from each.
type Cpus<'a> = [(u16, Pages<'a>, usize)];

/// Restricts the pages of each CPU to stretches that have about `room` bytes together, unpacked.
/// `None` if that is not much less than all.
pub(super) fn choose<O: Order>(cpus: &mut Cpus<'_>, layout: PageLayout, room: usize) -> Option<()> {
    let mut places: Vec<Places> =
        cpus.iter().map(|(_, pages, _)| Places::of(pages, layout)).collect();
    let all = places.iter().fold(0usize, |all, it| all.saturating_add(it.unpacked));
    // Each stretch has a page or a chunk of each CPU at least.
    let least: usize = places.iter().map(|it| it.unpacked / it.starts.len().max(1)).sum();
    let count = (room / least.max(1)).clamp(FEW, STRETCHES);
    if all / PART < room.max(count * least) {
        return None;
    }
    let ends = places.par_iter_mut().map(Places::ends::<O>).collect::<Vec<_>>();
    let (from, to) = ends.into_iter().flatten().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    let span = to.checked_sub(from)?;
    let length = (span as f64 * (room as f64 / all as f64) / count as f64) as u64;
    // The first begins with the trace, and the last ends with it.
    let begin = |n: usize| from + ((span - length) as f64 * n as f64 / (count - 1) as f64) as u64;
    let stretches: Vec<(u64, u64)> =
        (0..count).map(begin).map(|from| (from, from + length)).collect();
    let chosen = places.par_iter_mut().map(|it| it.within::<O>(&stretches)).collect::<Vec<_>>();
    for ((_, pages, _), chosen) in cpus.iter_mut().zip(chosen) {
        pages.only(chosen);
    }
    Some(())
}

/// Where the pages of a CPU are, or its chunks of them, and when each begins.
struct Places<'a> {
    all: Stretch<'a>,
    codec: Codec,
    page_size: usize,
    layout: PageLayout,
    /// Where each begins in what is left.
    starts: Vec<usize>,
    /// Bytes of all pages.
    unpacked: usize,
    /// The stamps that were looked at.
    known: HashMap<usize, Option<u64>>,
}

impl<'a> Places<'a> {
    fn of(pages: &Pages<'a>, layout: PageLayout) -> Places<'a> {
        let (all, codec, page_size) = (pages.left(), pages.codec(), pages.page_size());
        let bytes = all.bytes.rest().len();
        let (mut starts, mut unpacked) = (Vec::new(), bytes);
        if codec == Codec::None {
            starts.extend((0..bytes).step_by(page_size));
        } else {
            let mut ahead = all.bytes;
            unpacked = pages.claims().total;
            for _ in 0..all.chunks {
                let at = ahead.at() - all.bytes.at();
                if chunk_head(&mut ahead).is_none() {
                    break;
                }
                starts.push(at);
            }
        }
        Places { all, codec, page_size, layout, starts, unpacked, known: HashMap::new() }
    }

    /// The first and the last stamp; none where they are damaged.
    fn ends<O: Order>(&mut self) -> Option<(u64, u64)> {
        let last = self.starts.len().checked_sub(1)?;
        Some((self.stamp::<O>(0)?, self.stamp::<O>(last)?))
    }

    /// The stamp with which a page or a chunk begins; none if it is damaged.
    fn stamp<O: Order>(&mut self, n: usize) -> Option<u64> {
        if let Some(known) = self.known.get(&n) {
            return *known;
        }
        let stamp = self.read::<O>(n);
        self.known.insert(n, stamp);
        stamp
    }

    fn read<O: Order>(&self, n: usize) -> Option<u64> {
        let mut at = self.all.bytes;
        at.take(*self.starts.get(n)?)?;
        let stamp = |page: &[u8]| {
            let bytes = page.get(self.layout.timestamp..)?.first_chunk()?;
            Some(O::u64(*bytes))
        };
        if self.codec == Codec::None {
            return stamp(at.rest());
        }
        let (packed, size) = chunk_head(&mut at)?;
        if !believable(size, packed.len(), floor(self.page_size)) {
            return None;
        }
        let mut chunk = Vec::new();
        self.codec.unpack(packed, size, &mut chunk)?;
        stamp(&chunk)
    }

    /// How many begin before a time. The stamps are in order; if not, it is some number. What is
    /// damaged counts as early.
    fn before<O: Order>(&mut self, time: u64) -> usize {
        let (mut least, mut most) = (0, self.starts.len());
        while least < most {
            let middle = least.midpoint(most);
            if self.stamp::<O>(middle).is_none_or(|stamp| stamp < time) {
                least = middle + 1;
            } else {
                most = middle;
            }
        }
        least
    }

    /// The parts that hold such stretches of time, in order and without overlap.
    fn within<O: Order>(&mut self, stretches: &[(u64, u64)]) -> Vec<Stretch<'a>> {
        let mut parts: Vec<(usize, usize)> = Vec::new();
        for (from, to) in stretches {
            // What begins before the stretch may reach into it.
            let first = self.before::<O>(*from).saturating_sub(1);
            let last = self.before::<O>(to.saturating_add(1)).max(first + 1);
            let last = last.min(self.starts.len());
            match parts.last_mut() {
                Some(part) if part.1 >= first => part.1 = part.1.max(last),
                _ if first < last => parts.push((first, last)),
                _ => {}
            }
        }
        parts.into_iter().filter_map(|(first, last)| self.part(first, last)).collect()
    }

    fn part(&self, first: usize, last: usize) -> Option<Stretch<'a>> {
        let begin = *self.starts.get(first)?;
        let mut bytes = self.all.bytes;
        bytes.take(begin)?;
        let end = self.starts.get(last).copied().unwrap_or(self.all.bytes.rest().len());
        let chunks = if self.codec == Codec::None { 0 } else { (last - first) as u32 };
        Some(Stretch { bytes: bytes.cut(end - begin)?, chunks })
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::{Event, History};

    use super::super::sample::{Buffer, PLAIN, Page, Record, Shape};
    use crate::ftrace::Endian;
    use crate::{Options, glance, read};

    const PAGES: u64 = 200;

    /// Two CPUs that switch once a page, at stamps that a function gives.
    fn file(shape: Shape, stamp: impl Fn(u64) -> u64) -> Vec<u8> {
        let page = |n: u64| Page {
            stamp: stamp(n),
            records: vec![Record::Data(0, shape.switch(n as i32, 0, n as i32 + 1))],
            missed: None,
        };
        let cpus = vec![(0..PAGES).map(page).collect(), (0..PAGES).map(page).collect()];
        shape.file(&[Buffer { name: "", clock: "mono", cpus }], &[])
    }

    fn shapes() -> impl Iterator<Item = Shape> {
        let packers = [(6, "none"), (7, "none"), (7, "zlib"), (7, "zstd")];
        packers.into_iter().flat_map(|(version, packer)| {
            [Endian::Little, Endian::Big].map(|endian| Shape {
                version,
                endian,
                long: 8,
                page_size: 4096,
                packer,
            })
        })
    }

    /// CPU and time of each switch.
    fn switches(history: &History) -> Vec<(u16, u64)> {
        let all = history.entries().filter(|it| matches!(it.event, Event::Switch { .. }));
        all.map(|it| (it.cpu.0, it.time.0)).collect()
    }

    #[test]
    fn stretches_are_spread_over_the_time_and_all_cpus_have_the_same() {
        for shape in shapes() {
            let bytes = file(shape, |n| 1000 * (n + 1));
            let part = glance(&bytes, &Options::default(), 40 * 4096).expect("a glance");
            let seen = switches(&part);
            assert!((20..80).contains(&seen.len()), "{shape:?}: {}", seen.len());
            let of = |cpu: u16| seen.iter().filter(move |it| it.0 == cpu).map(|it| it.1);
            assert!(of(0).eq(of(1)), "{shape:?}: {seen:?}");
            assert_eq!((of(0).min(), of(0).max()), (Some(1000), Some(1000 * PAGES)));
            // Of each eighth of the time there is some.
            let eighths: std::collections::BTreeSet<u64> =
                of(0).map(|time| time * 8 / (1000 * PAGES + 1)).collect();
            assert_eq!(eighths.len(), 8, "{shape:?}");
            // Each gap is told, on each CPU.
            let steps = of(0).zip(of(0).skip(1)).filter(|(a, b)| b - a > 1000).count();
            let lost = part.entries().filter(|it| matches!(it.event, Event::Lost { .. })).count();
            assert_eq!(lost, 2 * steps, "{shape:?}");
        }
    }

    #[test]
    fn where_stamps_are_in_no_order_there_are_some_of_the_events() {
        for (n, shape) in shapes().enumerate() {
            let mut bytes = file(shape, |n| (n * 0x9e37_79b9) % 100_000);
            if n % 2 == 0 {
                bytes.truncate(bytes.len() * 3 / 4);
            }
            let whole = switches(&read(&bytes, &Options::default()).expect("a trace"));
            let part = glance(&bytes, &Options::default(), 20 * 4096).map(|it| switches(&it));
            let part = part.unwrap_or_default();
            assert!(part.len() < whole.len(), "{shape:?}");
        }
    }

    #[test]
    fn a_damaged_begin_of_one_cpu_does_not_move_the_stretches() {
        for shape in shapes().filter(|shape| shape.packer != "none") {
            let mut bytes = file(shape, |n| 1_000_000 + 1000 * n);
            let whole = read(&bytes, &Options::default()).expect("a trace").window();
            // The first chunk of the first CPU: its packed bytes begin alike in each.
            let chunk = [&b"\x28\xb5\x2f\xfd"[..], b"\x78\x01"];
            let magic = if shape.packer == "zstd" { chunk[0] } else { chunk[1] };
            let places: Vec<usize> = (0..bytes.len() - magic.len())
                .filter(|at| bytes[*at..].starts_with(magic))
                .collect();
            let first = places[places.len() - 2 * (PAGES as usize / 2)];
            bytes[first + magic.len()..first + magic.len() + 8].fill(0xff);
            let part = glance(&bytes, &Options::default(), 40 * 4096).expect("a glance");
            assert!(part.window().span().0 * 10 > whole.span().0 * 9, "{shape:?}");
            assert!(switches(&part).len() > 10, "{shape:?}");
        }
    }

    #[test]
    fn what_is_short_or_no_trace_has_none() {
        let bytes = file(PLAIN, |n| n);
        assert!(glance(&bytes, &Options::default(), 200 * 4096).is_none());
        assert!(glance(&bytes[..9], &Options::default(), 0).is_none());
        assert!(glance(b"", &Options::default(), 0).is_none());
        // No room still shows a few stretches, and all stamps may be the same.
        let bytes = file(PLAIN, |_| 7);
        assert!(glance(&bytes, &Options::default(), 0).is_some());
    }
}
