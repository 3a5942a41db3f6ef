//! The watch against a violation that is made, a throttled hog, and a real Prometheus.

mod host;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use wastenot_needs::{program, skipped};

use self::host::{Hogs, alone};
use crate::root;
use crate::shell::{Desk, said};

/// `wastenot watch` with what it prints. It is killed when it is dropped.
struct Watch {
    child: Child,
    lines: Receiver<String>,
    address: String,
}

impl Watch {
    /// `None` where BPF may not be used; that is told.
    fn begin(name: &str, folder: &Path, more: &[&str]) -> Option<Watch> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wastenot"));
        let mut child = command
            .args(["watch", "--listen", "127.0.0.1:0", "--save"])
            .arg(folder)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut first = String::new();
        said.read_line(&mut first).expect("text");
        let Some((_, address)) = first.split_once("http://") else {
            child.wait().expect("an end");
            skipped(name, first.trim(), "run as root on a kernel with BTF");
            return None;
        };
        let address = address.trim().trim_end_matches("/metrics").to_owned();
        let (send, lines) = channel();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        Some(Watch { child, lines, address })
    }

    /// The next violation, of a task of this name where one is given.
    fn violation(&self, task: Option<&str>, within: Duration) -> Option<Value> {
        let end = Instant::now() + within;
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            let line: Value = serde_json::from_str(&line).expect("JSON");
            assert_eq!(line["schema"], "wastenot.violation/1");
            if task.is_none_or(|task| line["task"]["name"] == task) {
                return Some(line);
            }
        }
        None
    }

    /// Ends it as Ctrl-C does, and gives its exit code.
    fn end(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-INT", &id]).status().expect("kill");
        self.child.wait().expect("an end").code()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Both fail where it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn get(address: &str, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("a server");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

/// Makes up to three violations, and returns the first that is reported, with the tasks that make
/// it. Other work on CPU 1 that runs for more than a millisecond interrupts a violation.
///
/// # Panics
/// CPU 1 idled all the time, and none of three violations was reported.
fn made(name: &str, watch: &Watch) -> Option<(Hogs, Value)> {
    for _ in 0..3 {
        let hogs = Hogs::stuck(name, "wnstuck", None)?;
        // Whatever else is busy waits there too, and may have waited longest.
        if let Some(found) = watch.violation(None, Duration::from_secs(10)) {
            return Some((hogs, found));
        }
        if !hogs.still_stuck() {
            skipped(name, "CPU 1 was busy with other work", "run it on a quiet machine");
            return None;
        }
    }
    panic!("three violations were there for seconds, and none was reported");
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn a_violation_longer_than_period_and_confirmation_is_told_and_its_recording_shows_it() {
    let name = "a made violation";
    let (_alone, desk) = (alone(), Desk::new());
    let Some(watch) = Watch::begin(name, &desk.path().join("saved"), &[]) else { return };
    let Some((hogs, found)) = made(name, &watch) else { return };
    assert_eq!((&found["cpu"], &found["idle_cpus"][0]), (&0.into(), &1.into()), "{found}");
    assert_eq!(found["kind"], "idle-while-overloaded");
    let length_ms = found["length_ns"].as_u64().expect("a length") / 1_000_000;
    // Within period and confirmation on a quiet machine; here other tests run beside it.
    println!("confirmed after {length_ms} ms");
    assert!(length_ms >= 100, "confirmed after {length_ms} ms");
    let (head, metrics) = get(&watch.address, "/metrics");
    assert!(head.contains("200 OK") && head.contains("application/openmetrics-text"), "{head}");
    assert!(metrics.contains("wastenot_violations_total{kind=\"idle-while-overloaded\"}"));
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    drop(hogs);
    assert_eq!(watch.end(), Some(0));
    let recording = shown_by_its_recording(&desk, &found);
    desk.exits(0, &format!("wastenot draw cores {recording} -o v.svg"));
}

/// The saved recording of a violation, in which `check` finds it, too.
fn shown_by_its_recording(desk: &Desk, found: &Value) -> String {
    let recording = found["recording"].as_str().expect("a recording");
    let (report, code) = desk.json(&format!("wastenot check {recording} --json"));
    assert_eq!(code, 0, "{report}");
    let wasted_ms = report["waste"]["cpu_ns"].as_u64().expect("waste") / 1_000_000;
    assert!(wasted_ms >= 50, "{wasted_ms} ms of a violation of 100");
    recording.to_owned()
}

/// The sum of all samples of a metric.
fn sample(address: &str, name: &str) -> f64 {
    let (_, metrics) = get(address, "/metrics");
    let lines = metrics.lines().filter(|line| line.starts_with(name));
    lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn by_events_a_violation_is_told_once_and_its_waste_is_counted_exactly() {
    let name = "a made violation, by events";
    let (_alone, desk) = (alone(), Desk::new());
    let exact = ["--exact", "--also", "run-time-deficit,useless-migration"];
    let Some(watch) = Watch::begin(name, &desk.path().join("saved"), &exact) else { return };
    let Some(hogs) = Hogs::stuck(name, "wnexact", None) else { return };
    let wasted = sample(&watch.address, "wastenot_wasted_cpu_seconds_total");
    let end = Instant::now() + Duration::from_secs(10);
    let found = loop {
        let left = end.saturating_duration_since(Instant::now());
        match watch.violation(None, left) {
            Some(line) if line["kind"] == "idle-while-overloaded" => break line,
            Some(_) => {}
            None => {
                assert!(hogs.still_stuck(), "the violation was there for seconds and is not told");
                skipped(name, "CPU 1 was busy with other work", "run it on a quiet machine");
                return;
            }
        }
    };
    assert_eq!((&found["cpu"], &found["idle_cpus"][0]), (&0.into(), &1.into()), "{found}");
    assert!(found["task"]["cgroup"].as_str().is_some_and(|it| it.starts_with('/')), "{found}");
    std::thread::sleep(Duration::from_secs(2));
    let kind = "wastenot_violations_total{kind=\"idle-while-overloaded\"}";
    let (told, more) =
        (sample(&watch.address, kind), sample(&watch.address, "wastenot_wasted_cpu"));
    // It goes on: another one would have begun only where CPU 1 had other work meanwhile.
    assert!((1.0..4.0).contains(&told), "{told} violations");
    assert!(more - wasted > 0.5 && more - wasted < 12.0, "{wasted} s, then {more} s");
    assert!(sample(&watch.address, "wastenot_wait_seconds_count") > 10.0, "every wait counts");
    drop(hogs);
    let address = watch.address.clone();
    assert!(get(&address, "/healthz").0.contains("200 OK"));
    assert_eq!(watch.end(), Some(0));
    shown_by_its_recording(&desk, &found);
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn a_violation_shorter_than_the_confirmation_is_not_told() {
    let name = "a short violation";
    let (_alone, desk) = (alone(), Desk::new());
    let Some(watch) = Watch::begin(name, &desk.path().join("saved"), &[]) else { return };
    for _ in 0..3 {
        let length = Some(Duration::from_millis(60));
        let Some(_hogs) = Hogs::stuck(name, "wnshort", length) else { return };
        let Some(told) = watch.violation(Some("wnshort"), Duration::from_millis(1_500)) else {
            continue;
        };
        // Who ends it waits for a CPU, too.
        let wasted_ms = told["wasted_cpu_ns"].as_u64().expect("waste") / 1_000_000;
        assert!(wasted_ms >= 90, "told of {wasted_ms} ms: {told}");
        skipped(name, "other work made it a long one", "run it on a quiet machine");
        return;
    }
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn a_throttled_hog_is_not_told() {
    let name = "a throttled hog";
    let (_alone, desk) = (alone(), Desk::new());
    let Some(watch) = Watch::begin(name, &desk.path().join("saved"), &[]) else { return };
    let Some(_hogs) = Hogs::throttled(name, "wnquota") else { return };
    assert_eq!(watch.violation(Some("wnquota"), Duration::from_secs(4)), None);
}

/// A Prometheus that is stopped when it is dropped.
struct Prometheus(Child);

impl Prometheus {
    fn begin(folder: &TempDir, scraped: &str, own: &str) -> Prometheus {
        let rules = root().join("contrib/wastenot-alerts.yml");
        let config = format!(
            "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n\
             rule_files: [{}]\n\
             scrape_configs: [{{job_name: wastenot, static_configs: [{{targets: ['{scraped}']}}]}}]\n",
            rules.display()
        );
        let file = folder.path().join("prometheus.yml");
        fs::write(&file, config).expect("a file");
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address={own}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("prometheus");
        Prometheus(child)
    }

    /// What its API answers at `path`, once `wanted` says yes to it.
    fn until(&self, own: &str, path: &str, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
        let end = Instant::now() + Duration::from_secs(30);
        while Instant::now() < end {
            if TcpStream::connect(own).is_ok() {
                let body = get(own, path).1;
                // Before it is ready, and in pieces, it answers otherwise.
                let body = body.find('{').zip(body.rfind('}')).map(|(from, to)| &body[from..=to]);
                let answer = body.and_then(|body| serde_json::from_str::<Value>(body).ok());
                if let Some(answer) = answer.filter(|answer| wanted(answer)) {
                    return Some(answer);
                }
            }
            std::thread::sleep(Duration::from_millis(300));
        }
        None
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "takes seconds of a quiet machine: make long-machine"]
fn a_real_prometheus_scrapes_the_watch_and_its_alert_fires() {
    let name = "prometheus";
    if !program(name, "prometheus", "prometheus") {
        return;
    }
    let (_alone, desk, folder) = (alone(), Desk::new(), TempDir::new().expect("a folder"));
    let Some(watch) = Watch::begin(name, &desk.path().join("saved"), &[]) else { return };
    let own = host::free_address();
    let prometheus = Prometheus::begin(&folder, &watch.address, &own);
    let up = |answer: &Value| answer["data"]["activeTargets"][0]["health"] == "up";
    let scraped = prometheus.until(&own, "/api/v1/targets", up);
    assert!(scraped.is_some(), "prometheus scrapes the watch and understands it");
    // Two scrapes at zero, so that there is something to rise from.
    std::thread::sleep(Duration::from_millis(2_500));
    let Some(hogs) = Hogs::stuck(name, "wnalert", None) else { return };
    if watch.violation(None, Duration::from_secs(10)).is_none() {
        assert!(hogs.still_stuck(), "the violation was there for seconds and is not told");
        skipped(name, "CPU 1 was busy with other work", "run it on a quiet machine");
        return;
    }
    let fires = |answer: &Value| {
        let alerts = answer["data"]["alerts"].as_array();
        alerts.into_iter().flatten().any(|alert| {
            alert["labels"]["alertname"] == "WastenotViolation" && alert["state"] == "firing"
        })
    };
    assert!(prometheus.until(&own, "/api/v1/alerts", fires).is_some(), "the alert fires");
}

#[test]
fn a_hangup_ends_the_watch_unless_it_is_ignored() {
    let name = "a hangup";
    let (_alone, desk) = (alone(), Desk::new());
    let line = "rm -f said.txt; wastenot watch --listen 127.0.0.1:0 --for 30s 2>said.txt & watch=$!; \
        until [ -s said.txt ]; do sleep 0.1; done; kill -HUP $watch; sleep 0.5; \
        kill -0 $watch 2>/dev/null && echo goes on && kill -INT $watch; wait $watch; \
        code=$?; cat said.txt; exit $code";
    let (text, code) = said(&desk.bash(line));
    if !text.contains("serving http://") {
        skipped(name, text.trim(), "run as root on a kernel with BTF");
        return;
    }
    assert!(code == 0 && !text.contains("goes on"), "{code}: {text}");
    let last = text.lines().last().unwrap_or_default();
    assert!(last.contains(" violation in ") && last.contains(" on "), "{text}");
    desk.says(0, &line.replacen("wastenot", "nohup wastenot", 1), &["goes on"]);
}

/// Host a has one violation for long, b breaks what fair schedulers break, c is gone.
const FLEET: &str = r#"
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'wastenot_violation_open{job="wastenot",instance="a"}', values: '0x9 1x50 0x60'}
      - series: 'wastenot_violations_total{job="wastenot",instance="a",kind="idle-while-overloaded"}'
        values: '0x9 1x110'
      - series: 'wastenot_violations_total{job="wastenot",instance="b",kind="run-time-deficit"}'
        values: '0+9x120'
      - {series: 'up{job="wastenot",instance="a"}', values: '1x120'}
      - {series: 'up{job="wastenot",instance="c"}', values: '0x120'}
    promql_expr_test:
      - expr: &violation 'count by (instance) (ALERTS{alertname="WastenotViolation"})'
        eval_time: 12m
        exp_samples: &a [{labels: '{instance="a"}', value: 1}]
      - {expr: *violation, eval_time: 55m, exp_samples: *a}
      - {expr: *violation, eval_time: 90m, exp_samples: []}
      - expr: 'count by (instance) (ALERTS{alertname="WastenotDown",alertstate="firing"})'
        eval_time: 20m
        exp_samples: [{labels: '{instance="c"}', value: 1}]
"#;

#[test]
fn alerts_fire_while_there_is_something_to_do_and_no_longer() {
    if !program("alerts", "promtool", "prometheus") {
        return;
    }
    let desk = Desk::new();
    let rules = root().join("contrib/wastenot-alerts.yml");
    desk.put("fleet.yml", format!("rule_files: ['{}']{FLEET}", rules.display()));
    desk.exits(0, "promtool test rules fleet.yml");
}

#[test]
fn the_alert_rules_and_the_unit_pass_their_own_checkers() {
    let desk = Desk::new();
    if program("alert rules", "promtool", "prometheus") {
        let rules = root().join("contrib/wastenot-alerts.yml");
        desk.exits(0, &format!("promtool check rules {}", rules.display()));
    }
    if !program("unit", "systemd-analyze", "systemd") {
        return;
    }
    let unit = fs::read_to_string(root().join("contrib/wastenot-watch.service")).expect("a unit");
    // It looks whether the program is where the unit says.
    let unit =
        unit.replace("ExecStart=wastenot", concat!("ExecStart=", env!("CARGO_BIN_EXE_wastenot")));
    desk.put("wastenot-watch.service", unit);
    assert_eq!(desk.exits(0, "systemd-analyze verify ./wastenot-watch.service"), "");
    let safe = "systemd-analyze security --offline=true --threshold=30 ./wastenot-watch.service";
    desk.exits(0, safe);
}
