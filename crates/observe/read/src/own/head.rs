//! The facts known before the first event, as the JSON in the schema's metadata.

use serde_json::{Value, json};
use wastenot_model::{Carries, Clock, Cpu, CpuId, Head, Machine, Source, Time, Window};

use super::{MAJOR, VERSION};

/// The head as JSON; its start state and the end of its window are rows.
pub(super) fn to_json(head: &Head) -> String {
    let from = (head.window.from != Time::MAX).then_some(head.window.from.0);
    json!({
        "version": VERSION,
        "machine": machine_to_json(&head.machine),
        "clock": { "name": head.clock.name, "nanoseconds": head.clock.nanoseconds },
        "source": {
            "format": head.source.format,
            "name": head.source.name,
            "kernel": head.source.kernel,
            "notes": head.source.notes,
        },
        "carries": head.carries.words().collect::<Vec<_>>(),
        "from_ns": from,
    })
    .to_string()
}

/// Why a head cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is of this version.
    Version(String),
    /// It does not have the form of a head.
    Damaged,
}

/// The head that [`to_json`] wrote. If a key is missing, its part stays unknown.
pub(super) fn from_json(text: &str) -> Result<Head, Unreadable> {
    let json: Value = serde_json::from_str(text).map_err(|_| Unreadable::Damaged)?;
    let version = json["version"].as_str().ok_or(Unreadable::Damaged)?;
    if version.split('.').next().and_then(|major| major.parse().ok()) != Some(MAJOR) {
        return Err(Unreadable::Version(version.to_owned()));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let words: Vec<&str> =
        json["carries"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let carried = Carries::ALL.iter().filter(|(_, word, _)| words.contains(word));
    let source = &json["source"];
    let note = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
    let mut head = Head::new(machine_from_json(&json["machine"]));
    head.clock = Clock {
        name: text(&json["clock"]["name"]),
        nanoseconds: json["clock"]["nanoseconds"].as_bool().unwrap_or(true),
    };
    head.source = Source {
        format: text(&source["format"]),
        name: text(&source["name"]),
        kernel: source["kernel"].as_str().map(str::to_owned),
        notes: source["notes"].as_array().into_iter().flatten().filter_map(note).collect(),
    };
    head.carries = carried.fold(Carries::NONE, |all, (carry, _, _)| all | *carry);
    if let Some(from) = json["from_ns"].as_u64() {
        head.window = Window { from: Time(from), to: Time(0) };
    }
    Ok(head)
}

/// CPUs column by column: a machine of 8192 CPUs stays readable and small.
fn machine_to_json(machine: &Machine) -> Value {
    let column = |of: fn(&Cpu) -> Value| machine.cpus.iter().map(of).collect::<Vec<_>>();
    json!({
        "name": machine.name,
        "core": column(|cpu| cpu.core.into()),
        "llc": column(|cpu| cpu.llc.into()),
        "node": column(|cpu| cpu.node.into()),
        "package": column(|cpu| cpu.package.into()),
        "capacity": column(|cpu| cpu.capacity.into()),
        "online": column(|cpu| cpu.online.into()),
        "isolated": column(|cpu| cpu.isolated.into()),
        "distances": machine.distances,
        "links": machine.links,
    })
}

fn machine_from_json(json: &Value) -> Machine {
    let cpus = json["online"].as_array().map_or(0, Vec::len).min(CpuId::LIMIT);
    let number = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
    let mut machine = Machine::flat(cpus);
    for (index, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.core = number(&json["core"][index]);
        cpu.llc = number(&json["llc"][index]);
        cpu.node = number(&json["node"][index]);
        cpu.package = number(&json["package"][index]);
        let capacity = json["capacity"][index].as_u64().and_then(|n| u16::try_from(n).ok());
        cpu.capacity = capacity.unwrap_or(cpu.capacity);
        cpu.online = json["online"][index].as_bool().unwrap_or(true);
        cpu.isolated = json["isolated"][index].as_bool().unwrap_or(false);
    }
    let row = |row: &Value| row.as_array()?.iter().map(number).collect::<Option<Vec<u32>>>();
    let matrix = |value: &Value| value.as_array()?.iter().map(row).collect::<Option<Vec<_>>>();
    machine.name = json["name"].as_str().unwrap_or_default().to_owned();
    machine.distances = matrix(&json["distances"]);
    machine.links = matrix(&json["links"]);
    machine
}
