//! The facts known of a task before a part begins, as the JSON text of its row. Facts that are
//! unknown, or false, have no key.

use serde_json::{Map, Value as Json, json};
use wastenot_model::{By, Context, CpuId, MaskId, Origin, Past, Phase, Seen, TaskId, Time};

const PHASES: [(Phase, &str); 7] = [
    (Phase::Unknown, "unknown"),
    (Phase::Running, "running"),
    (Phase::Waiting, "waiting"),
    (Phase::Held, "held"),
    (Phase::Sleeping, "sleeping"),
    (Phase::New, "new"),
    (Phase::Dead, "dead"),
];
const ORIGINS: [(Origin, &str); 8] = [
    (Origin::Unknown, "unknown"),
    (Origin::Wakeup, "wakeup"),
    (Origin::NoSelection, "no-selection"),
    (Origin::Waking, "waking"),
    (Origin::Fork, "fork"),
    (Origin::Preempted, "preempted"),
    (Origin::Yielded, "yielded"),
    (Origin::Released, "released"),
];
const CONTEXTS: [(Context, &str); 4] = [
    (Context::Unknown, "unknown"),
    (Context::Task, "task"),
    (Context::Softirq, "softirq"),
    (Context::Hardirq, "hardirq"),
];

fn word<T: PartialEq>(table: &[(T, &'static str)], value: &T) -> &'static str {
    table.iter().find(|(known, _)| known == value).map_or("", |(_, word)| *word)
}

fn meant<T: Copy>(table: &[(T, &str)], json: &Json) -> Option<T> {
    let text = json.as_str()?;
    table.iter().find(|(_, word)| *word == text).map(|(value, _)| *value)
}

/// As `table` maps the value, or `unknown` if there is none.
fn told<T: Copy>(table: &[(T, &str)], json: &Json, unknown: T) -> Option<T> {
    if json.is_null() { Some(unknown) } else { meant(table, json) }
}

pub(super) fn to_json(past: &Past) -> String {
    let mut object = Map::new();
    let cpu = |cpu: Option<CpuId>| cpu.map(|cpu| cpu.0);
    let seen = match past.seen {
        Seen::Nowhere => Json::Null,
        Seen::On(cpu) => cpu.0.into(),
        Seen::Several => "several".into(),
    };
    for (key, value) in [
        ("phase", word(&PHASES, &past.phase).into()),
        ("since_ns", past.since.0.into()),
        ("cpu", cpu(past.cpu).into()),
        ("prev_cpu", cpu(past.prev).into()),
        ("origin", word(&ORIGINS, &past.origin).into()),
        ("moves", past.moves.into()),
        ("waking_ns", past.waking.map(|time| time.0).into()),
        ("waker", past.waker.task.map(|task| task.0).into()),
        ("waker_context", word(&CONTEXTS, &past.waker.context).into()),
        ("waker_cpu", past.waker_cpu.0.into()),
        ("mask", past.mask.map(|mask| mask.0).into()),
        ("policy", past.policy.into()),
        ("nice", past.nice.into()),
        ("throttled", past.throttled.then_some(true).into()),
        ("migration_disabled", past.migration_disabled.then_some(true).into()),
        ("last_cpu", cpu(past.last).into()),
        ("moved", past.moved.then_some(true).into()),
        ("seen_on", seen),
    ] {
        if value != Json::Null {
            object.insert(key.to_owned(), value);
        }
    }
    json!(object).to_string()
}

/// The past of `task`; ids are not checked here.
pub(super) fn from_json(task: TaskId, text: &str) -> Option<Past> {
    let json: Json = serde_json::from_str(text).ok()?;
    let cpu = |key: &str| match &json[key] {
        Json::Null => Some(None),
        cpu => super::rows::cpu_id(u16::try_from(cpu.as_u64()?).ok()?).map(Some),
    };
    let id = |key: &str| match &json[key] {
        Json::Null => Some(None),
        id => u32::try_from(id.as_u64()?).ok().map(Some),
    };
    let so = |key: &str| json[key].as_bool().unwrap_or(false);
    Some(Past {
        task,
        phase: meant(&PHASES, &json["phase"])?,
        since: Time(json["since_ns"].as_u64()?),
        cpu: cpu("cpu")?,
        prev: cpu("prev_cpu")?,
        origin: told(&ORIGINS, &json["origin"], Origin::Unknown)?,
        moves: u16::try_from(json["moves"].as_u64().unwrap_or(0)).ok()?,
        waking: json["waking_ns"].as_u64().map(Time),
        waker: By {
            task: id("waker")?.map(TaskId),
            context: told(&CONTEXTS, &json["waker_context"], Context::Unknown)?,
        },
        waker_cpu: cpu("waker_cpu")??,
        mask: id("mask")?.map(MaskId),
        policy: json["policy"].as_u64().and_then(|policy| u8::try_from(policy).ok()),
        nice: json["nice"].as_i64().and_then(|nice| i8::try_from(nice).ok()),
        throttled: so("throttled"),
        migration_disabled: so("migration_disabled"),
        last: cpu("last_cpu")?,
        moved: so("moved"),
        seen: match &json["seen_on"] {
            Json::String(_) => Seen::Several,
            _ => cpu("seen_on")?.map_or(Seen::Nowhere, Seen::On),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_missing_means_unknown() {
        let task = TaskId::nth(3);
        let text = r#"{"phase":"waiting","since_ns":7,"waker_cpu":1}"#;
        let past = from_json(task, text).expect("enough");
        assert_eq!((past.phase, past.since, past.waker_cpu), (Phase::Waiting, Time(7), CpuId(1)));
        assert_eq!((past.origin, past.moves, past.waker), (Origin::Unknown, 0, By::UNKNOWN));
        assert_eq!((past.cpu, past.mask, past.seen), (None, None, Seen::Nowhere));
        assert_eq!((past.policy, past.nice), (None, None));
        assert_eq!(from_json(task, &to_json(&past)), Some(past));
        for needed in ["phase", "since_ns", "waker_cpu"] {
            let text = text.replace(needed, "other");
            assert_eq!(from_json(task, &text), None, "without {needed}");
        }
        let odd = text.replace("waiting", "flying");
        assert_eq!(from_json(task, &odd), None);
    }
}
