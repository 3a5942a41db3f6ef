//! Tables of measured overheads, ours and Feather-Trace's: what is read, and which errors are
//! reported.

use wastenot_model::Help;
use wastenot_scenario::measured::{By, Figure, Measured, Origin, figures, header, read};

fn line(machine: &str, cpus: u32) -> Measured {
    Measured {
        origin: Origin {
            machine: machine.into(),
            machine_cpus: 4,
            machine_sockets: 2,
            kernel: "6.1.0, own".into(),
            wastenot: "0.1.0".into(),
        },
        design: "coarse-ticket".into(),
        cpus,
        sockets: 1,
        kind: "SCHED".into(),
        span_ms: 1_000,
        clock_ns: 20,
        samples: 10_000,
        mean_ns: 700,
        median_ns: 150,
        p99_ns: 300,
        p999_ns: 400,
        max_ns: 1_000_000,
    }
}

#[test]
fn tables_are_read_back_also_several_put_together() {
    // Texts with characters that could break a table: commas, quotes, the start of a comment.
    let all = [line("A \"fast\" one, of 2 GHz", 1), line("# odd", 2)];
    let table = |line: &Measured| format!("{}\n{line}\n", header());
    let both = all.each_ref().map(table).concat();
    let both = format!("# ours\n{both}\n\n# and no more\n");
    assert_eq!(read("both.csv", both.as_bytes()).expect("a table"), all);
    let told = figures("both.csv", both.as_bytes(), None).expect("figures");
    assert_eq!(told, all.map(Figure::from));
}

#[test]
fn what_is_wrong_with_a_table_is_told_with_its_line() {
    let good = format!("{}\n{}\n", header(), line("m", 2));
    let of = |from: &str, to: &str| {
        let changed = good.replacen(from, to, 1);
        assert_ne!(changed, good, "{from}");
        changed
    };
    for (text, line, what) in [
        (String::new(), 1, "the file is empty"),
        (of("median_ns", "middle_ns"), 1, "unknown column `middle_ns`"),
        (of(",median_ns", ""), 1, "no column `median_ns`"),
        (of("m,4,2,", "m,4,0,"), 2, "machine_sockets: `0` is not a whole number from 1 to 4"),
        (of("coarse-ticket,2,1,", "coarse-ticket,5,1,"), 2, "cpus: `5`"),
        (of(",10000,", ",0,"), 2, "samples: `0`"),
        (of(",150,300,", ",350,300,"), 2, "p99_ns: `300`"),
        (of(",1000000\n", ",-1\n"), 2, "max_ns: `-1`"),
        (of(",1000000\n", ",99999999999999999999\n"), 2, "max_ns"),
        (of(",400,", ","), 2, "16 cells"),
    ] {
        let error = read("t.csv", text.as_bytes()).expect_err(&text);
        assert!(error.to_string().starts_with(&format!("t.csv:{line}: ")), "{error}");
        assert!(error.to_string().contains(what) && !error.help().is_empty(), "{what}: {error}");
    }
}

const SAMPLES: &str = "overheads_host=rts5_scheduler=GSN-EDF_m=64_overhead=SCHED.csv";

#[test]
fn samples_of_ft2csv_are_of_what_the_name_tells() {
    let text = "1000, 5000, 4000\n7000, 9000, 2000\n20000, 29000, 9000\n";
    let [figure]: [Figure; 1] =
        figures(SAMPLES, text.as_bytes(), Some(2_000.0)).expect("figures").try_into().expect("one");
    let expected = Figure {
        by: By::FeatherTrace,
        machine: "rts5".into(),
        design: "GSN-EDF".into(),
        kind: "SCHED".into(),
        cpus: 64,
        sockets: None,
        samples: 3,
        mean_ns: 2_500,
        median_ns: 2_000,
        max_ns: 4_500,
    };
    assert_eq!(figure, expected);
    // Latencies are in ns already.
    let name = "x_m=4_overhead=RELEASE-LATENCY.csv";
    let told = figures(name, "0, 0, 1500\n".as_bytes(), None).expect("figures");
    assert_eq!((told[0].kind.as_str(), told[0].max_ns), ("RELEASE-LATENCY", 1_500));
}

/// The columns that `ft-compute-stats` prints, with its padding.
const STATISTICS: &str = "\
# Plugin, #cores, Overhead,         Unit,     Scale, #tasks, #samples,        max, 99.9th perc., \
99th perc., 95th perc.,       avg,       med,    min,     std,     var, file
 GSN-EDF,     64,    SCHED, microseconds, 1/2000.00,      *,    50000, 3000.50000,   900.00000, \
600.00000,  400.00000, 120.00000, 100.25000, 1.0000, 3.00000, 9.00000, a.sf32
 GSN-EDF,      8,      CXS,       cycles,         1,     40,    50000, 4000.00000,   900.00000, \
600.00000,  400.00000,2000.00000,1000.00000, 1.0000, 3.00000, 9.00000, b.sf32
";

#[test]
fn statistics_are_in_cycles_or_microseconds() {
    let told = figures("s.csv", STATISTICS.as_bytes(), Some(2_000.0)).expect("figures");
    let of = |it: &Figure| (it.cpus, it.samples, it.mean_ns, it.median_ns, it.max_ns);
    assert_eq!(of(&told[0]), (64, 50_000, 120_000, 100_250, 3_000_500));
    assert_eq!(of(&told[1]), (8, 50_000, 1_000, 500, 2_000));
    let names = [&told[0], &told[1]].map(|it| (it.design.as_str(), it.kind.as_str()));
    assert_eq!(names, [("GSN-EDF", "SCHED"), ("GSN-EDF", "CXS")]);
}

#[test]
fn what_is_wrong_with_feather_traces_files_is_told_with_its_line() {
    let stars = STATISTICS.replace(" 64, ", " *, ");
    let lacks = STATISTICS.replace("med,", "middle,");
    let unit = STATISTICS.replace("microseconds", "ms");
    let number = STATISTICS.replace("3000.50000", "nan");
    for (name, text, rate, at, what, help) in [
        ("samples.csv", "1, 2, 1\n", Some(1.0), 1, "`m=64`", SAMPLES_LIKE),
        ("x_m=4.csv", "1, 2, 1\n", Some(1.0), 1, "`overhead=`", SAMPLES_LIKE),
        (SAMPLES, "1, 2, 1\n", None, 1, "cycles", "--cycles-per-us"),
        (SAMPLES, "1, 2, 1\n1, 2\n", Some(1.0), 2, "2 cells", "start, end, length"),
        (SAMPLES, "1, 2, x\n", Some(1.0), 1, "`x` is not a valid length", "start, end, length"),
        (SAMPLES, "1, 2, 18446744073709551615\n", Some(1.0), 1, "no overhead", "cycles"),
        ("s.csv", &stars, Some(1.0), 2, "`*` is not a valid number of CPUs", "m="),
        ("s.csv", &lacks, Some(1.0), 1, "no column `med`", "ft-compute-stats"),
        ("s.csv", &unit, Some(1.0), 2, "`ms`", "microseconds"),
        ("s.csv", &number, Some(1.0), 2, "`nan` is not a number", "ft-compute-stats"),
        ("s.csv", STATISTICS, None, 3, "cycles", "--cycles-per-us"),
    ] {
        let error = figures(name, text.as_bytes(), rate).expect_err(what);
        assert!(error.to_string().starts_with(&format!("{name}:{at}: ")), "{error}");
        assert!(error.to_string().contains(what), "{what}: {error}");
        assert!(error.help().contains(help), "{error}: {}", error.help());
    }
}

const SAMPLES_LIKE: &str = "m=64_overhead=SCHED";
