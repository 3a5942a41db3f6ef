//! The busiest group from Linux 5.5 on: by the kind of imbalance (0b0695f2b34a and its series).

use super::super::Cfs;
use super::super::mask;
use super::super::rules::Era;
use super::{Amount, Class, Load, Look, Phase};

/// Between nodes, an imbalance of this many tasks is tolerated while the destination is hardly
/// busy.
const NUMA_IMBALANCE: u64 = 2;

#[derive(Clone, Copy, Debug)]
struct Standing {
    id: u32,
    sum: Load,
    class: Class,
    weight: u32,
    capacity: u64,
    average: u64,
}

impl Cfs {
    /// `find_busiest_group`; sets the amount to move.
    pub(super) fn busiest_by_class(&mut self, look: &mut Look) -> Option<u32> {
        let (mut local, mut busiest): (Option<Standing>, Option<Standing>) = (None, None);
        let (mut load, mut capacity, mut util, mut overload) = (0, 0, 0, false);
        for index in 0..self.topology.groups(look.cpu, look.level).len() {
            let id = self.topology.groups(look.cpu, look.level)[index];
            let standing = self.class_of(look, id);
            (load, capacity) = (load + standing.sum.load, capacity + standing.capacity);
            util += standing.sum.util;
            overload |= standing.sum.overload;
            if self.holds(id, look.to) {
                local = Some(standing);
            } else if standing.sum.running > 0
                && busiest.is_none_or(|busiest| standing.busier(&busiest))
            {
                busiest = Some(standing);
            }
        }
        if look.level + 1 == self.topology.chains[look.cpu as usize].len() {
            self.overload = overload;
        }
        self.limit_scan(look, util);
        let (local, busiest) = (local?, busiest?);
        let average = load * 1024 / capacity.max(1);
        if !self.out_of_balance(look, &local, &busiest, average) {
            return None;
        }
        look.amount = self.amount(look, &local, &busiest, average);
        look.amount.left().then_some(busiest.id)
    }

    fn class_of(&self, look: &Look, id: u32) -> Standing {
        let group = &self.topology.groups[id as usize];
        let pct = self.topology.chains[look.cpu as usize][look.level].imbalance_pct;
        let mut sum = Load::default();
        let mut next = 0;
        while let Some(cpu) = mask::next(&group.cpus, &self.considered, next) {
            next = cpu + 1;
            self.add_load(&mut sum, cpu as u32);
        }
        Standing {
            id,
            class: sum.classify(group, pct),
            weight: group.weight,
            capacity: group.capacity,
            average: sum.load * 1024 / group.capacity,
            sum,
        }
    }

    fn out_of_balance(
        &self,
        look: &Look,
        local: &Standing,
        busiest: &Standing,
        average: u64,
    ) -> bool {
        let domain = &self.topology.chains[look.cpu as usize][look.level];
        if busiest.class == Class::Imbalanced {
            return true;
        }
        if local.class > busiest.class {
            return false;
        }
        if local.class == Class::Overloaded
            && (local.average >= busiest.average
                || local.average >= average
                || 100 * busiest.average <= domain.imbalance_pct * local.average)
        {
            return false;
        }
        let spare = local.class == Class::HasSpare;
        if domain.prefer_sibling && spare && busiest.sum.running > local.sum.running + 1 {
            return true;
        }
        busiest.class == Class::Overloaded
            || look.idle != Phase::Busy
                && !(busiest.weight > 1 && local.sum.idle_cpus <= busiest.sum.idle_cpus + 1)
                && busiest.sum.running != 1
    }

    /// `calculate_imbalance`.
    fn amount(&self, look: &Look, local: &Standing, busiest: &Standing, average: u64) -> Amount {
        let domain = &self.topology.chains[look.cpu as usize][look.level];
        if busiest.class == Class::Imbalanced {
            return Amount::Tasks(1);
        }
        if local.class == Class::HasSpare {
            if busiest.class > Class::FullyBusy && !domain.shares_cache {
                return match local.capacity.saturating_sub(local.sum.util) {
                    0 if look.idle != Phase::Busy => Amount::Tasks(1),
                    spare => Amount::Util(spare),
                };
            }
            let by_tasks = busiest.weight == 1 || domain.prefer_sibling;
            let differ = match by_tasks {
                true => busiest.sum.running.saturating_sub(local.sum.running),
                false => local.sum.idle_cpus.saturating_sub(busiest.sum.idle_cpus),
            };
            let (whole, half) = (u64::from(differ), u64::from(differ / 2));
            if !domain.numa() {
                return Amount::Tasks(half);
            }
            return Amount::Tasks(match self.rules.era {
                Era::V6 => {
                    let quiet = local.sum.running < domain.tolerated;
                    if quiet && whole <= NUMA_IMBALANCE { 0 } else { half }
                }
                _ if u64::from(busiest.sum.running) <= NUMA_IMBALANCE => 0,
                _ => half,
            });
        }
        if local.class < Class::Overloaded
            && (local.average >= busiest.average || local.average >= average)
        {
            return Amount::Load(0);
        }
        let gives = busiest.average.saturating_sub(average) * busiest.capacity;
        let takes = average.saturating_sub(local.average) * local.capacity;
        Amount::Load(gives.min(takes) / 1024)
    }

    /// Limits how far wakeups search a cache by its load (`update_idle_cpu_scan`, 6.0 and later):
    /// not at all from about 85 % on.
    fn limit_scan(&mut self, look: &Look, util: u64) {
        let cache = &self.topology.llc[look.cpu as usize];
        if self.rules.era != Era::V6 || cache.levels != look.level + 1 || look.idle == Phase::Newly
        {
            return;
        }
        let size = u64::from(cache.size);
        let pct = self.topology.chains[look.cpu as usize][look.level].imbalance_pct;
        let each = util / size;
        let used = (each * each * pct * pct / (10_000 * 1024)).min(1024);
        let scan = ((1024 - used) * size / 1024) as u32;
        let cache = self.topology.llc[look.cpu as usize].cpus.clone();
        for cpu in mask::iter(&cache) {
            if let Some(domain) = self.topology.chains[cpu].get_mut(look.level) {
                domain.scan = scan;
            }
        }
    }
}

impl Standing {
    /// `update_sd_pick_busiest`.
    fn busier(&self, busiest: &Standing) -> bool {
        if self.class != busiest.class {
            return self.class > busiest.class;
        }
        match self.class {
            Class::Overloaded => self.average > busiest.average,
            Class::Imbalanced | Class::FullyBusy => false,
            Class::HasSpare => {
                self.sum.idle_cpus < busiest.sum.idle_cpus
                    || self.sum.idle_cpus == busiest.sum.idle_cpus
                        && self.sum.running > busiest.sum.running
            }
        }
    }
}
