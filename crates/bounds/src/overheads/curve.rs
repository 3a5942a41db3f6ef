//! A measured overhead as a function of what it depends on.

use crate::number::Number;

/// An overhead at some numbers of tasks (or sizes of working sets), linear between them.
///
/// More tasks never cost less: where a measured point is below the one before, which chance of
/// sampling makes it, it counts as that (as in the accounting that SchedCAT does).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve(Vec<(u64, u64)>);

/// A point that cannot be one of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are two values at {at}")]
pub struct Twice {
    /// Where both are.
    pub at: u64,
}

/// Whether a value was measured near.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// At or between points.
    Within,
    /// Below the first or above the last: the next two were gone on with.
    Beyond,
}

impl Curve {
    /// The same for any number of tasks, in ns.
    pub fn constant(ns: u64) -> Curve {
        Curve(vec![(0, ns)])
    }
    /// Through these points: (what it depends on, ns).
    ///
    /// # Errors
    /// Two are at the same place.
    pub fn through(mut points: Vec<(u64, u64)>) -> Result<Curve, Twice> {
        points.sort_unstable();
        if let Some(pair) = points.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Twice { at: pair[0].0 });
        }
        let mut most = 0;
        for (_, ns) in &mut points {
            most = most.max(*ns);
            *ns = most;
        }
        Ok(Curve(points))
    }
    /// Every value times so many thousandths, rounded up to whole ns.
    pub fn scaled(&self, per_mille: u32) -> Curve {
        let times = |ns: u64| (u128::from(ns) * u128::from(per_mille)).div_ceil(1_000);
        let point = |&(at, ns): &(u64, u64)| (at, u64::try_from(times(ns)).unwrap_or(u64::MAX));
        Curve(self.0.iter().map(point).collect())
    }
    /// Whether nothing was measured: it counts as 0.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Whether a value there was measured near.
    pub fn reach(&self, at: u64) -> Reach {
        match self.0.as_slice() {
            [] | [_] => Reach::Within,
            [first, .., last] if (first.0..=last.0).contains(&at) => Reach::Within,
            _ => Reach::Beyond,
        }
    }
    /// Its value there, in us, and never below 0.
    pub(crate) fn us<N: Number>(&self, at: u64) -> N {
        let (from, to) = match self.0.as_slice() {
            [] => return N::whole(0),
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
        for (at, us, reach) in [
            (5, 5, Reach::Beyond),
            (15, 15, Reach::Within),
            (25, 20, Reach::Within),
            (40, 20, Reach::Within),
            (45, 30, Reach::Within),
            (60, 60, Reach::Beyond),
        ] {
            assert_eq!((curve.us::<Exact>(at), curve.reach(at)), (Exact::whole(us), reach), "{at}");
        }
        assert_eq!(Curve::through(vec![(1, 2), (1, 3)]), Err(Twice { at: 1 }));
        let scaled = curve.scaled(250).us::<Exact>(25);
        assert_eq!(scaled, Exact::whole(5));
        assert_eq!(curve.scaled(1_000), curve);
        assert_eq!(Curve::constant(3).scaled(500), Curve::constant(2), "rounded up");
    }
}
