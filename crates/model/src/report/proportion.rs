//! Figures with the whole of which they are a part.

use super::{Unit, Value};

/// A figure as a share of a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Proportion {
    /// What it says, for people: "CPU time wasted".
    pub label: String,
    /// The figure.
    pub value: Value,
    /// How to show it.
    pub unit: Unit,
    /// Its share of the whole.
    pub share: f64,
    /// The same at most; equal to `share` where that is known.
    pub share_max: f64,
    /// The whole, in words: "known CPU time".
    pub of: String,
}

impl Proportion {
    /// The share, or its range, in per cent. Of a range too narrow to be seen, its upper end.
    pub fn shares(&self) -> String {
        let (least, most) = (self.share * 100.0, self.share_max * 100.0);
        if most - least < 0.05 {
            format!("{most:.2} %")
        } else {
            format!("{least:.1} - {most:.1} %")
        }
    }

    /// Shares of a bar that surely are, and that possibly are of it too.
    pub fn bar(&self) -> [f64; 2] {
        let [least, most] = [self.share, self.share_max].map(|share| share.clamp(0.0, 1.0));
        [least, (most - least).max(0.0)]
    }

    /// A bar of so many characters, none of which is empty for what is above zero.
    pub(super) fn strip(&self, wide: usize) -> String {
        let [sure, possible] = self.bar();
        let marks = |share: f64| {
            let least = usize::from(share > 0.0);
            ((share * wide as f64).round() as usize).clamp(least, wide)
        };
        let sure = marks(sure);
        // A range that is too narrow to show is shown as one value.
        let possible = if possible * wide as f64 >= 0.5 { marks(possible) } else { 0 };
        let possible = possible.min(wide - sure);
        let rest = wide - sure - possible;
        format!("[{}{}{}]", "#".repeat(sure), "+".repeat(possible), " ".repeat(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proportion(share: f64, share_max: f64) -> Proportion {
        let (label, of) = ("wasted".into(), "CPU time".into());
        Proportion { label, value: Value::Int(5), unit: Unit::Ns, share, share_max, of }
    }

    #[test]
    fn a_range_is_shown_where_it_is_one() {
        assert_eq!(proportion(0.0435, 0.0435).shares(), "4.35 %");
        assert_eq!(proportion(0.0435, 0.0436).shares(), "4.36 %");
        assert_eq!(proportion(0.0564, 0.1078).shares(), "5.6 - 10.8 %");
    }

    #[test]
    fn bars_are_as_long_as_their_shares_and_never_longer_than_the_whole() {
        for (share, most, bar) in [
            (0.0, 0.0, "[          ]"),
            (0.001, 0.001, "[#         ]"),
            (0.5, 0.5, "[#####     ]"),
            (0.5, 0.8, "[#####+++  ]"),
            (1.0, 1.0, "[##########]"),
            (2.5, 4.0, "[##########]"),
            (0.97, 1.7, "[##########]"),
        ] {
            assert_eq!(proportion(share, most).strip(10), bar, "{share} to {most}");
        }
    }
}
