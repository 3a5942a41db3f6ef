//! The lines of a file from which the steps of a workload are.

/// The line of each step of each template; all steps of a catalogue task have the line of its use.
#[derive(Default)]
pub(crate) struct Lines {
    templates: Vec<Vec<usize>>,
}

impl Lines {
    /// The lines of the next template.
    pub(crate) fn push(&mut self, lines: Vec<usize>) {
        self.templates.push(lines);
    }
    /// The lines of a known template.
    pub(crate) fn set(&mut self, template: usize, lines: Vec<usize>) {
        self.templates[template] = lines;
    }
    /// One line for all templates without lines.
    pub(crate) fn fill(&mut self, templates: usize, line: usize) {
        self.templates.resize(templates, vec![line]);
    }
    /// The line of a step.
    pub(crate) fn of(&self, template: usize, step: usize) -> usize {
        let lines = self.templates.get(template).map_or(&[][..], Vec::as_slice);
        lines.get(step).or(lines.last()).copied().unwrap_or_default()
    }
}
