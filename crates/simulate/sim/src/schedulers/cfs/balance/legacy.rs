//! The busiest group up to Linux 5.4: by average load, which hides idle CPUs beside one heavy task;
//! and by minimum load, the fix published with "A Decade of Wasted Cores".

use super::super::Cfs;
use super::super::mask;
use super::super::rules::Imbalance;
use super::{Amount, Class, Load, Look, Phase};

/// The figures of one group for comparison.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    sum: Load,
    class: Class,
    full: bool,
    spare: bool,
    capacity: u64,
    average: u64,
    per_task: u64,
}

impl Cfs {
    /// `find_busiest_group` of 4.1; sets the amount to move.
    pub(super) fn busiest_by_load(&mut self, look: &mut Look) -> Option<u32> {
        let domain = &self.topology.chains[look.cpu as usize][look.level];
        let (pct, prefers) = (domain.imbalance_pct, domain.prefer_sibling);
        let top = look.level + 1 == self.topology.chains[look.cpu as usize].len();
        let mut local = Standing::default();
        let mut busiest: Option<(u32, Standing)> = None;
        let (mut total_load, mut total_capacity, mut overload) = (0, 0, false);
        for index in 0..self.topology.groups(look.cpu, look.level).len() {
            let id = self.topology.groups(look.cpu, look.level)[index];
            // A group that holds this CPU is local, even if all groups hold it: then the last one
            // counts.
            let own = self.holds(id, look.to);
            let mut standing = self.standing(look, id, own, pct);
            overload |= standing.sum.overload;
            total_load += standing.sum.load;
            total_capacity += standing.capacity;
            if own {
                local = standing;
                continue;
            }
            if prefers && local.spare && standing.sum.running > 1 {
                (standing.full, standing.class) = (true, Class::Overloaded);
            }
            if self.is_busier(&standing, busiest.as_ref().map(|(_, busiest)| busiest)) {
                busiest = Some((id, standing));
            }
        }
        if top {
            self.overload = overload;
        }
        let (id, busiest) = busiest.filter(|(_, busiest)| busiest.sum.running > 0)?;
        let average = total_load * 1024 / total_capacity.max(1);
        let forced = busiest.class == Class::Imbalanced
            || look.idle == Phase::Newly && local.spare && busiest.full;
        let amount = match self.rules.imbalance {
            Imbalance::Average | Imbalance::Rework => (forced
                || unbalanced(look.idle, &local, &busiest, average, pct))
            .then(|| by_average(local, busiest, average)),
            Imbalance::Minimum | Imbalance::MinimumLiteral => {
                let more = local.sum.least < busiest.sum.least;
                (forced || more).then(|| busiest.sum.most.saturating_sub(local.sum.least) / 2)
            }
        };
        look.amount = Amount::Load(amount?);
        Some(id)
    }

    fn standing(&self, look: &Look, id: u32, own: bool, pct: u64) -> Standing {
        let group = &self.topology.groups[id as usize];
        let domain = &self.topology.chains[look.cpu as usize][look.level];
        let index = match look.idle {
            Phase::Busy => domain.busy_index,
            Phase::Newly => 0,
            Phase::Idle => domain.idle_index,
        };
        let (mut sum, mut unbiased) = (Load::default(), 0);
        let mut next = 0;
        while let Some(cpu) = mask::next(&group.cpus, &self.considered, next) {
            next = cpu + 1;
            let cpu = cpu as u32;
            self.add_load_as(&mut sum, cpu, self.biased_load(cpu, index, own));
            unbiased += self.queue_load(cpu);
        }
        let full = sum.overloaded(group, pct);
        Standing {
            class: match (full, group.pinned) {
                (true, _) => Class::Overloaded,
                (false, true) => Class::Imbalanced,
                (false, false) => Class::HasSpare,
            },
            full,
            spare: sum.has_capacity(group, pct),
            capacity: group.capacity,
            average: sum.load * 1024 / group.capacity,
            per_task: unbiased / u64::from(sum.running.max(1)),
            sum,
        }
    }

    /// `update_sd_pick_busiest`.
    fn is_busier(&self, standing: &Standing, busiest: Option<&Standing>) -> bool {
        let none = Standing::default();
        let busiest = busiest.unwrap_or(&none);
        match self.rules.imbalance {
            Imbalance::MinimumLiteral => true,
            Imbalance::Minimum => {
                // Among equals the group that can give more: this limits the amount that is moved.
                let rank = |it: &Standing| (it.sum.least, it.sum.most);
                standing.class == Class::Imbalanced || rank(standing) > rank(busiest)
            }
            Imbalance::Average | Imbalance::Rework => {
                (standing.class, standing.average) > (busiest.class, busiest.average)
                    && (standing.class > busiest.class || standing.average > busiest.average)
            }
        }
    }
}

/// `calculate_imbalance`: the load that brings both groups to the average.
fn by_average(local: Standing, busiest: Standing, average: u64) -> u64 {
    let (mut local, mut busiest) = (local, busiest);
    if local.sum.running == 0 {
        local.per_task = 0;
    }
    if busiest.class == Class::Imbalanced {
        busiest.per_task = busiest.per_task.min(average);
    }
    if busiest.average <= average || local.average >= average {
        return small_or(&local, &busiest, 0);
    }
    let mut most = busiest.average - average;
    if busiest.class == Class::Overloaded && local.class == Class::Overloaded {
        // If no CPU is idle, none shall become idle.
        let above = u64::from(busiest.sum.running) * 1024;
        if above > busiest.capacity {
            most = most.min(above - busiest.capacity);
        }
    }
    let lacks = (average - local.average) * local.capacity;
    let imbalance = (most * busiest.capacity).min(lacks) / 1024;
    if imbalance < busiest.per_task { small_or(&local, &busiest, imbalance) } else { imbalance }
}

/// Whether the averages, and the idle CPUs, mean that `busiest` should give something.
fn unbalanced(idle: Phase, local: &Standing, busiest: &Standing, average: u64, pct: u64) -> bool {
    if local.average >= busiest.average || local.average >= average {
        return false;
    }
    match idle {
        Phase::Idle => {
            busiest.class == Class::Overloaded || local.sum.idle_cpus > busiest.sum.idle_cpus + 1
        }
        Phase::Busy | Phase::Newly => 100 * busiest.average > pct * local.average,
    }
}

/// `fix_small_imbalance`: one task, if that does not reverse the imbalance, or if it increases the
/// total work done.
fn small_or(local: &Standing, busiest: &Standing, otherwise: u64) -> u64 {
    let one = busiest.per_task * 1024 / busiest.capacity;
    let heavier = local.sum.running > 0 && busiest.per_task > local.per_task;
    let times = if heavier { 1 } else { 2 };
    if busiest.average + one >= local.average + one * times {
        return busiest.per_task;
    }
    let now = busiest.capacity * busiest.per_task.min(busiest.average)
        + local.capacity * local.per_task.min(local.average);
    let left = busiest.average.saturating_sub(one);
    let gained = (busiest.average * busiest.capacity).min(busiest.per_task * 1024);
    let then = busiest.capacity * busiest.per_task.min(left)
        + local.capacity * local.per_task.min(local.average + gained / local.capacity.max(1));
    if then / 1024 > now / 1024 { busiest.per_task } else { otherwise }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A group of two CPUs, one task on each that has any.
    fn group(loads: [u64; 2]) -> Standing {
        let running = loads.iter().filter(|load| **load > 0).count() as u32;
        let sum = Load {
            load: loads[0] + loads[1],
            running,
            idle_cpus: 2 - running,
            least: loads[0].min(loads[1]),
            most: loads[0].max(loads[1]),
            ..Load::default()
        };
        Standing { sum, spare: true, capacity: 2048, average: sum.load / 2, ..Standing::default() }
    }

    #[test]
    fn averages_hide_what_minima_show() {
        let (half_idle, busy) = (group([0, 6000]), group([3000, 3000]));
        assert_eq!((half_idle.average, busy.average), (3000, 3000));
        assert!(!unbalanced(Phase::Idle, &half_idle, &busy, 3000, 125));
        assert!(half_idle.sum.least < busy.sum.least);
    }

    #[test]
    fn a_small_imbalance_moves_one_task_only_if_it_helps() {
        let task = |mut standing: Standing| {
            standing.per_task = 1024;
            standing
        };
        let (none, two) = (group([0, 0]), task(group([1024, 1024])));
        assert_eq!(small_or(&none, &two, 0), 1024);
        let one = task(group([1024, 0]));
        assert_eq!(small_or(&one, &one, 0), 0);
    }
}
