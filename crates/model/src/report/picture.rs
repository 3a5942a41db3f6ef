//! Pictures of a report.

use crate::{Time, Window};

/// A picture in a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its heading.
    pub title: String,
    /// What it shows and how to read it.
    pub caption: String,
    /// The time from its left to its right.
    pub window: Window,
    /// Where in the drawing that time runs.
    pub frame: Frame,
    /// The drawing: an SVG document.
    pub svg: String,
}

/// A part of a drawing, in shares of its width and height from the upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Its left edge.
    pub left: f64,
    /// Its upper edge.
    pub top: f64,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

impl Picture {
    /// Where `window` lies in the drawing, if it begins in the time that is shown.
    pub fn place(&self, window: Window) -> Option<Frame> {
        let shown = self.window;
        if window.from < shown.from || window.from >= shown.to {
            return None;
        }
        let share = |time: Time| (time - shown.from).0 as f64 / shown.span().0 as f64;
        let (from, to) = (share(window.from), share(window.to.min(shown.to)));
        Some(Frame {
            left: self.frame.left + from * self.frame.width,
            width: (to - from) * self.frame.width,
            ..self.frame
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_lies_where_its_time_does() {
        let frame = Frame { left: 0.1, top: 0.2, width: 0.8, height: 0.5 };
        let window = |from, to| Window { from: Time(from), to: Time(to) };
        let (title, caption, svg) = Default::default();
        let picture = Picture { title, caption, window: window(100, 200), frame, svg };
        let place = picture.place(window(150, 175)).expect("inside");
        assert!((place.left - 0.5).abs() < 1e-9 && (place.width - 0.2).abs() < 1e-9, "{place:?}");
        assert_eq!((place.top, place.height), (0.2, 0.5));
        let over = picture.place(window(150, 300)).expect("it begins inside");
        assert!((over.left + over.width - 0.9).abs() < 1e-9, "{over:?}");
        assert_eq!(picture.place(window(99, 150)), None);
        assert_eq!(picture.place(window(200, 250)), None);
    }
}
