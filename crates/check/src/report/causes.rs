//! Why time was lost, in words.

use wastenot_model::{Column, History, Report, Table, Unit, Value};

use crate::Check;
use crate::causes::{Causes, Loss, Stretch};

impl Check {
    /// What the largest cause took of what was wasted.
    pub(super) fn cause_words(&self) -> String {
        let Some(causes) = self.causes.as_ref().filter(|_| self.waste.cpu_ns > 0) else {
            return String::new();
        };
        let whole = self.waste.cpu_ns as f64;
        let mut parts: Vec<(u64, &str)> = causes
            .iter()
            .map(|(cause, part)| (part.ns[Loss::Waste as usize], cause.about))
            .filter(|(ns, _)| *ns as f64 >= LEAST * whole)
            .collect();
        parts.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
        let parts = parts.iter().take(2).map(|(ns, about)| {
            let share = *ns as f64 / whole * 100.0;
            format!("{share:.0} % because {about}")
        });
        let parts: Vec<String> = parts.collect();
        if parts.is_empty() { String::new() } else { format!(" Of it {}.", parts.join("; ")) }
    }

    pub(super) fn cause_measures(&self, report: &mut Report) {
        for loss in Loss::ALL {
            for root in ["scheduler", "configuration", "host", "design", "unknown"] {
                let ns = self.causes.as_ref().map(|causes| causes.ns(loss, root));
                let name = format!("causes.{}.{root}_ns", loss.name());
                report.measure(&name, "", ns, Unit::Ns);
            }
        }
    }

    pub(super) fn cause_table(&self, history: &History) -> Table {
        let columns = [
            Column::new("cause", "cause", Unit::None),
            Column::new("loss", "of", Unit::None),
            Column::new("ns", "lost", Unit::Ns),
            Column::new("share", "share", Unit::Share),
            Column::new("worst_ns", "longest", Unit::Ns),
            Column::new("worst_from_ns", "at", Unit::At),
            Column::for_programs("worst_to_ns", Unit::At),
            Column::for_programs("worst_task", Unit::None),
            Column::for_programs("worst_cpu", Unit::None),
            Column::for_programs("about", Unit::None),
            Column::for_programs("advice", Unit::None),
            Column::for_programs("missing", Unit::None),
        ];
        let mut table = Table::new("causes", "Causes of lost time", columns);
        table.shown = usize::MAX;
        let none = Causes::default();
        let causes = self.causes.as_ref().unwrap_or(&none);
        for loss in Loss::ALL {
            let whole =
                causes.iter().fold(0u64, |a, (_, it)| a.saturating_add(it.ns[loss as usize]));
            let mut parts: Vec<_> =
                causes.iter().filter(|(_, part)| part.ns[loss as usize] > 0).collect();
            parts.sort_by_key(|(_, part)| std::cmp::Reverse(part.ns[loss as usize]));
            for (cause, part) in parts {
                let ns = part.ns[loss as usize];
                let worst = part.worst;
                let of = |figure: fn(Stretch) -> Value| worst.map_or(Value::Unknown, figure);
                table.push(vec![
                    cause.path.into(),
                    loss.name().into(),
                    ns.into(),
                    (ns as f64 / whole.max(1) as f64).into(),
                    of(|it| it.window.span().into()),
                    of(|it| it.window.from.into()),
                    of(|it| it.window.to.into()),
                    worst.map(|it| history.task_label(it.task)).into(),
                    of(|it| it.cpu.into()),
                    cause.about.into(),
                    cause.advice.into(),
                    cause.missing.into(),
                ]);
            }
        }
        table
    }
}

/// Causes of less than this share are not in the verdict.
const LEAST: f64 = 0.05;
