//! What balancing did during a recording, by CPU and domain: the counters of /proc/schedstat.
//!
//! Documentation/scheduler/sched-stats.rst: versions 15 and 16 differ in the order of the kinds of
//! balancing, and 17 has names of domains and four imbalances instead of one.

use std::collections::BTreeMap;

use wastenot_model::{Annex, Column, Table, Unit, Value};

/// The counters of each kind of balancing in version 17.
const BALANCE: [&str; 11] = [
    "lb_count",
    "lb_balanced",
    "lb_failed",
    "lb_imbalance_load",
    "lb_imbalance_util",
    "lb_imbalance_task",
    "lb_imbalance_misfit",
    "lb_gained",
    "lb_hot_gained",
    "lb_nobusyq",
    "lb_nobusyg",
];
/// In earlier versions at the place of the four imbalances.
const IMBALANCE: &str = "lb_imbalance";
/// A CPU that is idle, busy, or has just become idle.
const KINDS: [&str; 3] = ["idle", "busy", "newidle"];
/// The counters that follow. Those of exec and fork, `sbe_` and `sbf_`, are not in use.
const OTHERS: [&str; 12] = [
    "alb_count",
    "alb_failed",
    "alb_pushed",
    "sbe_count",
    "sbe_balanced",
    "sbe_pushed",
    "sbf_count",
    "sbf_balanced",
    "sbf_pushed",
    "ttwu_wake_remote",
    "ttwu_move_affine",
    "ttwu_move_balance",
];

/// The counters at one moment, by CPU and level of the domain.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Schedstat(BTreeMap<(u16, u16), Domain>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Domain {
    /// As `MC`, since version 17.
    name: Option<String>,
    counters: BTreeMap<String, u64>,
}

impl Schedstat {
    /// As they are now; nothing if the kernel does not count.
    pub(crate) fn now() -> Schedstat {
        let counts = wastenot_host::read("/proc/sys/kernel/sched_schedstats");
        let text =
            counts.filter(|it| it == "1").and_then(|_| wastenot_host::read("/proc/schedstat"));
        Schedstat::parse(&text.unwrap_or_default())
    }

    fn parse(text: &str) -> Schedstat {
        let (mut version, mut cpu, mut all) = (0, None, BTreeMap::new());
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let Some(first) = words.next() else { continue };
            if first == "version" {
                version = words.next().and_then(|it| it.parse().ok()).unwrap_or(0);
            } else if let Some(number) = first.strip_prefix("cpu") {
                cpu = number.parse().ok();
            } else if let Some(level) = first.strip_prefix("domain")
                && let (Some(cpu), Ok(level)) = (cpu, level.parse())
                && (15..=17).contains(&version)
            {
                let name = (version == 17).then(|| words.next().unwrap_or("").to_owned());
                let counts = words.skip(1).map_while(|word| word.parse().ok());
                let counters = fields(version).into_iter().zip(counts).collect();
                all.insert((cpu, level), Domain { name, counters });
            }
        }
        Schedstat(all)
    }

    /// What was counted since `before`; `None` if nothing is.
    pub(crate) fn since(&self, before: &Schedstat) -> Option<Annex> {
        let counted = [fields(16), fields(17)].concat();
        let counted: Vec<&String> = counted
            .iter()
            .enumerate()
            .filter(|(at, field)| !counted[..*at].contains(field) && !field.starts_with("sb"))
            .map(|(_, field)| field)
            .collect();
        let mut columns = vec![
            Column::new("cpu", "CPU", Unit::None),
            Column::new("domain", "domain", Unit::None),
            Column::new("name", "name", Unit::None),
        ];
        columns.extend(counted.iter().map(|name| Column::for_programs(name, Unit::None)));
        let mut table = Table::new("schedstat", "Balancing", columns);
        for (key, now) in &self.0 {
            let Some(was) = before.0.get(key) else { continue };
            let of = |field: &&String| {
                let both = now.counters.get(*field).zip(was.counters.get(*field));
                both.map(|(now, was)| now.saturating_sub(*was)).into()
            };
            let mut row: Vec<Value> = vec![key.0.into(), key.1.into(), now.name.clone().into()];
            row.extend(counted.iter().map(of));
            table.push(row);
        }
        (!table.rows.is_empty()).then_some(Annex { table })
    }
}

/// The counters of a domain, in the order of its line.
fn fields(version: u32) -> Vec<String> {
    let kinds = if version == 15 { [0, 1, 2] } else { [1, 0, 2] };
    let balance: Vec<&str> = match version {
        17 => BALANCE.to_vec(),
        _ => [&BALANCE[..3], &[IMBALANCE], &BALANCE[7..]].concat(),
    };
    let of = |kind: usize| balance.iter().map(move |name| format!("{}_{name}", KINDS[kind]));
    let all = kinds.into_iter().flat_map(of);
    all.chain(OTHERS.into_iter().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a version: the counter at place n of a domain is `first` + n.
    fn text(version: u32, first: u64) -> String {
        let count = if version == 17 { 45 } else { 36 };
        let counts: Vec<String> = (0..count).map(|n| (first + n).to_string()).collect();
        let name = if version == 17 { "MC " } else { "" };
        let counts = counts.join(" ");
        format!(
            "version {version}\ntimestamp 4294900000\ncpu0 0 0 0 0 0 0 1 2 3\n\
             domain0 {name}00000003 {counts}\ncpu1 0 0 0 0 0 0 1 2 3\n"
        )
    }

    #[test]
    fn each_version_has_its_order() {
        for (version, field, place) in [
            (15, "idle_lb_count", 0),
            (15, "busy_lb_count", 8),
            (16, "busy_lb_count", 0),
            (16, "idle_lb_imbalance", 11),
            (16, "newidle_lb_nobusyg", 23),
            (17, "idle_lb_count", 11),
            (17, "idle_lb_imbalance_misfit", 17),
            (17, "newidle_lb_nobusyg", 32),
            (17, "alb_pushed", 35),
            (17, "ttwu_move_balance", 44),
        ] {
            let all = Schedstat::parse(&text(version, 100));
            assert_eq!(all.0.len(), 1);
            assert_eq!(all.0[&(0, 0)].counters.get(field), Some(&(100 + place)), "{field}");
            assert_eq!(all.0[&(0, 0)].name.as_deref(), (version == 17).then_some("MC"));
        }
    }

    #[test]
    fn only_differences_are_told_and_only_of_known_versions() {
        let [before, now] = [100, 107].map(|first| Schedstat::parse(&text(17, first)));
        let table = now.since(&before).expect("counters").table;
        let [cpu, domain, name, counters @ ..] = &*table.rows[0] else { panic!("short") };
        assert_eq!([cpu, domain, name], [&0.into(), &0.into(), &Value::from("MC")]);
        let told = counters.iter().filter(|it| **it == Value::Int(7)).count();
        let unknown = counters.iter().filter(|it| **it == Value::Unknown).count();
        assert_eq!((told, unknown), (39, 3), "{counters:?}");
        assert_eq!(counters.len(), 42);
        assert_eq!(Schedstat::parse(&text(18, 1)), Schedstat::default());
        assert_eq!(Schedstat::default().since(&before), None);
    }
}
