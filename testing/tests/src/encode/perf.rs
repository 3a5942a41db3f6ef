//! perf.data, as a file and as a pipe, as `perf.data-file-format.txt` describes it.

use std::io::Write;

use wastenot_model::History;

use super::Bytes;
use super::Tamper;
use super::tracedat::{formats, headers, magic};
use super::tracepoint::{Layout, POINTS, Record, What, records};

/// How a perf.data is written.
#[derive(Clone, Copy, Debug)]
pub struct Perf {
    /// The kernel's layout of tracepoints.
    pub layout: Layout,
    /// To a pipe: the parts that would be tables are records.
    pub pipe: bool,
    /// Records of samples within compressed records.
    pub zstd: Zstd,
    /// How many samples there are between two marks of a round.
    pub round: usize,
    /// Damage to pieces.
    pub tamper: Tamper,
}

/// The kind of compressed records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zstd {
    /// None.
    Not,
    /// `PERF_RECORD_COMPRESSED`.
    First,
    /// `PERF_RECORD_COMPRESSED2`, which states how many of its bytes count.
    Second,
}

/// IDENTIFIER, IP, TID, TIME, CPU, PERIOD, RAW: the fields that `perf sched record` requests.
const SAMPLE_TYPE: u64 = 0x10587;
const ATTR: usize = 128;
const TRACING_DATA: usize = 1;

/// A whole file.
pub fn perf_data(history: &History, how: &Perf) -> Vec<u8> {
    let file = File { history, how };
    if how.pipe { file.pipe() } else { file.file() }
}

struct File<'a> {
    history: &'a History,
    how: &'a Perf,
}

impl File<'_> {
    fn bytes(&self) -> Bytes {
        Bytes::new(self.how.layout.big)
    }

    fn magic(&self) -> Bytes {
        let mut out = self.bytes();
        out.u64(u64::from_le_bytes(*b"PERFILE2"));
        out
    }

    fn file(&self) -> Vec<u8> {
        let mut out = self.magic();
        out.u64(104);
        out.u64(ATTR as u64 + 16);
        let sections = out.len();
        out.data.resize(104, 0);
        let ids = out.len();
        (0..POINTS.len()).for_each(|point| out.u64(id(point)));
        let attrs = out.len();
        for point in 0..POINTS.len() {
            let attr = self.attr(point);
            out.raw(&attr);
            out.u64((ids + 8 * point) as u64);
            out.u64(8);
        }
        let data = out.len();
        out.raw(&self.data());
        let end = out.len();
        for (place, value) in [attrs, data - attrs, data, end - data].into_iter().enumerate() {
            out.set(sections + 8 * place, value as u64, 8);
        }
        let features = self.features();
        let mut at = end + 16 * features.len();
        let mut bits = 0;
        for (number, body) in &features {
            bits |= 1 << number;
            out.u64(at as u64);
            out.u64(body.len() as u64);
            at += body.len();
        }
        out.set(72, bits, 8);
        features.iter().for_each(|(_, body)| out.raw(body));
        out.data
    }

    fn pipe(&self) -> Vec<u8> {
        let mut out = self.magic();
        out.u64(16);
        for point in 0..POINTS.len() {
            let mut body = self.attr(point);
            let mut ids = self.bytes();
            ids.u64(id(point));
            body.extend(ids.data);
            self.record(&mut out, 64, 0, &body);
        }
        for (number, body) in self.features() {
            if number == TRACING_DATA {
                let mut size = self.bytes();
                size.u32(body.len().next_multiple_of(8));
                size.align(8);
                // The following bytes are not part of the record.
                self.record(&mut out, 66, 0, &size.data[..4]);
                out.raw(&body);
                out.data.resize(out.len() + body.len().next_multiple_of(8) - body.len(), 0);
            } else {
                let mut feature = self.bytes();
                feature.u64(number as u64);
                feature.raw(&body);
                self.record(&mut out, 80, 0, &feature.data);
            }
        }
        out.raw(&self.data());
        out.data
    }

    /// A record of this kind.
    fn record(&self, out: &mut Bytes, kind: usize, misc: usize, body: &[u8]) {
        out.u32(kind);
        out.u16(misc);
        // A damaged body may be longer than a record can be.
        let body = &body[..body.len().min(65_528)];
        out.u16(8 + body.len());
        out.raw(body);
    }

    fn attr(&self, point: usize) -> Vec<u8> {
        let mut attr = self.bytes();
        attr.u32(2); // a tracepoint
        attr.u32(ATTR);
        attr.u64(self.how.layout.id(point) as u64);
        attr.u64(1); // every event is a sample
        attr.u64(SAMPLE_TYPE);
        attr.u64(4); // counters are read with their ids
        // disabled, inherit, sample_id_all
        let flags: u64 = 1 | 1 << 1 | 1 << 18;
        attr.u64(if self.how.layout.big { flags.reverse_bits() } else { flags });
        attr.data.resize(ATTR, 0);
        attr.data
    }

    /// Feature sections by number.
    fn features(&self) -> Vec<(usize, Vec<u8>)> {
        let mut features = self.whole_features();
        for (number, body) in &mut features {
            self.how.tamper.piece(*number, body);
        }
        features
    }

    fn whole_features(&self) -> Vec<(usize, Vec<u8>)> {
        let layout = &self.how.layout;
        let mut tracing = self.bytes();
        magic(&mut tracing, "0.6", layout, 4096);
        headers(&mut tracing, layout, 4096);
        tracing.u32(0); // ftrace's own events
        formats(&mut tracing, layout, |_| true);
        tracing.u32(0); // kallsyms
        tracing.u32(0); // printk formats
        tracing.u64(0); // saved command lines
        let mut cpus = self.bytes();
        cpus.u32(self.history.cpu_count());
        cpus.u32(self.history.cpu_count());
        let features =
            vec![(TRACING_DATA, tracing.data), (4, self.string("6.12.0")), (7, cpus.data)];
        match self.how.zstd {
            Zstd::Not => features,
            _ => [features, vec![(27, self.compressed())]].concat(),
        }
    }

    fn compressed(&self) -> Vec<u8> {
        let mut body = self.bytes();
        // version, type (zstd), level, ratio, size of the mapping
        [1, 1, 1, 3, 528_384].into_iter().for_each(|number| body.u32(number));
        body.data
    }

    fn string(&self, text: &str) -> Vec<u8> {
        let mut body = self.bytes();
        let size = (text.len() + 1).next_multiple_of(64);
        body.u32(size);
        body.padded(text, size);
        body.data
    }

    /// Names first, then samples: in each round those of one CPU after those of another.
    fn data(&self) -> Vec<u8> {
        let mut out = self.bytes();
        for (task, known) in self.history.tasks() {
            let mut body = self.bytes();
            body.u32(known.tid as u32 as usize);
            body.u32(known.tid as u32 as usize);
            let name = self.history.task_name(task);
            body.padded(&name, (name.len() + 1).next_multiple_of(8));
            self.trailer(&mut body, known.tid, 0, 0);
            self.record(&mut out, 3, 0, &body.data);
        }
        let records = records(self.history);
        let mut packer = Packer::new(self.how.zstd);
        for (number, round) in records.chunks(self.how.round.max(1)).enumerate() {
            let mut batch = self.bytes();
            for cpu in 0..self.history.cpu_count() as u16 {
                for record in round.iter().filter(|record| record.cpu == cpu) {
                    self.sample(&mut batch, record);
                }
            }
            self.how.tamper.piece(1000 + number, &mut batch.data);
            packer.pack(self, &batch.data, &mut out);
            self.record(&mut out, 68, 0, &[]);
        }
        out.data
    }

    fn sample(&self, out: &mut Bytes, record: &Record) {
        let mut body = self.bytes();
        match &record.what {
            What::Lost(count) => {
                body.u64(id(0));
                body.u64(u64::from(count.unwrap_or(0)));
                self.trailer(&mut body, record.current.0, record.time, record.cpu);
                self.record(out, 2, 0, &body.data);
            }
            What::Hit(point, _) => {
                let mut payload = self.how.layout.payload(record).expect("not a loss");
                payload.resize((payload.len() + 4).next_multiple_of(8) - 4, 0);
                body.u64(id(*point));
                body.u64(0xffff_ffff_8100_0000); // instruction pointer
                body.int(record.current.0 as u64, 4);
                body.int(record.current.0 as u64, 4);
                body.u64(record.time);
                body.u32(usize::from(record.cpu));
                body.u32(0);
                body.u64(1); // period
                body.u32(payload.len());
                body.raw(&payload);
                self.record(out, 9, 1, &body.data);
            }
        }
    }

    /// The trailer of records that are not samples: TID, TIME, CPU, IDENTIFIER.
    fn trailer(&self, body: &mut Bytes, tid: i32, time: u64, cpu: u16) {
        body.int(tid as u64, 4);
        body.int(tid as u64, 4);
        body.u64(time);
        body.u32(usize::from(cpu));
        body.u32(0);
        body.u64(id(0));
    }
}

/// The id of an event in its samples.
fn id(point: usize) -> u64 {
    100 + point as u64
}

/// One zstd stream over all rounds, cut into records.
struct Packer {
    zstd: Zstd,
    stream: zstd::stream::write::Encoder<'static, Vec<u8>>,
}

impl Packer {
    fn new(zstd: Zstd) -> Packer {
        let stream = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("memory");
        Packer { zstd, stream }
    }

    fn pack(&mut self, file: &File, batch: &[u8], out: &mut Bytes) {
        if self.zstd == Zstd::Not || batch.is_empty() {
            return out.raw(batch);
        }
        self.stream.write_all(batch).expect("memory");
        self.stream.flush().expect("memory");
        let packed = std::mem::take(self.stream.get_mut());
        for part in packed.chunks(4_000) {
            match self.zstd {
                Zstd::First => file.record(out, 81, 0, part),
                _ => {
                    let mut body = file.bytes();
                    body.u64(part.len() as u64);
                    body.raw(part);
                    body.align(8);
                    file.record(out, 83, 0, &body.data);
                }
            }
        }
    }
}
