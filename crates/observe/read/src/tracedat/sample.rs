//! Writes small trace.dat files of every shape, for the tests.

use crate::ftrace::Endian;

/// How to write a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) version: u32,
    pub(super) endian: Endian,
    pub(super) long: usize,
    pub(super) page_size: usize,
    /// `none`, `zlib` or `zstd`; version 7 only.
    pub(super) packer: &'static str,
}

pub(super) const PLAIN: Shape =
    Shape { version: 6, endian: Endian::Little, long: 8, page_size: 4096, packer: "none" };
pub(super) const V7: Shape = Shape { version: 7, ..PLAIN };

/// One record of a page.
#[derive(Clone, Debug)]
pub(super) enum Record {
    /// A delta and a payload.
    Data(u32, Vec<u8>),
    /// The same in the form for payloads above 112 bytes.
    Long(u32, Vec<u8>),
    Extend(u64),
    Absolute(u64),
    /// A discarded record: a delta and bytes to skip.
    Discarded(u32, usize),
}

/// One page.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    pub(super) stamp: u64,
    pub(super) records: Vec<Record>,
    /// Events were missed before it; how many, if that is stored.
    pub(super) missed: Option<Option<u32>>,
}

/// One buffer: its name, clock, and the pages of each CPU.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffer {
    pub(super) name: &'static str,
    pub(super) clock: &'static str,
    pub(super) cpus: Vec<Vec<Page>>,
}

pub(super) const SWITCH: u16 = 310;
pub(super) const WAKEUP: u16 = 312;
/// An event that is not read.
pub(super) const FOREIGN: u16 = 99;

/// Bytes in an order.
pub(super) struct Out {
    pub(super) bytes: Vec<u8>,
    endian: Endian,
}

impl Out {
    pub(super) fn new(endian: Endian) -> Out {
        Out { bytes: Vec::new(), endian }
    }
    /// The low `size` bytes of `value`.
    pub(super) fn int(&mut self, value: u64, size: usize) -> &mut Out {
        match self.endian {
            Endian::Little => self.bytes.extend(&value.to_le_bytes()[..size]),
            Endian::Big => self.bytes.extend(&value.to_be_bytes()[8 - size..]),
        }
        self
    }
    pub(super) fn raw(&mut self, bytes: &[u8]) -> &mut Out {
        self.bytes.extend(bytes);
        self
    }
    /// A u64 length and the bytes.
    fn sized(&mut self, bytes: &[u8]) -> &mut Out {
        self.int(bytes.len() as u64, 8).raw(bytes)
    }
    fn option(&mut self, id: u16, data: &[u8]) -> &mut Out {
        self.int(id.into(), 2).int(data.len() as u64, 4).raw(data)
    }
    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }
}

impl Shape {
    fn out(self) -> Out {
        Out::new(self.endian)
    }

    fn common(self, id: u16, flags: u8, current: i32) -> Out {
        let mut out = self.out();
        out.int(id.into(), 2).int(flags.into(), 1).int(0, 1).int(current as u32 as u64, 4);
        out
    }
    /// A payload of `sched_switch`.
    pub(super) fn switch(self, prev: i32, state: u64, next: i32) -> Vec<u8> {
        let mut out = self.common(SWITCH, 0, prev);
        out.raw(&name(prev)).int(prev as u64, 4).int(120, 4).int(state, self.long);
        out.raw(&name(next)).int(next as u64, 4).int(120, 4);
        out.bytes
    }
    /// A payload of `sched_wakeup` in softirq context.
    pub(super) fn wakeup(self, by: i32, tid: i32, cpu: u32) -> Vec<u8> {
        let mut out = self.common(WAKEUP, 0x10, by);
        out.raw(&name(tid)).int(tid as u64, 4).int(120, 4).int(cpu.into(), 4);
        out.bytes
    }
    pub(super) fn foreign(self, current: i32) -> Vec<u8> {
        self.common(FOREIGN, 0, current).int(7, 4).bytes.clone()
    }

    fn formats(self) -> [String; 2] {
        let common = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
            \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
            \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
            \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
        let (long, next) = (self.long, 32 + self.long);
        let switch = format!(
            "name: sched_switch\nID: {SWITCH}\nformat:\n{common}\
             \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
             \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
             \tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n\
             \tfield:long prev_state;\toffset:32;\tsize:{long};\tsigned:1;\n\
             \tfield:char next_comm[16];\toffset:{next};\tsize:16;\tsigned:0;\n\
             \tfield:pid_t next_pid;\toffset:{};\tsize:4;\tsigned:1;\n\
             \tfield:int next_prio;\toffset:{};\tsize:4;\tsigned:1;\n\n\
             print fmt: \"%s\", __print_flags(REC->prev_state, \"|\", {{ 0x1, \"S\" }}, \
             {{ 0x2, \"D\" }})\n",
            next + 16,
            next + 20
        );
        let wakeup = format!(
            "name: sched_wakeup\nID: {WAKEUP}\nformat:\n{common}\
             \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
             \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\
             \tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n\
             \tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n"
        );
        [switch, wakeup]
    }

    fn header_info(self) -> Vec<u8> {
        let (long, data) = (self.long, 8 + self.long);
        let page = format!(
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
             \tfield: local_t commit;\toffset:8;\tsize:{long};\tsigned:1;\n\
             \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
             \tfield: char data;\toffset:{data};\tsize:{};\tsigned:1;\n",
            self.page_size - data
        );
        let mut out = self.out();
        out.raw(b"header_page\0").sized(page.as_bytes()).raw(b"header_event\0").sized(b"#\n");
        out.bytes
    }

    fn event_formats(self) -> Vec<u8> {
        let mut out = self.out();
        out.int(1, 4).raw(b"sched\0").int(2, 4);
        for format in self.formats() {
            out.sized(format.as_bytes());
        }
        out.bytes
    }

    fn record(self, record: &Record) -> Vec<u8> {
        let head = |kind: u64, delta: u64| match self.endian {
            Endian::Little => kind | delta << 5,
            Endian::Big => kind << 27 | delta,
        };
        let mut out = self.out();
        match record {
            Record::Data(delta, payload) => {
                assert!(payload.len().is_multiple_of(4) && payload.len() <= 112);
                out.int(head(payload.len() as u64 / 4, u64::from(*delta)), 4).raw(payload)
            }
            Record::Long(delta, payload) => {
                out.int(head(0, u64::from(*delta)), 4).int(payload.len() as u64 + 4, 4).raw(payload)
            }
            Record::Discarded(delta, len) => out
                .int(head(29, u64::from(*delta)), 4)
                .int(*len as u64, 4)
                .raw(&vec![0xee; len - 4]),
            Record::Extend(delta) => out.int(head(30, delta & 0x7ff_ffff), 4).int(delta >> 27, 4),
            Record::Absolute(stamp) => {
                let low = stamp & ((1 << 59) - 1);
                out.int(head(31, low & 0x7ff_ffff), 4).int(low >> 27, 4)
            }
        };
        out.bytes
    }

    pub(super) fn page(self, page: &Page) -> Vec<u8> {
        let data: Vec<u8> = page.records.iter().flat_map(|record| self.record(record)).collect();
        let mut commit = data.len() as u64;
        if let Some(count) = page.missed {
            commit |= 1 << 31 | u64::from(count.is_some()) << 30;
        }
        let mut out = self.out();
        out.int(page.stamp, 8).int(commit, self.long).raw(&data);
        out.int(page.missed.flatten().unwrap_or(0).into(), self.long);
        assert!(out.bytes.len() <= self.page_size);
        out.bytes.resize(self.page_size, 0);
        out.bytes
    }

    fn pack(self, bytes: &[u8]) -> Vec<u8> {
        match self.packer {
            "zstd" => zstd::bulk::compress(bytes, 3).expect("compresses"),
            _ => {
                let mut packer =
                    libdeflater::Compressor::new(libdeflater::CompressionLvl::fastest());
                let mut out = vec![0; packer.zlib_compress_bound(bytes.len())];
                let len = packer.zlib_compress(bytes, &mut out).expect("there is room");
                out.truncate(len);
                out
            }
        }
    }

    /// A whole file. `options` are added to those with the places of the parts.
    pub(super) fn file(self, buffers: &[Buffer], options: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let mut out = self.out();
        let version = self.version.to_string();
        out.raw(b"\x17\x08\x44tracing").raw(version.as_bytes()).raw(b"\0");
        out.int(u64::from(self.endian == Endian::Big), 1).int(self.long as u64, 1);
        out.int(self.page_size as u64, 4);
        match self.version {
            7 => self.v7(out, buffers, options),
            _ => self.v6(out, buffers, options),
        }
    }

    fn v6(self, mut out: Out, buffers: &[Buffer], options: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let cpus = buffers[0].cpus.len();
        out.raw(&self.header_info()).int(0, 4).raw(&self.event_formats());
        out.int(0, 4).int(0, 4).sized(b"9 saved\n").int(cpus as u64, 4).raw(b"options  \0");
        for (id, data) in options {
            out.option(*id, data);
        }
        let mut at = Vec::new();
        for buffer in &buffers[1..] {
            at.push(out.bytes.len() + 6);
            let name = [&[0; 8], buffer.name.as_bytes(), b"\0"].concat();
            out.option(3, &name);
        }
        out.int(0, 2);
        for (n, buffer) in buffers.iter().enumerate() {
            if n > 0 {
                let here = Out::new(self.endian).int(out.bytes.len() as u64, 8).bytes.clone();
                out.bytes[at[n - 1]..at[n - 1] + 8].copy_from_slice(&here);
            }
            let cpus_of = buffer.cpus.iter().enumerate();
            let data: Vec<Vec<u8>> = cpus_of.map(|(cpu, pages)| self.pages(cpu, pages)).collect();
            let clock = format!("[{}]", buffer.clock);
            let table = out.bytes.len() + 10 + 16 * cpus + 8 + clock.len();
            let mut offset = table.next_multiple_of(self.page_size);
            out.raw(b"flyrecord\0");
            for pages in &data {
                out.int(offset as u64, 8).int(pages.len() as u64, 8);
                offset += pages.len();
            }
            out.sized(clock.as_bytes());
            out.align(self.page_size);
            out.raw(&data.concat());
        }
        out.bytes
    }

    /// The pages of a CPU; its idle task is named after it.
    fn pages(self, cpu: usize, pages: &[Page]) -> Vec<u8> {
        let mut bytes: Vec<u8> = pages.iter().flat_map(|page| self.page(page)).collect();
        let (any, own) = (name(0), format!("swapper/{cpu}"));
        for at in 0..bytes.len().saturating_sub(any.len()) {
            if bytes[at..].starts_with(&any) {
                bytes[at..at + own.len()].copy_from_slice(own.as_bytes());
            }
        }
        bytes
    }

    fn section(self, out: &mut Out, id: u16, content: &[u8]) -> u64 {
        let at = out.bytes.len() as u64;
        out.int(id.into(), 2);
        match self.packer {
            "none" => out.int(0, 2).int(0, 4).sized(content),
            _ => {
                let packed = self.pack(content);
                out.int(1, 2).int(0, 4).int(packed.len() as u64 + 8, 8);
                out.int(packed.len() as u64, 4).int(content.len() as u64, 4).raw(&packed)
            }
        };
        at
    }

    fn v7(self, mut out: Out, buffers: &[Buffer], options: &[(u16, Vec<u8>)]) -> Vec<u8> {
        out.raw(self.packer.as_bytes()).raw(b"\x001.0\0");
        let first = out.bytes.len();
        out.int(0, 8);
        let mut all = self.out();
        for (id, content) in [(16, self.header_info()), (18, self.event_formats())] {
            let at = self.section(&mut out, id, &content);
            all.option(id, &Out::new(self.endian).int(at, 8).bytes);
        }
        let names = self.out().sized(b"9 saved\n").bytes.clone();
        let at = self.section(&mut out, 21, &names);
        all.option(21, &Out::new(self.endian).int(at, 8).bytes);
        for (id, data) in options {
            all.option(*id, data);
        }
        // As trace-cmd writes them: options, the data of each buffer, options with their places.
        let at = out.bytes.len();
        self.patch(&mut out, first, at);
        let next = at + 16 + all.bytes.len() + 6;
        all.option(0, &[0; 8]);
        out.int(0, 2).int(0, 2).int(0, 4).sized(&all.bytes);
        let mut index = self.out();
        for buffer in buffers {
            let mut of = self.out();
            let head = out.bytes.len();
            of.int(head as u64, 8).raw(buffer.name.as_bytes()).raw(b"\0");
            of.raw(buffer.clock.as_bytes()).raw(b"\0").int(self.page_size as u64, 4);
            of.int(buffer.cpus.len() as u64, 4);
            out.int(3, 2).int(u64::from(self.packer != "none"), 2).int(0, 4).int(0, 8);
            for (cpu, pages) in buffer.cpus.iter().enumerate() {
                let data = self.data(cpu, pages);
                out.align(self.page_size);
                // The length does not include the number of chunks.
                let len = data.len() - if self.packer == "none" { 0 } else { 4 };
                of.int(cpu as u64, 4).int(out.bytes.len() as u64, 8).int(len as u64, 8);
                out.raw(&data);
            }
            let len = out.bytes.len() - head - 16;
            self.patch(&mut out, head + 8, len);
            index.option(3, &of.bytes);
        }
        index.option(0, &[0; 8]);
        let at = out.bytes.len();
        self.patch(&mut out, next, at);
        out.int(0, 2).int(0, 2).int(0, 4).sized(&index.bytes);
        out.bytes
    }

    /// Writes a number of 8 bytes into a place that was reserved for it.
    fn patch(self, out: &mut Out, at: usize, value: usize) {
        let value = self.out().int(value as u64, 8).bytes.clone();
        out.bytes[at..at + 8].copy_from_slice(&value);
    }

    /// The pages of a CPU, packed two per chunk.
    fn data(self, cpu: usize, pages: &[Page]) -> Vec<u8> {
        if self.packer == "none" {
            return self.pages(cpu, pages);
        }
        let mut out = self.out();
        out.int(pages.len().div_ceil(2) as u64, 4);
        for chunk in pages.chunks(2) {
            let bytes = self.pages(cpu, chunk);
            let packed = self.pack(&bytes);
            out.int(packed.len() as u64, 4).int(bytes.len() as u64, 4).raw(&packed);
        }
        out.bytes
    }
}

/// The name of a task in the tests.
fn name(tid: i32) -> [u8; 16] {
    let text = if tid == 0 { "swapper".to_owned() } else { format!("task{tid}") };
    let mut name = [0; 16];
    name[..text.len()].copy_from_slice(text.as_bytes());
    name
}
