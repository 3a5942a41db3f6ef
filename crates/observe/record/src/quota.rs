//! Throttling by the quota of each cgroup during a recording: without it a throttled task looks
//! exactly like a waiting one.

use std::collections::BTreeMap;
use std::fs;

use wastenot_model::{Annex, Column, Table, Unit, Value};

use wastenot_host::Hierarchy;

/// The quotas of all cgroups at one moment, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quotas(BTreeMap<String, Quota>);

/// The quota of one cgroup (cpu.max and cpu.stat; cpu.cfs_* if the cpu controller is version 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Quota {
    /// CPU time that it may have in a period; `None` if it has no limit.
    quota_ns: Option<u64>,
    period_ns: u64,
    periods: u64,
    throttled: u64,
    throttled_ns: u64,
}

impl Quotas {
    /// The quotas as they are now.
    pub(crate) fn now(hierarchy: &Hierarchy) -> Quotas {
        let mut all = BTreeMap::new();
        hierarchy.each(|path, folder| {
            let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
            if let Some(quota) = Quota::read(read) {
                all.insert(path, quota);
            }
        });
        Quotas(all)
    }

    /// The throttling of the cgroups with a limit since `before`.
    pub(crate) fn since(&self, before: &Quotas) -> Annex {
        let columns = [
            Column::new("cgroup", "cgroup", Unit::None),
            Column::new("quota_ns", "quota", Unit::Ns),
            Column::new("period_ns", "period", Unit::Ns),
            Column::new("periods", "periods", Unit::None),
            Column::new("throttled", "throttled", Unit::None),
            Column::new("throttled_ns", "throttled for", Unit::Ns),
        ];
        let mut table = Table::new("cgroups", "Quotas of cgroups", columns);
        for (path, now) in &self.0 {
            let was = before.0.get(path).copied().unwrap_or_default();
            let Some(quota_ns) = now.quota_ns.or(was.quota_ns) else { continue };
            table.push(vec![
                Value::from(path.as_str()),
                quota_ns.into(),
                now.period_ns.into(),
                now.periods.saturating_sub(was.periods).into(),
                now.throttled.saturating_sub(was.throttled).into(),
                now.throttled_ns.saturating_sub(was.throttled_ns).into(),
            ]);
        }
        Annex { table }
    }
}

impl Quota {
    /// The quota from the files of a cgroup; `None` if the cpu controller is not enabled.
    fn read(read: impl Fn(&str) -> Option<String>) -> Option<Quota> {
        const US: u64 = 1_000;
        let number = |text: Option<&str>| text.and_then(|text| text.trim().parse::<u64>().ok());
        let (quota, period) = match read("cpu.max") {
            Some(max) => {
                let mut words = max.split_whitespace();
                (number(words.next()), number(words.next()))
            }
            // -1 means no limit.
            None => {
                let quota = read("cpu.cfs_quota_us")?;
                (number(Some(&quota)), number(read("cpu.cfs_period_us").as_deref()))
            }
        };
        let stat = read("cpu.stat").unwrap_or_default();
        let value = |wanted: &str| {
            stat.lines().find_map(|line| {
                let (key, value) = line.split_once(' ')?;
                (key == wanted).then(|| value.trim().parse::<u64>().ok()).flatten()
            })
        };
        let throttled_us = value("throttled_usec").map(|us| us.saturating_mul(US));
        Some(Quota {
            quota_ns: quota.map(|us| us.saturating_mul(US)),
            period_ns: period.unwrap_or(0).saturating_mul(US),
            periods: value("nr_periods").unwrap_or(0),
            throttled: value("nr_throttled").unwrap_or(0),
            throttled_ns: throttled_us.or_else(|| value("throttled_time")).unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group<'a>(files: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| files.iter().find(|(known, _)| *known == name).map(|(_, text)| text.to_string())
    }

    #[test]
    fn both_versions_of_cgroups_say_the_same() {
        let v2 = group(&[
            ("cpu.max", "50000 100000\n"),
            ("cpu.stat", "usage_usec 7\nnr_periods 10\nnr_throttled 4\nthrottled_usec 300\n"),
        ]);
        let v1 = group(&[
            ("cpu.cfs_quota_us", "50000\n"),
            ("cpu.cfs_period_us", "100000\n"),
            ("cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 300000\n"),
        ]);
        let quota = Quota::read(v2).expect("a cgroup");
        assert_eq!(Quota::read(v1), Some(quota));
        assert_eq!((quota.quota_ns, quota.throttled_ns), (Some(50_000_000), 300_000));
    }

    #[test]
    fn only_those_with_a_limit_are_told() {
        let unlimited = Quota::read(group(&[("cpu.max", "max 100000\n")])).expect("a cgroup");
        assert_eq!(unlimited.quota_ns, None);
        let old = Quota::read(group(&[("cpu.cfs_quota_us", "-1\n")])).expect("a cgroup");
        assert_eq!(old.quota_ns, None);
        assert_eq!(Quota::read(group(&[("cgroup.procs", "")])), None);
        let limited = Quota { quota_ns: Some(5), periods: 9, ..Quota::default() };
        let now = Quotas([("/a".to_owned(), unlimited), ("/b".to_owned(), limited)].into());
        let before = [("/b".to_owned(), Quota { periods: 4, ..limited })].into();
        let rows = now.since(&Quotas(before)).table.rows;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0][..4], ["/b".into(), 5u64.into(), 0u64.into(), 5u64.into()]);
    }
}
