//! The output formats of a Scene: one file for each.

pub(crate) mod pdf;
pub(crate) mod png;
pub(crate) mod svg;
pub(crate) mod terminal;

/// To hundredths of a point: finer than print, and short to write.
pub(crate) fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// The bars of a lane by colour, long ones first: a short run lies over its neighbours. The colours
/// come in order of first use.
pub(crate) fn by_colour(bars: &[crate::Bar]) -> Vec<(crate::Colour, Vec<crate::Bar>)> {
    let thin = 2.0 / crate::lanes::COLUMNS_PER_POINT;
    let mut groups: Vec<(bool, crate::Colour, Vec<crate::Bar>)> = Vec::new();
    for &bar in bars {
        let key = (bar.width < thin, bar.colour);
        match groups.iter_mut().find(|group| (group.0, group.1) == key) {
            Some(group) => group.2.push(bar),
            None => groups.push((key.0, key.1, vec![bar])),
        }
    }
    groups.sort_by_key(|group| group.0);
    groups.into_iter().map(|(_, colour, bars)| (colour, bars)).collect()
}
