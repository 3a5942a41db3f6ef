//! Every path through a handler on a small machine, with what has to be true to go it.

use wastenot_model::CpuId;
use wastenot_rota::eval::Frame;
use wastenot_rota::ir::{Bool, Comparison, Event, Level, Num, Place, Stmt};
use wastenot_rota::paths::{Best, Way, follow};

use super::counts::Counts;
use super::expr::{Encoded, Reader};
use super::terms::{all, compares, minus, total};
use crate::explore::{Place as Where, Task, World};
use crate::smt::{Term, int, not};

/// Every way in which a task can be woken and come to wait, while `busy` is in an attempt: what has
/// to be true, and what things are like then.
pub(super) fn wakes(
    world: &World<'_>,
    counts: &Counts,
    task: Task,
    busy: CpuId,
) -> Encoded<Vec<(Term, Counts)>> {
    let mut ways = Vec::new();
    for &prev in world.cpus().iter().filter(|&&prev| task.allowed(prev)) {
        let paths = Path::all(world, counts, task, prev, busy);
        for path in paths.into_iter().filter(|path| path.put) {
            let given = all(path.given?);
            if given != Term::Bool(false) {
                ways.push((given, path.reader.at.counts));
            }
        }
    }
    Ok(ways)
}

/// One path.
#[derive(Clone)]
struct Path<'a, 'p> {
    task: Task,
    /// The CPU in an attempt: its flag is not there to be claimed.
    busy: CpuId,
    /// What has to be true, or why that cannot be said.
    given: Encoded<Vec<Term>>,
    /// What things are like by now.
    reader: Reader<'a, 'p>,
    /// Whether the task was put somewhere.
    put: bool,
}

impl<'a, 'p> Path<'a, 'p> {
    /// All paths of a task that wakes and was last on `prev`.
    fn all(
        world: &'a World<'p>,
        counts: &Counts,
        task: Task,
        prev: CpuId,
        busy: CpuId,
    ) -> Vec<Path<'a, 'p>> {
        let frame = Frame { prev: Some(prev), here: Some(prev), ..world.frame() };
        let reader = Reader::new(world, counts, frame).about(task);
        let begun = Path { task, busy, given: Ok(Vec::new()), reader, put: false };
        let mut ends = Vec::new();
        let body = &world.policy.handlers[Event::Wake as usize];
        follow(body, begun, &mut |path| ends.push(path));
        ends
    }

    fn placed(&mut self, place: Where) {
        self.reader.at.counts.add(&Task { place, ..self.task }, &int(1));
    }

    /// A number; if there are no words for it, nor are there for the path.
    fn num(&mut self, num: &Num) -> Term {
        self.reader.num(num).unwrap_or_else(|why| {
            self.given = Err(why);
            int(0)
        })
    }

    /// Only if this is so.
    fn when(mut self, condition: Encoded) -> Self {
        self.given = self.given.and_then(|mut given| {
            given.push(condition?);
            Ok(given)
        });
        self
    }
}

impl<'p> Way<'p> for Path<'_, 'p> {
    fn does(&mut self, stmt: &'p Stmt) -> bool {
        match stmt {
            Stmt::Let(slot, num) => {
                let value = self.num(num);
                self.reader.frame.set_local(*slot, Ok(value));
            }
            Stmt::SetCpu { var, cpu, value, add } => {
                let value = self.num(value);
                let cpu = self.reader.cpu(cpu).index();
                let cell = &mut self.reader.at.counts.vars[cpu][*var];
                *cell = if *add { total([cell.clone(), value]) } else { value };
            }
            Stmt::Put(put) => {
                let (queue, group) = self.reader.queue(&put.queue);
                self.placed(Where::Waits { queue, group });
                self.put = true;
            }
            Stmt::Run { slot, .. } => {
                if let Some(cpu) = self.reader.frame.slots.get(*slot).copied().flatten() {
                    self.placed(Where::Runs(cpu));
                }
            }
            _ => {}
        }
        true
    }

    /// Any idle CPU, or none if there is none.
    fn claims(self, slot: usize, within: Option<Level>, near: &'p Place) -> Vec<Self> {
        let near = self.reader.place(near);
        let usable = |&cpu: &CpuId| self.task.allowed(cpu) && self.busy != cpu;
        let inside = self.reader.at.world.inside(near, within).into_iter();
        let usable: Vec<CpuId> = inside.filter(usable).collect();
        let all_busy = all(usable.iter().map(|&cpu| not(self.reader.idle(cpu))));
        let found = |found: Option<CpuId>| {
            let given = found.map_or_else(|| all_busy.clone(), |cpu| self.reader.idle(cpu));
            let mut next = self.clone().when(Ok(given));
            next.reader.frame.set_slot(slot, found);
            next
        };
        usable.into_iter().map(Some).chain([None]).map(found).collect()
    }

    /// Whichever is best, of equals the lowest.
    fn picks(mut self, slot: usize, (set, item, key, greatest): Best<'p>) -> Vec<Self> {
        let mut keys = Vec::new();
        for cpu in self.reader.set(set) {
            self.reader.frame.bind(item, cpu);
            keys.push((cpu, self.num(key)));
        }
        let best = |(place, (cpu, key)): (usize, &(CpuId, Term))| {
            let beats = keys.iter().enumerate().map(|(other, (_, rival))| {
                let ahead = match greatest {
                    true => minus(key.clone(), rival.clone()),
                    false => minus(rival.clone(), key.clone()),
                };
                compares(int(i64::from(other < place)), Comparison::LessOrEqual, ahead)
            });
            let others = beats.enumerate().filter(|(other, _)| *other != place);
            let best = all(others.map(|(_, beats)| beats));
            let mut next = self.clone().when(Ok(best));
            next.reader.frame.set_slot(slot, Some(*cpu));
            next
        };
        keys.iter().enumerate().map(best).collect()
    }

    fn branches(
        mut self,
        condition: &'p Bool,
        then: &'p [Stmt],
        otherwise: &'p [Stmt],
    ) -> Vec<(Self, &'p [Stmt])> {
        let decides = self.reader.bool(condition);
        let found = matches!(condition, Bool::Found(_));
        let ways = [(then, decides.clone()), (otherwise, decides.map(not))].into_iter();
        let open = ways.filter(|(_, taken)| !found || *taken != Ok(Term::Bool(false)));
        open.map(|(branch, taken)| (self.clone().when(taken), branch)).collect()
    }
}
