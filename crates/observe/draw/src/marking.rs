//! Draws marks on a page: rows of classes, lines below lanes, tints behind them.

use wastenot_model::{CpuId, Span, Time, Window};

use crate::font::Font;
use crate::lanes::Grid;
use crate::marks::{GAP, ROW};
use crate::page::{LEFT, Page, WASTE};
use crate::{Anchor, Area, Cell, Class, Colour, Lane, Mark, MarkKind, Palette, Scene};

/// Size of a row's name, at most.
const NAME: f64 = 6.5;

/// Where a mark is, and when: by lane or row.
type Place = (usize, Time, Time);

impl Page<'_> {
    /// What lies behind the data: a tint where a CPU was idle while a task waited.
    pub(crate) fn tint_idle(&self, scene: &mut Scene) {
        let colour = tint(self.view.palette);
        for (row, from, to) in self.joined(self.in_lanes(|kind| kind == MarkKind::Idle)) {
            let Lane { y, height, .. } = self.lanes[row];
            self.bar(scene, (from, to), (y, height), colour);
        }
    }

    /// What lies above the data: lines below the lanes, and rows above all of them. With what the
    /// legend says of marks.
    pub(crate) fn mark(&self, scene: &mut Scene) {
        let waste = self.view.palette.waste();
        let classes = self.marks.classes_in(self.window);
        let others = self.mark_waits(scene, classes.is_empty());
        let episodes = self.places(|mark| (mark.kind == MarkKind::Episode).then_some(0));
        for (_, from, to) in self.joined(episodes) {
            self.bar(scene, (from, to), (self.area.y - 6.0, 4.0), waste);
        }
        let within = |it: &Window| it.clip(self.window.from, self.window.to).is_some();
        if !self.marks.all.iter().any(|mark| within(&mark.window)) {
            return;
        }
        let (idle, label) = match classes.is_empty() {
            true => (waste, "idle while a task waited"),
            false => (tint(self.view.palette), "idle while a task waited, by cause:"),
        };
        scene.legend.push((idle, label.to_owned()));
        scene.plot.cells.push((idle, Cell::Mostly(WASTE)));
        let top = self.area.y - GAP - ROW.0 * classes.len() as f64;
        for (row, &class) in classes.iter().enumerate() {
            let y = top + ROW.0 * row as f64;
            let Class { name, took } = &self.marks.classes[class];
            let colour = self.view.palette.class(class);
            let at = (LEFT - 5.0, y + ROW.1 - 0.2);
            let fits = (LEFT - 7.0) / Font::new().width(name, NAME);
            scene.text(at, NAME * fits.min(1.0), Anchor::End, Colour::FAINT, name);
            let of_class = |mark: &Mark| (mark.kind == MarkKind::Because(class)).then_some(row);
            for (_, from, to) in self.joined(self.places(of_class)) {
                self.bar(scene, (from, to), (y, ROW.1), colour);
            }
            let took = took.map_or(String::new(), |took| format!("  {took}"));
            scene.legend.push((colour, format!("{name}{took}")));
            scene.plot.cells.push((colour, Cell::Above(self.letter(class))));
        }
        if others && !classes.is_empty() {
            let label = "there were more waiting tasks than idle CPUs".to_owned();
            scene.legend.push((self.view.palette.more_waited(), label));
        }
    }

    /// A line below the lane where a task waited, in the colour of the class that took most of each
    /// pixel column. Whether some had no class, as more tasks waited than CPUs were idle.
    fn mark_waits(&self, scene: &mut Scene, plain: bool) -> bool {
        let palette = self.view.palette;
        let count = self.marks.classes.len();
        let waited = self.joined(self.in_lanes(|kind| kind == MarkKind::Waited));
        let mut all: Vec<(Place, usize)> = waited.into_iter().map(|place| (place, count)).collect();
        for class in 0..count {
            let due = self.in_lanes(|kind| kind == MarkKind::Because(class));
            all.extend(due.into_iter().map(|place| (place, class)));
        }
        all.sort_unstable();
        let grid = Grid::new(self.window, self.area.width);
        let mut runs = Vec::new();
        for lane in all.chunk_by(|a, b| a.0.0 == b.0.0) {
            let row = lane[0].0.0;
            runs.extend(
                largest(lane, &grid, count).into_iter().map(|(kind, run)| (kind, row, run)),
            );
        }
        runs.sort_unstable_by_key(|(kind, row, run)| (*kind, *row, run.from)); // by colour
        for (kind, row, run) in &runs {
            let Lane { y, height: lane, .. } = self.lanes[*row];
            let height = (lane * 0.22).clamp(0.6, 2.5);
            let colour = match *kind < count {
                true => palette.class(*kind),
                false if plain => palette.waste(),
                false => palette.more_waited(),
            };
            self.bar(scene, (run.from, run.to), (y + lane - height * 0.5, height), colour);
        }
        runs.last().is_some_and(|(kind, ..)| *kind == count)
    }

    /// The first letter of a class, small unless an earlier class has it.
    fn letter(&self, class: usize) -> char {
        let first = |class: &Class| class.name.chars().next().unwrap_or('?');
        let (before, rest) = self.marks.classes.split_at(class);
        let letter = first(&rest[0]);
        let taken = before.iter().any(|it| first(it) == letter);
        if taken { letter.to_ascii_uppercase() } else { letter }
    }

    fn in_lanes(&self, counts: impl Fn(MarkKind) -> bool) -> Vec<Place> {
        let rows = self.rows();
        let row = |cpu: CpuId| rows.get(cpu.index()).copied().flatten();
        self.places(|mark| mark.cpu.and_then(row).filter(|_| counts(mark.kind)))
    }

    /// Marks in the window for which `row` gives a place, in order.
    fn places(&self, row: impl Fn(&Mark) -> Option<usize>) -> Vec<Place> {
        let place = |mark: &Mark| {
            let row = row(mark)?;
            let (from, to) = self.window.clip(mark.window.from, mark.window.to)?;
            Some((row, from, to))
        };
        let mut places: Vec<Place> = self.marks.all.iter().filter_map(place).collect();
        places.sort_unstable();
        places
    }

    /// Marks nearer to each other than half a point are one: a bad trace has very many.
    fn joined(&self, mut places: Vec<Place>) -> Vec<Place> {
        let near = Span(self.window.span().0 / (self.area.width * 2.0) as u64);
        places.dedup_by(|next, kept| {
            let joins = next.0 == kept.0 && next.1 <= kept.2 + near;
            if joins {
                kept.2 = kept.2.max(next.2);
            }
            joins
        });
        places
    }

    fn bar(
        &self,
        scene: &mut Scene,
        (from, to): (Time, Time),
        (y, height): (f64, f64),
        colour: Colour,
    ) {
        let (x, right) = (self.x(from), self.x(to));
        scene.rect(Area { x, y, width: (right - x).max(0.25), height }, colour);
    }
}

fn tint(palette: Palette) -> Colour {
    palette.waste().alpha(44)
}

/// The class below `count` that took most of each column of a lane, or `count` where only that did;
/// neighbours of one class are one run.
fn largest(lane: &[(Place, usize)], grid: &Grid, count: usize) -> Vec<(usize, Window)> {
    let mut took = vec![0u64; (count + 1) * grid.columns()];
    for &((_, from, to), kind) in lane {
        for column in grid.column(from)..grid.columns() {
            let (start, end) = (grid.start(column), grid.start(column + 1));
            if start >= to {
                break;
            }
            took[column * (count + 1) + kind] += (to.min(end) - from.max(start)).0;
        }
    }
    let mut runs: Vec<(usize, Window)> = Vec::new();
    for (column, took) in took.chunks(count + 1).enumerate() {
        let (classes, most) = (0..count, |kind: &usize| (took[*kind], count - kind));
        let class = classes.max_by_key(most).filter(|class| took[*class] > 0);
        let Some(kind) = class.or((took[count] > 0).then_some(count)) else { continue };
        let window = Window { from: grid.start(column), to: grid.start(column + 1) };
        match runs.last_mut() {
            Some((last, run)) if *last == kind && run.to == window.from => run.to = window.to,
            _ => runs.push((kind, window)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_column_the_class_counts_that_took_most_of_it() {
        let window = Window { from: Time(0), to: Time(8) };
        let grid = Grid::new(window, 1.0); // four columns of 2 ns
        let at = |from, to, class| ((0, Time(from), Time(to)), class);
        let found = |lane: &[_]| -> Vec<(usize, u64, u64)> {
            let runs = largest(lane, &grid, 2).into_iter();
            runs.map(|(class, it)| (class, it.from.0, it.to.0)).collect()
        };
        assert_eq!(found(&[at(0, 3, 0), at(3, 4, 1)]), [(0, 0, 4)], "a tie is the first one's");
        assert_eq!(found(&[at(0, 2, 0), at(2, 3, 0), at(2, 4, 1)]), [(0, 0, 2), (1, 2, 4)]);
        // Waits without a class stand where no other does.
        assert_eq!(found(&[at(0, 8, 2), at(2, 3, 1)]), [(2, 0, 2), (1, 2, 4), (2, 4, 8)]);
        assert_eq!(found(&[at(7, 8, 1)]), [(1, 6, 8)], "at least a column");
    }
}
