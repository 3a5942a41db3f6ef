//! Tests of the whole reader, on files built here in both byte orders and on a real one.

use wastenot_model::{
    Carries, Context, CpuId, CpuSet, Event, Help, History, How, Left, LossKind, TaskId, Time,
};

use super::bytes::Bytes;
use super::read;
use crate::ftrace::Endian;
use crate::{Error, Formats, Options};

const SWITCH: u16 = 310;
const WAKING: u16 = 311;
const SAMPLE_TYPE: u64 = 0x10587; // as `perf sched record`: id, ip, tid, time, cpu, period, raw
const COMM_TASK_ALL: u64 = 1 << 9 | 1 << 13 | 1 << 18;

/// A perf.data under construction.
#[derive(Clone)]
struct Made {
    endian: Endian,
    pipe: bool,
    /// `sample_type`, `read_format` and tracepoint of each attr; attr n has the id 100 + n.
    attrs: Vec<(u64, u64, u16)>,
    flags: u64,
    period: u64,
    features: Vec<(u32, Vec<u8>)>,
    records: Vec<u8>,
}

impl Made {
    fn new(endian: Endian, pipe: bool) -> Made {
        Made {
            endian,
            pipe,
            attrs: vec![(SAMPLE_TYPE, 0, SWITCH), (SAMPLE_TYPE, 0, WAKING)],
            flags: COMM_TASK_ALL,
            period: 1,
            features: Vec::new(),
            records: Vec::new(),
        }
    }
    fn u16(&self, value: u16) -> [u8; 2] {
        self.endian.u16(value.to_ne_bytes()).to_ne_bytes()
    }
    fn u32(&self, value: u32) -> [u8; 4] {
        self.endian.u32(value.to_ne_bytes()).to_ne_bytes()
    }
    fn u64(&self, value: u64) -> [u8; 8] {
        self.endian.u64(value.to_ne_bytes()).to_ne_bytes()
    }
    fn u64s(&self, values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|&value| self.u64(value)).collect()
    }
    fn text(&self, text: &str) -> Vec<u8> {
        let mut bytes = self.u32(text.len() as u32 + 1).to_vec();
        bytes.extend(text.bytes().chain([0]));
        bytes
    }

    fn head(&self, kind: u32, misc: u16, size: usize) -> Vec<u8> {
        let mut bytes = self.u32(kind).to_vec();
        bytes.extend(self.u16(misc));
        bytes.extend(self.u16(size as u16));
        bytes
    }
    fn record(&self, kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = self.head(kind, misc, body.len() + 8);
        bytes.extend(body);
        bytes
    }
    fn push(&mut self, kind: u32, misc: u16, body: &[u8]) -> &mut Made {
        let record = self.record(kind, misc, body);
        self.records.extend(record);
        self
    }
    /// One of perf's own records, stamped at its end.
    fn stamped(&mut self, kind: u32, misc: u16, body: &[u8], time: u64, cpu: u32) -> &mut Made {
        let mut body = body.to_vec();
        body.extend([self.u32(9), self.u32(9)].concat()); // pid, tid
        body.extend(self.u64(time));
        body.extend([self.u32(cpu), self.u32(0)].concat());
        body.extend(self.u64(100)); // identifier
        self.push(kind, misc, &body)
    }

    /// A sample of attr `attr` with the fields that its `sample_type` has.
    fn sample(&mut self, attr: usize, time: u64, cpu: u32, raw: &[u8]) -> &mut Made {
        let (kind, format, _) = self.attrs[attr];
        let id = 100 + attr as u64;
        let mut body = Vec::new();
        let mut put = |bit: u32, bytes: Vec<u8>| {
            if kind >> bit & 1 == 1 {
                body.extend(bytes);
            }
        };
        put(16, self.u64s(&[id]));
        put(0, self.u64s(&[0xdead]));
        put(1, [self.u32(9), self.u32(9)].concat());
        put(2, self.u64s(&[time]));
        put(3, self.u64s(&[0xadd]));
        put(6, self.u64s(&[id]));
        put(9, self.u64s(&[id]));
        put(7, [self.u32(cpu), self.u32(0)].concat());
        put(8, self.u64s(&[1]));
        let group = format & 8 != 0;
        let words = format.count_ones() as u64; // a value in place of the group bit
        let words = if group { 1 + (format & 3).count_ones() as u64 + 2 * 2 } else { words + 1 };
        let mut values = vec![7; words as usize];
        values[0] = 2; // with groups: two members
        put(4, self.u64s(&values));
        put(5, self.u64s(&[3, 1, 2, 3]));
        let mut padded = self.u32(raw.len() as u32).to_vec();
        padded.extend(raw);
        padded.resize(padded.len().next_multiple_of(8), 0);
        put(10, padded);
        self.push(9, 0, &body)
    }
    fn switch(&mut self, time: u64, cpu: u32, prev: u32, state: u64, next: u32) -> &mut Made {
        let mut raw = self.common(SWITCH, prev);
        raw.extend(name(prev));
        raw.extend([self.u32(prev), self.u32(120)].concat());
        raw.extend(self.u64(state));
        raw.extend(name(next));
        raw.extend([self.u32(next), self.u32(120)].concat());
        self.sample(0, time, cpu, &raw)
    }
    fn waking(&mut self, time: u64, cpu: u32, by: u32, tid: u32, target: u32) -> &mut Made {
        let mut raw = self.common(WAKING, by);
        raw.extend(name(tid));
        raw.extend([self.u32(tid), self.u32(120), self.u32(target)].concat());
        self.sample(1, time, cpu, &raw)
    }
    fn common(&self, id: u16, pid: u32) -> Vec<u8> {
        let mut raw = self.u16(id).to_vec();
        raw.extend([0x10, 0]); // in a softirq
        raw.extend(self.u32(pid));
        raw
    }

    fn attr(&self, (kind, format, tracepoint): (u64, u64, u16)) -> Vec<u8> {
        let flags = match self.endian {
            Endian::Little => self.flags,
            Endian::Big => self.flags.reverse_bits(),
        };
        let mut attr = [self.u32(2), self.u32(128)].concat();
        attr.extend(self.u64s(&[u64::from(tracepoint), self.period, kind, format, flags]));
        attr.resize(128, 0);
        attr
    }
    fn tracing_data(&self) -> Vec<u8> {
        let mut data = b"\x17\x08\x44tracing0.6\0".to_vec();
        data.extend([u8::from(self.endian == Endian::Big), 8]);
        data.extend(self.u32(4096));
        for part in ["header_page", "header_event"] {
            data.extend(part.bytes().chain([0]));
            data.extend(self.u64(0));
        }
        data.extend([self.u32(0), self.u32(1)].concat());
        data.extend(b"sched\0");
        data.extend(self.u32(2));
        for (name, id, fields) in
            [("sched_switch", SWITCH, SWITCH_FIELDS), ("sched_waking", WAKING, WAKING_FIELDS)]
        {
            let text = format!("name: {name}\nID: {id}\nformat:\n{COMMON}\n{fields}\n{PRINT}");
            data.extend(self.u64(text.len() as u64));
            data.extend(text.bytes());
        }
        data.extend([self.u32(0), self.u32(0)].concat());
        data.extend(self.u64(0));
        data
    }

    fn bytes(&self) -> Vec<u8> {
        if self.pipe { self.piped() } else { self.filed() }
    }
    fn magic(&self) -> Vec<u8> {
        self.u64(u64::from_le_bytes(*b"PERFILE2")).to_vec()
    }
    fn piped(&self) -> Vec<u8> {
        let mut bytes = self.magic();
        bytes.extend(self.u64(16));
        for (index, &attr) in self.attrs.iter().enumerate() {
            let body = [self.attr(attr), self.u64(100 + index as u64).to_vec()].concat();
            bytes.extend(self.record(64, 0, &body));
        }
        for (number, body) in &self.features {
            let body = [&self.u64(u64::from(*number))[..], body].concat();
            bytes.extend(self.record(80, 0, &body));
        }
        let mut data = self.tracing_data();
        bytes.extend(self.record(66, 0, &self.u32(data.len() as u32)));
        data.resize(data.len().next_multiple_of(8), 0);
        bytes.extend(data);
        bytes.extend(&self.records);
        bytes
    }
    /// The start of the records of a file.
    fn data_at(&self) -> usize {
        104 + (8 + 144) * self.attrs.len()
    }
    fn filed(&self) -> Vec<u8> {
        let ids_at = 104;
        let attrs_at = ids_at + 8 * self.attrs.len();
        let data_at = self.data_at();
        let mut features = vec![(1, self.tracing_data())];
        features.extend(self.features.clone());
        let bits = features.iter().fold(0u64, |bits, (number, _)| bits | 1 << number);
        let mut bytes = self.magic();
        let sizes = [104, 144, attrs_at, 144 * self.attrs.len(), data_at, self.records.len(), 0, 0];
        bytes.extend(self.u64s(&sizes.map(|size| size as u64)));
        bytes.extend(self.u64s(&[bits, 0, 0, 0]));
        for index in 0..self.attrs.len() {
            bytes.extend(self.u64(100 + index as u64));
        }
        for (index, &attr) in self.attrs.iter().enumerate() {
            bytes.extend(self.attr(attr));
            bytes.extend(self.u64s(&[(ids_at + 8 * index) as u64, 8]));
        }
        bytes.extend(&self.records);
        let mut at = bytes.len() + 16 * features.len();
        for (_, body) in &features {
            bytes.extend(self.u64s(&[at as u64, body.len() as u64]));
            at += body.len();
        }
        features.iter().for_each(|(_, body)| bytes.extend(body));
        bytes
    }
    fn read(&self) -> History {
        read(&self.bytes(), &Options::default()).expect("a sound file")
    }
}

const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
    \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";
const SWITCH_FIELDS: &str = "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
    \tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\
    \tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n\
    \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
    \tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n\
    \tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\
    \tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n";
const WAKING_FIELDS: &str = "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
    \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n\
    \tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n\
    \tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n";
const PRINT: &str = "print fmt: \"\", { 0x1, \"S\" }, { 0x2, \"D\" }, { 0x80, \"I\" }\n";

fn name(tid: u32) -> [u8; 16] {
    let mut name = [0; 16];
    let text = if tid == 0 { "swapper".into() } else { format!("task-{tid}") };
    name[..text.len()].copy_from_slice(text.as_bytes());
    name
}

/// Two CPUs, drained one after the other in two rounds, with perf's own records in between.
fn story(made: &mut Made) -> &mut Made {
    made.push(79, 0, &[0; 8]); // TIME_CONV: not read
    made.switch(100, 0, 7, 1, 0).switch(140, 0, 0, 0, 8);
    made.waking(110, 1, 5, 7, 0).switch(130, 1, 5, 0x100, 7);
    made.push(68, 0, &[]); // FINISHED_ROUND
    made.switch(150, 0, 8, 0x80, 0);
    made.switch(160, 1, 7, 2, 5)
}

/// One line per event: time, CPU, content.
fn told(history: &History) -> Vec<String> {
    let tid = |task: TaskId| history.task(task).map_or(0, |task| task.tid);
    let line = |event| {
        Some(match event {
            Event::Switch { prev, left, next, .. } => {
                format!("{} {} {}", tid(prev), left.letters(), tid(next))
            }
            Event::Waking { task, prev, .. } => format!("waking {} {prev:?}", tid(task)),
            Event::Fork { parent, child } => format!("fork {} {}", tid(parent), tid(child)),
            Event::Exec { task } => format!("exec {}", tid(task)),
            Event::Exit { task } => format!("exit {}", tid(task)),
            Event::Lost { count } => format!("lost {}", count.unwrap_or(0)),
            _ => return None,
        })
    };
    let entries = history.entries();
    let lines = entries
        .filter_map(|entry| Some(format!("{} {} {}", entry.time.0, entry.cpu, line(entry.event)?)));
    lines.collect()
}

const STORY: [&str; 6] = [
    "100 0 7 S 0",
    "110 1 waking 7 Some(CpuId(0))",
    "130 1 5 R+ 7",
    "140 0 0 R 8",
    "150 0 8 I 0",
    "160 1 7 D 5",
];

fn kinds() -> impl Iterator<Item = Made> {
    let both = [Endian::Little, Endian::Big];
    both.into_iter().flat_map(|endian| [false, true].map(|pipe| Made::new(endian, pipe)))
}

fn losses(history: &History) -> Vec<(LossKind, Option<CpuId>, Option<u64>)> {
    history.losses().iter().map(|loss| (loss.kind, loss.cpu, loss.count)).collect()
}

#[test]
fn file_and_pipe_in_both_byte_orders_tell_the_same() {
    for mut made in kinds() {
        let history = story(&mut made).read();
        assert_eq!(told(&history), STORY);
        assert_eq!(history.losses(), []);
        assert!(history.head.carries.has(Carries::WAKINGS | Carries::LEFT | Carries::CONTEXT));
        assert_eq!(history.entries().nth(1).map(|entry| entry.by.context), Some(Context::Softirq));
        assert_eq!(history.task_name(TaskId::nth(0)), "task-7");
        assert_eq!(history.head.clock.name, "perf");
    }
}

#[test]
fn fields_are_found_whatever_else_a_sample_holds() {
    for mut made in kinds() {
        // Address, id, stream id, counters and a call chain; and other fields in the other attr.
        made.attrs[0] = (SAMPLE_TYPE | 1 << 3 | 1 << 6 | 1 << 9 | 1 << 4 | 1 << 5, 0x17, SWITCH);
        made.attrs[1] = (SAMPLE_TYPE & !1 | 1 << 4, 0x8 | 0x4 | 0x1, WAKING);
        assert_eq!(told(&story(&mut made).read()), STORY);
    }
}

#[test]
fn one_attr_needs_no_ids() {
    for mut made in kinds() {
        made.attrs = vec![(SAMPLE_TYPE & !(1 << 16), 0, SWITCH)];
        made.switch(100, 0, 7, 1, 8).switch(101, 0, 8, 1, 7);
        assert_eq!(told(&made.read()), ["100 0 7 S 8", "101 0 8 S 7"]);
    }
}

impl Made {
    /// Packs the records so far as `perf record -z` does, in pieces of 7 bytes.
    fn pack(&mut self, kind: u32) -> &mut Made {
        let records = std::mem::take(&mut self.records);
        let packed = zstd::bulk::compress(&records, 1).expect("compresses");
        for piece in packed.chunks(7) {
            let body = match kind {
                81 => piece.to_vec(),
                _ => {
                    let size = self.u64(piece.len() as u64);
                    let mut body = [&size[..], piece].concat();
                    body.resize(body.len().next_multiple_of(8), 0xff);
                    body
                }
            };
            self.push(kind, 0, &body).push(68, 0, &[]);
        }
        self
    }
}

#[test]
fn compressed_records_may_be_cut_anywhere() {
    for (mut made, kind) in kinds().zip([81, 83, 83, 81]) {
        let history = story(&mut made).pack(kind).read();
        assert_eq!(told(&history), STORY);
        assert_eq!(history.losses(), []);
    }
}

#[test]
fn a_compressed_stream_that_ends_within_a_record_is_cut() {
    for mut made in kinds() {
        story(&mut made);
        made.records.truncate(made.records.len() - 8);
        let history = made.pack(81).read();
        assert_eq!(losses(&history)[0], (LossKind::Cut, None, None));
        assert!(told(&history).contains(&STORY[4].to_owned()));
    }
}

#[test]
fn what_an_interrupt_wrote_first_is_put_behind_what_it_interrupted() {
    for made in kinds() {
        for (packed, count) in [(false, 3), (true, 3), (false, 300), (true, 300), (true, 5000)] {
            let mut made = made.clone();
            let lost = made.u64s(&[100, 5]);
            for time in 0..count {
                made.switch(1000 + time, 0, 7, 1, 8);
            }
            // Far back if there are many: as if it came from another buffer.
            made.waking(999, 0, 7, 9, 0).stamped(2, 0, &lost, 1000 + count, 0);
            let history = if packed { made.pack(81) } else { &mut made }.read();
            let told = told(&history);
            assert_eq!(told[0], "999 0 waking 9 Some(CpuId(0))");
            assert_eq!(told[told.len() - 1], format!("{} 0 lost 5", 1000 + count - 1));
            assert_eq!(told.len() as u64, count + 2);
            assert_eq!(losses(&history), [(LossKind::LostEvents, Some(CpuId(0)), Some(5))]);
        }
    }
}

#[test]
fn losses_stand_where_they_happened() {
    for mut made in kinds() {
        let lost = made.u64s(&[100, 5]);
        made.stamped(2, 0, &lost, 90, 1); // before the first record of CPU 1
        made.waking(110, 1, 5, 7, 0).switch(130, 1, 5, 1, 7);
        made.stamped(2, 0, &lost, 150, 1);
        made.switch(160, 1, 7, 2, 5);
        let history = made.switch(100, 0, 7, 1, 0).read();
        let want = [
            "100 0 7 S 0",
            "110 1 lost 5",
            "110 1 waking 7 Some(CpuId(0))",
            "130 1 5 S 7",
            "130 1 lost 5",
            "160 1 7 D 5",
        ];
        assert_eq!(told(&history), want);
        assert_eq!(losses(&history), [(LossKind::LostEvents, Some(CpuId(1)), Some(10))]);
    }
}

#[test]
fn what_perf_counts_at_the_end_is_lost_after_the_last_record() {
    for mut made in kinds() {
        let index = made.u64s(&[2, 100, 0, 1, 0, 101, 0, 1, 0]);
        made.push(69, 0, &index);
        let told_lost = made.u64s(&[100, 5]);
        made.switch(100, 1, 7, 1, 5).stamped(2, 0, &told_lost, 150, 1).switch(160, 1, 5, 1, 7);
        let counted = made.u64s(&[7]);
        made.stamped(13, 0, &counted, 0, 0); // 5 of these 7 are reported already
        let filtered = made.u64s(&[1000]);
        made.stamped(13, 1 << 15, &filtered, 0, 0);
        let want = ["100 1 7 S 5", "100 1 lost 5", "160 1 5 S 7", "160 1 lost 2"];
        assert_eq!(told(&made.read()), want);
    }
}

#[test]
fn a_loss_without_a_stamp_is_of_the_buffer_it_stands_in() {
    for mut made in kinds() {
        made.flags = 0;
        let lost = made.u64s(&[100, 5]);
        made.switch(100, 0, 7, 1, 0).switch(100, 1, 5, 1, 6).push(2, 0, &lost);
        made.switch(130, 1, 6, 1, 5).push(2, 0, &lost);
        let history = made.read();
        assert_eq!(told(&history)[2..], ["100 1 lost 5", "130 1 6 S 5"]);
        assert!(losses(&history).contains(&(LossKind::LostEvents, None, Some(5))));
    }
}

#[test]
fn records_of_perf_stand_in_for_tracepoints_that_were_not_recorded() {
    for mut made in kinds() {
        let task =
            |made: &Made, pid: u32, tid: u32| [pid, 1, tid, 7].map(|word| made.u32(word)).concat();
        let comm =
            |made: &Made, text: &[u8; 8]| [&made.u32(30)[..], &made.u32(31)[..], text].concat();
        // Before recording began: names and processes only.
        let body = comm(&made, b"worker\0\0");
        made.stamped(3, 0, &body, 0, 0);
        let fork = [task(&made, 30, 31), made.u64(110).to_vec()].concat();
        made.switch(100, 0, 0, 0, 7).stamped(7, 0, &fork, 110, 0);
        let body = comm(&made, b"tool\0\0\0\0");
        made.switch(120, 0, 7, 0, 31).stamped(3, 1 << 13, &body, 130, 0);
        let exit = [task(&made, 30, 31), made.u64(140).to_vec()].concat();
        made.stamped(4, 0, &exit, 140, 0);
        let history = made.read();
        assert_eq!(told(&history)[1..], ["110 0 fork 7 31", "120 0 7 R 31", "140 0 exit 31"]);
        let (task, found) = history.tasks().find(|(_, task)| task.tid == 31).expect("a task");
        assert_eq!((history.task_name(task), found.pid), ("tool".into(), Some(30)));
        assert!(history.head.carries.has(Carries::FORKS | Carries::EXITS | Carries::TGID));
        // With the flag that marks execs, the same record is one.
        made.flags |= 1 << 24;
        assert!(told(&made.read()).contains(&"130 0 exec 31".to_owned()));
    }
}

#[test]
fn buffers_of_several_tasks_are_put_in_order() {
    for mut made in kinds() {
        made.switch(120, 0, 8, 1, 7).switch(160, 0, 9, 1, 0);
        made.switch(100, 0, 7, 1, 8).switch(140, 0, 7, 1, 9);
        let history = made.read();
        assert_eq!(told(&history), ["100 0 7 S 8", "120 0 8 S 7", "140 0 7 S 9", "160 0 9 S 0"]);
        assert_eq!(history.losses(), []);
    }
}

#[test]
fn hardware_traces_and_unknown_records_are_skipped() {
    for mut made in kinds() {
        let aux = made.u64s(&[24, 0, 0, 0, 0]);
        made.push(71, 0, &aux);
        made.records.extend([0xff; 24]); // bytes in which no record may be searched
        made.push(4242, 0, &[0xff; 16]);
        assert_eq!(told(&story(&mut made).read()), STORY);
    }
}

#[test]
fn topology_comes_from_the_features() {
    for mut made in kinds() {
        let list = |made: &Made, texts: &[&str]| {
            let mut bytes = made.u32(texts.len() as u32).to_vec();
            texts.iter().for_each(|text| bytes.extend(made.text(text)));
            bytes
        };
        let cpus = [made.u32(4), made.u32(3)].concat();
        let topology = [list(&made, &["0-1", "2"]), list(&made, &["0-1", "2"])].concat();
        let mut nodes = made.u32(2).to_vec();
        for (node, cpus) in [(0, "0-1"), (3, "2")] {
            nodes.extend([&made.u32(node)[..], &[0; 16], &made.text(cpus)].concat());
        }
        let mut caches = [made.u32(1), made.u32(4)].concat();
        for (level, kind, cpus) in
            [(1, "Data", "0"), (1, "Instruction", "2"), (2, "Unified", "0-1"), (1, "Data", "2")]
        {
            caches.extend([&made.u32(level)[..], &[0; 12]].concat());
            caches.extend([made.text(kind), made.text("32K"), made.text(cpus)].concat());
        }
        made.features = vec![(3, made.text("host")), (4, made.text("6.18")), (7, cpus)];
        made.features.extend([(13, topology), (14, nodes), (20, caches)]);
        let head = story(&mut made).read().head;
        let machine = head.machine;
        assert_eq!((machine.name.as_str(), machine.len()), ("host", 4));
        assert_eq!(head.source.kernel.as_deref(), Some("6.18"));
        assert_eq!(machine.online(), CpuSet::first(3));
        let nodes: Vec<_> = machine.cpus.iter().map(|cpu| (cpu.core, cpu.node, cpu.llc)).collect();
        let first = (Some(0), Some(0), Some(0));
        assert_eq!(nodes, [first, first, (Some(1), Some(3), Some(1)), (None, None, None)]);
        assert!(head.carries.has(Carries::TOPOLOGY));
    }
}

#[test]
fn a_file_cut_behind_the_descriptions_of_its_events_is_read_whole() {
    for mut made in kinds().filter(|made| !made.pipe) {
        made.features = vec![(3, made.text("host")), (4, made.text("6.18"))];
        let bytes = story(&mut made).bytes();
        let tables = made.data_at() + made.records.len() + 3 * 16;
        for len in tables..bytes.len() {
            let read = read(&bytes[..len], &Options::default());
            let Ok(history) = read else {
                assert!(len < tables + made.tracing_data().len(), "{len}");
                continue;
            };
            assert_eq!(told(&history), STORY);
            let [(LossKind::Damaged, None, Some(1 | 2))] = losses(&history)[..] else {
                panic!("{:?}", history.losses());
            };
        }
    }
}

#[test]
fn a_file_whose_size_was_never_written_is_read_as_far_as_there_are_records() {
    for mut made in kinds().filter(|made| !made.pipe) {
        made.features = vec![(3, made.text("host"))];
        let mut bytes = story(&mut made).bytes();
        bytes[48..56].fill(0);
        let history = read(&bytes, &Options::default()).expect("all is there");
        let told = told(&history).into_iter().filter(|line| !line.contains("lost"));
        assert_eq!(told.collect::<Vec<_>>(), STORY);
        assert_eq!(losses(&history)[0], (LossKind::Cut, None, None));
        assert_eq!(history.head.machine.name, "host");
    }
}

#[test]
fn a_file_cut_before_the_descriptions_of_its_events_is_read_with_those_of_another() {
    for mut made in kinds().filter(|made| !made.pipe) {
        let bytes = story(&mut made).bytes();
        let formats = Formats::of(&bytes, "another").expect("describes its events");
        let options = Options { formats: Some(formats), ..Options::default() };
        let end = made.data_at() + made.records.len();
        let mut some = 0;
        for len in made.data_at()..end {
            let Ok(history) = read(&bytes[..len], &options) else { continue };
            let told = told(&history).into_iter().filter(|line| !line.contains("lost"));
            assert!(told.into_iter().all(|line| STORY.contains(&line.as_str())), "{len}");
            assert!(losses(&history).contains(&(LossKind::Cut, None, None)), "{len}");
            let note = ("event formats".to_owned(), "from another".to_owned());
            assert!(history.head.source.notes.contains(&note));
            some += 1;
        }
        assert!(some > made.records.len() / 2, "{some} of {}", made.records.len());
        // The file's own descriptions take precedence.
        let history = read(&bytes, &options).expect("whole");
        assert!(history.head.source.notes.iter().all(|(key, _)| key != "event formats"));
    }
}

#[test]
fn a_trace_dat_of_the_same_kernel_says_what_events_of_a_cut_recording_mean() {
    let beside = "../../../traces/host-6.18-2cpu-messaging.dat";
    let beside = std::fs::read(beside).expect("a recording of the same kernel");
    let options = Options {
        formats: Some(Formats::of(&beside, "beside").expect("v7")),
        ..Options::default()
    };
    let whole = recording();
    let all = told(&read(&whole, &Options::default()).expect("reads"));
    let half = read(&whole[..whole.len() / 2], &options).expect("reads as far as it goes");
    let some = told(&half).into_iter().filter(|line| !line.contains("lost"));
    let some: Vec<String> = some.collect();
    assert!(some.len() > 500, "{}", some.len());
    assert!(some.iter().all(|line| all.contains(line)));
    let error = Formats::of(b"sched_switch: prev_comm=a", "x").expect_err("no recording");
    assert!(!error.help().is_empty());
}

#[test]
fn a_real_recording_in_a_pipe_reads_up_to_its_cut() {
    let of_cpu = |lines: &[String], cpu: &str| -> Vec<String> {
        let is = |line: &&String| line.split(' ').nth(1) == Some(cpu) && !line.contains("lost");
        lines.iter().filter(is).cloned().collect()
    };
    for zstd in [false, true] {
        let bytes = piped(&recording(), zstd);
        let whole = read(&bytes, &Options::default()).expect("whole");
        assert_eq!(whole.losses(), []);
        let (whole, mut read_in_part) = (told(&whole), 0);
        for len in (16..bytes.len()).step_by(bytes.len() / 61) {
            let Ok(part) = read(&bytes[..len], &Options::default()) else { continue };
            assert!(part.losses().iter().any(|loss| loss.kind == LossKind::Cut), "cut at {len}");
            let part = told(&part);
            for cpu in ["0", "1"] {
                let (all, some) = (of_cpu(&whole, cpu), of_cpu(&part, cpu));
                assert!(all.starts_with(&some), "cut at {len}, CPU {cpu}");
            }
            read_in_part += 1;
        }
        assert!(read_in_part > 20, "{read_in_part} of 61");
    }
}

fn recording() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../traces/");
    std::fs::read(format!("{path}host-6.18-2cpu-messaging.perf.data")).expect("of the repository")
}

/// What `perf record -o -` would have written instead of this file, perhaps with `-z`.
fn piped(bytes: &[u8], zstd: bool) -> Vec<u8> {
    let file = Bytes { data: bytes, endian: Endian::Little };
    let part = |at: u64, len: u64| file.section(at, len).expect("a sound file").data;
    let word = |at: usize| file.u64(at).expect("a head");
    let mut made = Made::new(Endian::Little, true);
    let size = word(16);
    for entry in part(word(24), word(32)).chunks(size as usize) {
        let entry = Bytes { data: entry, ..file };
        let ids = entry.section(size - 16, 16).expect("a place");
        let ids = part(ids.u64(0).expect("at"), ids.u64(8).expect("len"));
        made.push(64, 0, &[&entry.data[..size as usize - 16], ids].concat());
    }
    // The first feature is the tracing data.
    let table = word(40) + word(48);
    let mut tracing = part(word(table as usize), word(table as usize + 8)).to_vec();
    let len = made.u32(tracing.len() as u32);
    tracing.resize(tracing.len().next_multiple_of(8), 0);
    made.push(66, 0, &len).records.extend(tracing);
    let records = part(word(40), word(48));
    match zstd {
        false => made.records.extend(records),
        true => {
            let packed = zstd::bulk::compress(records, 1).expect("compresses");
            packed.chunks(1000).for_each(|piece| {
                made.push(81, 0, piece);
            });
        }
    }
    [made.magic(), made.u64(16).to_vec(), made.records].concat()
}

#[test]
fn what_cannot_be_used_says_how_to_record_it() {
    let help = |made: &mut Made| match read(&story(made).bytes(), &Options::default()) {
        Err(error) => (error.to_string(), error.help().into_owned()),
        Ok(_) => panic!("must not be read"),
    };
    let mut made = Made::new(Endian::Little, false);
    made.attrs[0].0 &= !(1 << 7);
    let (error, line) = help(&mut made);
    assert!(error.contains("sched_switch do not contain their CPU"), "{error}");
    assert!(line.contains("perf sched record"), "{line}");

    let mut made = Made::new(Endian::Little, false);
    made.features.push((24, made.u64(1).to_vec()));
    assert!(help(&mut made).1.contains("without --threads"));

    let mut made = Made::new(Endian::Little, false);
    made.attrs[0].2 = 999;
    assert!(help(&mut made).0.contains("sched_switch was not recorded"));

    // perf was killed: no size of the data, and nothing behind it.
    let mut made = Made::new(Endian::Little, false);
    let mut bytes = story(&mut made).bytes();
    bytes[48..56].fill(0);
    bytes.truncate(made.data_at() + made.records.len());
    let error = read(&bytes, &Options::default()).expect_err("no descriptions");
    assert!(matches!(error, Error::Unusable { .. }), "{error}");
    assert!(error.help().contains("-o -"), "{}", error.help());
}

#[test]
fn sampling_is_a_loss() {
    let mut made = Made::new(Endian::Little, true);
    made.period = 10;
    let history = story(&mut made).read();
    assert_eq!(losses(&history), [(LossKind::LostEvents, None, None)]);
}

#[test]
fn a_real_recording_reads_as_perf_script_prints_it() {
    let history = read(&recording(), &Options::default()).expect("reads");
    let count = |is: fn(&Event) -> bool| history.entries().filter(|e| is(&e.event)).count();
    // Counted in the output of `perf script`.
    assert_eq!(count(|event| matches!(event, Event::Switch { .. })), 881);
    assert_eq!(count(|event| matches!(event, Event::Waking { .. })), 545);
    assert_eq!(count(|event| matches!(event, Event::Queued { how: How::New, .. })), 40);
    assert_eq!(count(|event| matches!(event, Event::Migrate { .. })), 11);
    assert_eq!(count(|event| matches!(event, Event::Fork { .. })), 40);
    assert_eq!(history.losses(), []);
    let second = history.entries().nth(1).expect("has events");
    assert_eq!((second.time, second.cpu), (Time(2_341_994_540_448), CpuId(0)));
    let Event::Switch { left, .. } = second.event else { panic!("{second:?}") };
    assert_eq!(left, Left::Blocked);
    let machine = &history.head.machine;
    assert_eq!((machine.len(), machine.cpus[1].core, machine.cpus[1].node), (2, Some(1), Some(0)));
}
