//! A measured overhead as a function of what it depends on.

use crate::number::Number;

/// An overhead at some numbers of tasks (or sizes of working sets), linear between them.
///
/// More tasks never cost less: where a measured point is below the one before, which chance of
/// sampling makes it, it counts as that (as in the accounting that SchedCAT does).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve(Known);

/// What is known of it, in ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Known {
    /// Nothing: it counts as 0.
    #[default]
    Nothing,
    /// It is this everywhere.
    Everywhere(u64),
    /// These points, at least one: (what it depends on, ns).
    At(Vec<(u64, u64)>),
}

/// A point that cannot be one of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the overhead has two values at {at}")]
pub struct Twice {
    /// Where both are.
    pub at: u64,
}

impl Curve {
    /// The same for any number of tasks, in ns.
    pub fn constant(ns: u64) -> Curve {
        Curve(Known::Everywhere(ns))
    }
    /// Through these points: (what it depends on, ns).
    ///
    /// # Errors
    /// Two are at the same place.
    pub fn through(mut points: Vec<(u64, u64)>) -> Result<Curve, Twice> {
        if points.is_empty() {
            return Ok(Curve::default());
        }
        points.sort_unstable();
        if let Some(pair) = points.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Twice { at: pair[0].0 });
        }
        let mut most = 0;
        for (_, ns) in &mut points {
            most = most.max(*ns);
            *ns = most;
        }
        Ok(Curve(Known::At(points)))
    }
    /// Every value times so many thousandths, rounded up to whole ns.
    pub fn scaled(&self, per_mille: u32) -> Curve {
        let times = |ns: u64| {
            let ns = (u128::from(ns) * u128::from(per_mille)).div_ceil(1_000);
            u64::try_from(ns).unwrap_or(u64::MAX)
        };
        Curve(match &self.0 {
            Known::Nothing => Known::Nothing,
            // What is left out need not have been measured.
            _ if per_mille == 0 => Known::Everywhere(0),
            Known::Everywhere(ns) => Known::Everywhere(times(*ns)),
            Known::At(points) => {
                Known::At(points.iter().map(|&(at, ns)| (at, times(ns))).collect())
            }
        })
    }
    /// Whether nothing was measured: it counts as 0.
    pub fn is_empty(&self) -> bool {
        self.0 == Known::Nothing
    }
    /// The first and the last place at which it was measured; `None` if it depends on nothing.
    /// Below and beyond them the next two points are gone on with, or the only one.
    pub(crate) fn range(&self) -> Option<(u64, u64)> {
        match &self.0 {
            Known::At(points) => Some((points.first()?.0, points.last()?.0)),
            Known::Nothing | Known::Everywhere(_) => None,
        }
    }
    /// Its value there, in us, and never below 0.
    pub(crate) fn us<N: Number>(&self, at: u64) -> N {
        let points = match &self.0 {
            Known::Nothing => return N::whole(0),
            Known::Everywhere(ns) => return N::ratio((*ns).into(), 1_000),
            Known::At(points) => points,
        };
        let (from, to) = match points.as_slice() {
            [(_, ns)] => return N::ratio((*ns).into(), 1_000),
            points => {
                let next = points.partition_point(|point| point.0 < at).clamp(1, points.len() - 1);
                (points[next - 1], points[next])
            }
        };
        let of = |(at, ns): (u64, u64)| (i128::from(at), i128::from(ns));
        let ((x0, y0), (x1, y1), x) = (of(from), of(to), i128::from(at));
        let rise = y0 * (x1 - x0) + (y1 - y0) * (x - x0);
        N::ratio(rise.max(0), (x1 - x0) * 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Exact;

    #[test]
    fn it_is_linear_between_points_and_never_falls() {
        let points = [(10, 10), (20, 20), (30, 20), (40, 17), (50, 40)];
        let ns = points.map(|(at, us)| (at, us * 1_000)).to_vec();
        let curve = Curve::through(ns).expect("a curve");
        for (at, us) in [(5, 5), (15, 15), (25, 20), (40, 20), (45, 30), (60, 60)] {
            assert_eq!(curve.us::<Exact>(at), Exact::whole(us), "{at}");
        }
        assert_eq!(curve.range(), Some((10, 50)));
        assert_eq!(Curve::through(vec![(1, 2), (1, 3)]), Err(Twice { at: 1 }));
        let scaled = curve.scaled(250).us::<Exact>(25);
        assert_eq!(scaled, Exact::whole(5));
        assert_eq!(curve.scaled(1_000), curve);
        assert_eq!(curve.scaled(0), Curve::constant(0));
        assert_eq!(Curve::constant(3).scaled(500), Curve::constant(2), "rounded up");
    }

    #[test]
    fn one_point_is_known_at_one_place_and_a_constant_everywhere() {
        let point = Curve::through(vec![(8, 9_000)]).expect("a curve");
        assert_eq!((point.us::<Exact>(32), point.range()), (Exact::whole(9), Some((8, 8))));
        let constant = Curve::constant(9_000);
        assert_eq!((constant.us::<Exact>(32), constant.range()), (Exact::whole(9), None));
        assert_eq!(Curve::through(Vec::new()), Ok(Curve::default()));
        assert!(Curve::default().is_empty() && !Curve::constant(0).is_empty());
    }
}
