use wastenot_model::*;

use super::sample::anything;
use super::{COLUMNS, csv, jsonl};

fn one_of_each() -> History {
    let mut sink = Builder::new(Head::new(Machine::flat(2)));
    let name = sink.name("a, \"b\"");
    let task = sink.task(Task { tid: 7, pid: Some(6), name });
    let mask = sink.mask(&CpuSet::first(2));
    let (cpu, idle) = (CpuId(1), TaskId::idle(CpuId(1)));
    let by = By { task: Some(idle), context: Context::Softirq };
    let prio = Prio(Some(120));
    let queued = Event::Queued { task, on: Some(cpu), how: How::Wakeup, prio };
    sink.push(Entry { time: Time(5), cpu: CpuId(1), by, event: queued });
    sink.push(Entry::switch(Time(9), cpu, idle, task, Left::Runnable));
    let event = Event::Changed { task, what: Change::Affinity(mask) };
    sink.push(Entry { time: Time(9), cpu, by: By::UNKNOWN, event });
    sink.finish()
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> Result<(), crate::Error>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn csv_has_a_line_an_event_and_quotes_what_needs_it() {
    let text = text(|out| csv(&one_of_each(), out));
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    let names = names.join(",");
    let want = [
        names.as_str(),
        r#"5,1,queued,8192,7,6,"a, ""b""",,,,1,swapper/1,softirq,1,,wakeup,120,,,"#,
        r#"9,1,switch,1,0,,swapper/1,8192,7,"a, ""b""",1,swapper/1,task,,,R,,,,"#,
        r#"9,1,changed,8192,7,6,"a, ""b""",,,,,,,,,affinity,,,,0-1"#,
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), want);
}

#[test]
fn json_lines_hold_what_is_told_and_nothing_else() {
    let text = text(|out| jsonl(&one_of_each(), out));
    let first: serde_json::Value =
        serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    let want = serde_json::json!({
        "time_ns": 5, "cpu": 1, "event": "queued", "task": 8192, "tid": 7, "pid": 6,
        "name": "a, \"b\"", "by_task": 1, "by_name": "swapper/1", "context": "softirq",
        "target_cpu": 1, "what": "wakeup", "prio": 120,
    });
    assert_eq!(first, want);
}

#[test]
fn every_row_of_every_history_has_the_columns_that_are_declared() {
    let history = anything(8, 3000);
    let lines = text(|out| jsonl(&history, out));
    assert_eq!(lines.lines().count(), history.len());
    for line in lines.lines() {
        let row: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(line).expect("JSON");
        for (name, value) in row {
            let column = COLUMNS.iter().find(|column| column.name == name).expect("declared");
            assert_eq!(value.is_number(), column.kind == super::Kind::Int, "{name}");
        }
    }
}

#[test]
fn a_full_disk_is_told_and_not_lost() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let history = anything(1, 50);
    for result in [
        csv(&history, Full),
        jsonl(&history, Full),
        super::perfetto(&history, Full),
        super::wn(&history, Full),
        #[cfg(feature = "parquet")]
        super::parquet(&history, Full),
    ] {
        let error = result.expect_err("a full disk");
        assert!(matches!(error, crate::Error::Write(_)), "{error}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_the_rows_that_json_lines_hold() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    let history = anything(2, 70_000);
    let mut bytes = Vec::new();
    super::parquet(&history, &mut bytes).expect("memory");
    let dir = std::env::temp_dir().join(format!("wastenot-parquet-{}", std::process::id()));
    std::fs::write(&dir, &bytes).expect("a temporary file");
    let file = std::fs::File::open(&dir).expect("just written");
    let reader = ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file);
    let batches = reader.expect("parquet").build().expect("parquet");
    let mut times = Vec::new();
    for batch in batches {
        let batch = batch.expect("a batch");
        assert_eq!(batch.num_columns(), COLUMNS.len());
        times.extend(batch.column(0).as_primitive::<Int64Type>().values().iter().copied());
    }
    std::fs::remove_file(&dir).expect("just read");
    assert!(history.entries().map(|entry| entry.time.0 as i64).eq(times));
}
