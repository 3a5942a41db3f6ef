//! trace.dat, versions 6 and 7, as `Documentation/trace-cmd` describes them.

use wastenot_model::History;

use super::Bytes;
use super::Tamper;
use super::ring::{self, HEADER_EVENT, Ring};
use super::tracepoint::{Layout, POINTS, Record, records};

/// How a trace.dat is written.
#[derive(Clone, Copy, Debug)]
pub struct TraceDat {
    /// The kernel's layout.
    pub layout: Layout,
    /// The parameters of the ring buffer.
    pub ring: Ring,
    /// 6, or 7 with this compression.
    pub version: Version,
    /// Damage to pieces.
    pub tamper: Tamper,
}

/// The file version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Everything in a fixed order.
    V6,
    /// Sections; metadata and data compressed or not.
    V7(Compression),
}

/// The compression of trace-cmd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// zlib.
    Zlib,
    /// zstd.
    Zstd,
}

const CLOCKS: &str = "local global counter uptime perf [mono] mono_raw boot x86-tsc\n";
const UNAME: &str = "Linux tests 6.12.0 x86_64";

/// A whole file.
pub fn trace_dat(history: &History, how: &TraceDat) -> Vec<u8> {
    let records = records(history);
    let cpus: Vec<Vec<u8>> = (0..history.cpu_count() as u16)
        .map(|cpu| {
            let own: Vec<&Record> = records.iter().filter(|record| record.cpu == cpu).collect();
            let mut pages = ring::pages(&own, &how.ring, &how.layout);
            how.tamper.piece(usize::from(cpu), &mut pages);
            pages
        })
        .collect();
    let file = File { how, cpus, history, out: Bytes::new(how.layout.big) };
    match how.version {
        Version::V6 => file.v6(),
        Version::V7(compression) => V7 { file, compression, strings: Vec::new() }.write(),
    }
}

/// The head that both versions begin with, and that perf.data embeds.
pub fn magic(out: &mut Bytes, version: &str, layout: &Layout, page: usize) {
    out.raw(b"\x17\x08\x44tracing");
    out.text(version);
    out.u8(u8::from(layout.big));
    out.u8(layout.long as u8);
    out.u32(page);
}

/// `header_page` and `header_event`.
pub fn headers(out: &mut Bytes, layout: &Layout, page: usize) {
    for (name, text) in
        [("header_page", ring::header_page(layout, page)), ("header_event", HEADER_EVENT.into())]
    {
        out.text(name);
        out.u64(text.len() as u64);
        out.raw(text.as_bytes());
    }
}

/// The format files of these tracepoints by system.
pub fn formats(out: &mut Bytes, layout: &Layout, keep: impl Fn(&str) -> bool) {
    let mut systems: Vec<&str> =
        POINTS.iter().filter(|point| keep(point.name)).map(|point| point.system).collect();
    systems.dedup();
    out.u32(systems.len());
    for system in systems {
        out.text(system);
        let of_system = |n: &usize| POINTS[*n].system == system && keep(POINTS[*n].name);
        let of_system: Vec<usize> = (0..POINTS.len()).filter(of_system).collect();
        out.u32(of_system.len());
        for point in of_system {
            let text = layout.describe(point);
            out.u64(text.len() as u64);
            out.raw(text.as_bytes());
        }
    }
}

struct File<'a> {
    how: &'a TraceDat,
    cpus: Vec<Vec<u8>>,
    history: &'a History,
    out: Bytes,
}

impl File<'_> {
    fn command_lines(&self) -> String {
        let lines = self
            .history
            .tasks()
            .map(|(id, task)| format!("{} {}\n", task.tid, self.history.task_name(id)));
        lines.collect()
    }

    fn v6(mut self) -> Vec<u8> {
        let TraceDat { layout, ring, .. } = self.how;
        let commands = self.command_lines();
        let out = &mut self.out;
        magic(out, "6", layout, ring.page);
        headers(out, layout, ring.page);
        // ftrace's own events, then those of systems.
        out.u32(0);
        let mut events = Bytes::new(layout.big);
        formats(&mut events, layout, |_| true);
        self.how.tamper.piece(out.len(), &mut events.data);
        out.raw(&events.data);
        out.u32(0); // kallsyms
        out.u32(0); // printk formats
        out.u64(commands.len() as u64);
        out.raw(commands.as_bytes());
        out.u32(self.cpus.len());
        out.raw(b"options  \0");
        for (id, text) in [(4, CLOCKS), (5, UNAME)] {
            out.u16(id);
            out.u32(text.len() + 1);
            out.text(text);
        }
        out.u16(0);
        out.raw(b"flyrecord\0");
        let index = out.len();
        out.data.resize(index + 16 * self.cpus.len(), 0);
        for (cpu, data) in self.cpus.iter().enumerate() {
            out.align(ring.page);
            out.set(index + 16 * cpu, out.len() as u64, 8);
            out.set(index + 16 * cpu + 8, data.len() as u64, 8);
            out.raw(data);
        }
        self.out.data
    }
}

/// Ids of sections and of the options with their places.
const BUFFER: usize = 3;
const STRINGS: usize = 15;

struct V7<'a> {
    file: File<'a>,
    compression: Compression,
    strings: Vec<u8>,
}

impl V7<'_> {
    fn write(mut self) -> Vec<u8> {
        let TraceDat { layout, ring, .. } = self.file.how;
        let (name, version) = match self.compression {
            Compression::None => ("none", ""),
            Compression::Zlib => ("zlib", "1.2.13"),
            Compression::Zstd => ("zstd", "1.5.4"),
        };
        magic(&mut self.file.out, "7", layout, ring.page);
        self.file.out.text(name);
        self.file.out.text(version);
        let first_options = self.file.out.len();
        self.file.out.u64(0);

        let mut options = self.metadata();
        let strings_option = self.section_of_strings();
        self.option(&mut options, 4, CLOCKS.as_bytes());
        self.option(&mut options, 5, &[UNAME.as_bytes(), b"\0"].concat());
        options.push((8, self.number(self.file.cpus.len() as u64, 4)));
        options.push(strings_option);
        let link = self.options(&options, first_options);
        // A second section of options contains the buffer, as trace-cmd writes it.
        let buffer = self.buffer();
        self.options(&[(BUFFER, buffer)], link);
        self.file.out.data
    }

    fn number(&self, value: u64, size: usize) -> Vec<u8> {
        let mut bytes = Bytes::new(self.file.how.layout.big);
        bytes.int(value, size);
        bytes.data
    }

    fn option(&self, options: &mut Vec<(usize, Vec<u8>)>, id: usize, data: &[u8]) {
        options.push((id, data.to_vec()));
    }

    fn metadata(&mut self) -> Vec<(usize, Vec<u8>)> {
        let TraceDat { layout, ring, .. } = self.file.how;
        let bytes = || Bytes::new(layout.big);
        let mut sections: Vec<(usize, &str, Bytes)> = Vec::new();
        let mut head = bytes();
        headers(&mut head, layout, ring.page);
        sections.push((16, "headers", head));
        let mut own = bytes();
        own.u32(0);
        sections.push((17, "ftrace events", own));
        let mut events = bytes();
        formats(&mut events, layout, |_| true);
        sections.push((18, "events format", events));
        let mut none = bytes();
        none.u32(0);
        sections.push((20, "printk", none));
        let mut commands = bytes();
        let text = self.file.command_lines();
        commands.u64(text.len() as u64);
        commands.raw(text.as_bytes());
        sections.push((21, "command lines", commands));
        let mut options = Vec::new();
        for (id, name, body) in sections {
            let at = self.section(id, name, &body.data);
            options.push((id, self.number(at, 8)));
        }
        options
    }

    /// Writes a section of metadata and returns its place.
    fn section(&mut self, id: usize, name: &str, body: &[u8]) -> u64 {
        let string = self.strings.len();
        self.strings.extend(name.as_bytes());
        self.strings.push(0);
        let at = self.file.out.len() as u64;
        let packed = self.compression != Compression::None;
        let mut body = body.to_vec();
        self.file.how.tamper.piece(at as usize, &mut body);
        let body = &body[..];
        let mut stored = Bytes::new(self.file.how.layout.big);
        match packed {
            true => self.chunk(&mut stored, body),
            false => stored.raw(body),
        }
        let out = &mut self.file.out;
        out.u16(id);
        out.u16(usize::from(packed));
        out.u32(string);
        out.u64(stored.len() as u64);
        out.raw(&stored.data);
        at
    }

    fn section_of_strings(&mut self) -> (usize, Vec<u8>) {
        let strings = self.strings.clone();
        let at = self.section(STRINGS, "strings", &strings);
        (STRINGS, self.number(at, 8))
    }

    fn chunk(&self, out: &mut Bytes, body: &[u8]) {
        let packed = compress(self.compression, body);
        out.u32(packed.len());
        out.u32(body.len());
        out.raw(&packed);
    }

    /// Writes a section of options, links it from `link`, and returns the place of the next link.
    fn options(&mut self, options: &[(usize, Vec<u8>)], link: usize) -> usize {
        let out = &mut self.file.out;
        out.set(link, out.len() as u64, 8);
        let mut body = Bytes::new(out.big);
        for (id, data) in options {
            let mut data = data.clone();
            self.file.how.tamper.piece(out.len() + id, &mut data);
            body.u16(*id);
            body.u32(data.len());
            body.raw(&data);
        }
        body.u16(0);
        body.u32(8);
        body.u64(0);
        out.u16(0);
        out.u16(0);
        out.u32(0);
        out.u64(body.len() as u64);
        out.raw(&body.data);
        out.len() - 8
    }

    /// Writes the data of all CPUs and returns the option with the place of each.
    fn buffer(&mut self) -> Vec<u8> {
        let ring = self.file.how.ring;
        let big = self.file.how.layout.big;
        let at = self.file.out.len();
        let packed = self.compression != Compression::None;
        let out = &mut self.file.out;
        out.u16(BUFFER);
        out.u16(usize::from(packed));
        out.u32(0);
        out.u64(0);
        let begin = self.file.out.len();
        let mut option = Bytes::new(big);
        option.u64(at as u64);
        option.text("");
        option.text("mono");
        option.u32(ring.page);
        option.u32(self.file.cpus.len());
        for (cpu, data) in std::mem::take(&mut self.file.cpus).iter().enumerate() {
            self.file.out.align(ring.page);
            let offset = self.file.out.len();
            let stored = self.pack(data, ring.page);
            self.file.out.raw(&stored);
            option.u32(cpu);
            option.u64(offset as u64);
            option.u64(stored.len() as u64);
        }
        let size = self.file.out.len() - begin;
        self.file.out.set(at + 8, size as u64, 8);
        option.data
    }

    /// Data in chunks of two sub-buffers, each compressed by itself.
    fn pack(&self, data: &[u8], page: usize) -> Vec<u8> {
        if self.compression == Compression::None || data.is_empty() {
            return data.to_vec();
        }
        let mut out = Bytes::new(self.file.how.layout.big);
        let chunks: Vec<&[u8]> = data.chunks(2 * page).collect();
        out.u32(chunks.len());
        chunks.into_iter().for_each(|chunk| self.chunk(&mut out, chunk));
        out.data
    }
}

fn compress(compression: Compression, body: &[u8]) -> Vec<u8> {
    match compression {
        Compression::None => body.to_vec(),
        Compression::Zlib => {
            let level = libdeflater::CompressionLvl::new(6).expect("a level");
            let mut compressor = libdeflater::Compressor::new(level);
            let mut out = vec![0; compressor.zlib_compress_bound(body.len())];
            let size = compressor.zlib_compress(body, &mut out).expect("the bound holds");
            out.truncate(size);
            out
        }
        Compression::Zstd => zstd::bulk::compress(body, 3).expect("memory"),
    }
}
