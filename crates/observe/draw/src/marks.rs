//! Marks: findings of a check, shown in pictures of the trace.
//!
//! If the causes of waste are known, each class of causes has a row above the plot. So readers
//! distinguish classes by place and name, not only by colour. Below the lanes, a wait has the
//! colour of its class. The colours also differ in lightness, so they stay distinct in print.

use wastenot_model::{CpuId, Span, Window};

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkKind {
    /// A task waited here while a CPU that it may use was idle: a line below the lane.
    Waited,
    /// This CPU was idle while a task that may use it waited: a tint behind the lane.
    Idle,
    /// Somewhere a CPU was idle while a task waited: a bar above all lanes.
    Episode,
    /// A unit of waste belongs to a task that waited here, and has a cause of this class, an index
    /// into [`Marks::classes`]: a bar in the row of the class, and its colour for the line below
    /// the lane.
    Because(usize),
}

/// Something found in the History.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub window: Window,
    /// On which CPU; `None` for the whole machine.
    pub cpu: Option<CpuId>,
    /// What it says.
    pub kind: MarkKind,
}

/// A class of causes of waste. Its place among the others gives its colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its name, a word.
    pub name: &'static str,
    /// The CPU time that was wasted because of it, where a legend shall have it.
    pub took: Option<Span>,
}

/// All that a picture marks.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// In any order.
    pub all: Vec<Mark>,
    /// The classes of causes; those that do not occur are not shown.
    pub classes: Vec<Class>,
}

impl Default for &Marks {
    fn default() -> Self {
        static NONE: Marks = Marks { all: Vec::new(), classes: Vec::new() };
        &NONE
    }
}

/// From the top of one class's row to that of the next, and the height of its bars.
pub(crate) const ROW: (f64, f64) = (6.5, 5.0);
/// Between the rows and the plot: room for the word above the lanes' labels.
pub(crate) const GAP: f64 = 12.0;

impl Marks {
    /// The classes that occur in `window`, by index.
    pub(crate) fn classes_in(&self, window: Window) -> Vec<usize> {
        let mut occurs = vec![false; self.classes.len()];
        for mark in self.all.iter().filter(|it| window.clip(it.window.from, it.window.to).is_some())
        {
            if let MarkKind::Because(class) = mark.kind {
                occurs[class] = true;
            }
        }
        (0..occurs.len()).filter(|class| occurs[*class]).collect()
    }

    /// The room that their rows take above the plot in a picture of `window`.
    pub(crate) fn room(&self, window: Window) -> f64 {
        match self.classes_in(window).len() {
            0 => 0.0,
            rows => GAP - 6.0 + ROW.0 * (rows as f64 - 1.0),
        }
    }
}
